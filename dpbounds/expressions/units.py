"""Scaling of formulas when the loss, the length or the data is measured in other units.

A bound on a quantity of unit u must itself scale like u: multiply every loss by c, and a bound on a gradient norm must
be multiplied by c. A formula that does not has been transcribed wrongly, or printed wrongly.

The verdict is reached at points, in ball arithmetic: at randomly drawn (but reproducible) rational values the formula
is evaluated before and after the rescaling. A defect that is reported is proven to be one. That a formula passes means
that it scaled correctly to 50 digits at every point drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.expressions.evaluation import value_at
from dpbounds.expressions.symbols import Domain, Unit, by_name, domain_of, quantity
from dpbounds.expressions.walk import Undecided, checked_tree
from dpbounds.expressions.working import working

BASES = ("loss", "length", "samples")
_POINTS = 6
_ATTEMPTS = 400  # draws in search of points at which the formula is defined and not zero
_PRECISION = 320
_LARGEST_DENOMINATOR = 120  # exponents are recognised as fractions up to this


@dataclass(frozen=True, slots=True)
class ScalingDefect:
    """A defect in the scaling of a formula in one unit.

    Attributes:
        expected: The exponent that the target unit asks for.
        found: The exponent with which the formula scales, or None if it is not a power of the factor at all.
        culprit: If ``found`` is None, the smallest sub-expression that does not scale like a power.
        parts: The arguments of the culprit, each with its exponent (0: not changed by the rescaling).
    """

    base: str
    expected: sympy.Expr
    found: Fraction | None
    culprit: sympy.Basic | None = None
    parts: tuple[tuple[sympy.Basic, Fraction | None], ...] = ()

    def __str__(self) -> str:
        if self.found is not None:
            return f"{self.base}: scales with exponent {self.found}, expected {self.expected}"
        parts = "; ".join(f"{part} with {power}" for part, power in self.parts if power is not None)
        return f"{self.base}: does not scale like a power, because of {self.culprit} (its parts scale: {parts})"


def scaling_defects(
    expression: sympy.Expr,
    target: Unit,
    *,
    units: Mapping[sympy.Symbol, Unit] | None = None,
    bases: Iterable[str] = ("loss", "length"),
    seed: int = 0,
) -> tuple[ScalingDefect, ...]:
    """Return the defects in the scaling of a formula; empty if it scales like ``target``.

    Args:
        expression: A formula in symbols of the table, and in local symbols whose units are given.
        target: The unit of what it bounds.
        units: Units of symbols that are not in the table; an entry for one that is replaces the table's.
        bases: The quantities to rescale, one after the other: "loss" (F -> cF), "length" (w -> sw), "samples" (every
            record repeated; for formulas in n and ρ or in n and ε, but without log(1/δ) + ε and the like).
        seed: Draws other points.

    Returns:
        One defect per base that fails, in the order of ``bases``.

    Raises:
        InvalidValue: A symbol has no unit, a base is not one of the three, or the expression is not supported.
        NotCertified: No points were found at which the formula is defined and not zero.

    >>> from dpbounds.expressions.symbols import Unit, dimension, lipschitz, noise_stddev, steps
    >>> scaling_defects(steps * lipschitz**2 / noise_stddev**2, Unit())
    ()
    >>> print(*scaling_defects(steps * lipschitz / noise_stddev**2, Unit(), bases=("loss",)))
    loss: scales with exponent -1, expected 0
    """
    tree = checked_tree(expression)
    table = _units_of(tree, units or {})
    defects = []
    for base in bases:
        if base not in BASES:
            raise InvalidValue("base", repr(base), "one of " + ", ".join(BASES))
        points = _points(tree, table, target, base, seed)
        wanted = target.exponent(base)
        if all(_scales(tree, point, wanted) for point in points):
            continue
        found = _exponent(tree, points)
        if found is None:
            culprit, parts = _culprit(tree, points)
            defects.append(ScalingDefect(base, wanted, None, culprit, parts))
        else:
            defects.append(ScalingDefect(base, wanted, found))
    return tuple(defects)


@dataclass(frozen=True, slots=True)
class _Point:
    """Values before and after the rescaling by ``factor``; ball arithmetic where exponents are not whole."""

    before: Mapping[sympy.Symbol, Any]
    after: Mapping[sympy.Symbol, Any]
    factor: Fraction


def _units_of(tree: Any, given: Mapping[sympy.Symbol, Unit]) -> dict[sympy.Symbol, Unit]:
    table = {}
    for symbol in sorted(tree.free_symbols, key=str):
        if symbol in given:
            table[symbol] = given[symbol]
        elif symbol.name in by_name():
            table[symbol] = quantity(symbol).unit
        else:
            raise InvalidValue(symbol.name, "(no unit)", "a symbol of the table, or one with an entry in units=...")
    return table


def _points(tree: Any, table: Mapping[sympy.Symbol, Unit], target: Unit, base: str, seed: int) -> list[_Point]:
    powers = {symbol: unit.exponent(base) for symbol, unit in table.items()}
    symbols = set(powers).union(target.exponent(base).free_symbols, *(power.free_symbols for power in powers.values()))
    draw = random.Random(f"{seed} {base}")  # noqa: S311 (no secret: test points, the same on every machine)
    points: list[_Point] = []
    for _ in range(_ATTEMPTS):
        before = {symbol: drawn(draw, domain_of(symbol), 12) for symbol in sorted(symbols, key=str)}
        factor = Fraction(draw.randint(11, 400), 10) ** draw.choice((1, -1))
        with working(_PRECISION):
            after = {
                symbol: _times(value, _power(factor, powers[symbol], before)) if symbol in powers else value
                for symbol, value in before.items()
            }
        point = _Point(before, after, factor)
        # A point counts if the formula has a value other than 0 there. After a rescaling the formula may well have
        # lost its value (the logarithm of what has become negative), and that is a defect, not a reason to redraw.
        value = _value(tree, before)
        if value is not None and not value.contains(0):
            points.append(point)
            if len(points) == _POINTS:
                return points
    raise NotCertified(f"{tree}: {len(points)} of {_POINTS} points were found at which it is defined and not zero")


def drawn(draw: random.Random, domain: Domain, largest: int) -> Fraction:
    """Return a random number of a domain, not at an end, with a small denominator; counts reach to ``2**largest``."""
    if domain.lower is not None and domain.upper is not None:
        if domain.whole:
            return Fraction(draw.randint(int(domain.lower) + 1, int(domain.upper) - 1))
        return domain.lower + (domain.upper - domain.lower) * Fraction(draw.randint(1, 996), 997)
    if domain.whole:
        size = Fraction(round(2 ** draw.uniform(0, largest)))
    else:
        size = Fraction(round(1000 * 2 ** draw.uniform(-5, 5)), 997)
    if domain.lower is not None:
        return domain.lower + size
    return domain.upper - size if domain.upper is not None else size * draw.choice((1, -1))


def _power(factor: Fraction, exponent: sympy.Expr, values: Mapping[sympy.Symbol, Any]) -> Any:
    if exponent.is_Integer:
        return factor ** int(exponent)
    power = value_at(exponent, values, "arb")
    return to_arb(factor) ** _as_ball(power)


def _times(left: Any, right: Any) -> Any:
    """Return the product, exact if both numbers are."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    return _as_ball(left) * _as_ball(right)


def _as_ball(value: Any) -> arb:
    return to_arb(value) if isinstance(value, Fraction) else value


def _value(tree: Any, values: Mapping[sympy.Symbol, Any]) -> arb | None:
    """Return the value in ball arithmetic, None where it is not defined or this precision does not decide a branch."""
    with working(_PRECISION):
        try:
            value = value_at(tree, values, "arb")
        except (InvalidValue, Undecided):
            return None
        return _as_ball(value)


def _scales(tree: Any, point: _Point, wanted: sympy.Expr) -> bool:
    before, after = _value(tree, point.before), _value(tree, point.after)
    if before is None or after is None:
        return False
    with working(_PRECISION):
        factor = _power(point.factor, wanted, point.before)
        target = _times(before, factor)
        gap = after - target
        if not gap.contains(0):
            return False
        if not abs(gap).upper() < abs(target).lower() * arb(10) ** -50:
            raise NotCertified(f"{tree}: {_PRECISION} bits are too few to tell how it scales")
        return True


def _exponent(tree: Any, points: Iterable[_Point]) -> Fraction | None:
    """Return the exponent with which a sub-expression scales: the same at every point, or None."""
    seen: set[Fraction] = set()
    for point in points:
        before, after = _value(tree, point.before), _value(tree, point.after)
        if before is None or after is None:
            continue
        with working(_PRECISION):
            ratio = arb(1) if (before.is_zero() and after.is_zero()) else after / before
            if not ratio > 0:
                return None
            power = ratio.log() / to_arb(point.factor).log()
            middle = Fraction(float(power.mid())).limit_denominator(_LARGEST_DENOMINATOR)
            if not abs(power - to_arb(middle)).upper() < arb(10) ** -40:
                return None
        seen.add(middle)
    return seen.pop() if len(seen) == 1 else None


def _culprit(tree: Any, points: list[_Point]) -> tuple[Any, tuple[tuple[Any, Fraction | None], ...]]:
    """Return the smallest sub-expression that does not scale, all of whose own parts do."""
    node = tree
    while True:
        values = [part for part in node.args if isinstance(part, sympy.Expr)]
        parts = tuple((part, _exponent(part, points)) for part in values)
        worse = [part for part, power in parts if power is None and part.args]
        if not worse:
            return node, parts
        node = worse[0]
