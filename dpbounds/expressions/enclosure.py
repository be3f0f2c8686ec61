"""Enclosure: a proven [lower, upper], and comparison that may answer "unknown"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, NotCertified, demand
from dpbounds.expressions.exact import Direction, ExactLike, formatted, rational, to_decimal, to_float
from dpbounds.limits import COUNT

if TYPE_CHECKING:
    from flint import arb

End = Fraction | float  # a rational number, or an infinity
# No exact end needs more bits than this on either side of the point: smaller positive ends are rounded outwards to 0
# or 2**-this, larger ones refused.
_SMALLEST_EXPONENT = 1 << 19
_MOST_BITS = 1 << 12  # bits of a bound, however many its proof took


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number known to lie in ``[exact_lower, exact_upper]``, with a proof.

    Attributes:
        exact_lower: The proven lower bound, a rational number or ``-inf``.
        exact_upper: The proven upper bound, a rational number or ``inf``.
        method: The method of the proof ("closed form", "contour", "lattice", ...).
        precision: Working precision in bits of the proof (0: exact arithmetic).

    ``lower`` and ``upper`` are the bounds as floats, rounded outwards; ``float`` works only if both are the same
    double. ``a.less_than(b)`` answers True, False or None (unknown); ``a < b`` raises ``NotCertified`` where that is
    None. ``+ - * /`` enclose the result for any numbers in the operands, independently of each other. Formats such as
    ``f"{a:.4g}"`` round both bounds outwards.
    """

    exact_lower: End
    exact_upper: End
    method: str = ""
    precision: int = 0

    def __post_init__(self) -> None:
        demand("method", self.method, str)
        if type(self.precision) is not int or not 0 <= self.precision <= COUNT:
            raise InvalidValue("precision", self.precision, "a number of bits, at least 0")
        ends = (self.exact_lower, self.exact_upper)
        exact_ends = all(type(end) is Fraction or (type(end) is float and math.isinf(end)) for end in ends)
        if not exact_ends or not ends[0] <= ends[1]:
            raise InvalidValue("enclosure", ends, "two exact ends in increasing order (fractions or infinities)")

    @classmethod
    def exactly(cls, value: ExactLike, method: str = "exact") -> Enclosure:
        """Return the enclosure of zero width around ``value``."""
        number = rational(value)
        return cls(number, number, method)

    @classmethod
    def from_balls(cls, lower: arb, upper: arb, method: str, precision: int) -> Enclosure:
        """Return the interval from the lower endpoint of one ball to the upper endpoint of another, at ``precision``.

        Raises:
            NotCertified: A ball is not finite (its computation broke down).
        """
        if not (lower.is_finite() and upper.is_finite()):
            raise NotCertified(f"{method}: the computation lost all accuracy; ask for a looser tolerance")
        from dpbounds.expressions.working import working  # (here: the command line shows its help without FLINT)

        with working(min(precision, _MOST_BITS)):
            return cls(ball_end(lower, "down"), ball_end(upper, "up"), method, precision)

    @property
    def lower(self) -> float:
        """The lower bound as a double, rounded down."""
        return to_float(self.exact_lower, "down")

    @property
    def upper(self) -> float:
        """The upper bound as a double, rounded up."""
        return to_float(self.exact_upper, "up")

    @property
    def width(self) -> float:
        """Upper minus lower bound, rounded up."""
        if self.exact_lower == self.exact_upper:
            return 0.0
        return to_float(self.exact_upper - self.exact_lower, "up")

    @property
    def digits(self) -> int:
        """Number of significant decimal digits that both bounds share (at most 15 for width zero)."""
        if self.exact_lower == self.exact_upper:
            return 15
        if isinstance(self.exact_lower, float) or isinstance(self.exact_upper, float):  # an end at infinity
            return 0
        scale = max(abs(self.exact_lower), abs(self.exact_upper))
        return max(0, -math.ceil(_log10((self.exact_upper - self.exact_lower) / scale)))

    def contains(self, value: ExactLike | Enclosure) -> bool:
        """Return whether the number (or all of the other enclosure) lies within the bounds, exactly."""
        if isinstance(value, Enclosure):
            return self.exact_lower <= value.exact_lower and value.exact_upper <= self.exact_upper
        if isinstance(value, float) and math.isinf(value):
            return value in (self.exact_lower, self.exact_upper)
        return self.exact_lower <= rational(value) <= self.exact_upper

    def overlaps(self, other: Enclosure) -> bool:
        """Return whether both can contain the same number (two proven enclosures of one number always do)."""
        return self.exact_lower <= other.exact_upper and other.exact_lower <= self.exact_upper

    def less_than(self, other: ExactLike | Enclosure) -> bool | None:
        """Three-valued ``<``: True or False where every point agrees, None where the enclosures do not decide."""
        second = _as_enclosure(other)
        if self.exact_upper < second.exact_lower:
            return True
        return False if self.exact_lower >= second.exact_upper else None

    def at_most(self, other: ExactLike | Enclosure) -> bool | None:
        """Three-valued ``<=``."""
        second = _as_enclosure(other)
        if self.exact_upper <= second.exact_lower:
            return True
        return False if self.exact_lower > second.exact_upper else None

    def __lt__(self, other: ExactLike | Enclosure) -> bool:
        return _decided(self.less_than(other), self, "<", other)

    def __le__(self, other: ExactLike | Enclosure) -> bool:
        return _decided(self.at_most(other), self, "<=", other)

    def __gt__(self, other: ExactLike | Enclosure) -> bool:
        return not _decided(self.at_most(other), self, ">", other)

    def __ge__(self, other: ExactLike | Enclosure) -> bool:
        return not _decided(self.less_than(other), self, ">=", other)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.exact_upper, -self.exact_lower, self.method, self.precision)

    def __abs__(self) -> Enclosure:
        return self if self.exact_lower >= 0 else (-self).larger(self).larger(Enclosure.exactly(0, self.method))

    def __add__(self, other: ExactLike | Enclosure) -> Enclosure:
        second = _as_enclosure(other)
        lower = _sum(self.exact_lower, second.exact_lower, -math.inf)
        return self._joined(second, lower, _sum(self.exact_upper, second.exact_upper, math.inf))

    def __mul__(self, other: ExactLike | Enclosure) -> Enclosure:
        second = _as_enclosure(other)
        mine, others = (self.exact_lower, self.exact_upper), (second.exact_lower, second.exact_upper)
        products = [_product(a, b) for a in mine for b in others]
        return self._joined(second, min(products), max(products))

    def __sub__(self, other: ExactLike | Enclosure) -> Enclosure:
        return self + -_as_enclosure(other)

    def __truediv__(self, other: ExactLike | Enclosure) -> Enclosure:
        second = _as_enclosure(other)
        if second.contains(0):
            raise InvalidValue("divisor", second, "an enclosure that does not hold 0")
        lower, upper = (
            Fraction(0) if isinstance(end, float) else 1 / end for end in (second.exact_upper, second.exact_lower)
        )
        return self * Enclosure(lower, upper, second.method, second.precision)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: ExactLike) -> Enclosure:
        return _as_enclosure(other) - self

    def __rtruediv__(self, other: ExactLike) -> Enclosure:
        return _as_enclosure(other) / self

    def _joined(self, other: Enclosure, lower: End, upper: End) -> Enclosure:
        """Return the result of an operation on the two, its ends rounded outwards where they have grown long."""
        for each in (self, other):
            if math.inf in (each.exact_lower, -each.exact_upper):
                raise InvalidValue(
                    "enclosure", each, "one that holds a finite number", "there is no arithmetic with infinity"
                )
        ends = _outwards(lower, "down"), _outwards(upper, "up")
        methods = [each for each in self._methods(other) if each not in ("", "exact")]
        return Enclosure(*ends, " and ".join(methods) or self.method, max(self.precision, other.precision))

    def _methods(self, other: Enclosure) -> list[str]:
        """Return the methods of both, each once."""
        return list(dict.fromkeys([*self.method.split(" and "), *other.method.split(" and ")]))

    def hull(self, other: Enclosure) -> Enclosure:
        """Return the smallest enclosure that contains both."""
        return Enclosure(
            min(self.exact_lower, other.exact_lower),
            max(self.exact_upper, other.exact_upper),
            self.method,
            max(self.precision, other.precision),
        )

    def larger(self, other: Enclosure) -> Enclosure:
        """Return an enclosure of the maximum of the two numbers."""
        return Enclosure(
            max(self.exact_lower, other.exact_lower),
            max(self.exact_upper, other.exact_upper),
            " and ".join(self._methods(other)),
            max(self.precision, other.precision),
        )

    def within(self, low: ExactLike, high: ExactLike) -> Enclosure:
        """Return the part in [low, high], for a number that is known to lie there (a probability in [0, 1], say).

        Raises:
            InvalidValue: Nothing is left, so one of the two claims is wrong.
        """
        lower, upper = max(self.exact_lower, rational(low)), min(self.exact_upper, rational(high))
        return Enclosure(lower, upper, self.method, self.precision)

    def decimals(self, digits: int) -> tuple[str, str]:
        """Return both bounds as decimal text with ``digits`` significant digits, rounded outwards."""
        return to_decimal(self.exact_lower, digits, "down"), to_decimal(self.exact_upper, digits, "up")

    def __float__(self) -> float:
        if self.lower == self.upper:
            return self.lower
        raise NotCertified(
            f"cannot convert the interval {self} to a float: use .upper, rounded up (safe to publish), or .lower"
        )

    def __format__(self, specification: str) -> str:
        if not specification:
            return str(self)
        lower, upper = (
            formatted(self.exact_lower, specification, "down"),
            formatted(self.exact_upper, specification, "up"),
        )
        return f"[{lower}, {upper}]"

    def __str__(self) -> str:
        lower, upper = self.decimals(min(17, self.digits + 2))
        return f"[{lower}, {upper}]"

    def __repr__(self) -> str:
        return f"Enclosure({self}, {self.method or 'no method'}, {self.precision} bits)"

    def _repr_latex_(self) -> str:
        lower, upper = self.decimals(min(17, self.digits + 2))
        return rf"$\left[{lower},\ {upper}\right]$"


def ball_end(ball: arb, direction: str) -> Fraction:
    """The lower ("down") or upper ("up") end of a finite ball as an exact number, rounded outwards where tiny."""
    end = ball.lower() if direction == "down" else ball.upper()
    if not end.is_finite():
        raise NotCertified("the computation lost all accuracy, or its numbers are too large")
    mantissa, exponent = (int(part) for part in end.man_exp())
    if exponent > _SMALLEST_EXPONENT:
        raise NotCertified("the number is too large to be written down exactly")
    if exponent < -_SMALLEST_EXPONENT:
        shift = -_SMALLEST_EXPONENT - exponent
        mantissa = mantissa >> shift if direction == "down" else -((-mantissa) >> shift)
        exponent = -_SMALLEST_EXPONENT
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _sum(left: End, right: End, otherwise: float) -> End:
    """Return the sum of two bounds: infinite if one is; if both are and differ, the one that is always right."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right
    infinite = {end for end in (left, right) if isinstance(end, float)}
    return infinite.pop() if len(infinite) == 1 else otherwise


def _product(left: End, right: End) -> End:
    """Return the product of two bounds, 0 times an infinity being 0: the infinity is a missing bound."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    if left == 0 or right == 0:
        return Fraction(0)
    return math.inf if (left > 0) is (right > 0) else -math.inf


def _outwards(end: End, direction: Direction) -> End:
    """Round a bound outwards to at most ``_MOST_BITS`` bits; exact if it has no more."""
    if isinstance(end, float) or max(abs(end.numerator), end.denominator).bit_length() <= _MOST_BITS:
        return end
    size = abs(end.numerator).bit_length() - end.denominator.bit_length()
    if size > _SMALLEST_EXPONENT:
        raise NotCertified("the number is too large to be written down exactly")
    shift = max(size - _MOST_BITS, -_SMALLEST_EXPONENT)
    top, bottom = end.numerator << max(0, -shift), end.denominator << max(0, shift)
    whole = top // bottom if direction == "down" else -(-top // bottom)
    return Fraction(whole << shift) if shift >= 0 else Fraction(whole, 1 << -shift)


def _as_enclosure(value: ExactLike | Enclosure) -> Enclosure:
    if isinstance(value, float) and math.isinf(value):
        return Enclosure(value, value)
    return value if isinstance(value, Enclosure) else Enclosure.exactly(value)


def _decided(answer: bool | None, left: object, sign: str, right: object) -> bool:
    if answer is None:
        raise NotCertified(f"{left} {sign} {right} is not decided at this precision; ask for more digits")
    return answer


def _log10(value: Fraction) -> float:
    return (math.log2(value.numerator) - math.log2(value.denominator)) * math.log10(2.0)
