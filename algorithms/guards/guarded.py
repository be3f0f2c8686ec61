"""Guarded runs: a replay check of a run, and tests of its noise from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from dpbounds.algorithms.guards.residuals import Residuals
from dpbounds.algorithms.guards.shadow import shadowed
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.run import NoiseTested, Run

_SHADOWED, _HEARD, _MOST = 8, 64, 512  # repetitions of what is examined
_ENOUGH = 40_000  # numbers of noise, of which a factor of 0.96 is seen, see ``seen_below``
_WORK = 2_000_000_000  # records times parameters times steps of what is rehearsed


class HasRun(Protocol):
    """An object with ``run``: an algorithm."""

    def run(self, problem: Any, *, seed: int | None, repetitions: int) -> Run:
        """Run it, as ``Method.run`` does."""


def guarded(run: Callable[[Any], Run], problem: Any) -> Run:
    """Run an algorithm with both guards, and return the run and the power of the guards.

    Args:
        run: From a problem to a run, the same whenever it is called: ``partial(algorithm.run, seed=7)``.
        problem: The problem to run it on.

    Raises:
        DataLeaked: A query point, or the output, depends on more than the released answers.
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
    return replace(made, tested=residuals.tested(made.ledger))


def examined(algorithm: HasRun, problem: Any, seed: int = 0) -> None:
    """Run an algorithm under guard, and then as often as tests of its noise need (a few hundred times at most).

    Raises:
        BudgetExceeded: A guard found something, or a run did.
    """
    guarded(lambda on: algorithm.run(on, seed=seed, repetitions=_SHADOWED), problem)
    heard = sum(each.numbers for each in _heard(algorithm, problem, seed + 1, _HEARD))
    more = -(-_ENOUGH * _HEARD // max(heard, 1))
    if more > _HEARD:
        _heard(algorithm, problem, seed + 2, min(more, _MOST))


def rehearsed(algorithm: HasRun, problem: Any, numbers: int) -> tuple[int, tuple[NoiseTested, ...]]:
    """Test the noise of more repetitions, if one run has too few numbers to detect small faults.

    Args:
        algorithm: The algorithm that was run.
        problem: The problem that it was run on, or the same with synthetic records if those are private: a test on
            synthetic records reveals nothing, however often it is run.
        numbers: Number of noise values of a repetition. None are added where these are enough, and no more repetitions
            than a few seconds allow, by the number of records.

    Returns:
        The number of repetitions, and the power of their tests.

    Raises:
        BudgetExceeded: A guard found something, or a run did.
    """
    passes = problem.records * problem.dimension * int(getattr(algorithm, "steps", 1))
    count = min(_MOST, -(-_ENOUGH // max(numbers, 1)), max(1, _WORK // max(1, passes)))
    return (count, _heard(algorithm, problem, None, count)) if numbers < _ENOUGH else (0, ())


def _heard(algorithm: HasRun, problem: Any, seed: int | None, repetitions: int) -> tuple[NoiseTested, ...]:
    """Test the noise of some repetitions."""
    residuals = Residuals()
    with watched_by(residuals):
        made = algorithm.run(problem, seed=seed, repetitions=repetitions)
    residuals.demand_right(made.ledger)
    return residuals.tested(made.ledger)
