"""The pair of Skellam noise, the difference of two Poisson numbers, on the whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Costs, LargestLoss, Moments, Pair, PublicPair, Writer
from dpbounds.privacy.pairs.losses import NEGLIGIBLE_BITS, LossDistribution, ball, unbounded
from dpbounds.privacy.pairs.weighing import up_to
from dpbounds.privacy.pairs.whole_numbers import shifted_losses
from dpbounds.privacy.proofs import Declined

_MOST_WHOLE_NUMBERS = 40_000  # whole numbers of a distribution: takes a tenth of a second
_FARTHEST, _DEVIATIONS = 25_000, 80  # whole numbers from 0, and standard deviations, beyond which nothing is looked at
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class ShiftedSkellams(PublicPair):
    """P(x) = f(x - D), Q(x) = f(x), f(k) = e^(-2μ) I_|k|(2μ) on the whole numbers; 2μ = ``variance``, D = ``distance``.

    One coordinate moves, by at most D. Derived in ``skellam.md``. Attained. ``scalar``: the answer has one coordinate,
    so that k records move it by kD; else nothing is said of several records.
    """

    variance: Fraction
    distance: int
    scalar: bool = True

    claims = Moments.EXACT_AND_OWN
    proof = "skellam.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"Skellam distributions of variance {write(self.variance)}, {self.distance} apart"

    def distribution(self) -> LossDistribution:
        """Return the distribution of log f(x - D)/f(x); the negligible mass beyond R on either side is revealed."""
        distance = self.distance
        masses, rest = skellam_masses(self.variance, distance)
        return shifted_losses(masses, rest, distance, lambda x: (masses[abs(x - distance)] / masses[abs(x)]).log())

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the loss grows with x."""
        return unbounded()

    def costs(self) -> Costs:
        """Return 1 / variance: larger noise is smaller noise plus independent noise."""
        return (1 / self.variance,)

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair of the same distance with other noise."""
        return ShiftedSkellams(1 / costs[0], self.distance, self.scalar)

    def rough_variance(self) -> float:
        """Return the variance of the continuous Gaussian."""
        return float(self.distance**2 / self.variance)

    def _enlarged(self, k: int) -> Pair | None:
        if self.scalar and is_listed(self.variance, k * self.distance):
            return ShiftedSkellams(self.variance, k * self.distance)
        return None

    def closed_log_moment(self, order: arb) -> arb:
        """Return sums left and right of 0, each until a geometric series bounds the rest (section 4)."""
        distance, mu = self.distance, ball(self.variance / 2)
        masses, rest = skellam_masses(self.variance, distance)
        reach = len(masses) - 1
        left = range(distance - reach, distance + 1)
        total = sum((self._weighed(masses, x, order) for x in left), arb(0)) + up_to(rest)
        negligible = arb(2) ** -max(2 * working_bits(), NEGLIGIBLE_BITS)
        x = distance
        while True:
            checkpoint()
            x += 1
            if x >= len(masses):
                if x > _MOST_WHOLE_NUMBERS:
                    far = order.str(5, radius=False)
                    raise NotCertified(f"the Rényi divergence at order {far} is decided too far out: {self}")
                masses = skellam_masses(self.variance, 2 * x)[0]
            term = self._weighed(masses, x, order)
            total += term
            ratio = mu / (x - distance + 1) * ((mu + x + 1) / (x - distance + 1)) ** (order - 1)
            if ratio < ball(_HALF) and term < negligible * total:
                return (total + up_to(2 * term * ratio)).log()

    def _weighed(self, masses: Sequence[arb], x: int, order: arb) -> arb:
        return masses[abs(x - self.distance)] ** order * masses[abs(x)] ** (1 - order)


def skellam_masses(variance: Fraction, further: int = 0) -> tuple[list[arb], arb]:
    """Return P(X = 0), ..., P(X = R) of Skellam noise, as far as they matter and ``further``; a bound on P(X > R).

    From two Bessel functions down, by I_(k-1) = I_(k+1) + (k/μ) I_k, a sum of positive terms. The ratio of neighbouring
    masses falls, so that beyond R they are below a geometric series (``skellam.md``, section 3).

    Raises:
        Declined: They are too many.
    """
    mu, negligible = ball(variance / 2), arb(2) ** -max(2 * working_bits(), NEGLIGIBLE_BITS)
    reach = max(16, math.ceil(4 * math.sqrt(variance)))
    while not _mass(variance, reach) < negligible:
        reach = reach * 3 // 2
        if reach > _MOST_WHOLE_NUMBERS:
            raise Declined(f"Skellam noise of more than {_MOST_WHOLE_NUMBERS} visible whole numbers")
    beyond, last = _mass(variance, reach + further + 1), _mass(variance, reach + further)
    masses = [beyond, last]
    for k in range(reach + further, 0, -1):
        masses.append(masses[-2] + k / mu * masses[-1])
    return masses[:0:-1], beyond / (1 - beyond / last)


def is_listed(variance: Fraction, distance: int) -> bool:
    """Return whether the losses of shifted Skellam noise, where they matter, are few enough to be listed."""
    return distance < _FARTHEST and bool(_DEVIATIONS**2 * variance <= (_FARTHEST - distance) ** 2)


def _mass(variance: Fraction, k: int) -> arb:
    return ball(variance).bessel_i(arb(k), scaled=True)
