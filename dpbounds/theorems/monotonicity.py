"""Monotonicity of a part of a statement: derived from its formula, or declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import sympy
from sympy import Expr, Symbol

from dpbounds.expressions.symbols import Domain, domain_of
from dpbounds.theorems.consistency import conditions_for
from dpbounds.theorems.signs import direction

if TYPE_CHECKING:
    from dpbounds.theorems.parts import Condition, Part
    from dpbounds.theorems.record import Theorem


def conditions_of(theorem: Theorem, part: Part) -> tuple[Condition, ...]:
    """Return the conditions of a part, and relations of every problem that concern the formula."""
    known = {symbol.name for symbol in part.expression.free_symbols}
    return (*theorem.conditions, *part.conditions, *conditions_for(theorem.assumptions, known))


def domain_in(theorem: Theorem, symbol: Symbol) -> Domain:
    """Return the domain of a quantity of the statement or of the symbol table."""
    return next((record.domain for record in theorem.local if record.symbol == symbol), None) or domain_of(symbol)


def derived(theorem: Theorem, part: Part, symbol: Symbol) -> int | None:
    """Return, where the conditions hold, 1 if the part never falls when the quantity grows, -1 if it never rises.

    Returns:
        0 if it is constant, None if this is not decided.
    """
    facts = tuple(_facts(condition.holds for condition in conditions_of(theorem, part)))
    occurring = part.expression.free_symbols.union(*(fact.free_symbols for fact, _ in facts))
    return direction(part.expression, symbol, {one: domain_in(theorem, one) for one in occurring}, facts)


def rises(theorem: Theorem, part: Part, symbol: Symbol) -> bool:
    """Return whether the part is known never to fall when the quantity grows."""
    return symbol in part.expression.free_symbols and (
        symbol in part.increasing_in or derived(theorem, part, symbol) == 1
    )


def falls(theorem: Theorem, part: Part, symbol: Symbol) -> bool:
    """Return whether the part is known never to rise when the quantity grows."""
    return symbol in part.expression.free_symbols and (
        symbol in part.decreasing_in or derived(theorem, part, symbol) == -1
    )


def _facts(relations: Iterable[object]) -> Iterator[tuple[Expr, bool]]:
    """Formulas that are at least 0 where relations hold, each with whether it is never 0."""
    for relation in relations:
        if isinstance(relation, sympy.And):
            yield from _facts(relation.args)
        elif isinstance(relation, sympy.Le | sympy.Lt):
            yield relation.rhs - relation.lhs, isinstance(relation, sympy.Lt)
        elif isinstance(relation, sympy.Ge | sympy.Gt):
            yield relation.lhs - relation.rhs, isinstance(relation, sympy.Gt)
