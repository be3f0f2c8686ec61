"""Common parts of studies: an algorithm with its problem, at a budget, and its example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.run import Run
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation

A = TypeVar("A")
P = TypeVar("P")


class Algorithm(Protocol):
    """The interface of every algorithm, besides ``calibrated`` (whose arguments differ)."""

    @property
    def budget(self) -> PrivacyBudget | None:
        """Return the budget that ``run`` compares its ledger with."""

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""

    def run(self, problem: Any, seed: int | None = None, repetitions: int = 32) -> Run:
        """Run it ``repetitions`` times at once, with independent randomness."""


@dataclass(frozen=True, slots=True)
class Example:
    """An algorithm at work on a small problem, for tests, audits and a reader's first try.

    Attributes:
        name: The name of the algorithm at the command line ("dp-spider"); unique.
        theorems: Ids that the algorithm realises.
        calibrated: From a budget to an algorithm that keeps it and the problem that it is for; a second at most.
        printed: Whether this is a variant as printed, which may spend more than its budget: never for a release.
        relations: Under which its account is proven.
    """

    name: str
    theorems: tuple[str, ...]
    calibrated: Callable[[PrivacyBudget], tuple[Algorithm, Any]]
    printed: bool = False
    relations: tuple[Relation, ...] = tuple(Relation)


def budget_of(epsilon: float, delta: ExactLike = "1e-5") -> PrivacyBudget:
    """Return the budget of a cell's ε, a double, exactly."""
    return PrivacyBudget.of(Fraction(epsilon), delta)


def at_budget(
    calibrated: Callable[..., A], problem: P, budget: PrivacyBudget, *arguments: Any, **options: Any
) -> tuple[A, P]:
    """Return the algorithm that keeps a budget on a problem, and the problem.

    Args:
        calibrated: Such as ``Spider.calibrated``.
        problem: Its first argument.
        budget: ε, δ and the relation.
        arguments: Arguments of ``calibrated`` between the problem and the budget.
        options: Its other arguments, by name.
    """
    spend = {"epsilon": budget.epsilon, "delta": budget.delta, "relation": budget.relation}
    return calibrated(problem, *arguments, **spend, **options), problem


def calibrated_on(
    calibrated: Callable[..., A], problem: Callable[[], P], *arguments: Any, **options: Any
) -> Callable[[PrivacyBudget], tuple[A, P]]:
    """Return an example from a budget. The problem is built when it is needed."""
    return lambda budget: at_budget(calibrated, problem(), budget, *arguments, **options)
