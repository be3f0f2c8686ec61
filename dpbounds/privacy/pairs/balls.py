"""Pairs of noise that is uniform on a ball: on the full batch, and on a Poisson sample under replace-one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.privacy.pairs.atomic import AtomicPair
from dpbounds.privacy.pairs.core import LargestLoss, Pair, Product, PublicPair, SymmetricPair, Writer
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, ball, of_atoms, unbounded


@dataclass(frozen=True, slots=True)
class UniformBalls(AtomicPair, PublicPair):
    """Uniform distributions on two d-balls of radius 1 whose centres lie s apart, s² = ``squared_shift``.

    The likelihood ratio is 0, 1 or ∞: with τ the total variation, H_α = τ + (1-τ)(1-α)_+. Attained.
    τ = I_{s²/4}(1/2, (d+1)/2) for s < 2 (regularised incomplete beta), else 1: Tholeti & Kalyani 2020, eq. 6.
    """

    squared_shift: Fraction
    dimension: int

    grows_with = ("squared_shift",)
    enlarges_exactly = True
    gathers = True
    proof = "losses.md, section 2 (Tholeti & Kalyani 2020, equation 6)"
    atom_count = 1

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"two unit balls in {self.dimension} dimensions, centres s apart, s² = {write(self.squared_shift)}"

    def distribution(self) -> LossDistribution:
        """Return losses 0 and ∞."""
        tau = overlap_lost(self.squared_shift, self.dimension)
        return of_atoms([LossAtom(arb(0), 1 - tau, 1 - tau)], tau)

    def largest_loss(self) -> LargestLoss:
        """Return ∞, where the balls differ."""
        return unbounded()

    def _enlarged(self, k: int) -> Pair:
        return UniformBalls(k**2 * self.squared_shift, self.dimension)

    def rough_variance(self) -> float:
        """Return the squared shift."""
        return float(self.squared_shift)


@dataclass(frozen=True, slots=True)
class SampledBalls(AtomicPair, SymmetricPair):
    """Uniform noise on a ball, on a Poisson sample, under replace-one; s² = ``squared_shift`` for one record's bound.

    With τ1 = τ(s), τ2 = τ(2s): H_α = q τ1 + (τ2 - τ1)(1 - α(1-q))_+ for α >= 1, mirrored below. Derived in
    ``sampling.md``, section 4. Attained.
    """

    sample_rate: Fraction
    squared_shift: Fraction
    dimension: int

    grows_with = ("sample_rate", "squared_shift")
    proof = "sampling.md, section 4 (derived there)"
    atom_count = 3

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"balls at 0 and s against balls at 0 and -s in {self.dimension} dimensions, mixed at rate "
            f"{write(self.sample_rate)}, s² = {write(self.squared_shift)}"
        )

    def distribution(self) -> LossDistribution:
        """Return losses 0, ±log 1/(1-q) and ∞."""
        rate, squared, dimension = ball(self.sample_rate), self.squared_shift, self.dimension
        one, two = overlap_lost(squared, dimension), overlap_lost(4 * squared, dimension)
        edge = -(-rate).log1p()
        gap = two - one
        centre = 1 - two + (1 - rate) * (one - gap)
        points = (
            LossAtom(edge, gap, (1 - rate) * gap),
            LossAtom(arb(0), centre, centre),
            LossAtom(-edge, (1 - rate) * gap, gap),
        )
        return of_atoms(points, rate * one)

    def largest_loss(self) -> LargestLoss:
        """Return ∞, where a moved ball is alone."""
        return unbounded()

    def revealed(self) -> Product | None:
        """Return the full batch, where the contributions point away from each other."""
        return ((UniformBalls(4 * self.squared_shift, self.dimension), 1),)


def overlap_lost(squared_shift: Fraction, dimension: int) -> arb:
    """Return τ = I_{s²/4}(1/2, (d+1)/2), the part of a unit d-ball outside its copy at distance s; 1 from s = 2 on."""
    if squared_shift >= 4:
        return arb(1)
    return ball(squared_shift / 4).beta_lower(ball(Fraction(1, 2)), ball(Fraction(dimension + 1, 2)), 1)
