"""Mixtures of Gaussians (16)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import log, normal_tail, number
from dpbounds.privacy.publishing.checker.fields import Fields, unread
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_given
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.reading import field, positive, rational
from dpbounds.privacy.publishing.checker.verdicts import Malformed, require
from dpbounds.privacy.publishing.checker.work import effort


def read_norms(record: Any, name: str) -> list[list[Fraction]]:
    """Reads pairs of a norm and its probability."""
    norms = field(record, name, list)
    if not 0 < len(norms) <= 100 or any(not isinstance(each, list) or len(each) != 2 for each in norms):
        raise Malformed("a mixture has 1 to 100 pairs of a norm and a probability")
    read = [[rational(value, 0) for value in each] for each in norms]
    increasing = all(one[0] < other[0] for one, other in pairwise(read))
    if sum((p for _, p in read), Fraction(0)) != 1 or not increasing or not all(p for _, p in read):
        raise Malformed("a mixture has norms that increase and positive probabilities that sum to 1")
    if read[-1][0] == 0:
        raise Malformed("a mixture in which no record contributes")
    return read


class MixtureOfGaussiansNoise(Noise):
    """Gaussian noise, where each record's bound is drawn."""

    kind = "mixture-of-gaussians"
    fields: ClassVar[Fields] = {"kind": unread, "noise_stddev": positive, "norms": read_norms}
    symmetric = False

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_stddev")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return a mixture against one Gaussian, or against its mirror image."""
        return mixture_profile(noise["norms"], noise["noise_stddev"], replaced=times == 2)


def mixture_profile(norms: list[tuple[Fraction, Fraction]], stddev: Fraction, *, replaced: bool) -> Profile:
    """(16) Σ p_i N(c_i/σ) against N(0), or where a record is replaced against Σ p_i N(-c_i/σ)."""
    parts = [(number(c / stddev), number(p)) for c, p in norms]
    rough = [(float(c / stddev), log(p) - float(c / stddev) ** 2 / 2) for c, p in norms]
    at_rest = sum((p for c, p in norms if c == 0), Fraction(0))

    def log_sum(t: float) -> float:
        logs = [weight + c * t for c, weight in rough]
        return max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs))

    def sides(t: arb) -> tuple[arb, arb, arb, arb]:
        """dP/dN(0) and dQ/dN(0) at t, and their derivatives."""
        terms = [(c, p * (c * t - c * c / 2).exp()) for c, p in parts]
        up, rise = sum((each for _, each in terms), arb(0)), sum((c * each for c, each in terms), arb(0))
        if not replaced:
            return up, arb(1), rise, arb(0)
        terms = [(c, p * (-c * t - c * c / 2).exp()) for c, p in parts]
        return up, sum((each for _, each in terms), arb(0)), rise, -sum((c * each for c, each in terms), arb(0))

    def value(alpha: arb) -> arb:
        effort.spend(12 * len(parts))
        if not replaced and at_rest:
            if alpha <= number(at_rest):
                return 1 - alpha
            require(alpha > number(at_rest), "α is distinguished from the share that contributes nothing")
        wanted, low, high = float(alpha.log().mid()), -1e6, 1e6
        for _ in range(70):
            middle = (low + high) / 2
            gap = log_sum(middle) - (log_sum(-middle) if replaced else 0.0)
            low, high = (middle, high) if gap < wanted else (low, middle)
        t = arb(high)
        for _ in range(4):  # Newton's method, at midpoints
            up, down, rise, fall = sides(t)
            t = (t - (up - alpha * down) / (rise - alpha * fall)).mid()
        width = arb(2) ** -(ctx.prec // 3)
        left, right = sides(t - width), sides(t + width)
        require(left[0] < alpha * left[1], "the threshold lies right of the left end")
        require(right[0] > alpha * right[1], "the threshold lies left of the right end")
        near = (t - width).union(t + width)
        up, down, _, _ = sides(near)
        off = ((-near * near / 2).exp() * abs(up - alpha * down)).upper() * 2 * width
        moved = sum((p * normal_tail(t - c) for c, p in parts), arb(0))
        still = sum((p * normal_tail(t + c) for c, p in parts), arb(0)) if replaced else normal_tail(t)
        return moved - alpha * still + arb(0).union(off)

    return Profile(value)


def mixed(law: list[Fraction], z: Fraction, order: str) -> Profile:
    """Σ p_j N(j/z) against N(0), or against Σ p_j N(-j/z) where records are replaced."""
    found = mixture_profile([(Fraction(j), p) for j, p in enumerate(law)], z, replaced=order == "replace")
    return found.reversed() if order == "add" else found
