"""A watch for plain noisy gradient descent, whose last iterate may be published alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbounds.algorithms.ledger import PlainDescent
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.watching import Question
from dpbounds.errors import BudgetExceeded

_ROUNDING = 1e-9


@dataclass(frozen=True)
class PlainStep:
    """The update of a plain walk: x <- Π(x - η (g + λx)), g the noisy answer.

    Attributes:
        declared: The description for the ledger.
        start: x₀, public, shape (p,).
        step_size: η, the double that is used.
        weight: λ.
        project: Π of every row, onto a public convex set; None for all of space.
    """

    declared: PlainDescent
    start: Array
    step_size: float
    weight: float = 0.0
    project: Callable[[Array], Array] | None = None

    def moved(self, x: Array, noisy: Array) -> Array:
        """Return the next iterate."""
        moved = x - self.step_size * (noisy + self.weight * x)
        return moved if self.project is None else self.project(moved)


class Plain:
    """Watcher of a walk: each query must follow from the last point and answer by the step, and so must the output.

    So momentum, averages, a random iterate, early stopping and answers that were used twice are found in the run.

    Args:
        step: The expected update.
    """

    def __init__(self, step: PlainStep) -> None:
        self._step = step
        self._now: Array | None = None

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Pass the answer through, if it is asked at the iterate."""
        if question.kind not in ("gradient", "batch"):
            raise self._other(f"a query other than a gradient was made ({question.kind})")
        (x,) = question.points
        now = np.broadcast_to(self._step.start, x.shape) if self._now is None else self._now
        self._demand(x, now, "a point that was asked about is not where the step leads")
        given = answer()
        self._now = self._step.moved(x, given.noisy)
        return given

    def demand_last(self, output: Array, others: dict[str, Any]) -> None:
        """Raise ``BudgetExceeded`` unless the last iterate, and nothing else, is returned."""
        if others:
            raise self._other("it returns more than its last iterate: " + ", ".join(others))
        if self._now is None:
            raise self._other("nothing was asked")
        self._demand(output, self._now, "what it returns is not its last iterate")

    def _demand(self, found: Array, expected: Array, what: str) -> None:
        scale = 1 + np.abs(expected).max(initial=0.0)
        if found.shape != expected.shape or not np.abs(found - expected).max(initial=0.0) <= _ROUNDING * scale:
            raise self._other(what)

    @staticmethod
    def _other(why: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"the run is not plain noisy gradient descent, whose last iterate could be published alone: {why}"
        )
