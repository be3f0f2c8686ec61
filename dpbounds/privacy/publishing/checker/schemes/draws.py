"""Draws with replacement (27), (28)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import chance_of_at_least, normal_tail, number, rounded_up
from dpbounds.privacy.publishing.checker.noises import mixture_profile, per_bound
from dpbounds.privacy.publishing.checker.profiles import Profile, mirrored
from dpbounds.privacy.publishing.checker.samples import zeroed_profile
from dpbounds.privacy.publishing.checker.schemes.fixed_size import of_fixed_size
from dpbounds.privacy.publishing.checker.verdicts import NotCovered, require
from dpbounds.privacy.publishing.checker.work import effort


def of_draws(release: dict[str, Any], order: str, relation: str, group: int = 1) -> Profile:
    """(27), (28), (31) b draws with replacement: Σ p_k N(2k/z) against N(0) for records that come and go."""
    draws, n, one = release["batch_size"], release["dataset_size"], per_bound(release["mechanism"])
    if draws == 1 and relation != "add-or-remove-one":
        return of_fixed_size(release, order, relation)
    chance, scale = number(Fraction(group, n)), 2**240
    tails = [Fraction(1)]  # P(k or more draws), from above
    while tails[-1] > Fraction(1, 2**200) and len(tails) <= draws:
        if len(tails) > 1000:
            raise NotCovered("a record that is drawn more than 1000 times")
        effort.spend(1)
        tails.append(min(tails[-1], Fraction(rounded_up(chance_of_at_least(draws, chance, len(tails)), 240), scale)))
    beyond = tails.pop() if len(tails) <= draws else Fraction(0)
    chances = [a - b for a, b in pairwise([*tails, Fraction(0)])]
    lost = number(beyond)
    if relation == "replace-one":
        return replaced_draws(chances, release["mechanism"]["noise_multiplier"], lost)
    if relation == "zero-out-one":
        return zeroed_draws(chances, one, chance_of_at_least(draws, chance, 1), order, lost)
    norms = [(Fraction(2 * k), p) for k, p in enumerate(chances) if p]
    mixture = mixture_profile(norms, release["mechanism"]["noise_multiplier"], replaced=False)
    whole = Profile(lambda alpha: mixture(alpha) + lost, 1 + lost, exact=False)
    return whole if order == "remove" else whole.reversed()


def zeroed_draws(chances: list[Fraction], one: Fraction, some: arb, order: str, lost: arb) -> Profile:
    """(28) Σ_{k >= 1} p_k/η times (18) at the rate η and k shifts, for α >= 1; the other order, mirrored, below."""
    both = [
        [(number(p), zeroed_profile(k * k * one, some, way)) for k, p in enumerate(chances) if k and p]
        for way in (order, "add" if order == "remove" else "remove")
    ]

    def above(way: int, alpha: arb) -> arb:
        return sum((p * each(alpha) for p, each in both[way]), arb(0)) / some + lost

    return mirrored(partial(above, 0), partial(above, 1), total=1 + lost, exact=False)


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
