"""Enclosures of products of exact numbers with proven means, and of the best of several bounds."""

from __future__ import annotations

from fractions import Fraction

import sympy

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate


def enclosed(number: sympy.Expr | Enclosure) -> Enclosure:
    """Return the number itself if it is rational, else to 20 digits; an enclosure is returned unchanged."""
    if isinstance(number, Enclosure):
        return number
    return evaluate(number, {}, digits=20)


def times(factor: sympy.Expr, mean: sympy.Expr | Enclosure) -> Enclosure:
    """Return the product of two numbers >= 0."""
    first, second = enclosed(factor), enclosed(mean)
    return Enclosure(
        Fraction(first.exact_lower) * Fraction(second.exact_lower),
        Fraction(first.exact_upper) * Fraction(second.exact_upper),
        second.method or first.method,
        max(first.precision, second.precision),
    )


def between(lower: list[Enclosure], upper: list[Enclosure], method: str) -> Enclosure:
    """Return the interval from the largest of proven lower bounds to the smallest of proven upper bounds."""
    precision = max(bound.precision for bound in (*lower, *upper))
    return Enclosure(
        max(bound.exact_lower for bound in lower), min(bound.exact_upper for bound in upper), method, precision
    )
