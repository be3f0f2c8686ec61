"""Calibration to what an attacker can do: the least noise that keeps a true positive rate, or a μ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Literal

from scipy.optimize import brentq

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, demand_function, shortened
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, as_allowed, as_promised, brief, to_decimal
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.accountants.attackers import largest_true_positive_rate, true_positive_rate
from dpbounds.privacy.accountants.gaussian_dp import gdp_parameter, largest_mu, least_rate_of_tests
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import demand_fields, open_unit, positive

_LARGEST = math.log(2.0**60)  # log noise that is tried
_CLOSE = 1e-10  # in log noise: of the search, and of the first value that is tried beside what it found
_WIDENED = 24  # times that distance is doubled until a side is proven
_NO_BOUND = 50.0  # log of bound/target, where nothing bounds the measure

Measure = Literal["true positive rate", "mu"]


@dataclass(frozen=True, slots=True, repr=False)
class AttackerCalibration(Displayed):
    """Noise that keeps an attacker's success at or below a target, and noise next to it that does not, both proven.

    Attributes:
        value: Suffices: with this noise the measure is at most the target.
        fails_at: Does not suffice: a test shows it. None where no such noise was found, say because the dominating
            pairs are not attained.
        attained: Certified bounds on the measure at ``value``.
        target: The target.
        measure: "true positive rate", the largest of any test, or "mu", the smallest of Gaussian privacy.
        rate: The false positive rate of those tests, or for "mu" the least error rate of the tests that count.
        relation: The neighbouring relation.
        mechanism: The mechanism at ``value``.
    """

    value: Fraction
    fails_at: Fraction | None
    attained: Enclosure
    target: Fraction
    measure: Measure
    rate: Fraction
    relation: Relation
    mechanism: Mechanism

    def __post_init__(self) -> None:
        demand_fields(self, value=Fraction, fails_at=(Fraction, NoneType), attained=Enclosure, relation=Relation)
        demand_fields(self, target=Fraction, measure=str, rate=Fraction, mechanism=Mechanism)

    def _sheet(self) -> Sheet:
        facts = (
            ("noise", f"{to_decimal(self.value, 12, 'up')} (proven to suffice)"),
            ("fails at", "unknown" if self.fails_at is None else to_decimal(self.fails_at, 12, "down")),
            (self.measure, f"{self.attained.decimals(10)[1]} (proven), of {number(self.target)}"),
            ("least error rate" if self.measure == "mu" else "false positive rate", number(self.rate)),
            ("relation", str(self.relation)),
            ("mechanism", shortened(repr(self.mechanism))),
        )
        return Sheet("calibration to an attacker's success", facts)

    def __str__(self) -> str:
        return self._sheet().text()


def calibrate_to_true_positive_rate(
    factory: Callable[[Fraction], Mechanism],
    target: ExactLike,
    false_positive_rate: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> AttackerCalibration:
    """Find the least noise with which no test exceeds a true positive rate at a false positive rate.

    With the false positive rate κ it also keeps the probability of a reconstruction at most ``target`` against
    attackers who succeed with probability κ without the release: see :func:`reconstruction_risk`.

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
    rate = open_unit(as_allowed(false_positive_rate, "false_positive_rate"), "false_positive_rate")
    most, neighbours = open_unit(as_promised(target, "target"), "target"), as_relation(relation)
    if most <= rate:
        raise InvalidValue("target", brief(most), "larger than the false positive rate, which guessing attains")
    return _least_noise(
        factory,
        most,
        lambda mechanism: largest_true_positive_rate(mechanism, rate, neighbours),
        lambda mechanism: true_positive_rate(mechanism, rate, neighbours),
        measure="true positive rate",
        rate=rate,
        relation=neighbours,
    )


def calibrate_to_gdp(
    factory: Callable[[Fraction], Mechanism],
    mu: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    least_rate: ExactLike = "1e-6",
) -> AttackerCalibration:
    """Find the least noise that is proven to give μ-Gaussian differential privacy, as :func:`gdp_parameter` does.

    Args:
        factory: From the noise, an exact number, to a mechanism that spends less the larger it is.
        mu: μ, greater than 0.
        relation: The neighbouring relation.
        least_rate: The smallest false positive rate and the smallest false negative rate of the tests that count,
            greater than 0 and less than 1/2. It does not matter for full batches with Gaussian noise.

    Raises:
        InvalidValue: A value is not allowed, or no noise gives μ.
        UnsupportedMechanism: No dominating pair is proven for such a mechanism.
        NotCertified: No noise was proven to suffice.

    Source: ``attackers.md``, section 5.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> round(float(calibrate_to_gdp(lambda z: Gaussian(z) ** 16, "0.5").value), 6)
    8.0
    """
    most, neighbours = positive(as_promised(mu, "mu"), "mu"), as_relation(relation)
    rate = least_rate_of_tests(least_rate)
    return _least_noise(
        factory,
        most,
        lambda mechanism: largest_mu(mechanism, rate, neighbours),
        lambda mechanism: gdp_parameter(mechanism, neighbours, least_rate=rate),
        measure="mu",
        rate=rate,
        relation=neighbours,
    )


def _least_noise(
    factory: Callable[[Fraction], Mechanism],
    target: Fraction,
    bound: Callable[[Mechanism], Fraction | None],
    enclosed: Callable[[Mechanism], Enclosure],
    *,
    measure: Measure,
    rate: Fraction,
    relation: Relation,
) -> AttackerCalibration:
    """Find the noise at which a bound on a measure crosses the target.

    Args:
        factory: From the noise to a mechanism.
        target: The largest value that is allowed.
        bound: A proven upper bound on the measure; None where there is none.
        enclosed: Certified bounds on the measure.
        measure: Its name.
        rate: The rate that it is about.
        relation: The neighbouring relation.
    """
    demand_function("factory", factory)

    def at(y: float) -> Mechanism:
        checkpoint()
        return factory(Fraction(math.exp(y)))

    def excess(y: float) -> float:
        largest = bound(at(y))
        return _NO_BOUND if largest is None else math.log(max(largest, target / 2**60) / target)

    def suffices(y: float) -> bool:
        largest = bound(at(y))
        return largest is not None and largest <= target

    def fails(y: float) -> bool:
        return bound(at(y)) is not None and enclosed(at(y)).exact_lower > target

    y = brentq(excess, *_bracket(excess, target), xtol=_CLOSE)
    safe = _first(y, 1.0, suffices)
    if safe is None:
        raise NotCertified(f"no noise was proven to keep the {measure}; ask for a larger one")
    value = Fraction(math.exp(safe))
    attained = enclosed(factory(value))
    width = float((attained.exact_upper - attained.exact_lower) / target)  # much nearer nothing is proven to fail
    tight = neighbour_classes(factory(value), relation).tight
    unsafe = _first(y, -1.0, fails, max(_CLOSE, width / 4)) if tight and attained.exact_lower > 0 else None
    return AttackerCalibration(
        value=value,
        fails_at=None if unsafe is None else Fraction(math.exp(unsafe)),
        attained=attained,
        target=target,
        measure=measure,
        rate=rate,
        relation=relation,
        mechanism=factory(value),
    )


def _bracket(excess: Callable[[float], float], target: Fraction) -> tuple[float, float]:
    """Return (log noise that overspends, log noise that does not), a factor of two apart."""
    over = excess(0.0) > 0
    step = math.log(2) if over else -math.log(2)
    if (excess(math.copysign(_LARGEST, step)) > 0) == over:
        wanted = "larger: other releases exceed it" if over else "smaller: other noise keeps it already"
        raise InvalidValue("target", brief(target), wanted)
    y = 0.0
    while (excess(y + step) > 0) == over:
        y += step
    return (y, y + step) if over else (y + step, y)


def _first(y: float, towards: float, holds: Callable[[float], bool], distance: float = _CLOSE) -> float | None:
    """Return the first place on one side of y, at doubling distances, at which a property is proven; None: none is."""
    for _ in range(_WIDENED):
        if holds(y + towards * distance):
            return y + towards * distance
        distance *= 2
    return None
