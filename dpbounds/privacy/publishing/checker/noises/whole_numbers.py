"""Noise on whole numbers (15), and on vectors of them (29)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import number, only_whole
from dpbounds.privacy.publishing.checker.fields import COUNTED_OR_NONE, Fields, unread, whole
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_given
from dpbounds.privacy.publishing.checker.profiles import Profile, Vectors, vectors_profile
from dpbounds.privacy.publishing.checker.reading import positive, quoted
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, require
from dpbounds.privacy.publishing.checker.work import effort


def read_bound(record: Any, name: str) -> Fraction:
    """Reads the bound of noise on whole vectors."""
    bound = positive(record, name)
    if bound is None or not 1 <= bound <= 10**6:
        raise Malformed(f"the bound of noise on whole vectors is {quoted(str(bound))}, and not from 1 to 1000000")
    return bound


class DiscreteLaplaceNoise(Noise):
    """P(x) ~ e^{-|x|/b}."""

    kind = "discrete-laplace"
    fields: ClassVar[Fields] = {"kind": unread, "noise_scale": positive, "bound": whole(10**6)}
    displaces = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_scale")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate."""
        return discrete_laplace_profile(noise["noise_scale"], times * noise["bound"])


class DiscreteGaussianNoise(Noise):
    """P(x) ~ e^{-x²/2σ²}, σ or σ² given."""

    kind = "discrete-gaussian"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "noise_stddev": positive,
        "bound": read_bound,
        "dimension": COUNTED_OR_NONE,
    }
    displaces = True

    def form(self, noise: object) -> tuple[Fields, int]:
        """Since version 6 with ``noise_variance`` in place of ``noise_stddev``."""
        if not (isinstance(noise, dict) and "noise_variance" in noise):
            return self.fields, self.version
        others = {name: reader for name, reader in self.fields.items() if name != "noise_stddev"}
        return {**others, "noise_variance": positive}, 6

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse noise without a scale."""
        demand_given(noise, "noise_variance" if "noise_variance" in noise else "noise_stddev")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One coordinate, or the bounds of a vector."""
        if vectors(noise, times) is not None:
            return vectors_profile(moved_vectors(noise, times))
        return discrete_gaussian_profile(squared_scale(noise), times * math.floor(noise["bound"]))

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the loss of a vector: below 2, ``times`` coordinates move by 1; else distances add up."""
        squared = vectors(noise, times)
        if squared is None:
            return super().spent(noise, times)
        if squared < 4:
            ones = int(min(squared, noise["dimension"] or 3))
            return Spent(steps=[(discrete_gaussian_profile(squared_scale(noise), 1), ones)])
        return Spent(vectors=moved_vectors(noise, times))

    def is_attained(self, noise: dict[str, Any]) -> bool:
        """Vectors that move by 2 or more have bounds only."""
        return bool(noise["dimension"] == 1 or noise["bound"] < 2)


def squared_scale(noise: dict[str, Any]) -> Fraction:
    """Return σ² of discrete Gaussian noise."""
    found: Fraction = noise["noise_variance"] if "noise_variance" in noise else noise["noise_stddev"] ** 2
    return found


def vectors(noise: dict[str, Any], times: int) -> Fraction | None:
    """Return the squared distance of whole vectors, several coordinates of which may move; None for all else."""
    squared: Fraction = (times * noise["bound"]) ** 2
    return squared if noise["dimension"] != 1 and squared >= 2 else None


def moved_vectors(noise: dict[str, Any], times: int) -> Vectors:
    """Return the squared distance, which is whole, and how many coordinates move."""
    whole = math.floor((times * noise["bound"]) ** 2)
    return {squared_scale(noise): (Fraction(whole), min(whole, noise["dimension"] or whole))}


def half_line_profile(
    tails: Callable[[int], tuple[arb, arb]], first: Callable[[arb], arb], least: int, most: int
) -> Profile:
    """(15) The largest of 0, 1 - α and p - αq, (p, q) = ``tails(t)`` the masses from t on, at the first t >= first(α).

    t is kept between ``least`` and ``most``.
    """

    def value(alpha: arb) -> arb:
        at = first(alpha)
        ends = (only_whole(end.ceil(), "the threshold of whole numbers") for end in (at.lower(), at.upper()))
        places = {max(least, min(most, t)) for t in ends}
        require(len(places) == 1 or max(places) - min(places) == 1, "the threshold of whole numbers is narrow")
        found = (1 - alpha).max(arb(0))
        for t in places:
            moved, still = tails(t)
            found = found.max(moved - alpha * still)
        return found

    return Profile(value)


def discrete_laplace_profile(scale: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-|x|/b}."""
    p, b = (-number(1 / scale)).exp(), number(scale)

    def tail(t: int) -> arb:
        return p**t / (1 + p) if t >= 0 else 1 - p ** (1 - t) / (1 + p)

    return half_line_profile(
        lambda t: (tail(t - distance), tail(t)), lambda alpha: (b * alpha.log() + distance) / 2, 0, distance
    )


def discrete_gaussian_profile(variance: Fraction, distance: int) -> Profile:
    """P(x) ~ e^{-x²/2σ²}; beyond the table neighbouring weights fall by a half at least."""
    reach = math.isqrt(2 * ctx.prec * math.ceil(variance)) + math.ceil(variance) + 2
    effort.spend(4 * reach, 4 * reach)
    weights = [(-number(Fraction(x * x) / (2 * variance))).exp() for x in range(reach + 2)]
    require(weights[-1] * 2 < weights[-2], "weights beyond the table fall by a half at least")
    rest = arb(0).union(2 * weights[-1])
    upper = list(accumulate(reversed(weights[1:-1]), initial=rest))  # sums over x >= reach + 1, ..., x >= 1
    total = 1 + 2 * upper[-1]
    upper = [each / total for each in upper[::-1]]  # [t - 1] for x >= t

    def tail(t: int) -> arb:
        if t > 0:
            return upper[min(t - 1, reach)] if t <= reach else arb(0).union(upper[reach].upper())
        return 1 - tail(1 - t)

    def first(alpha: arb) -> arb:
        return number(variance) * alpha.log() / distance + arb(distance) / 2

    far = reach + distance + 1
    return half_line_profile(lambda t: (tail(t - distance), tail(t)), first, -far, far)
