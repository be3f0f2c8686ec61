"""Pairs of truncated noise: discrete Laplace and discrete Gaussian distributions on whole numbers of an interval."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.pairs.atomic import AtomicPair
from dpbounds.privacy.pairs.core import LargestLoss, Pair, PublicPair, Writer
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, ball, of_atoms, unbounded
from dpbounds.privacy.pairs.responses import FourPoints

MOST_REACH = 10_000  # largest reach of noise whose outcomes are listed


@dataclass(frozen=True, slots=True)
class ShiftedTruncatedNoise(AtomicPair, PublicPair):
    """P(x) = f(x - D), Q(x) = f(x), f(x) proportional to e^(-c |x|^p) on the whole numbers from -k to k, 0 elsewhere.

    c = ``decay``, p = ``power`` (1 or 2), k = ``reach``, D = ``distance``, from 1 to 2k. Any dimension, l1 distance D.
    Derived in ``bounded_support.md``. Attained by a step along one axis.
    """

    decay: Fraction
    power: int
    reach: int
    distance: int

    proof = "bounded_support.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        weight = f"e^(-c|x|{'' if self.power == 1 else '²'})"
        return (
            f"discrete distributions, {weight} on [-{self.reach}, {self.reach}], {self.distance} apart, "
            f"c = {write(self.decay)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the losses where both have mass, those that are equal as one; the rest of P is at infinite loss."""
        reach, distance = self.reach, self.distance
        masses = _masses(self.decay, self.power, reach)
        found: dict[Fraction, tuple[arb, arb]] = {}
        for x in range(distance - reach, reach + 1):
            p, q = found.get(loss := self._loss(x), (arb(0), arb(0)))
            found[loss] = p + masses[abs(x - distance)], q + masses[abs(x)]
        infinite = sum((masses[abs(x - distance)] for x in range(reach + 1, reach + distance + 1)), arb(0))
        return of_atoms([LossAtom(ball(loss), p, q) for loss, (p, q) in found.items()], infinite)

    def _loss(self, x: int) -> Fraction:
        farther: int = abs(x) ** self.power - abs(x - self.distance) ** self.power
        return self.decay * farther

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Losses 2cD^(p-1) apart, from that of the least outcome on."""
        return 2 * self.decay * self.distance ** (self.power - 1), self._loss(self.distance - self.reach)

    def largest_loss(self) -> LargestLoss:
        """Return ∞: some outcomes of P are none of Q."""
        return unbounded()

    @property
    def atom_count(self) -> int | None:
        """One for each outcome that both have; of Laplace noise those beyond either centre count as one."""
        both = 2 * self.reach - self.distance
        return 1 + (min(self.distance, both) if self.power == 1 else both)

    def _enlarged(self, k: int) -> Pair:
        return truncated_noises(self.decay, self.power, self.reach, k * self.distance)

    def zcdp_rho(self) -> Fraction:
        """Raise an error: the Rényi divergences are infinite."""
        raise UnsupportedMechanism(
            "truncated noise has infinite Rényi divergences, as some answers are possible on one of two neighbours "
            "only: no ρ holds; ask for epsilon at a delta greater than 0"
        )


def truncated_noises(decay: Fraction, power: int, reach: int, distance: int) -> Pair:
    """Return the pair of truncated noise; where no outcome is common to both, the pair of δ = 1."""
    if distance > 2 * reach:
        return FourPoints(Fraction(0), Fraction(1))
    return ShiftedTruncatedNoise(decay, power, reach, distance)


def _masses(decay: Fraction, power: int, reach: int) -> list[arb]:
    """Return f(0), ..., f(k)."""
    weights = [(-ball(decay * x**power)).exp() for x in range(reach + 1)]
    total = 2 * sum(weights, arb(0)) - 1
    return [weight / total for weight in weights]
