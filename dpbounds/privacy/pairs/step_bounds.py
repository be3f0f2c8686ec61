"""Bounds on one step: a pair that dominates it, and pairs that attacks attain."""

from __future__ import annotations

from dataclasses import dataclass

from dpbounds.privacy.pairs import pairs


@dataclass(frozen=True, slots=True)
class StepBound:
    """One step: the pair that dominates it, and pairs that attacks attain.

    Attributes:
        pair: Dominates the step.
        attacks: Attained, each by some mechanism of the description and two datasets, in every step of a composition.
        only_once: In a single step, not in a composition, the dominating pair itself is attained at every ε.
        size: The number of records of the datasets that attain the attacks, where it matters.
        in_the_limit: Whether the attacks are attained only in the limit, as the number of records grows.
    """

    pair: pairs.Pair
    attacks: tuple[pairs.Pair, ...]
    only_once: bool = False
    size: int | None = None
    in_the_limit: bool = False

    @classmethod
    def attained(cls, pair: pairs.Pair, size: int | None = None) -> StepBound:
        """Return a step whose dominating pair is attained."""
        return cls(pair, (pair,), size=size)

    @property
    def tight(self) -> bool:
        """Whether the dominating pair is attained."""
        return self.attacks == (self.pair,)
