"""Checks of every statement, in the library or in a file of your own: defects, in words.

Formulas hold exact rationals and known quantities only; they scale as their unit says (F -> cF, w -> sw, every record
repeated); what is declared monotone is so at random points; what the paper hides and what was put back agree; some
problem is known that satisfies all assumptions, and is not a constant.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from sympy import Expr, Symbol

from dpbounds.errors import DpboundsError, InvalidValue, NotCertified
from dpbounds.expressions import units
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.symbols import Domain, Quantity, as_expression, by_name, quantity
from dpbounds.expressions.walk import checked_tree
from dpbounds.theorems.consistency import defects_of
from dpbounds.theorems.evaluation import check
from dpbounds.theorems.monotonicity import conditions_of, derived, domain_in
from dpbounds.theorems.record import Condition, Parameter, Part, Rate, Status, Theorem

_POINTS = 12
_ATTEMPTS = 4000


def defects(theorem: Theorem) -> tuple[str, ...]:
    """Describe the defects of a statement as a record; empty if it is sound."""
    return tuple(_defects(theorem))


def _defects(theorem: Theorem) -> Iterator[str]:
    if not (theorem.statement or "").strip():
        yield "the statement is empty: begin the file with a docstring that states the claim"
    if not theorem.where.strip():
        yield "where is empty: say section, page or equation"
    for record in theorem.local:
        if record.name in by_name():
            yield f"local quantity {record.name}: the symbol table has one of that name; use it"
    for part in theorem.parts:
        try:
            yield from (f"{part.name}: {text}" for text in _defects_of_part(theorem, part))
        except DpboundsError as error:
            yield f"{part.name}: {error}"
    for condition in theorem.every_condition:
        for symbol in condition.symbols:
            if not _is_known(symbol, theorem.local):
                yield f"condition {condition.holds}: {symbol} is neither in the symbol table nor local"
    yield from (f"assumptions: {text}" for text in defects_of(theorem.assumptions))
    if theorem.status is not Status.DEFINITION and not theorem.parts and not theorem.notes:
        yield "no formula and no note: say why there is nothing to evaluate"


def _is_known(symbol: Symbol, local: Iterable[Quantity]) -> bool:
    if any(record.symbol == symbol for record in local):
        return True
    return symbol.name in by_name() and quantity(symbol.name).symbol == symbol


def _defects_of_part(theorem: Theorem, part: Part) -> Iterator[str]:
    tree = checked_tree(part.expression)
    for symbol in sorted(tree.free_symbols, key=str):
        if not _is_known(symbol, theorem.local):
            yield f"{symbol} is neither the symbol table's own nor local"
            return
    own = {record.symbol: record.unit for record in theorem.local}
    scaled: Expr | None = tree
    if isinstance(part, Rate) and part.restored_expression is not None:
        scaled = checked_tree(part.restored_expression)
        if not _agree(tree, scaled.xreplace({symbol: Fraction(1) for symbol in part.hides}), theorem):
            yield "the restored formula differs from the printed one where the hidden quantities are 1"
    elif isinstance(part, Rate | Parameter) and part.hides:
        scaled = None  # print left constants out, and they could not be put back: there is nothing to scale
    if scaled is not None and scaled.free_symbols:
        yield from map(str, units.scaling_defects(scaled, part.unit, units=own, bases=part.bases))
    conditions = conditions_of(theorem, part)
    declared = [(symbol, 1) for symbol in part.increasing_in] + [(symbol, -1) for symbol in part.decreasing_in]
    claims = [(symbol, sign) for symbol, sign in declared if derived(theorem, part, symbol) not in (sign, 0)]
    points = sample(theorem, part.expression, conditions, _POINTS) if claims else []
    values = [(point, _value(part.expression, point)) for point in points]
    for symbol, sign in claims:
        if not all(_is_monotone_at(point, here, theorem, part, symbol, sign) for point, here in values):
            yield f"not {'increasing' if sign > 0 else 'decreasing'} in {symbol}"


def _agree(left: Expr, right: Expr, theorem: Theorem) -> bool:
    def at(formula: Expr, point: Mapping[str, Any]) -> Enclosure:
        return evaluate(as_expression(formula), point, digits=40)

    return all(at(left, point).overlaps(at(right, point)) for point in sample(theorem, left, (), _POINTS))


def _is_monotone_at(
    point: Mapping[str, Fraction], here: Enclosure | None, theorem: Theorem, part: Part, symbol: Symbol, sign: int
) -> bool:
    """Return whether the value, ``here`` at the point, does not move the wrong way where one quantity is larger."""
    conditions = conditions_of(theorem, part)
    value, domain = Fraction(point[symbol.name]), domain_in(theorem, symbol)
    for further in (value * Fraction(3, 2), value * 4):
        moved = {**point, symbol.name: Fraction(-(-further // 1)) if domain.whole else further}
        if not domain.contains(moved[symbol.name]) or not _all_hold(conditions, moved):
            continue
        there = _value(part.expression, moved)
        if here is None or there is None:
            continue
        if there.less_than(here) if sign > 0 else here.less_than(there):
            return False
    return True


def sample(
    theorem: Theorem, expression: Expr, conditions: tuple[Condition, ...], points: int, seed: int = 0
) -> list[dict[str, Fraction]]:
    """Random points of the domains at which the formula is defined and the conditions hold.

    Raises:
        NotCertified: Too few such points were found.
    """
    draw = random.Random(f"{theorem.id} {seed}")  # noqa: S311 (no secret: test points, the same on every machine)
    symbols = expression.free_symbols.union(*(condition.symbols for condition in conditions))
    found: list[dict[str, Fraction]] = []
    for _ in range(_ATTEMPTS):
        point = {symbol.name: drawn(draw, domain_in(theorem, symbol)) for symbol in sorted(symbols, key=str)}
        if _all_hold(conditions, point) and _value(expression, point) is not None:
            found.append(point)
            if len(found) == points:
                return found
    raise NotCertified(f"{theorem.id}: {len(found)} of {points} points were found at which the formula applies")


def _all_hold(conditions: Iterable[Condition], point: Mapping[str, Any]) -> bool:
    try:
        return all(check(condition, point).holds is not False for condition in conditions)
    except InvalidValue:  # a side of a condition is not defined there
        return False


def _value(expression: Expr, point: Mapping[str, Any]) -> Enclosure | None:
    try:
        return evaluate(as_expression(expression), point, digits=20)
    except (InvalidValue, NotCertified):
        return None


def drawn(draw: random.Random, domain: Domain) -> Fraction:
    """Draw a number as ``units.drawn`` does, over more orders of magnitude, and down to the least whole number."""
    if domain.lower is not None and domain.upper is not None and not domain.whole and draw.random() < 0.5:
        share = Fraction(draw.randint(1, 996), 997 * 10 ** draw.randint(1, 6))
        return domain.lower + (domain.upper - domain.lower) * share
    found = units.drawn(draw, domain, 20)
    return found - 1 if domain.whole and domain.upper is None and not domain.lower_open else found
