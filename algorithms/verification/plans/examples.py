"""Every algorithm's small example: its certified ε under both relations, within the budget it was calibrated to."""

from __future__ import annotations

from algorithms.verification.cells import Cell
from algorithms.verification.examples import Example, all_examples
from algorithms.verification.plans.shapes import spent
from algorithms.verification.suite import Planned
from algorithms.verification.tasks.examples import EPSILON


def _spent(one: Example) -> Planned:
    cell = Cell.of("algorithms.verification.tasks.examples:ledger", 0, name=one.name)
    return spent(one.theorems[0], f"{one.name}, ledgers of its example", lambda size: [cell], EPSILON)


PLANNED: tuple[Planned, ...] = tuple(_spent(one) for one in all_examples() if not one.printed)
