"""Profiles H_α of pairs of measures, and how they are put together: (14), (17), (19) and (30)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from dpbounds.privacy.publishing.checker.balls import normal_tail, number
from dpbounds.privacy.publishing.checker.limits import LEAST_RATE
from dpbounds.privacy.publishing.checker.verdicts import OutOfReach, require
from dpbounds.privacy.publishing.checker.work import effort

Vectors = dict[Fraction, tuple[Fraction, int]]  # σ²: the squared distance, and the number of coordinates that move
Curve = Callable[[Fraction], tuple[arb, arb]]  # ε -> balls whose lower and upper endpoints enclose δ(ε)
DrawnCurve = Callable[[Fraction], tuple[arb, "arb | None"]]  # ε -> δ(ε) from above, and from below where that is known


class Profile:
    """α -> H_α(P ‖ Q) = ∫ (dP - α dQ)_+ for α > 0, as a ball; of a pair of measures that dominates one release.

    It is one convex function that does not increase, with ``total`` = H_0, the P-mass: 1, or a little more where masses
    were rounded up. ``exact`` says that it is the release's pair itself, so that it shows lower bounds as well.
    """

    def __init__(self, value: Callable[[arb], arb], total: arb | None = None, *, exact: bool = True) -> None:
        self.value, self.exact = value, exact
        self.total = arb(1) if total is None else total

    def __call__(self, alpha: arb) -> arb:
        """H_α."""
        effort.spend(1)
        return self.value(alpha)

    def reversed(self) -> Profile:
        """(14) Of (Q, P), both of mass 1."""
        return Profile(lambda alpha: 1 - alpha + alpha * self(1 / alpha), exact=self.exact)


def mirrored(straight: Callable[[arb], arb], other: Callable[[arb], arb] | None = None, **more: Any) -> Profile:
    """Return a profile for α >= 1, and below the reversal of that of the other order (None: the same)."""
    back = straight if other is None else other

    def below(alpha: arb) -> arb:
        return 1 - alpha + alpha * back(1 / alpha)

    def value(alpha: arb) -> arb:
        if alpha >= 1 or alpha < 1:
            return straight(alpha) if alpha >= 1 else below(alpha)
        return straight(alpha.max(arb(1))).union(below(alpha.min(arb(1))))

    return Profile(value, **more)


def gaussian_profile(squared_shift: Fraction) -> Profile:
    """N(μ, 1) against N(0, 1)."""
    mu = number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:
        near = alpha.log() / mu
        return normal_tail(near - mu / 2) - alpha * normal_tail(near + mu / 2)

    return Profile(value) if squared_shift else Profile(lambda alpha: (1 - alpha).max(arb(0)))


def concentrated_profile(rho: Fraction) -> Profile:
    """(29) Any release with Rényi divergences of at most λρ of every order λ, either way."""
    if not LEAST_RATE < rho < 1 / LEAST_RATE:
        raise OutOfReach("noise beyond what doubles hold")

    def above(alpha: arb) -> arb:
        loss, rough, near = alpha.log(), float(rho), float(alpha.log().mid())

        def exponent(log_u: float) -> float:
            u = math.exp(log_u)
            return u * ((1 + u) * rough - near) - math.log1p(u) - u * math.log1p(1 / u)

        low, high = -20.0, 40.0
        for _ in range(90):  # it falls, then rises; any order will do
            third = (high - low) / 3
            low, high = (low, high - third) if exponent(low + third) < exponent(high - third) else (low + third, high)
        u = arb(math.exp(low))
        return (u * ((1 + u) * number(rho) - loss) - (1 + u).log() - u * (1 + 1 / u).log()).exp().min(arb(1))

    return mirrored(above, exact=False)


def vectors_profile(vectors: Vectors, shift: Fraction = Fraction(0)) -> Profile:
    """(29) The least of several bounds for discrete Gaussian noise on vectors, with other Gaussian noise."""
    rho = sum((squared / (2 * variance) for variance, (squared, _) in vectors.items()), shift / 2)
    divergences, bounds = concentrated_profile(rho), []
    for exponent in (5 * 1.1**j for j in range(60)):  # any s will do
        s = Fraction(math.ceil(64 * exponent / (2 * math.pi**2)), 64)
        if 2 * s > min(vectors):
            break
        apart, failure = shift, arb(0)
        for variance, (squared, moved) in vectors.items():
            near, own = ((-2 * arb.pi() ** 2 * number(each)).exp() for each in (s, variance))
            apart, failure = apart + squared / (variance - s), failure + moved * 2 * (near + own / (1 - own))
        bounds.append((gaussian_profile(apart), failure))

    def above(alpha: arb) -> arb:
        least = arb(1)
        for profile, failure in bounds:
            if failure < 1:
                value = profile(alpha) + failure
                if value > least:  # with s the bounds fall, then rise
                    break
                least = least.min(value)
        return least.min(divergences(alpha))

    return mirrored(above, exact=False)


def thinned(base: Profile, rate: Fraction) -> Profile:
    """(14) (1-q)Q + qP against Q."""
    q = number(rate)

    def value(alpha: arb) -> arb:
        above = alpha - 1 + q
        if above > 0:
            return q * base(above / q)
        require(above <= 0, "α is distinguished from 1 - q")
        return 1 - alpha

    return Profile(value, exact=base.exact)


def sampled_profile(order: str, rate: Fraction, squared_shift: Fraction) -> Profile:
    """A Poisson sample with Gaussian noise."""
    base = gaussian_profile(squared_shift)
    if rate == 1:
        return gaussian_profile(4 * squared_shift) if order == "replace" else base
    if order != "replace":
        return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()
    q, z = number(rate), 1 / number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:  # with y = e^{t/z}: 1-q + b y > α (1-q + b/y)
        b, c = q * (-1 / (2 * z * z)).exp(), (1 - q) * (alpha - 1)
        start = z * ((c + (c * c + 4 * b * b * alpha).sqrt()) / (2 * b)).log()
        return q * (normal_tail(start - 1 / z) - alpha * normal_tail(start + 1 / z)) - c * normal_tail(start)

    return Profile(value)


def symmetrised(base: Profile, rate: Fraction) -> Profile:
    """(17) γ h(1 + (α-1)/γ) for α >= 1, mirrored below."""
    gamma = number(rate)
    return mirrored(lambda alpha: gamma * base(1 + (alpha - 1) / gamma), exact=base.exact)


def two_guarantees(present: Profile, replaced: Profile, rate: Fraction) -> Profile:
    """(30) A replaced record in a Poisson sample: q((1-s) h_1 + s h_2) at α' = 1 + (α-1)/q, s = α/α'."""
    q = number(rate)

    def above(alpha: arb) -> arb:
        inner = 1 + (alpha - 1) / q
        return q * ((1 - alpha / inner) * present(inner) + alpha / inner * replaced(inner))

    return mirrored(above, exact=False)


def averaged(parts: list[tuple[Fraction, Profile]]) -> Profile:
    """(19) One of several pairs, drawn and revealed."""
    weights = [(number(weight), profile) for weight, profile in parts if weight]
    return Profile(
        lambda alpha: sum((weight * profile(alpha) for weight, profile in weights), arb(0)),
        sum((weight * profile.total for weight, profile in weights), arb(0)),
        exact=all(profile.exact for _, profile in weights),
    )


def weighed(parts: list[tuple[Fraction, Fraction, Profile]]) -> Profile:
    """(19) One of several pairs, revealed, with one weight under P and another one, not 0 where the first is not."""
    weights = [(number(first), number(second), profile) for first, second, profile in parts if first]
    return Profile(
        lambda alpha: sum((w * profile(alpha * v / w) for w, v, profile in weights), arb(0)),
        sum((w * profile.total for w, _, profile in weights), arb(0)),
        exact=all(profile.exact for _, _, profile in weights),
    )
