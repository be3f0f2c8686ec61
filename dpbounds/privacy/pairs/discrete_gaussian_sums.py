"""The pair of a sum of equal discrete Gaussians, which is close to a discrete Gaussian, but is not one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.core import LargestLoss, Moments, Pair, PublicPair, Writer
from dpbounds.privacy.pairs.losses import NEGLIGIBLE_BITS, LossDistribution, ball, rounded_up, unbounded
from dpbounds.privacy.pairs.weighing import up_to
from dpbounds.privacy.pairs.whole_numbers import (
    ShiftedDiscreteGaussians,
    are_listed,
    discrete_gaussian_masses,
    shifted_losses,
)
from dpbounds.privacy.proofs import Declined

_SUMMED = 64  # terms of the closeness that are computed one by one
_GUARD_BITS = 64
_WIDE_SHARES = 36  # squared parameter at which the closeness is below 2^-500
_MOST_DEVIATION = 100  # whole numbers
_FARTHEST = 20  # deviations
_MOST_WHOLE_NUMBERS = 25_000  # on either side, that masses are computed for


@dataclass(frozen=True, slots=True)
class ShiftedSumsOfDiscreteGaussians(PublicPair):
    """P(x) = f(x - D), Q(x) = f(x), f the distribution of the sum of n discrete Gaussians of parameter s² each.

    One coordinate moves, by at most D; s² is at least 1. Derived in ``shares.md``, section 3. Attained. ``scalar``: the
    answer has one coordinate, so that k records move it by kD; else nothing is said of several records.
    """

    share_variance: Fraction
    shares: int
    distance: int
    scalar: bool = True

    claims = Moments.EXACT_AND_OWN
    proof = "shares.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"sums of {self.shares} discrete Gaussians, e^(-x²/2s), {self.distance} apart, "
            f"s = {write(self.share_variance)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the distribution of log f(x - D)/f(x); the negligible mass beyond R on either side is revealed."""
        distance = self.distance
        masses, rest = masses_of_sum(self.share_variance, self.shares, distance)
        return shifted_losses(masses, rest, distance, lambda x: (masses[abs(x - distance)] / masses[abs(x)]).log())

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the loss grows with x."""
        return unbounded()

    def _enlarged(self, k: int) -> Pair | None:
        if self.scalar and sum_is_listed(self.share_variance, self.shares, k * self.distance):
            return ShiftedSumsOfDiscreteGaussians(self.share_variance, self.shares, k * self.distance)
        return None

    def zcdp_rho(self) -> Fraction:
        """Return D²/2ns² and the closeness, as D_λ is at most λ times that (``shares.md``, section 4)."""
        concentrated = self.distance**2 / (2 * self.shares * self.share_variance)
        return concentrated + closeness(self.share_variance, self.shares)

    def closed_log_moment(self, order: arb) -> arb:
        """Return that of the close discrete Gaussians, as wide as the closeness allows (``shares.md``, 3 and 4)."""
        near = ShiftedDiscreteGaussians(self.shares * self.share_variance, self.distance, self.scalar)
        apart = ball(closeness(self.share_variance, self.shares))
        most = (abs(order) + abs(1 - order)) * apart
        found = near.closed_log_moment(order) + (-most).union(most)
        return found.min((order - 1) * (apart + order * ball(near.zcdp_rho()))) if order > 1 else found


def sum_is_listed(share_variance: Fraction, shares: int, distance: int) -> bool:
    """Return whether the masses of a sum, and of one moved by D, take seconds and not minutes."""
    variance = shares * share_variance
    if share_variance >= _WIDE_SHARES:
        return are_listed(variance, distance)
    return variance <= _MOST_DEVIATION**2 and distance**2 <= _FARTHEST**2 * variance


def masses_of_sum(share_variance: Fraction, shares: int, further: int = 0) -> tuple[list[arb], arb]:
    """Return P(X = 0), ..., P(X = R) of a sum of discrete Gaussians up to a negligible one, and a bound on P(X > R).

    Wide shares: those of a discrete Gaussian, as wide as the closeness. Others: a power of a polynomial, of which
    coefficients farther than W from the middle are left out (``shares.md``, section 3).

    Args:
        share_variance: s², the squared parameter of each share, at least 1.
        shares: n, at least 1.
        further: The number of whole numbers to list beyond those.

    Raises:
        Declined: They are too many.
    """
    variance, bits = shares * share_variance, working_bits()
    apart = ball(closeness(share_variance, shares))
    if apart < arb(2) ** -bits:
        factor = (-apart).union(apart).exp()
        near, rest = discrete_gaussian_masses(ball(variance), further)
        return [mass * factor for mass in near], rest * factor
    per_bit = math.sqrt(2 * math.log(2) * variance)  # a mass of 2^-b lies at about sqrt(b) times that
    reach = further + math.ceil(per_bit * math.sqrt(max(2 * bits, NEGLIGIBLE_BITS))) + 1
    # the smallest mass keeps the working precision
    kept = math.ceil((reach / per_bit) ** 2) + bits + _GUARD_BITS + 2 * shares.bit_length()
    window = math.ceil(per_bit * math.sqrt(kept)) + 1
    if window > _MOST_WHOLE_NUMBERS:
        raise Declined(f"a sum of discrete Gaussians of variance {float(variance):.3g} has too many whole numbers")
    with working(kept + _GUARD_BITS):
        half = discrete_gaussian_masses(ball(share_variance))[0][: window + 1]
        masses = _power(half[:0:-1] + half, shares, window)
        middle = len(masses) // 2
        lost = up_to((2 * shares - 1) * 2 * (-ball(window**2) / (2 * ball(variance))).exp())
        beyond = sum(masses[middle + reach + 1 :], arb(0)) + lost
        return [mass + lost for mass in masses[middle : middle + reach + 1]], beyond


def _power(masses: list[arb], count: int, window: int) -> list[arb]:
    """Return the masses of the sum of ``count`` whole numbers, without those farther than ``window`` from 0."""
    if count == 1:
        return masses
    half = _power(masses, count // 2, window)
    squared = _sum_of_two(half, half, window)
    return _sum_of_two(squared, masses, window) if count % 2 else squared


def _sum_of_two(first: list[arb], second: list[arb], window: int) -> list[arb]:
    checkpoint()
    found: list[arb] = (arb_poly(first) * arb_poly(second)).coeffs()
    out = max(0, (len(found) - 1) // 2 - window)
    return found[out : len(found) - out]


@lru_cache(maxsize=256)
def closeness(share_variance: Fraction, shares: int) -> Fraction:
    """Return an upper bound on log r: a sum of shares has r times the mass of a discrete Gaussian at most, and 1/r.

    Args:
        share_variance: s², the squared parameter of each share, at least 1.
        shares: n, at least 1.

    The proof is in ``shares.md``, section 2.
    """

    def term(k: int) -> arb:
        q = (-2 * arb.pi() ** 2 * ball(share_variance * Fraction(k, k + 1))).exp()
        u = 2 * q / (1 - q**3)
        return 2 * u.atanh()

    def total() -> arb:
        listed = min(shares - 1, _SUMMED)
        first = sum((term(k) for k in range(1, listed + 1)), arb(0))
        # terms fall with k
        return first + (shares - 1 - listed) * term(listed + 1) if shares - 1 > listed else first

    return rounded_up(total)
