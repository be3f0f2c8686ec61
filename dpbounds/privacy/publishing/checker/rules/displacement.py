"""A record in the place of another one: (17), (18) where it is zeroed, (28) where that happens several times."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import normal_tail, number
from dpbounds.privacy.publishing.checker.noises.gaussian import has_multiplier, per_bound
from dpbounds.privacy.publishing.checker.noises.table import NOISES, noise_profile
from dpbounds.privacy.publishing.checker.profiles import Profile, gaussian_profile, mirrored, symmetrised, thinned
from dpbounds.privacy.publishing.checker.verdicts import NotCovered, require
from dpbounds.privacy.publishing.checker.work import effort


def zeroed_profile(squared_shift: Fraction, rate: Fraction | arb, order: str) -> Profile:
    """(18) Gaussian noise, a record zeroed in a batch of fixed size (remove), or put back (add)."""
    gamma, s = rate if isinstance(rate, arb) else number(rate), number(squared_shift).sqrt()
    base = gaussian_profile(squared_shift)

    def restored(alpha: arb) -> arb:
        return gamma * base(1 + (alpha - 1) / gamma)

    def zeroed(alpha: arb) -> arb:
        lead, middle = gamma * (-s * s).exp(), gamma * alpha
        w = (middle + (middle**2 + 4 * lead * (alpha - 1) * (1 - gamma)).sqrt()) / (2 * lead)
        t = w.log() / s + s / 2
        event = gamma * (normal_tail(t - 2 * s) - alpha * normal_tail(t - s))
        return event - (alpha - 1) * (1 - gamma) * normal_tail(t)

    return mirrored(*((zeroed, restored) if order == "remove" else (restored, zeroed)))


def may_displace(noise: dict[str, Any], relation: str) -> bool:
    """Return whether a record that displaces another one is covered."""
    if relation == "zero-out-one":
        return has_multiplier(noise)
    return NOISES[noise["kind"]].displaces and not noise.get("sensitivity")


def displacing(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(17), (18) A record that is in the batch with probability ``rate``, and then displaces another one."""
    if relation == "zero-out-one":
        return zeroed_profile(per_bound(noise), rate, order)
    if not may_displace(noise, relation):
        raise NotCovered(f"{noise['kind']} noise on batches of a fixed size, or given by its final distance")
    base = noise_profile(noise, 2)
    if relation == "replace-one":
        return symmetrised(base, rate)
    return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()


def replaced_draws(chances: list[Fraction], z: Fraction, lost: arb) -> Profile:
    """(28) sup_t Σ p_k max_{t-D <= y <= t} F̄(y) - αF̄(y+D), D = 2k/z, for α >= 1, mirrored below."""
    parts = [(number(2 * k / z), number(p)) for k, p in enumerate(chances) if k and p]
    rough = [(float(2 * k / z), float(p)) for k, p in enumerate(chances) if k and float(p)]
    rest, still = number(chances[0]), float(chances[0])

    def falls_roughly(t: float, logarithm: float) -> float:
        found = -(1 - math.exp(-logarithm)) * still
        for d, p in rough:
            lower, upper = d * t - d * d / 2 - logarithm, -d * t - d * d / 2
            found += p * max(0.0, math.exp(min(lower, 500.0)) - 1)
            found -= p * max(0.0, math.exp(min(upper, 500.0)) - math.exp(-logarithm))
        return found

    def falls(t: arb, alpha: arb) -> tuple[arb, arb]:
        """-f'/(αφ) at t, which grows with t, and its derivative."""
        found, rise = -(1 - 1 / alpha) * rest, arb(0)
        for d, p in parts:
            right, left = (d * t - d * d / 2).exp() / alpha, (-d * t - d * d / 2).exp()
            found += p * ((right - 1).max(arb(0)) - (left - 1 / alpha).max(arb(0)))
            rise += p * d * (right * int(right > 1) + left * int(left > 1 / alpha))
        return found, rise

    def above(alpha: arb) -> arb:
        effort.spend(12 * len(parts))
        logarithm, low, high = alpha.log(), -1e4, 1e4
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if falls_roughly(middle, float(logarithm.mid())) < 0 else (low, middle)
        t = arb(high)
        for _ in range(3):  # Newton's method, at midpoints
            off, rise = falls(t, alpha)
            t = (t - off / rise).mid() if rise > 0 else t
        width = arb(2) ** -(ctx.prec // 3)
        require(falls(t - width, alpha)[0] <= 0, "the sum rises up to the left end")
        require(falls(t + width, alpha)[0] >= 0, "the sum falls from the right end on")
        near = (t - width).union(t + width)
        slope = abs(falls(near, alpha)[0]) * alpha * (-near * near / 2).exp()
        found = (1 - alpha) * rest * normal_tail(t)
        for d, p in parts:
            y = (logarithm / d - d / 2).min(t).max(t - d)
            found += p * (normal_tail(y) - alpha * normal_tail(y + d))
        return found + arb(0).union(slope.upper() * 2 * width) + lost

    return mirrored(above, total=1 + lost, exact=False)
