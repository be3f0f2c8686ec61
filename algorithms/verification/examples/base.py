"""What an example of an algorithm is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from algorithms.ledger import PrivacyBudget
from algorithms.run import Run
from dpbounds.privacy.mechanisms import Mechanism


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
