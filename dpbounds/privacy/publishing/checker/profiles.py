"""Profiles H_α of pairs of measures, and how they are put together: (14) and (19)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from dpbounds.privacy.publishing.checker.balls import normal_tail, number
from dpbounds.privacy.publishing.checker.verdicts import require
from dpbounds.privacy.publishing.checker.work import effort

Curve = Callable[[Fraction], tuple[arb, arb]]  # ε -> balls whose lower and upper ends enclose δ(ε)
Sampled = Counter[tuple[Fraction, Fraction]]  # (q, z²): count


class Profile:
    """α -> H_α(P ‖ Q) = ∫ (dP - α dQ)_+ for α > 0, as a ball; of a pair of measures that dominates one release.

    It is one convex function that does not increase, with ``total`` = H_0, the P-mass: 1, or a little more where masses
    were rounded up. ``exact`` says that it is the release's pair itself, so that it shows lower ends as well.
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
    """A profile for α >= 1, and below the reversal of that of the other order (None: the same)."""
    back = straight if other is None else other

    def below(alpha: arb) -> arb:
        return 1 - alpha + alpha * back(1 / alpha)

    def value(alpha: arb) -> arb:
        if alpha >= 1 or alpha < 1:
            return straight(alpha) if alpha >= 1 else below(alpha)
        return straight(alpha.max(arb(1))).union(below(alpha.min(arb(1))))

    return Profile(value, **more)


Steps = list[tuple[Profile, int]]
DrawnCurve = Callable[[Fraction], tuple[arb, "arb | None"]]  # ε -> δ(ε) from above, and from below where that is known


def gaussian_profile(squared_shift: Fraction) -> Profile:
    """N(μ, 1) against N(0, 1)."""
    mu = number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:
        near = alpha.log() / mu
        return normal_tail(near - mu / 2) - alpha * normal_tail(near + mu / 2)

    return Profile(value) if squared_shift else Profile(lambda alpha: (1 - alpha).max(arb(0)))


def thinned(base: Profile, rate: Fraction) -> Profile:
    """(14) (1-q)Q + qP against Q."""
    q = number(rate)

    def value(alpha: arb) -> arb:
        above = alpha - 1 + q
        if above > 0:
            return q * base(above / q)
        require(above <= 0, "α is told from 1 - q")
        return 1 - alpha

    return Profile(value, exact=base.exact)


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
