"""Skellam noise (32), on whole numbers and on vectors that move few coordinates by one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

from flint import arb, arb_poly, ctx

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.fields import COUNTED_OR_NONE, Fields, unread
from dpbounds.privacy.publishing.checker.limits import LEAST_NOISE
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_given
from dpbounds.privacy.publishing.checker.noises.whole_numbers import read_bound, vectors
from dpbounds.privacy.publishing.checker.profiles import Profile, mirrored
from dpbounds.privacy.publishing.checker.reading import positive
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import NotCovered, OutOfReach, require
from dpbounds.privacy.publishing.checker.work import effort


class SkellamNoise(Noise):
    """The difference of two Poisson numbers."""

    kind = "skellam"
    version = 6
    fields: ClassVar[Fields] = {
        "kind": unread,
        "variance": positive,
        "bound": read_bound,
        "dimension": COUNTED_OR_NONE,
    }
    scales = ("variance",)
    displaces = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "variance")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate."""
        if vectors(noise, times) is not None:
            raise NotCovered("Skellam noise on samples of vectors of which several coordinates may move")
        return skellam_profile(noise["variance"], times * math.floor(noise["bound"]))

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the loss of a vector that moves by less than 2: ``times`` coordinates move by 1."""
        squared = vectors(noise, times)
        if squared is None:
            return super().spent(noise, times)
        if squared >= 4:
            raise NotCovered("Skellam noise on vectors that move by 2 or more")
        ones = int(min(squared, noise["dimension"] or 3))
        return Spent(steps=[(skellam_profile(noise["variance"], 1), ones)])

    def on_poisson_samples(self, noise: dict[str, Any]) -> bool:
        """One coordinate only."""
        return vectors(noise, 1) is None


def skellam_profile(variance: Fraction, distance: int) -> Profile:
    """(32) f(· - D) against f, by sums over two Poisson numbers."""
    masses, lost, reach = skellam_masses(variance, distance)
    rest = arb(0).union(lost.upper())
    tails = [each + rest for each in accumulate(reversed(masses[1:]), initial=arb(0))][::-1]  # [t - 1] for x >= t
    f = [each + rest for each in masses[: reach + 1]]
    least = (distance - 1) // 2  # there f(t - D) < f(t)

    def tail(t: int) -> arb:
        return tails[t - 1] if t > 0 else 1 - tails[-t]

    def above(alpha: arb) -> arb:
        low, high = least, reach + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if f[abs(middle - distance)] > alpha * f[middle] else (middle, high)
        found = arb(0).union(tail(high - distance).upper())  # at least what any later threshold gives
        if high <= reach:
            found = (tail(high - distance) - alpha * tail(high)).max(arb(0))
        while low > least and not f[abs(low - distance)] < alpha * f[low]:
            require(high - low < 5, "the threshold of whole numbers is narrow")
            found, low = found.max(tail(low - distance) - alpha * tail(low)), low - 1
        return found

    return mirrored(above)


def skellam_masses(variance: Fraction, distance: int) -> tuple[list[arb], arb, int]:
    """(32) f(0), f(1), … from below, an upper bound on their total error, and the index where it gets negligible."""
    if not LEAST_NOISE < variance < 1 / LEAST_NOISE:
        raise OutOfReach("noise beyond what doubles hold")
    mu, rough = number(variance / 2), float(variance)
    # how small f(D) is, in bits: a choice of how far to go, as those below are
    deep = distance * math.asinh(distance / rough) - math.hypot(distance, rough) + rough
    bits = 2 * ctx.prec + math.ceil(1.5 * deep) + 64
    most = math.ceil(rough / 2) + math.isqrt(2 * bits * math.ceil(rough / 2)) + bits
    effort.spend(most, most)
    poisson = list(accumulate(range(1, most + 2), lambda p, j: p * mu / j, initial=(-mu).exp()))
    kept = [j for j, p in enumerate(poisson[:-1]) if p > arb(2) ** -bits]
    first, last = kept[0], kept[-1]
    require(last + 2 > mu, "Poisson masses beyond the table fall")
    beyond = poisson[last + 1] / (1 - mu / (last + 2))
    if first:
        require(first - 1 < mu, "Poisson masses below the table fall")
        beyond += poisson[first - 1] / (1 - (first - 1) / mu)
    some = poisson[first : last + 1]
    effort.spend(16 * len(some), 4 * len(some))
    masses = [arb(each) for each in (arb_poly(some) * arb_poly(some[::-1])).coeffs()[len(some) - 1 :]]
    lost = 2 * beyond
    enough = lost * arb(2) ** (ctx.prec // 2)
    reach = next((k for k, mass in enumerate(masses) if not mass > enough), len(masses)) - 1
    require(reach > distance, "what moves is seen in the table")
    return masses, lost, reach
