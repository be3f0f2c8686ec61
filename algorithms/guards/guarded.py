"""A run under guard: a shadow beside it, and its noise tested from outside; an algorithm under examination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dpbounds.algorithms.guards.residuals import Residuals
from dpbounds.algorithms.guards.shadow import shadowed
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.run import Run

_SHADOWED, _HEARD, _MOST = 8, 64, 512  # repetitions of what is examined
_ENOUGH = 40_000  # numbers of noise, among which 3 % of its size are seen


class HasRun(Protocol):
    """An algorithm, whatever else it is."""

    def run(self, problem: Any, *, seed: int, repetitions: int) -> Run:
        """Run it, as ``Method.run`` does."""


def guarded(run: Callable[[Any], Run], problem: Any) -> Run:
    """The run of an algorithm on a problem, that both guards have found nothing wrong with.

    Args:
        run: From a problem to a run, the same whenever it is called: ``partial(algorithm.run, seed=7)``.
        problem: What to run it on.

    Raises:
        DataLeaked: A point that was asked about, or the output, depends on more than what was released.
        NoiseWrong: The noise in the answers is not what the ledger says.
    """

    def heard(on: Any) -> Run:
        if on is not problem:  # the shadow's, which hears what the run has heard
            return run(on)
        with watched_by(residuals):
            return run(on)

    residuals = Residuals()
    made = shadowed(heard, problem)
    residuals.demand_right(made.ledger)
    return made


def examined(algorithm: HasRun, problem: Any, seed: int = 0) -> None:
    """Run an algorithm under guard, and then as often as tests of its noise need (a few hundred times at most).

    Raises:
        BudgetExceeded: A guard found something, or a run did.
    """
    guarded(lambda on: algorithm.run(on, seed=seed, repetitions=_SHADOWED), problem)
    heard = _heard(algorithm, problem, seed + 1, _HEARD)
    more = -(-_ENOUGH * _HEARD // max(heard, 1))
    if more > _HEARD:
        _heard(algorithm, problem, seed + 2, min(more, _MOST))


def _heard(algorithm: HasRun, problem: Any, seed: int, repetitions: int) -> int:
    """Test the noise of some repetitions; returns how many numbers there were."""
    residuals = Residuals()
    with watched_by(residuals):
        made = algorithm.run(problem, seed=seed, repetitions=repetitions)
    residuals.demand_right(made.ledger)
    return residuals.numbers
