"""Every algorithm's small example: its certified ε under both relations, within the budget it was calibrated to."""

from __future__ import annotations

from algorithms.verification.cells import Cell
from algorithms.verification.examples import Example, all_examples
from algorithms.verification.plans.shapes import spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.examples import EPSILON

_REPETITIONS = {Size.QUICK: 2, Size.FULL: 64}


def _spent(one: Example) -> Planned:
    def cells(size: Size) -> list[Cell]:
        return [
            Cell.of("algorithms.verification.tasks.examples:ledger", 0, name=one.name, repetitions=_REPETITIONS[size])
        ]

    return spent(one.theorems[0], f"{one.name}, ledgers of its example", cells, EPSILON)


PLANNED: tuple[Planned, ...] = tuple(_spent(one) for one in all_examples() if not one.printed)
