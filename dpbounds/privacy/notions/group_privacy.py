"""Group privacy: guarantees for datasets further apart, along chains of neighbours.

A group of k records is a chain of k links, each adding, removing or replacing one record; replacing one record is a
chain of two, a removal and an addition. Proofs are in ``composition_theorems.md``, sections 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import rational
from dpbounds.expressions.working import working
from dpbounds.privacy.notions.composition_theorems import CompositionTheorem
from dpbounds.privacy.routes.closed_forms import ball

GROUP = CompositionTheorem(
    "group privacy",
    "Dwork & Roth 2014, Theorem 2.2, for pure guarantees; Dong, Roth & Su 2022 for whole profiles",
    "goes from one dataset to the next, as though every link could be as bad as the worst pair of neighbours",
)

Profile = Callable[[Fraction], Fraction]  # ε >= 0 -> a proven upper bound on δ(ε)

_PRECISION = 128
_GOLDEN = (math.sqrt(5) - 1) / 2
_LINE_STEPS = 26
_SCALES = range(2, -7, -1)  # powers of 4: the skews tried first
_LARGEST_EPSILON = 1 << 40
_ALTERNATIONS = 3
_SHARES = (1.0, 1.6, 2.5)  # ratios of the shares of δ of a link and the next one
# -log of the least δ that a part is chosen for (and the largest part), and the resolution
_DEEPEST, _FINE = (
    700.0,
    1e-4,
)


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain, from a dataset D to its neighbour D', by upper bounds on both orders' profiles.

    Attributes:
        forward: ε >= 0 -> at least H_{e^ε}(M(D) ‖ M(D')).
        backward: ε >= 0 -> at least H_{e^ε}(M(D') ‖ M(D)).
    """

    forward: Profile
    backward: Profile


class Chain:
    """The chain's bound at any split of ε, and a search for a good one.

    Parts in arithmetic progression are tried; their difference is called the skew. That is every split for two links,
    and holds the best one for shifted Gaussians. Where tails are heavier, parts grow faster along the chain: so each
    part is also chosen in turn, as small as its share of δ lets it be.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        if not links:
            raise InvalidValue("links", links, "at least one link")
        self.links = tuple(links)
        self._known: dict[tuple[Profile, Fraction], Fraction] = {}

    def _profile(self, profile: Profile, epsilon: Fraction) -> Fraction:
        key = profile, epsilon
        if key not in self._known:
            value = rational(profile(epsilon), "profile")
            if value < 0:
                raise InvalidValue("profile", value, "an upper bound on a probability", "it must not be negative")
            self._known[key] = min(Fraction(1), value)
        return self._known[key]

    def _link(self, link: Link, epsilon: Fraction) -> arb:
        """Return a number that is at least H_{e^ε} of the link, for any real ε: below 0 by reversal."""
        if epsilon >= 0:
            return ball(self._profile(link.forward, epsilon))
        return -ball(epsilon).expm1() + ball(epsilon).exp() * ball(self._profile(link.backward, -epsilon))

    def _total(self, parts: Sequence[Fraction]) -> arb:
        total, before = arb(0), Fraction(0)
        for link, part in zip(self.links, parts, strict=True):
            total += ball(before).exp() * self._link(link, part)
            before += part
        return total

    def upper(self, parts: Sequence[Fraction]) -> Fraction:
        """Return the chain's bound at a split: proven, rounded up, at most 1."""
        with working(_PRECISION):
            total = self._total(parts)
            return min(Fraction(1), ball_end(total, "up")) if total < 2 else Fraction(1)

    def log_size(self, parts: Sequence[Fraction]) -> float:
        """Return the logarithm of the bound, above 1 too, to search with."""
        with working(_PRECISION):
            total = self._total(parts).mid()
            return float(total.log().mid()) if total > 0 else -math.inf

    def split(self, epsilon: Fraction, skew: float) -> tuple[Fraction, ...]:
        """Split ε into parts in arithmetic progression, up to rounding, with an exact sum."""
        n = len(self.links)
        parts = [Fraction(float(epsilon) / n + skew * (j - (n - 1) / 2)) for j in range(n - 1)]
        return (*parts, epsilon - sum(parts, Fraction(0)))

    def suffices(self, skew: float, delta: Fraction, epsilon: Fraction) -> bool:
        """Return whether the bound at ε, split with this skew, is at most δ."""
        return self.upper(self.split(epsilon, skew)) <= delta

    def best_skew(self, epsilon: Fraction) -> float:
        """Return the skew with the least bound, as far as a search on the line can tell."""
        n = len(self.links)
        if n == 1:
            return 0.0

        def bound(skew: float) -> float:
            return self.log_size(self.split(epsilon, skew))

        scale = (1 + float(epsilon)) / n
        sizes = [scale * 4.0**i for i in _SCALES]
        trials = [*(-size for size in sizes), 0.0, *reversed(sizes)]
        values = [bound(skew) for skew in trials]
        least = values.index(min(values))
        low, high = trials[max(0, least - 1)], trials[min(len(trials) - 1, least + 1)]
        return min((trials[least], _golden_section(bound, low, high)), key=bound)

    def best(self, epsilon: Fraction) -> tuple[Fraction, ...]:
        """Return the split of ε that the search found."""
        skewed = self.split(epsilon, self.best_skew(epsilon))
        low, high = -_DEEPEST, 0.0  # log δ: the smallest δ for which parts chosen in turn fit into ε
        in_turn: tuple[Fraction, ...] | None = None
        while len(self.links) > 2 and epsilon > 0 and high - low > _FINE:
            middle = (low + high) / 2
            parts = self.in_turn(middle)
            if parts is None or sum(parts) > epsilon:
                low = middle
            else:
                high, in_turn = middle, parts
        if in_turn is None:
            return skewed
        in_turn = (*in_turn[:-1], epsilon - sum(in_turn[:-1], Fraction(0)))
        return min((skewed, in_turn), key=self.log_size)

    def in_turn(self, log_delta: float) -> tuple[Fraction, ...] | None:
        """Return parts each of which uses its share of δ, given the parts before it; None if one is too long.

        Of several ways to share δ, the one with the smallest sum.
        """
        found = [parts for ratio in _SHARES if (parts := self._in_turn(log_delta, ratio)) is not None]
        return min(found, key=sum, default=None)

    def _in_turn(self, log_delta: float, ratio: float) -> tuple[Fraction, ...] | None:
        weights = [ratio**-j for j in range(len(self.links))]
        parts: list[Fraction] = []
        for link, weight in zip(self.links, weights, strict=True):
            aim = log_delta + math.log(weight / sum(weights)) - float(sum(parts, Fraction(0)))
            if aim < -_DEEPEST:
                return None
            allowed, high = Fraction(math.exp(aim)), Fraction(1)
            while self._profile(link.forward, high) > allowed:
                high *= 2
                if high > _DEEPEST:
                    return None

            def within(epsilon: Fraction, link: Link = link, allowed: Fraction = allowed) -> bool:
                return self._profile(link.forward, epsilon) <= allowed

            parts.append(Fraction(0) if within(Fraction(0)) else _last_allowed(within, high, _FINE))
        return tuple(parts)

    def parts_for(self, delta: Fraction, tolerance: float) -> tuple[Fraction, ...]:
        """Return a split with a bound of at most δ, whose sum is about as small as the search could make it.

        Raises:
            NotCertified: None was found.
        """
        best = self.best(Fraction(0))
        if self.upper(best) <= delta:
            return best
        found = [self._progression(delta, tolerance)]
        if len(self.links) > 2:
            found.append(self.in_turn(math.log(delta.numerator) - math.log(delta.denominator)))
        fitting = [parts for parts in found if parts is not None and self.upper(parts) <= delta]
        if not fitting:
            raise NotCertified(
                f"{GROUP.name}: no ε was found at which the bound for {len(self.links)} links is at most "
                f"{float(delta):g}; ask for fewer records or a larger δ"
            )
        return min(fitting, key=sum)

    def _progression(self, delta: Fraction, tolerance: float) -> tuple[Fraction, ...] | None:
        """Return the same in arithmetic progression, or None."""
        skew, high = 0.0, Fraction(1)
        while not self.suffices(skew, delta, high):
            high *= 2
            if high > _LARGEST_EPSILON:
                return None
        for _ in range(_ALTERNATIONS):  # the best shape at one ε is a good shape at the next
            skew = self.best_skew(high)
            high = _last_allowed(partial(self.suffices, skew, delta), high, tolerance)
        return self.split(high, skew)


def _golden_section(value: Callable[[float], float], low: float, high: float) -> float:
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(_LINE_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = value(right)
    return left if at_left <= at_right else right


def _last_allowed(allowed: Callable[[Fraction], bool], high: Fraction, tolerance: float) -> Fraction:
    """Return an allowed number close to the smallest one, searching down from an allowed number."""
    gap = tolerance * float(high)
    low = Fraction(max(0.0, float(high) - gap))
    while low > 0 and allowed(low):
        high, gap = low, 4 * gap
        low = Fraction(max(0.0, float(high) - gap))
    while high - low > tolerance * float(high):
        middle = Fraction(float(low + high) / 2)
        if not low < middle < high:
            break
        low, high = (low, middle) if allowed(middle) else (middle, high)
    return high
