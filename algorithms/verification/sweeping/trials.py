"""Trials: tasks that run an algorithm on the problem it is posed for, the values read off the run, and its bound."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, task_named
from dpbounds.expressions.enclosure import Enclosure

A = TypeVar("A")
P = TypeVar("P")
T = TypeVar("T")
Reading = Callable[[Run], Numbers]


def ran(posed: tuple[Any, Any], repetitions: int, seed: int) -> Run:
    """Return a run of an algorithm on the problem beside it; seeds of cells have more bits than runs take."""
    algorithm, problem = posed
    run: Run = algorithm.run(problem, seed=seed % 2**63, repetitions=repetitions)
    return run


class Trial(Generic[A, P]):
    """A task: it poses an algorithm and its problem, runs the one on the other, and reads numbers off the run.

    Attributes:
        posed: From the task's parameters, but for ``repetitions`` and ``seed``, to the two.
    """

    __name__: str

    def __init__(self, posed: Callable[..., tuple[A, P]], readings: tuple[Reading, ...]) -> None:
        self.posed, self._readings = posed, readings
        functools.update_wrapper(self, posed)

    def __call__(self, *, repetitions: int, seed: int, **parameters: Any) -> Numbers:
        """Return the numbers of a run with ``repetitions`` repetitions."""
        run = ran(self.posed(**parameters), repetitions, seed)
        return {name: value for reading in self._readings for name, value in reading(run).items()}


def reads(*readings: Reading) -> Callable[[Callable[..., tuple[A, P]]], Trial[A, P]]:
    """Make a task of a function that poses an algorithm and its problem: run it, and read these numbers."""
    return lambda posed: Trial(posed, readings)


def spending(run: Run) -> Numbers:
    """Return the certified ends of the ε that a run spent."""
    assert run.spent is not None
    return {"spent_lower": run.spent.lower, "spent_upper": run.spent.upper}


def step_count(run: Run) -> Numbers:
    """Return the number of steps of a run."""
    return {"steps": float(run.steps)}


def samples(name: str) -> Reading:
    """Return the run's own samples, one per repetition, under a name."""
    return lambda run: {name: run.samples.tolist()}


def means(*names: str) -> Reading:
    """Return means over the steps of the values traced under these names, one per repetition."""
    return lambda run: {name: run.trace[name].per_repetition.tolist() for name in names}


def measured(**names: str) -> Reading:
    """Return a reading of the measurements at the end of a run, one per repetition, under new names."""
    return lambda run: {name: run.measured[source].tolist() for name, source in names.items()}


def at_cell(function: Callable[..., T], result: Result) -> T:
    """Return a function at those parameters of a result's cell that it takes."""
    given = result.parameters
    return function(**{name: given[name] for name in inspect.signature(function).parameters if name in given})


def bound_of(
    *arguments: Any, method: str = "bound", posed: Callable[..., Any] | None = None
) -> Callable[[Result], Enclosure]:
    """Return a function from a result to the explicit bound of its algorithm on its problem.

    Args:
        arguments: Arguments of the bound, after the problem.
        method: Its name.
        posed: Returns algorithm and problem of a cell; by default those of the trial that gave the result.
    """

    def bound(result: Result) -> Enclosure:
        trial: Any = task_named(result.task)
        algorithm, problem = at_cell(posed or trial.posed, result)
        enclosure: Enclosure = getattr(algorithm, method)(problem, *arguments)
        return enclosure

    return bound
