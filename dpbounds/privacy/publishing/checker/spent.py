"""Shifts, profiles and divergences of releases, which add up or compose."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from flint import arb

from dpbounds.privacy.publishing.checker.profiles import Profile, Vectors, gaussian_profile, vectors_profile

Sampled = Counter[tuple[Fraction, Fraction]]  # (q, z²): count
Steps = list[tuple[Profile, int]]


class Spent:
    """The privacy spent by a release, or by a run of releases.

    Attributes:
        shift: The squared shift of a Gaussian pair; they add up.
        steps: Profiles, each with how often it occurs.
        vectors: Discrete Gaussian noise on vectors (29); squared distances and numbers of coordinates add up, too.
        variation: The total variation to add for clones (21).
    """

    def __init__(
        self,
        shift: Fraction = Fraction(0),
        steps: Steps | None = None,
        vectors: Vectors | None = None,
        variation: arb | None = None,
    ) -> None:
        self.shift, self.steps = shift, [] if steps is None else steps
        self.vectors: Vectors = {} if vectors is None else vectors
        self.variation = arb(0) if variation is None else variation

    def add(self, other: Spent, count: int) -> None:
        """Add the loss of another release, with its multiplicity."""
        self.shift += count * other.shift
        self.steps += [(profile, count * times) for profile, times in other.steps]
        for variance, (squared, moved) in other.vectors.items():
            before, those = self.vectors.get(variance, (Fraction(0), 0))
            self.vectors[variance] = before + count * squared, those + count * moved
        self.variation += count * other.variation

    def profiles(self) -> Steps:
        """Return all of it as profiles."""
        if self.vectors and not self.steps:
            return [(vectors_profile(self.vectors, self.shift), 1)]
        shift = [(gaussian_profile(self.shift), 1)] if self.shift else []
        return shift + self.steps + ([(vectors_profile(self.vectors), 1)] if self.vectors else [])
