"""Prescriptions of a statement at given numbers: parameters that follow from each other, rounded as they must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Expr

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.evaluation import evaluate as value_of
from dpbounds.expressions.symbols import Quantity, by_name
from dpbounds.theorems.record import Bound, Parameter, Theorem

DIGITS = 15
BUDGET = ("epsilon", "delta", "rho")  # what a person chooses; nothing prescribed replaces it
# What a budget determines: at any other value than the one that was calibrated a bound keeps no budget.
CALIBRATED = (
    *("rho", "gaussian_mu", "noise_multiplier", "noise_stddev", "hessian_noise_stddev", "difference_noise_stddev"),
    *("inverse_temperature", "step_epsilon"),
)


@dataclass(frozen=True, slots=True)
class Prescribed:
    """A parameter that a statement prescribes, at the numbers given.

    Attributes:
        value: Rounded to a whole number where it counts something; 15 digits else.
        up_to_constant: Printed as an order: the value is that of the formula inside O(.).
    """

    name: str
    value: Fraction
    meaning: str
    up_to_constant: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """All values that follow once a budget is chosen.

    Attributes:
        values: Under the quantities' names; what was given is kept.
    """

    values: dict[str, Fraction]
    parameters: tuple[Prescribed, ...]


def roots(theorem: Theorem, formula: Expr, given: Mapping[str, Any]) -> set[str]:
    """Return the names that a formula needs in the end, after substitution of all prescriptions of the statement."""
    exact = [part for part in theorem.parts if isinstance(part, Parameter) and not part.is_order]
    prescribed = {part.name: part.expression for part in exact if part.name not in given}
    return sources(formula, prescribed)


def sources(formula: Expr, prescribed: Mapping[str, Expr]) -> set[str]:
    """Return the names that a formula needs in the end, where formulas are substituted for some names."""
    seen: set[str] = set()
    pending = [formula]
    while pending:
        names = {symbol.name for symbol in pending.pop().free_symbols} - seen
        seen |= names
        pending += [prescribed[name] for name in names if name in prescribed]
    return seen - set(prescribed)


def overruled(theorem: Theorem, part: Bound, given: Mapping[str, Any]) -> list[str]:
    """Return the given quantities that the statement prescribes or chooses itself.

    A bound that does not depend on it holds at what is prescribed, as far as is known; and a mechanism that does not
    take it releases what is prescribed.
    """
    free = [symbol.name for symbol in theorem.free]
    exact = [one.name for one in theorem.parts if isinstance(one, Parameter) and not one.is_order]
    taken = {*free, *(symbol.name for symbol in theorem.privacy.needs)} if theorem.privacy is not None else set(given)
    reached = roots(theorem, part.expression, given)
    chosen = [name for name in dict.fromkeys((*exact, *free)) if name in given and name not in BUDGET]
    return [name for name in chosen if not (name in taken and name in reached)]


def settled_at(theorem: Theorem, given: Mapping[str, Fraction], rho: Fraction | None) -> Settled:
    """Evaluate the prescriptions of a statement, as far as the values suffice.

    Counts are rounded up, or down where the record says so; the rest is rounded in its 15th digit, and the bound is
    evaluated for what results.
    """
    values = {**given, **({"rho": rho} if rho is not None else {})}
    parameters: list[Prescribed] = []
    pending = [part for part in theorem.parts if isinstance(part, Parameter)]
    local = {quantity.name: quantity for quantity in theorem.local}
    while True:
        ready = [one for one in pending if all(symbol.name in values for symbol in one.expression.free_symbols)]
        if not ready:
            return Settled(values, tuple(parameters))
        for part in ready:
            pending.remove(part)
            if part.name in given and part.name not in BUDGET:
                continue
            number = _rounded(part, values, by_name().get(part.name) or local.get(part.name))
            if number is None:
                continue
            parameters.append(Prescribed(part.name, number, part.meaning, part.up_to_constant))
            if part.name not in values and (part.name in by_name() or part.name in local):
                values[part.name] = number


def _rounded(part: Parameter, values: Mapping[str, Fraction], record: Quantity | None) -> Fraction | None:
    try:
        found = value_of(part.expression, values, digits=DIGITS)
    except (InvalidValue, NotCertified):
        return None
    number = Fraction(found.exact_upper)
    counts = "steps" in part.name or "round" in part.meaning or (record is not None and record.domain.whole)
    if counts:
        whole = int(Fraction(found.exact_lower) // 1) if "round down" in part.meaning else -int(-number // 1)
        return Fraction(max(1, whole))
    return number
