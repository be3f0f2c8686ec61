"""Every algorithm's small example: its certified ε lies within its budget, and an attack finds no more than that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result, number
from algorithms.verification.checks import Check, Measured, Verdict
from algorithms.verification.examples import Example, all_examples
from algorithms.verification.plans.shapes import spent
from algorithms.verification.slopes import confidence_of
from algorithms.verification.suite import MOST_CHECKS, SUITE_ERROR, Planned, Size
from algorithms.verification.tasks.examples import EPSILON
from dpbounds.expressions.enclosure import Enclosure

_TASKS = "algorithms.verification.tasks.examples"
_REPETITIONS = {Size.QUICK: 2, Size.FULL: 64}
# So few runs see noise that was forgotten, not noise that is a little too small: ``dpbounds audit`` takes more.
_RUNS = {Size.QUICK: 400, Size.FULL: 20_000}
_NOT_AUDITED = (
    "alternate-sample",  # each run takes thousands of small steps: 20 s for 400 of them
    "projected-spider",  # each run projects all records by a matrix of its own, and starts anew: 19 s
)


def _spent(one: Example) -> Planned:
    def cells(size: Size) -> list[Cell]:
        return [Cell.of(f"{_TASKS}:ledger", 0, name=one.name, repetitions=_REPETITIONS[size])]

    return spent(one.theorems[0], f"{one.name}, ledgers of its example", cells, EPSILON)


def _audited(one: Example) -> Planned:
    """What an attack proves to be spent, at the suite's confidence, is at most what is certified."""

    def cells(size: Size) -> list[Cell]:
        confidence = confidence_of(SUITE_ERROR, MOST_CHECKS)
        return [Cell.of(f"{_TASKS}:audit", 0, name=one.name, runs=_RUNS[size], confidence=confidence)]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower, certified = (number(results[0], end) for end in ("lower", "certified"))
        found = f"an attack finds at least {lower:.4g} ({100 * confidence:.5g} % confidence)"
        measured = Measured(lower, lower, math.inf)
        if math.isinf(certified):
            nothing = Enclosure(Fraction(0), math.inf, "nothing is proven")
            reason = f"{found}, and nothing is certified that this could exceed"
            return Check(one.theorems[0], "spent", nothing, measured, Verdict.UNDECIDED, reason)
        verdict = Verdict.HOLDS if lower <= certified else Verdict.FAILS
        reason = f"{found}, {'at most' if verdict is Verdict.HOLDS else 'more than'} the {certified:.12g} certified"
        ends = Enclosure.exactly(Fraction(certified), "certified")
        return Check(one.theorems[0], "spent", ends, measured, verdict, reason)

    return Planned(one.theorems[0], "spent", f"{one.name}, an audit of its example", cells, judge)


_PROVEN = tuple(one for one in all_examples() if not one.printed)

PLANNED: tuple[Planned, ...] = (
    *(_spent(one) for one in _PROVEN),
    *(_audited(one) for one in _PROVEN if one.name not in _NOT_AUDITED),
)
