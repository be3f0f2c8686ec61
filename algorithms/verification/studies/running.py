"""What studies share: an algorithm beside the problem it is for, its runs, its bounds, and its example."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.judging.planned_checks import Promise
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.mechanisms import Mechanism

A = TypeVar("A")
P = TypeVar("P")
T = TypeVar("T")


class Algorithm(Protocol):
    """What every algorithm offers, besides ``calibrated`` (whose arguments differ)."""

    @property
    def budget(self) -> PrivacyBudget | None:
        """What ``run`` holds its ledger against."""

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""

    def run(self, problem: Any, seed: int = 0, repetitions: int = 32) -> Run:
        """Run it ``repetitions`` times at once, with independent randomness."""


@dataclass(frozen=True, slots=True)
class Example:
    """An algorithm at work on a small problem: what tests, audits and a reader's first try need.

    Attributes:
        name: Of the algorithm, as the command line spells it ("dp-spider"); unique.
        theorems: Ids that the algorithm realises.
        calibrated: From a budget to an algorithm that keeps it and the problem that it is for; a second at most.
        printed: Whether this is a variant as printed, which may spend more than its budget: never for a release.
    """

    name: str
    theorems: tuple[str, ...]
    calibrated: Callable[[PrivacyBudget], tuple[Algorithm, Any]]
    printed: bool = False


def at_budget(
    calibrated: Callable[..., A], problem: P, budget: PrivacyBudget, *arguments: Any, **options: Any
) -> tuple[A, P]:
    """The algorithm that keeps a budget on a problem, and the problem.

    Args:
        calibrated: Such as ``Spider.calibrated``.
        problem: Its first argument.
        budget: ε, δ and the relation.
        arguments: What ``calibrated`` takes between the problem and the budget.
        options: Its other arguments, by name.
    """
    spend = {"epsilon": budget.epsilon, "delta": budget.delta, "relation": budget.relation}
    return calibrated(problem, *arguments, **spend, **options), problem


def calibrated_on(
    calibrated: Callable[..., A], problem: Callable[[], P], *arguments: Any, **options: Any
) -> Callable[[PrivacyBudget], tuple[A, P]]:
    """The same, from a budget: an example. The problem is made when it is asked for."""
    return lambda budget: at_budget(calibrated, problem(), budget, *arguments, **options)


def ran(posed: tuple[Any, Any], repetitions: int, seed: int) -> Run:
    """A run of an algorithm on the problem beside it; seeds of cells have more bits than runs take."""
    algorithm, problem = posed
    run: Run = algorithm.run(problem, seed=seed % 2**63, repetitions=repetitions)
    return run


Reading = Callable[[Run], Numbers]


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
        """The numbers of a run with so many repetitions."""
        run = ran(self.posed(**parameters), repetitions, seed)
        return {name: value for reading in self._readings for name, value in reading(run).items()}


def reads(*readings: Reading) -> Callable[[Callable[..., tuple[A, P]]], Trial[A, P]]:
    """Make a task of a function that poses an algorithm and its problem: run it, and read these numbers."""
    return lambda posed: Trial(posed, readings)


def spending(run: Run) -> Numbers:
    """The certified ends of the ε that a run spent."""
    assert run.spent is not None
    return {"spent_lower": run.spent.lower, "spent_upper": run.spent.upper}


def step_count(run: Run) -> Numbers:
    """How many steps a run took."""
    return {"steps": float(run.steps)}


def samples(name: str) -> Reading:
    """The run's own samples, one per repetition, under a name."""
    return lambda run: {name: run.samples.tolist()}


def means(*names: str) -> Reading:
    """Means over the steps of what a run traced under these names, one per repetition."""
    return lambda run: {name: run.trace[name].per_repetition.tolist() for name in names}


def measured(**names: str) -> Reading:
    """What a run measured at its end, one per repetition: under a name of ours, by its name there."""
    return lambda run: {name: run.measured[source].tolist() for name, source in names.items()}


def at_cell(function: Callable[..., T], result: Result) -> T:
    """A function at those parameters of a result's cell that it takes."""
    given = result.parameters
    return function(**{name: given[name] for name in inspect.signature(function).parameters if name in given})


def bound_of(posed: Callable[..., Any], *arguments: Any, method: str = "bound") -> Promise:
    """The explicit bound of an algorithm on the problem beside it, at the parameters of a cell.

    Args:
        posed: The trial of that cell, or what poses the two.
        arguments: Of the bound, behind the problem.
        method: Its name.
    """
    pose = posed.posed if isinstance(posed, Trial) else posed

    def bound(result: Result) -> Enclosure:
        algorithm, problem = at_cell(pose, result)
        enclosure: Enclosure = getattr(algorithm, method)(problem, *arguments)
        return enclosure

    return bound
