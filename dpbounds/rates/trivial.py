"""Trivial bounds, which hold without any algorithm, and bounds that no algorithm can beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr, sqrt

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate as value_of
from dpbounds.expressions.symbols import by_name, diameter, initial_gap, lipschitz, loss_range, smoothness
from dpbounds.rates.prescriptions import DIGITS
from dpbounds.rates.promises import DECIDING, GRADIENTS, RISKS
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Metric, Part, Rate, Theorem


@dataclass(frozen=True, slots=True)
class Trivial:
    """A trivial bound, with its justification."""

    value: Enclosure
    reason: str


def _trivially(metric: Metric) -> tuple[tuple[Expr, str], ...]:
    """Formulas that bound the metric at any point, or at the first one, and why.

    There is none for the norm of a projected gradient, which depends on the regulariser.
    """
    span = lipschitz * diameter
    every = (
        (GRADIENTS, lipschitz, "no gradient is longer than lipschitz"),
        ((Metric.GRADIENT_NORM,), sqrt(2 * smoothness * initial_gap),
         "the first iterate already has |∇F|² <= 2 smoothness initial_gap, unconstrained"),
        (RISKS, span, "no two points of the set differ in risk by more than lipschitz x diameter"),
        (RISKS, loss_range, "no two points differ in risk by more than loss_range"),
        ((Metric.EXCESS_EMPIRICAL_RISK,), initial_gap,
         "the first iterate already has an excess risk of at most initial_gap"),
        ((Metric.FRANK_WOLFE_GAP,), span, "the gap is at most lipschitz x diameter"),
    )  # fmt: skip
    return tuple((formula, reason) for metrics, formula, reason in every if metric in metrics)


def trivial_bounds(metric: Metric, given: Mapping[str, Fraction]) -> tuple[Trivial, ...]:
    """Return bounds that hold without any algorithm, the smallest first, as far as the given numbers suffice."""
    found = [
        Trivial(value_of(formula, given, digits=DIGITS), reason)
        for formula, reason in _trivially(metric)
        if all(symbol.name in given for symbol in formula.free_symbols)
    ]
    return tuple(sorted(found, key=lambda one: one.value.exact_upper))


def no_floor(theorem: Theorem, part: Part, given: Mapping[str, Fraction]) -> str:
    """Return why a lower bound has no numerical value; empty if it has one.

    It may hide what decides how large it is. Or its problems may be others: where constants that it does not name bound
    the metric by less than those that it names, its worst problems need not be among those that are asked about.
    """
    if isinstance(part, Rate):
        hidden = tuple(one for one in part.hides if one in DECIDING)
        if not hidden and part.restored_expression is None:
            hidden = tuple(one for one in part.hides if given.get(one.name) != 1)
        if hidden:
            return f"no floor: the published order hides how it depends on {', '.join(one.name for one in hidden)}"
    formula = part.expression if part.restored_expression is None else part.restored_expression
    names = {symbol.name for symbol in formula.free_symbols}
    every = trivial_bounds(theorem.metric, given)
    named = trivial_bounds(theorem.metric, {name: value for name, value in given.items() if name in names})
    if named and every[0].value.exact_upper < named[0].value.exact_lower:
        return f"no floor: its problems may be worse than those with the numbers given ({every[0].reason})"
    return ""


def floor_of(theorem: Theorem, part: Part, given: Mapping[str, Fraction]) -> tuple[str, Enclosure, bool] | None:
    """Return a lower bound's value, where the numbers given suffice and its conditions hold."""
    restored = part.restored_expression
    known = {name: value for name, value in given.items() if name in by_name()}
    if any(symbol.name not in known for symbol in (part.expression if restored is None else restored).free_symbols):
        return None  # what only the statement's own notation has is an assumption about the problem, not a number of it
    try:
        found = evaluate(theorem, part.name, known, digits=DIGITS)
        value = found.value if restored is None else value_of(restored, known, digits=DIGITS)
    except (InvalidValue, NotCertified):
        return None
    main = part is (theorem.bound or theorem.rate)
    name = theorem.id if main else f"{theorem.id}: {part.name}"
    return (name, value, found.up_to_constant) if found.applies else None
