"""Calibration to an attacker's error rates: the least noise that keeps a true positive rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType

from scipy.optimize import brentq

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, demand_function, shortened
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, as_allowed, as_promised, brief, to_decimal
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.accountants.attackers import largest_true_positive_rate, true_positive_rate
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import demand_fields, open_unit

_LARGEST = math.log(2.0**60)  # largest log noise that is tried
_CLOSE = 1e-10  # distance in log noise: at the end of the search, and of the first value tried beside its result
_WIDENED = 24  # largest number of doublings of that distance until a side is proven


@dataclass(frozen=True, slots=True, repr=False)
class ErrorRateCalibration(Displayed):
    """Noise that keeps an attacker's true positive rate, and noise next to it that does not, both proven.

    Attributes:
        value: Suffices: with this noise every test with the false positive rate has at most the true positive rate.
        fails_at: Does not: some test does better. None where the dominating pairs are not attained.
        attained: Proven enclosure of the largest true positive rate at ``value``.
        true_positive_rate: The target.
        false_positive_rate: Where it holds.
        relation: The neighbouring relation.
        mechanism: The mechanism at ``value``.
    """

    value: Fraction
    fails_at: Fraction | None
    attained: Enclosure
    true_positive_rate: Fraction
    false_positive_rate: Fraction
    relation: Relation
    mechanism: Mechanism

    def __post_init__(self) -> None:
        demand_fields(self, value=Fraction, fails_at=(Fraction, NoneType), attained=Enclosure, relation=Relation)
        demand_fields(self, true_positive_rate=Fraction, false_positive_rate=Fraction, mechanism=Mechanism)

    def _sheet(self) -> Sheet:
        facts = (
            ("noise", f"{to_decimal(self.value, 12, 'up')} (proven to suffice)"),
            ("fails at", "unknown" if self.fails_at is None else to_decimal(self.fails_at, 12, "down")),
            ("true positive rate", f"{self.attained.decimals(10)[1]} (proven), of {number(self.true_positive_rate)}"),
            ("false positive rate", number(self.false_positive_rate)),
            ("relation", str(self.relation)),
            ("mechanism", shortened(repr(self.mechanism))),
        )
        return Sheet("calibration to error rates", facts)

    def __str__(self) -> str:
        return self._sheet().text()


def calibrate_to_true_positive_rate(
    factory: Callable[[Fraction], Mechanism],
    target: ExactLike,
    false_positive_rate: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> ErrorRateCalibration:
    """Find the least noise with which no test exceeds a true positive rate at a false positive rate.

    Args:
        factory: From the noise, an exact number, to a mechanism that spends less the larger it is.
        target: The true positive rate, less than 1 and larger than the false positive rate, which guessing attains.
        false_positive_rate: Greater than 0 and less than 1.
        relation: The neighbouring relation.

    Raises:
        InvalidValue: A value is not allowed, or no noise keeps the rate.
        UnsupportedMechanism: No dominating pair is proven for such a mechanism.
        NotCertified: No noise was proven to suffice.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> found = calibrate_to_true_positive_rate(Gaussian, "0.1", "0.01")
    >>> round(float(found.value), 6)  # 1/(Φ^-1(0.99) - Φ^-1(0.9))
    0.957124
    """
    demand_function("factory", factory)
    rate = open_unit(as_allowed(false_positive_rate, "false_positive_rate"), "false_positive_rate")
    most, neighbours = open_unit(as_promised(target, "target"), "target"), as_relation(relation)
    if most <= rate:
        raise InvalidValue("target", brief(most), "larger than the false positive rate, which guessing attains")

    def above(y: float) -> Fraction:
        checkpoint()
        return largest_true_positive_rate(factory(Fraction(math.exp(y))), rate, neighbours)

    def excess(y: float) -> float:
        return math.log(above(y) / most)

    def fails(y: float) -> bool:
        return true_positive_rate(factory(Fraction(math.exp(y))), rate, neighbours).exact_lower > most

    low, high = _bracket(excess, most)
    y = brentq(excess, low, high, xtol=_CLOSE)
    safe = _first(y, 1.0, lambda place: above(place) <= most)
    if safe is None:
        raise NotCertified("no noise was proven to keep the true positive rate; ask for a larger one")
    value = Fraction(math.exp(safe))
    tight = neighbour_classes(factory(value), neighbours).tight
    unsafe = _first(y, -1.0, fails) if tight else None
    return ErrorRateCalibration(
        value=value,
        fails_at=None if unsafe is None else Fraction(math.exp(unsafe)),
        attained=true_positive_rate(factory(value), rate, neighbours),
        true_positive_rate=most,
        false_positive_rate=rate,
        relation=neighbours,
        mechanism=factory(value),
    )


def _bracket(excess: Callable[[float], float], target: Fraction) -> tuple[float, float]:
    """Return (log noise that overspends, log noise that does not), a factor of two apart."""
    y, step = 0.0, math.log(2)
    over = excess(y) > 0
    while (excess(y + step) > 0) == over if over else (excess(y - step) > 0) == over:
        y += step if over else -step
        if abs(y) > _LARGEST:
            wanted = "larger: other releases exceed it" if over else "smaller: other noise keeps it already"
            raise InvalidValue("target", brief(target), wanted)
    return (y, y + step) if over else (y - step, y)


def _first(y: float, towards: float, holds: Callable[[float], bool]) -> float | None:
    """Return the first place on one side of y, at doubling distances, at which a property is proven; None: none is."""
    distance = _CLOSE
    for _ in range(_WIDENED):
        if holds(y + towards * distance):
            return y + towards * distance
        distance *= 2
    return None
