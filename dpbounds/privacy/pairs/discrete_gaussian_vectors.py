"""The pair of vectors of discrete Gaussian noise: nearly that of continuous Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.privacy.pairs.core import Costs, LargestLoss, Pair, PublicPair, Writer
from dpbounds.privacy.pairs.gaussian_profiles import delta_at, shifted_delta
from dpbounds.privacy.pairs.guarantees import RenyiProfile
from dpbounds.privacy.pairs.losses import LossDistribution, ProfileBound, ball, envelope_law

# Choices, on which no proof depends: the exponents 2π²s that are tried (the least, the ratio of two, how many), and the
# grid of s.
_LEAST, _RATIO, _TRIALS = 5, 1.1, 60
_GRID = 64
_MOST = 10**150  # numbers beyond which doubles choose no s


@dataclass(frozen=True, slots=True)
class DiscreteGaussianVectors(PublicPair):
    """The worst profile of discrete Gaussian noise on vectors that move by whole numbers.

    Each coordinate has independent noise of squared parameter ``variance``, or a sum of shares that is within a factor
    e^±``closeness`` of it. At most ``moved`` coordinates move, by a vector of squared l2 norm at most ``squared``. For
    each s below σ² such noise is rounded continuous noise of variance σ² - s, except with a probability of about
    2e^(-2π²s) in each of these coordinates; and D_λ <= λρ + ξ with ρ = ``squared``/2σ² and ξ = ``moved`` · closeness.
    Not attained. ``discrete_gaussian_vectors.md``.
    """

    variance: Fraction
    squared: Fraction
    moved: int
    closeness: Fraction = Fraction(0)

    proof = "discrete_gaussian_vectors.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"vectors of discrete Gaussians, e^(-|x|²/2s), s = {write(self.variance)}, moved by whole numbers in "
            f"{self.moved} coordinates by a squared distance of {write(self.squared)}"
        )

    @property
    def divergences(self) -> RenyiProfile:
        """The profile that the Rényi divergences allow."""
        return RenyiProfile((), self.squared / (2 * self.variance), self.moved * self.closeness)

    def distribution(self) -> LossDistribution:
        """Return the envelope of the profile at many losses."""
        divergences = self.divergences.bound()

        def value(loss: arb) -> arb:
            found, scale = divergences.value(loss), self._scale_at(float(loss))
            if scale is None:
                return found
            return found.min(shifted_delta(self.squared / (self.variance - scale), loss) + self._failure(scale))

        return envelope_law(ProfileBound(value, divergences.reach))

    def closed_delta(self, epsilon: Fraction) -> arb:
        """Return the least of the bounds for several s: with s they fall, then rise."""
        least = arb(1)
        for scale in self._scales():
            failure = self._failure(scale)
            if failure < 1:
                value = delta_at(self.squared / (self.variance - scale), epsilon) + failure
                if value > least:
                    break
                least = least.min(value)
        return least.min(self.divergences.bound().value(ball(epsilon)))

    def _failure(self, scale: Fraction) -> arb:
        """Bound the probability that a coordinate, of those that move, is not rounded continuous noise."""
        small, smaller = ((-2 * arb.pi() ** 2 * ball(each)).exp() for each in (scale, self.variance))
        return self.moved * (2 * small + 2 * smaller / (1 - smaller) + ball(self.closeness))

    def _scales(self) -> Iterator[Fraction]:
        """Yield values of s."""
        for trial in range(_TRIALS):
            scale = _on_grid(_LEAST * _RATIO**trial)
            if 2 * scale > self.variance:
                return
            yield scale

    def _scale_at(self, loss: float) -> Fraction | None:
        """Return about the best s for one loss; None where no s is.

        A larger s makes failures less likely by e^(-2π²s), and δ, about φ(t) μ/t(t + μ) at t = ε/μ - μ/2, larger by a
        factor of about 1 + s t(t + μ)/2σ².
        """
        if not max(self.variance, self.squared, self.squared / self.variance, self.variance / self.squared) < _MOST:
            return None
        shift = math.sqrt(self.squared / self.variance)
        t = max(0.0, loss / shift - shift / 2)
        failures = 20 * math.pi**2 * self.moved * float(self.variance) / min(1.0, shift)
        scale = min(_on_grid(t * t / 2 + max(1.0, math.log(failures))), self.variance / 2)
        return scale if scale * _GRID >= 1 else None

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the loss grows with x."""
        return self.divergences.largest_loss()

    def _enlarged(self, k: int) -> Pair | None:
        if self.closeness:
            return None
        return DiscreteGaussianVectors(self.variance, k**2 * self.squared, k * self.moved)

    def costs(self) -> Costs:
        """Return the squared distance, the inverse of σ², and the number of coordinates."""
        return self.squared, 1 / self.variance, Fraction(self.moved)

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair of another distance, of other noise, or of other coordinates."""
        squared, precision, moved = costs
        return DiscreteGaussianVectors(1 / precision, squared, math.ceil(moved), self.closeness)

    def rough_variance(self) -> float:
        """Return the squared shift of continuous noise."""
        return float(self.squared / self.variance)

    @property
    def addends(self) -> tuple[Hashable, Costs]:
        """The squared distance and the number of coordinates, for noise of one kind."""
        return (DiscreteGaussianVectors, self.variance, self.closeness), (self.squared, Fraction(self.moved))

    def with_sums(self, sums: Costs) -> Pair:
        """Return the pair of another distance and of other coordinates."""
        squared, moved = sums
        return DiscreteGaussianVectors(self.variance, squared, math.ceil(moved), self.closeness)

    def zcdp_rho(self) -> Fraction:
        """Return that of the divergences."""
        return self.divergences.zcdp_rho()

    @property
    def spread(self) -> Fraction:
        """The inverse of ρ."""
        return self.divergences.spread

    @property
    def concentration(self) -> Fraction | None:
        """ρ, for noise that is not a sum of shares."""
        return self.divergences.concentration

    def closed_log_moment(self, order: arb) -> arb:
        """Return (λ-1)(ξ + λρ)."""
        return self.divergences.closed_log_moment(order)


def _on_grid(exponent: float) -> Fraction:
    """Return s with 2π²s of about that size."""
    return Fraction(math.ceil(_GRID * exponent / (2 * math.pi**2)), _GRID)
