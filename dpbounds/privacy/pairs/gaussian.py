"""Pairs of Gaussian releases: on the full batch, with a shift that is drawn in public, and on a Poisson sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from dpbounds.privacy.pairs.core import (
    MOST_EXPONENT,
    Costs,
    Direction,
    Pair,
    Product,
    SymmetricPair,
    Writer,
    hidden_bits,
)
from dpbounds.privacy.pairs.losses import (
    LossAtom,
    LossDistribution,
    Masses,
    ball,
    mirrored_tail,
    mixture,
    of_atoms,
    plain_sums,
    swapped,
    upper_tail,
)


@dataclass(frozen=True, slots=True)
class ShiftedGaussians(SymmetricPair):
    """P = N(μ, 1), Q = N(0, 1) with μ² = ``squared_shift``: one or many full-batch Gaussian releases.

    The same curve in both orders. Balle & Wang 2018 (single release, any dimension); μ² adds up under adaptive
    composition: Dong, Roth & Su 2022; ``pairs.md``, section 4.
    """

    squared_shift: Fraction

    grows_with = ("squared_shift",)

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        return f"N(m, 1) against N(0, 1), m² = {write(self.squared_shift)}"

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        return "pairs.md, section 4 (Balle & Wang 2018; Dong, Roth & Su 2022)"

    def distribution(self) -> LossDistribution:
        """L ~ N(μ²/2, μ²) under P and N(-μ²/2, μ²) under Q."""
        mu = ball(self.squared_shift).sqrt()

        def tail(loss: arb) -> Masses:
            return upper_tail(loss / mu - mu / 2), upper_tail(loss / mu + mu / 2)

        return LossDistribution(tail, mirrored_tail(tail), None, None)

    def _enlarged(self, k: int) -> Pair:
        return ShiftedGaussians(k**2 * self.squared_shift)

    def rough_variance(self) -> float:
        """The squared shift."""
        return float(self.squared_shift)

    def zcdp_rho(self) -> Fraction:
        """μ²/2, the smallest (Bun & Steinke 2016)."""
        return self.squared_shift / 2

    @property
    def spread(self) -> Fraction:
        """The variance at a shift of 1."""
        return 1 / self.squared_shift


@dataclass(frozen=True, slots=True)
class TaggedGaussians(SymmetricPair):
    """One of several shifts μ², drawn with known probabilities and revealed: the same tag under both laws.

    ``atoms`` are (μ², probability) pairs with μ² >= 0 in increasing order; the probabilities add up to 1. The profile
    is the average of those of ``ShiftedGaussians``. Dominates where a shift depends on a draw that may be given away
    (joint convexity): ``last_iterate.md``.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...]

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        least, most = write(self.atoms[0][0]), write(self.atoms[-1][0])
        return f"N(m, 1) against N(0, 1), m² drawn in public, {len(self.atoms)} values from {least} to {most}"

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        return "last_iterate.md, section 4 (derived there)"

    def distribution(self) -> LossDistribution:
        """The mean of those of its shifts."""
        parts = [(ball(weight), ball(squared).sqrt()) for squared, weight in self.atoms if squared > 0]

        def tail(loss: arb) -> Masses:
            p, r = arb(0), arb(0)
            for weight, mu in parts:
                p += weight * upper_tail(loss / mu - mu / 2)
                r += weight * upper_tail(loss / mu + mu / 2)
            return p, r

        still = ball(sum((weight for squared, weight in self.atoms if squared == 0), Fraction(0)))
        points = (LossAtom(arb(0), still, still),) if still > 0 else ()
        if not parts:
            return of_atoms(points, arb(0))
        return LossDistribution(tail, mirrored_tail(tail), None, None, points)

    def revealed(self) -> Product | None:
        """The largest shift."""
        return ((ShiftedGaussians(max(squared for squared, _ in self.atoms)), 1),)

    def zcdp_rho(self) -> Fraction:
        """That of the largest shift: the tag may always show it."""
        return self.atoms[-1][0] / 2


@dataclass(frozen=True, slots=True)
class SampledGaussians(Pair):
    """One Gaussian release on a Poisson sample; lengths in units of the per-record bound, variance z².

    With N(m) = N(m, z²) and q the sample rate:

    - remove: P = (1-q) N(0) + q N(1), Q = N(0); add: the same two, swapped. Zhu, Dong & Wang 2022 (the
      mixture split H_α(ω‖ω₀) = q H_{(α-1+q)/q}(ω₁‖ω₀) is an identity); any dimension. Attained.
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1). Derived in ``pairs.md``, section 5 (Gaussian
      comparison: the divergence grows with both variances of the log-likelihoods and falls with their covariance).
      Attained.
    """

    direction: Direction
    sample_rate: Fraction
    variance: Fraction

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        match self.direction:
            case Direction.REMOVE:
                laws = "(1-q) N(0, z²) + q N(1, z²) against N(0, z²)"
            case Direction.ADD:
                laws = "N(0, z²) against (1-q) N(0, z²) + q N(1, z²)"
            case Direction.REPLACE:
                laws = "(1-q) N(0, z²) + q N(1, z²) against (1-q) N(0, z²) + q N(-1, z²)"
        return f"{laws}, q = {write(self.sample_rate)}, z² = {write(self.variance)}"

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        if self.direction is Direction.REPLACE:
            return "pairs.md, section 5, replace one (derived there)"
        return "pairs.md, section 5, add or remove one (Zhu, Dong & Wang 2022)"

    def distribution(self) -> LossDistribution:
        """By the general mixture, or (replace) by its threshold on x."""
        if self.direction is not Direction.REPLACE:
            rate, base = ball(self.sample_rate), ShiftedGaussians(1 / self.variance).distribution()
            law = mixture([rate], [base], plain_sums([rate], [base]), arb(0), rate, 1)
            return law if self.direction is Direction.REMOVE else swapped(law)
        # With y = e^{x/v}: (1-q + b y) = e^l (1-q + b/y), b = q e^{-1/2v}; the positive root of b y² - c y - b e^l = 0.
        q, v = ball(self.sample_rate), ball(self.variance)
        z = v.sqrt()
        b = q * (-1 / (2 * v)).exp()

        def position(loss: arb) -> arb:
            if loss < 0:
                return -position(-loss)
            c = (1 - q) * loss.expm1()
            return v * ((c + (c * c + 4 * b * b * loss.exp()).sqrt()) / (2 * b)).log()

        def tail(loss: arb) -> Masses:
            x = position(loss)
            without = (1 - q) * upper_tail(x / z)
            return without + q * upper_tail((x - 1) / z), without + q * upper_tail((x + 1) / z)

        return LossDistribution(tail, mirrored_tail(tail), None, None)

    def mirrored(self) -> Pair:
        """The other direction."""
        return replace(self, direction=self.direction.mirrored)

    def revealed(self) -> Product | None:
        """The full batch."""
        return one_shift(self.direction, 1 / self.variance)

    def costs(self) -> Costs:
        """The rate, and how little noise there is."""
        return self.sample_rate, 1 / self.variance

    def with_costs(self, costs: Costs) -> Pair:
        """The same direction at other costs."""
        rate, precision = costs
        return replace(self, sample_rate=rate, variance=1 / precision)

    def rough_variance(self) -> float:
        """χ² of one release."""
        return float(self.sample_rate) ** 2 * math.expm1(min(1 / float(self.variance), MOST_EXPONENT))

    def zcdp_rho(self) -> Fraction:
        """That of the full batch: a sample gains nothing at large orders."""
        return (4 if self.direction is Direction.REPLACE else 1) / (2 * self.variance)

    def lost_bits(self, order: Fraction) -> int:
        """By the rate and the variance."""
        return hidden_bits(order, self.sample_rate, self.variance)


def one_shift(direction: Direction, squared: Fraction) -> Product:
    """One shift; where a record is replaced, the two contributions point away from each other."""
    return ((ShiftedGaussians(4 * squared if direction is Direction.REPLACE else squared), 1),)
