"""An instance of a statement, the ratio of bound and instance, and a row of the table of tightness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working
from dpbounds.rates.tightness.losses import Loss
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Theorem

if TYPE_CHECKING:
    from flint import arb

Values = Mapping[str, Fraction]
_BITS = 256
_DIGITS = 15
_EXACT = Fraction(1, 10**12)  # how near to 1 a ratio of equal numbers is proven to be


@dataclass(frozen=True)
class Instance:
    """A problem that satisfies a statement's assumptions, on which the bounded quantity is computed.

    All records have the same loss (where only a common field is assumed, up to linear terms whose mean is 0).

    Attributes:
        values: The statement's quantities, by name; also those that only its assumptions name.
        run: The run and its special properties, in one line.
        measured: From the values what the part bounds: a rational number, or a ball that holds it.
        gap: The loss of the bound there.
        squared: ``measured`` is the square of it.
        start: Distance of the first iterate from the minimiser.
        reach: Largest distance of a point of the set from the minimiser; None for all of space.
    """

    statement: str
    part: str
    values: Values
    loss: Loss
    run: str
    measured: Callable[[Values], Fraction | arb]
    gap: str
    squared: bool = False
    start: Fraction = Fraction(0)
    reach: Fraction | None = None

    def value(self) -> Enclosure:
        """Return the bounded quantity, enclosed."""
        with working(_BITS):
            found = self.measured(self.values)
            ball = to_arb(found) if isinstance(found, Fraction) else found
            ball = ball.sqrt() if self.squared else ball
            return Enclosure.from_balls(ball, ball, "instance", _BITS)


@dataclass(frozen=True, slots=True)
class Finding:
    """A bound, with its instance.

    Attributes:
        ratio: The ratio of the bound to the instance: at least 1 for a valid bound.
    """

    instance: Instance
    bound: Enclosure
    value: Enclosure
    ratio: Enclosure

    @property
    def exact(self) -> bool:
        """Both agree to 12 digits."""
        return self.ratio.exact_upper - 1 <= _EXACT

    @property
    def refuted(self) -> bool:
        """The instance is proven to exceed the bound."""
        return self.bound.less_than(self.value) is True


def compare(theorem: Theorem, instance: Instance) -> Finding:
    """Compare a bound with its instance.

    Raises:
        InvalidValue: The statement does not apply at the instance's values.
        NotCertified: It is not proven to apply there, or neither number's sign is known.
    """
    found = evaluate(theorem, instance.part, instance.values, digits=_DIGITS)
    bound = found.value
    if not found.applies:
        raise NotCertified(f"{theorem.id} is not proven to apply to its instance: {found}")
    value = instance.value()
    return Finding(instance, bound, value, _ratio(bound, value))


def _ratio(bound: Enclosure, value: Enclosure) -> Enclosure:
    """Return the ratio of an upper bound to the bounded value; if both are negative (a decrease), its inverse."""
    if value.exact_upper < 0 and bound.exact_upper < 0:
        larger = Enclosure(-value.exact_upper, -value.exact_lower, value.method, value.precision)
        return _quotient(larger, Enclosure(-bound.exact_upper, -bound.exact_lower))
    if value.exact_lower > 0 and bound.exact_lower > 0:
        return _quotient(bound, value)
    raise NotCertified("an instance's value and its bound have different signs, or one of them may be 0")


def _quotient(above: Enclosure, below: Enclosure) -> Enclosure:
    lower, upper = above.exact_lower / below.exact_upper, above.exact_upper / below.exact_lower
    assert isinstance(lower, Fraction)
    assert isinstance(upper, Fraction)
    return Enclosure(lower, upper, "instance", _BITS)
