"""The parameters of a bound within a budget: prescribed, tied to the budget, or searched for where they are free."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate as value_of
from dpbounds.expressions.symbols import dataset_size as records, sample_rate, stationarity
from dpbounds.privacy.values import Budget
from dpbounds.rates.budgets import Tied, gaussian_rho, tied, tied_rho
from dpbounds.rates.costs import gradients_per_record
from dpbounds.rates.guarantees import Unfit
from dpbounds.rates.prescriptions import DIGITS, Settled, settled_at
from dpbounds.rates.tuning import Tuned, freedom, likely_rho, search, tuned
from dpbounds.theorems.evaluation import Evaluation, evaluate
from dpbounds.theorems.record import Bound, Claim, Theorem

_ALL_BUT = 1 - Fraction(1, 10**9)
_NEARLY = Fraction(11, 10)  # a guess that is so near to what is proven leads to parameters that are nearly the best


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of steps, gradients, records per step and numbers in memory; None where there is none."""

    steps: int | None = None
    gradients: int | None = None
    batch: int | None = None
    memory: int | None = None

    def steps_of(self, theorem: Theorem, given: Mapping[str, Fraction]) -> int | None:
        """Return the largest number of steps of a statement's algorithm, as far as it is known before tuning."""
        if self.gradients is None:
            return self.steps
        affordable = max(1, self.gradients // int(given["dataset_size"] * gradients_per_record(theorem)))
        return affordable if self.steps is None else min(affordable, self.steps)


@dataclass(frozen=True, slots=True)
class Freedom:
    """The free parameters of a statement, the limits of steps and gradients, and where a search ended before."""

    free: tuple[Symbol, ...] = ()
    most: Limits = Limits()
    point: tuple[float, ...] | None = None


def settle(
    theorem: Theorem,
    part: Bound,
    known: Mapping[str, Fraction],
    budget: Budget,
    searched: Freedom,
) -> tuple[Tied | None, Settled, Evaluation, tuple[float, ...]]:
    """Return the privacy and the bound of a statement: at prescribed values, and at the best free ones that are found.

    The search needs a ρ, and the ρ that is kept depends on what is found: where it is less than was thought, once more.

    Returns:
        The last is where the search ended.
    """
    guess = None if theorem.privacy is None else theorem.privacy.guess
    rho = gaussian_rho(budget)
    point: tuple[float, ...] = searched.point or ()
    for _ in range(2 if searched.free else 1):
        here = known
        spend = {"rho": rho} if guess is None else {"gaussian_mu": Fraction(math.sqrt(2 * rho))}
        if searched.free:
            best = tuned_within(theorem, part, {**known, **spend}, replace(searched, point=point or None))
            here, point = {**known, **best.values}, best.point
        held = _held(theorem, here, budget)
        settled = settled_at(theorem, here, None if held is None else held.rho)
        if held is None or held.rho is None:
            break
        thought = rho if guess is None else Fraction(likely_rho(guess, {**here, **spend}))
        if thought * _ALL_BUT <= held.rho if guess is None else thought / _NEARLY <= held.rho <= thought * _NEARLY:
            break
        rho *= held.rho / thought
    return held, settled, evaluate(theorem, part.name, settled.values, digits=DIGITS), point


def _held(theorem: Theorem, known: Mapping[str, Fraction], budget: Budget) -> Tied | None:
    if theorem.privacy is None:
        return None
    if theorem.privacy.claim is Claim.ZCDP:
        return tied_rho(theorem, lambda rho: settled_at(theorem, known, rho).values, budget)
    return tied(theorem, settled_at(theorem, known, None).values, budget)


def free_symbols(theorem: Theorem, part: Bound, given: Mapping[str, Fraction]) -> tuple[Symbol, ...]:
    """Return the quantities of the bound and its conditions that the statement leaves free."""
    conditions = (*theorem.conditions, *part.conditions)
    occurring = part.expression.free_symbols.union(*(one.symbols for one in conditions))
    return freedom(theorem, occurring, given)


def tuned_within(theorem: Theorem, part: Bound, values: Mapping[str, Fraction], where: Freedom) -> Tuned:
    """Return good values of the free quantities, at which every condition and limit holds; else raise ``Unfit``."""
    conditions = [one.holds for one in (*theorem.conditions, *part.conditions)]
    goal = part.expression
    if theorem.reaches is not None:
        conditions.append(goal <= records)
        goal = stationarity
    most_of = (("steps", where.most.steps), ("gradients", where.most.gradients), ("memory", where.most.memory))
    for name, most in most_of:
        bound = counting(theorem, name)
        if bound is not None and most is not None:
            conditions.append(bound.expression <= most)
    if sample_rate in where.free and where.most.batch is not None:
        conditions.append(sample_rate * records <= where.most.batch)
    found = tuned(search(theorem, goal, conditions, where.free, values, where.most.steps), where.point)
    if found is None:
        raise Unfit("no parameters within the limits were found at which it applies")
    return found


def counting(theorem: Theorem, name: str) -> Bound | None:
    """Return a bound on the number of "steps", where that is not chosen, of "gradients", or of numbers in "memory"."""
    return next((one for one in theorem.parts if isinstance(one, Bound) and one.name == name), None)


def counted(theorem: Theorem, name: str, settled: Settled) -> int | None:
    """Return that bound's value, rounded down; None if the statement does not bound a number."""
    bound = counting(theorem, name)
    return None if bound is None else math.floor(value_of(bound.expression, settled.values).exact_upper)


def promised(theorem: Theorem, found: Evaluation, settled: Settled) -> Enclosure | None:
    """Return the bounded value: for a number of records, the α at which it suffices; None if it does not."""
    if theorem.reaches is None:
        return found.value
    enough = found.value.exact_upper <= settled.values[records.name]
    return Enclosure.exactly(settled.values[stationarity.name]) if enough else None
