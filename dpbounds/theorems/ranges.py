"""Ranges of formulas when each quantity runs through its domain: intervals, rounded outwards.

An interval is a set that contains every value of the formula where it is defined as a real number. It may be too
large, never too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import sympy
from sympy import Expr, Symbol

from dpbounds.expressions.symbols import Domain

End: TypeAlias = Fraction | float  # a float is infinite
_INFINITY = math.inf
_ULPS = 4  # by how many units in the last place the C library's exp, log and pow may be wrong


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from ``low`` to ``high``; an open end is not among them."""

    low: End = -_INFINITY
    high: End = _INFINITY
    low_open: bool = True
    high_open: bool = True

    @property
    def sign(self) -> int | None:
        """1 if no number is negative, -1 if none is positive, None if both may be (0 counts as either: 1)."""
        return 1 if self.low >= 0 else -1 if self.high <= 0 else None

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 is proven not to be among them."""
        return self.low > 0 or self.high < 0 or (self.low == 0 and self.low_open) or (self.high == 0 and self.high_open)

    def meet(self, other: Range) -> Range:
        """Return the intersection."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return Range(low, high, low_open, not closed)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.high_open, self.low_open)

    def __add__(self, other: Range) -> Range:
        low, high = self.low + other.low, self.high + other.high
        return Range(low, high, self.low_open or other.low_open, self.high_open or other.high_open)

    def __mul__(self, other: Range) -> Range:
        ends = [_product(one, two) for one in self._ends() for two in other._ends()]
        low, low_open = min(ends)  # a closed end stands before an open one
        high, closed = max((end, not is_open) for end, is_open in ends)
        return Range(low, high, low_open, not closed)

    def _ends(self) -> tuple[tuple[End, bool], tuple[End, bool]]:
        return (self.low, self.low_open), (self.high, self.high_open)

    def through(self, function: Callable[[End, int], End]) -> Range:
        """Return the image under a strictly increasing function, given with the direction in which to round."""
        return Range(function(self.low, -1), function(self.high, 1), self.low_open, self.high_open)


ANYTHING = Range()
POSITIVE = Range(Fraction(0))
_NONNEGATIVE = Range(Fraction(0), low_open=False)


def _product(one: tuple[End, bool], two: tuple[End, bool]) -> tuple[End, bool]:
    (a, a_open), (b, b_open) = one, two
    if a == 0 or b == 0:  # 0 times something unbounded is 0, too: the other end bounds the products
        return Fraction(0), (a_open or a != 0) and (b_open or b != 0)
    return a * b, a_open or b_open


def _outwards(value: float, direction: int) -> End:
    """Return a float of the C library, moved by more than its error."""
    for _ in range(_ULPS):
        value = math.nextafter(value, direction * _INFINITY)
    return value if math.isinf(value) else Fraction(value)


def _log(value: End, direction: int) -> End:
    if value <= 0 or value == 1:
        return Fraction(0) if value == 1 else -_INFINITY
    return _rounded(lambda x: math.log(x) if x > 0 else -_INFINITY, value, direction)


def _exp(value: End, direction: int) -> End:
    if value == 0 or math.isinf(value):
        return Fraction(1) if value == 0 else Fraction(0) if value < 0 else _INFINITY
    return max(_rounded(math.exp, value, direction), Fraction(0))


def _rounded(function: Callable[[float], float], value: End, direction: int) -> End:
    """Return an increasing function at a number that no float may be equal to, rounded in a direction."""
    try:
        near = float(value)
    except OverflowError:
        near = _INFINITY if value > 0 else -_INFINITY
    try:
        found = function(math.nextafter(near, direction * _INFINITY))
    except OverflowError:
        found = _INFINITY
    return _outwards(found, direction)


def _power(base: Range, exponent: Fraction) -> Range:
    """A constant power; where it is not a whole one, the base is taken to be at least 0, else there is no value."""
    if exponent < 0:
        return _reciprocal(_power(base, -exponent))
    if exponent.denominator == 1 and exponent.numerator % 2 == 0 and base.low < 0:
        mirrored = (-base) if base.high <= 0 else Range(Fraction(0), max(-base.low, base.high), False, False)
        return _power(mirrored, exponent)
    if exponent.denominator != 1:
        base = base.meet(_NONNEGATIVE)

    def raised(value: End, direction: int) -> End:
        if value in (0, 1) or math.isinf(value):
            return value
        if exponent.denominator == 1:
            return value**exponent.numerator
        steeper = (value > 1) == (direction > 0)  # the exponent is rounded, too
        near = math.nextafter(float(exponent), _INFINITY if steeper else 0.0)
        return max(_rounded(lambda x: max(x, 0.0) ** near, value, direction), Fraction(0))

    return base.through(raised)


def _reciprocal(of: Range) -> Range:
    if of.low < 0 < of.high or of.low == of.high == 0:
        return ANYTHING
    if of.high <= 0:
        return -_reciprocal(-of)
    low = Fraction(0) if of.high == _INFINITY else 1 / of.high
    high = _INFINITY if of.low == 0 else 1 / of.low if of.low < _INFINITY else Fraction(0)
    return Range(low, high, of.high_open, of.low_open or of.low == 0)


def _extremum(ranges: Iterable[Range], largest: bool) -> Range:
    def larger(one: Range, two: Range) -> Range:
        low, low_open = max((one.low, one.low_open), (two.low, two.low_open))
        high, closed = max((one.high, not one.high_open), (two.high, not two.high_open))
        return Range(low, high, low_open, not closed)

    return reduce(larger, ranges) if largest else -reduce(larger, [-one for one in ranges])


def _whole(of: Range, up: bool) -> Range:
    if not up:
        return -_whole(-of, up=True)
    low = of.low if math.isinf(of.low) else Fraction(math.ceil(of.low) + (of.low_open and of.low == math.ceil(of.low)))
    high = of.high if math.isinf(of.high) else Fraction(math.ceil(of.high))
    return Range(low, high, math.isinf(low), math.isinf(high))


def of_domain(domain: Domain) -> Range:
    """Return the interval of a domain."""
    low = -_INFINITY if domain.lower is None else domain.lower
    high = _INFINITY if domain.upper is None else domain.upper
    return Range(low, high, domain.lower is None or domain.lower_open, domain.upper is None or domain.upper_open)


class Ranges:
    """The ranges of formulas, if each quantity runs through its domain and known inequalities hold.

    Args:
        domains: The domain of every quantity.
        nonnegative: Formulas that are at least 0, each with whether it is never 0.
    """

    def __init__(self, domains: Mapping[Symbol, Domain], nonnegative: Iterable[tuple[Expr, bool]] = ()) -> None:
        self._symbols = {symbol: of_domain(domain) for symbol, domain in domains.items()}
        self._facts = tuple(nonnegative)
        self._known: dict[Any, Range] = {}

    def __call__(self, formula: Any) -> Range:
        """The range of a formula."""
        if formula not in self._known:
            self._known[formula] = self._of(formula).meet(_by_assumptions(formula))
        return self._known[formula]

    def _of(self, formula: Any) -> Range:
        if isinstance(formula, Symbol):
            return self._symbols.get(formula, ANYTHING)
        if formula.is_Rational:
            value = Fraction(int(formula.p), int(formula.q))
            return Range(value, value, low_open=False, high_open=False)
        if formula.is_Add:
            return self._sum(formula)
        if formula.is_Mul:
            return reduce(Range.__mul__, [self(factor) for factor in formula.args])
        if formula.is_Pow:
            return self._of_power(*formula.as_base_exp()) if formula.exp != -1 else _reciprocal(self(formula.base))
        return self._of_function(formula)

    def _sum(self, formula: Expr) -> Range:
        total = reduce(Range.__add__, [self(term) for term in formula.args])
        if total.sign is None:
            for fact, strict in self._facts:
                ratio = _ratio(formula, fact)
                if ratio is not None:
                    total = total.meet(self(ratio) * Range(Fraction(0), low_open=strict))
        return total

    def _of_power(self, base: Expr, exponent: Expr) -> Range:
        if exponent.is_Rational:
            return _power(self(base), Fraction(int(exponent.p), int(exponent.q)))
        if self(base).sign != 1:  # a whole exponent gives a negative base a value, too
            return ANYTHING
        return (self(exponent) * self(base).through(_log)).through(_exp)

    def _of_function(self, formula: Any) -> Range:
        if isinstance(formula, sympy.Max | sympy.Min):
            return _extremum([self(one) for one in formula.args], largest=isinstance(formula, sympy.Max))
        if isinstance(formula, sympy.Piecewise):
            pieces = [self(value) for value, _ in formula.args]
            least, largest = _extremum(pieces, largest=False), _extremum(pieces, largest=True)
            return Range(least.low, largest.high, least.low_open, largest.high_open)
        if isinstance(formula, sympy.exp):
            return self(formula.args[0]).through(_exp)
        if isinstance(formula, sympy.log):
            return self(formula.args[0]).through(_log)
        if isinstance(formula, sympy.ceiling | sympy.floor):
            return _whole(self(formula.args[0]), up=isinstance(formula, sympy.ceiling))
        if isinstance(formula, sympy.Abs):
            inner = self(formula.args[0])
            return _extremum([inner, -inner], largest=True).meet(_NONNEGATIVE)
        return ANYTHING


def _by_assumptions(formula: Any) -> Range:
    """Return the range that follows from SymPy's assumptions on symbols, which follow from their domains."""
    if formula.is_positive:
        return POSITIVE
    if formula.is_negative:
        return -POSITIVE
    if formula.is_nonnegative:
        return _NONNEGATIVE
    return -_NONNEGATIVE if formula.is_nonpositive else ANYTHING


def _ratio(formula: Expr, fact: Expr) -> Expr | None:
    """Return the quotient of two formulas, where it has no sum left whose sign would have to be known."""
    if not formula.free_symbols & fact.free_symbols:
        return None
    found = sympy.factor_terms(sympy.cancel(formula / fact)) if _is_algebraic(formula / fact) else formula / fact
    return found if sum(term.is_Add for term in sympy.preorder_traversal(found)) == 0 else None


def _is_algebraic(formula: Expr) -> bool:
    return formula.is_rational_function() is True
