"""Exact constants of a problem as numbers that privacy may rest on: rational, or rounded up."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import evaluate


def rational(constant: sympy.Expr | None, name: str) -> Fraction:
    """Return a rational SymPy constant as a fraction, or raise ``InvalidValue`` where it is irrational or missing."""
    if not isinstance(constant, sympy.Rational):
        raise InvalidValue(name, constant, "a rational number", "round it up to one: a larger bound is still a bound")
    return Fraction(int(constant.p), int(constant.q))


@lru_cache(maxsize=256)  # asked for again at every step of a run
def at_least(constant: sympy.Expr | None, name: str) -> Fraction:
    """Return the constant where it is rational, else a proven upper bound on it (an irrational one, to 53 bits).

    Raises:
        InvalidValue: The problem has no such constant.
    """
    if constant is None:
        raise InvalidValue(name, None, "a constant of the problem", "the noise is calibrated to it")
    if isinstance(constant, sympy.Rational):
        return rational(constant, name)
    return Fraction(evaluate(constant, {}).exact_upper)


def per_distance(problem: Any) -> Fraction:
    """Return L, one record's part of a difference per distance: enforced by the problem, or a constant of it.

    Raises:
        InvalidValue: There is neither.
    """
    enforced: Fraction | None = getattr(problem, "difference_clip", None)
    return at_least(problem.smoothness, "smoothness") if enforced is None else enforced
