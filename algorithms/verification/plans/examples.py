"""Every algorithm's small example: its certified ε under both relations, within the budget it was calibrated to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict
from algorithms.verification.examples import Example, all_examples
from algorithms.verification.experiments.base import number
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.examples import EPSILON
from dpbounds.expressions.enclosure import Enclosure


def _spent(one: Example) -> Planned:
    theorem = one.theorems[0]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower, upper = (number(results[0], name) for name in ("spent_lower", "spent_upper"))
        budget = Fraction(EPSILON)
        verdict = Verdict.HOLDS if upper <= budget else Verdict.FAILS if lower > budget else Verdict.UNDECIDED
        reason = f"ledgers under both relations spend epsilon up to [{lower:.9g}, {upper:.9g}] of {EPSILON}, certified"
        return Check(
            theorem, "spent", Enclosure.exactly(budget, "budget"), Measured(upper, lower, upper), verdict, reason
        )

    def cells(size: Size) -> Sequence[Cell]:
        return [Cell.of("algorithms.verification.tasks.examples:ledger", 0, name=one.name)]

    return Planned(theorem, "spent", f"{one.name}, ledgers of its example", cells, judge)


PLANNED: tuple[Planned, ...] = tuple(_spent(one) for one in all_examples() if not one.printed)
