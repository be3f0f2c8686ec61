"""Bounds of rational functions of one variable on an interval, by isolating roots in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from flint import arb, fmpq, fmpq_poly
from sympy import QQ
from sympy.polys.fields import FracElement, field

_FIELD, T = field("t", QQ)
"""The variable: all functions are sums, products and quotients of it and of rational numbers."""
ONE: FracElement = _FIELD.one
ZERO: FracElement = _FIELD.zero
_MARGIN = Fraction(1, 10**6)


class Interval(NamedTuple):
    """An open interval; None for no end."""

    lower: Fraction | None
    upper: Fraction | None


EVERYWHERE = Interval(None, None)
POSITIVE = Interval(Fraction(0), None)


def number(value: Fraction | int) -> FracElement:
    """Return a constant function."""
    return ONE * QQ(Fraction(value).numerator, Fraction(value).denominator)


def at(function: FracElement, place: Fraction | int) -> Fraction:
    """Return the value at a place that is not a pole."""
    above, below = parts(function)
    value = above(_ratio(Fraction(place))) / below(_ratio(Fraction(place)))
    return Fraction(int(value.p), int(value.q))


def after(function: FracElement, inner: FracElement) -> FracElement:
    """Return the composition: the function of ``inner``."""
    above, below = (sum((number(Fraction(int(c.p), int(c.q))) * inner**i for i, c in enumerate(each)), ZERO)
                    for each in parts(function))  # fmt: skip
    return above / below


@cache
def parts(function: FracElement) -> tuple[fmpq_poly, fmpq_poly]:
    """Numerator and denominator, without a common factor."""
    return _dense(function.numer), _dense(function.denom)


@cache
def never_negative(function: FracElement, interval: Interval) -> bool:
    """Return whether the function is defined and at least 0 everywhere in the interval: it is so between its roots."""
    above, below = parts(function)
    if roots(below, interval):
        return False
    product = above * below  # has the sign of the quotient
    cuts = [*interval[:1], *(Fraction(str(root.mid().fmpq())) for root in roots(product, interval)), *interval[1:]]
    places = [_between(left, right) for left, right in pairwise(cuts)]
    return all(product(_ratio(place)) >= 0 for place in places)


def supremum(function: FracElement, interval: Interval) -> Fraction | None:
    """Return a number that the function never exceeds in the interval, within a millionth of its least.

    None where it has a pole inside, or tends to +∞ at an end.

    Raises:
        ArithmeticError: It was not found.
    """
    above, below = parts(function)
    if roots(below, interval):
        return None
    ends = [_limit(function, interval.lower, 1), _limit(function, interval.upper, -1)]
    if float("inf") in ends:
        return None
    slope = above.derivative() * below - above * below.derivative()
    places = [Fraction(str(root.mid().fmpq())) for root in roots(slope, interval)]
    values = [at(function, place) for place in places] + [end for end in ends if isinstance(end, Fraction)]
    largest = max(values) if values else Fraction(0)
    bound = largest + _MARGIN * max(abs(largest), _MARGIN)
    if not never_negative(number(bound) - function, interval):
        raise ArithmeticError(f"the largest value of {function} was not found")
    return bound


def infimum(function: FracElement, interval: Interval) -> Fraction | None:
    """Return a number below which the function never falls, within a millionth; None where there is a pole, or -∞."""
    found = supremum(-function, interval)
    return None if found is None else -found


def roots(polynomial: fmpq_poly, interval: Interval) -> list[arb]:
    """Return the different real roots inside, isolated, in increasing order."""
    if polynomial.degree() < 1:
        return []
    rest = polynomial
    for end in interval:
        while end is not None and rest.degree() > 0 and rest(_ratio(end)) == 0:
            rest = rest / fmpq_poly([-_ratio(end), 1])
    isolated: Any = rest.numer().complex_roots()  # for an integer polynomial, imaginary parts of real roots are exact
    found = [root.real for root, _ in isolated if root.imag == 0]
    lower, upper = (None if end is None else arb(_ratio(end)) for end in interval)
    inside = [root for root in found if (lower is None or root > lower) and (upper is None or root < upper)]
    return sorted(inside, key=lambda root: float(root.mid()))


def _between(left: Fraction | None, right: Fraction | None) -> Fraction:
    if left is None:
        return Fraction(0) if right is None else right - 1
    return left + 1 if right is None else (left + right) / 2


def _limit(function: FracElement, end: Fraction | None, side: int) -> Fraction | float:
    """Return the limit at an end of an interval, which is approached from that side."""
    far = after(function, (ZERO if end is None else number(end)) + side * (-T if end is None else 1 / T))
    above, below = parts(far)
    if above.degree() < below.degree():
        return Fraction(0)
    ratio = above[above.degree()] / below[below.degree()]
    if above.degree() == below.degree():
        return Fraction(int(ratio.p), int(ratio.q))
    return float("inf") if ratio > 0 else float("-inf")


def _dense(polynomial: Any) -> fmpq_poly:
    coefficients = [fmpq(0)] * (polynomial.degree() + 1 if polynomial else 1)
    for (power,), value in polynomial.terms():
        coefficients[power] = fmpq(int(value.numerator), int(value.denominator))
    return fmpq_poly(coefficients)


def _ratio(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
