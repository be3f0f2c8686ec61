"""Answers for some of the repetitions: those that still ask, or ask another kind of query."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.differences import GradientDifferenceOracle
from dpbounds.algorithms.oracles.gradients import GradientOracle, Gradients, HasGradients, in_batches
from dpbounds.algorithms.oracles.hessians import HessianOracle, HessianProductOracle
from dpbounds.algorithms.oracles.paths import PathGradientOracle
from dpbounds.algorithms.unreleased import closed


def of_rows(generators: Sequence[np.random.Generator], rows: NDArray[np.bool_]) -> tuple[np.random.Generator, ...]:
    """Return the streams of some repetitions."""
    return tuple(generator for generator, chosen in zip(generators, rows, strict=True) if chosen)


def asked(
    oracle: GradientOracle | GradientDifferenceOracle | PathGradientOracle | HessianOracle | HessianProductOracle,
    rows: NDArray[np.bool_],
    *points: Array,
) -> Array:
    """Ask an oracle one question for some of the repetitions; return the noisy answers."""
    memory = getattr(oracle, "gradients", None)
    if isinstance(memory, Walk):
        memory.show(rows)
    some, open_for = of_some(oracle, rows), getattr(oracle.ledger, "asked_by", None)
    with nullcontext() if open_for is None else open_for(some.generators):
        answer: Array = some(*(each[rows] for each in points)).noisy
    return answer


def of_some(oracle: Any, rows: NDArray[np.bool_]) -> Any:
    """Return the oracle for some of the repetitions."""
    return replace(oracle, generators=of_rows(oracle.generators, rows))


class Walk(Gradients):
    """Exact gradients of all repetitions at this point and the last one, shown to oracles for some repetitions.

    Every pass over the records is made for all repetitions at once, so that no repetition's numbers depend on which
    others ask the same kind of query.
    """

    def __init__(self, problem: HasGradients) -> None:
        super().__init__(problem)
        self._known: list[tuple[Array, Array, Array]] = []
        self._rows: NDArray[np.bool_] | None = None

    def move(self, X: Array) -> tuple[Array, Array]:
        """Return unreleased objective (R,) and mean gradient (R, p) at the next points; keep the last points."""
        here = (X.copy(), *in_batches(self.problem, X))
        self._known = [here, *self._known[:1]]
        return closed(here[1:])

    def show(self, rows: NDArray[np.bool_]) -> None:
        """Choose the repetitions of the next queries."""
        self._rows = rows

    def known(self, X: Array) -> tuple[Array, Array]:
        """Return objective and mean gradient of the chosen repetitions, at this point or the one before."""
        assert self._rows is not None
        for points, objective, gradient in self._known:
            if np.array_equal(points[self._rows], X):
                return objective[self._rows], gradient[self._rows]
        return in_batches(self.problem, X)
