"""Monotonicity of formulas, derived from the formula.

Rules of composition come first, as for convex programs: a sum of rising terms rises, a product of factors whose sizes
all rise keeps its sign and rises in size, a falling function of what falls rises. They speak of pairs of points, so
they need no derivative, and hold for roundings and pieces alike. Where they do not decide, the derivative may: its
sign on the whole domain, for formulas that are smooth there. What neither decides has to be declared, and is tested
at random points (``checking``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from sympy import Expr, Symbol

from dpbounds.expressions.symbols import Domain
from dpbounds.theorems.ranges import Ranges

_RISING = (sympy.exp, sympy.log, sympy.ceiling, sympy.floor, sympy.Max, sympy.Min, sympy.erf, sympy.LambertW)
_FALLING = (sympy.erfc,)
_SMOOTH = (sympy.Symbol, sympy.Number, sympy.NumberSymbol, sympy.Add, sympy.Mul, sympy.Pow, sympy.exp, sympy.log)
_MOST_TERMS = 60  # terms of a derivative that is worth expanding


def direction(
    formula: Expr, symbol: Symbol, domains: Mapping[Symbol, Domain], nonnegative: Iterable[tuple[Expr, bool]] = ()
) -> int | None:
    """Return whether a formula never falls (1), never rises (-1) or stays (0) when a quantity grows; None if undecided.

    Args:
        formula: The formula.
        symbol: The quantity; the others are fixed.
        domains: The domain of every quantity of the formula.
        nonnegative: Formulas that are at least 0 wherever the formula is asked for, each with whether it is never 0.

    >>> from dpbounds.expressions.symbols import dataset_size, delta, domain_of
    >>> formula = sympy.sqrt(sympy.log(1 / delta)) / dataset_size
    >>> domains = {one: domain_of(one) for one in formula.free_symbols}
    >>> direction(formula, dataset_size, domains), direction(formula, delta, domains)
    (-1, -1)
    """
    return _direction(formula, symbol, tuple(sorted(domains.items(), key=str)), tuple(nonnegative))


@lru_cache(maxsize=4096)
def _direction(
    formula: Expr, symbol: Symbol, domains: tuple[tuple[Symbol, Domain], ...], facts: tuple[tuple[Expr, bool], ...]
) -> int | None:
    ranges = Ranges(dict(domains), facts)
    composed = _composed(formula, symbol, ranges)
    if composed is not None:
        return composed
    along = [one for one in facts if _composed(one[0], symbol, ranges) is not None]  # they hold on one interval each
    return _by_derivative(formula, symbol, Ranges(dict(domains), along), dict(domains))


def _composed(formula: Any, symbol: Symbol, ranges: Ranges) -> int | None:
    """Return the direction by the rules of composition alone."""
    if symbol not in formula.free_symbols:
        return 0
    if formula == symbol:
        return 1
    if formula.is_Add:
        return _together(_composed(term, symbol, ranges) for term in formula.args)
    if formula.is_Mul:
        return _of_product(formula.args, symbol, ranges)
    if formula.is_Pow:
        return _of_power(formula.base, formula.exp, symbol, ranges)
    if isinstance(formula, _RISING):
        return _together(_composed(argument, symbol, ranges) for argument in formula.args)
    if isinstance(formula, _FALLING):
        inner = _composed(formula.args[0], symbol, ranges)
        return None if inner is None else -inner
    return None


def _together(directions: Iterable[int | None]) -> int | None:
    """Return the direction that all have; 0 agrees with each."""
    found = set(directions)
    if None in found or {1, -1} <= found:
        return None
    return 1 if 1 in found else -1 if -1 in found else 0


def _of_product(factors: tuple[Expr, ...], symbol: Symbol, ranges: Ranges) -> int | None:
    """Sizes that all grow make the product's size grow; its sign is that of all factors together."""
    sizes, sign = [], 1
    for factor in factors:
        own, moves = ranges(factor).sign, _composed(factor, symbol, ranges)
        if own is None or moves is None:
            return None
        sizes.append(own * moves)
        sign *= own
    size = _together(sizes)
    return None if size is None else sign * size


def _of_power(base: Expr, exponent: Expr, symbol: Symbol, ranges: Ranges) -> int | None:
    moves = _composed(base, symbol, ranges)
    if symbol not in exponent.free_symbols:
        if moves is None:
            return None
        of_base, of_exponent = ranges(base), ranges(exponent).sign
        if of_exponent is None:
            return None
        if of_base.sign == -1 and of_base.low < 0:  # only whole powers are real
            if not exponent.is_Integer or not of_base.excludes_zero:
                return None
            return moves * of_exponent * (1 if exponent.p % 2 else -1)
        if of_base.sign == 1 or (exponent.is_Rational and exponent.q % 2 == 0):  # an even root has a base of at least 0
            return moves * of_exponent
        if exponent.is_Integer and exponent.p > 0 and exponent.p % 2:
            return moves
        return None
    if ranges(base).sign != 1 or not ranges(base).excludes_zero:
        return None
    return _of_product((exponent, sympy.log(base)), symbol, ranges)


def _by_derivative(formula: Expr, symbol: Symbol, ranges: Ranges, domains: Mapping[Symbol, Domain]) -> int | None:
    """Return the sign of the derivative, where the formula is smooth on the whole of the symbol's domain."""
    if not _is_smooth(formula, symbol, ranges):
        return None
    slope = sympy.factor_terms(sympy.together(sympy.diff(formula, symbol)))
    sign = ranges(slope).sign
    if sign is None:
        sign = _by_terms(slope, ranges, domains)
    return sign


def _is_smooth(formula: Expr, symbol: Symbol, ranges: Ranges) -> bool:
    """Return whether nothing that depends on the symbol is divided by 0, has a corner, or leaves the real numbers."""
    for node in sympy.preorder_traversal(formula):
        if symbol not in node.free_symbols:
            continue
        if not isinstance(node, _SMOOTH):
            return False
        if isinstance(node, sympy.log) and not _is_positive(node.args[0], ranges):
            return False
        if node.is_Pow and not (node.exp.is_Integer and node.exp.p > 0) and not _is_positive(node.base, ranges):
            return False
    return True


def _is_positive(formula: Expr, ranges: Ranges) -> bool:
    found = ranges(formula)
    return found.sign == 1 and found.excludes_zero


def _by_terms(slope: Expr, ranges: Ranges, domains: Mapping[Symbol, Domain]) -> int | None:
    """The sign of a fraction whose numerator is a sum of terms of one sign, when all are measured from their least."""
    above, below = sympy.fraction(slope)
    shift = {
        symbol: symbol + sympy.Rational(domain.lower.numerator, domain.lower.denominator)
        for symbol, domain in domains.items()
        if domain.lower is not None and domain.lower > 0 and symbol in above.free_symbols
    }
    below_sign = ranges(below).sign
    if below_sign is None:
        return None
    lowered = Ranges({symbol: _from_zero(domain) for symbol, domain in domains.items()})
    sign = 1
    for factor in sympy.Mul.make_args(above):
        known = ranges(factor).sign
        if known is None:
            known = _of_terms(factor.xreplace(shift), lowered)
        if known is None:
            return None
        sign *= known
    return sign * below_sign


def _of_terms(formula: Expr, ranges: Ranges) -> int | None:
    terms = sympy.Add.make_args(sympy.expand(formula))
    if len(terms) > _MOST_TERMS:
        return None
    signs = {ranges(term).sign for term in terms}
    return signs.pop() if len(signs) == 1 else None


def _from_zero(domain: Domain) -> Domain:
    if domain.lower is None or domain.lower <= 0:
        return domain
    upper = None if domain.upper is None else domain.upper - domain.lower
    return Domain(Fraction(0), upper, domain.lower_open, domain.upper_open)
