"""Shifts, profiles and divergences of releases, which add up or compose."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from flint import arb

from dpbounds.privacy.publishing.checker.profiles import Profile, concentrated_profile, gaussian_profile

Sampled = Counter[tuple[Fraction, Fraction]]  # (q, z²): count
Steps = list[tuple[Profile, int]]


class Spent:
    """The privacy spent by a release, or by a run of releases.

    Attributes:
        shift: The squared shift of a Gaussian pair; they add up.
        steps: Profiles, each with how often it occurs.
        rho: Rényi divergences of at most λρ of every order λ (29); they add up, too.
        variation: The total variation to add for clones (21).
    """

    def __init__(
        self,
        shift: Fraction = Fraction(0),
        steps: Steps | None = None,
        rho: Fraction = Fraction(0),
        variation: arb | None = None,
    ) -> None:
        self.shift, self.steps, self.rho = shift, [] if steps is None else steps, rho
        self.variation = arb(0) if variation is None else variation

    def add(self, other: Spent, count: int) -> None:
        """Add the loss of another release, with its multiplicity."""
        self.shift += count * other.shift
        self.steps += [(profile, count * times) for profile, times in other.steps]
        self.rho += count * other.rho
        self.variation += count * other.variation

    def profiles(self) -> Steps:
        """Return all of it as profiles."""
        if self.rho and not self.steps:  # divergences add up
            return [(concentrated_profile(self.rho + self.shift / 2), 1)]
        shift = [(gaussian_profile(self.shift), 1)] if self.shift else []
        return shift + self.steps + ([(concentrated_profile(self.rho), 1)] if self.rho else [])
