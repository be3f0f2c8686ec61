"""What a guarantee for neighbours says of data sets further apart: chains of neighbours.

A group of k records is a chain of k links, each adding, removing or replacing one record; replacing one record is a
chain of two, a removal and an addition. Proofs stand in ``composition_theorems.md``, sections 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer, rational
from dpbounds.expressions.working import working
from dpbounds.privacy.notions.composition_theorems import CompositionTheorem, EpsilonDelta, at_least_zero, probability
from dpbounds.privacy.routes.closed_forms import ball

GROUP = CompositionTheorem(
    "group privacy",
    "Dwork & Roth 2014, Theorem 2.2, for pure guarantees; Dong, Roth & Su 2022 for whole profiles",
    "goes from one data set to the next, as though every link could be as bad as the worst pair of neighbours",
)

Profile = Callable[[Fraction], Fraction]  # ε >= 0 -> a proven upper bound on δ(ε)

_PRECISION = 128
_GOLDEN = (math.sqrt(5) - 1) / 2
_LINE_STEPS = 26
_SCALES = range(2, -7, -1)  # powers of 4: the skews tried first
_LARGEST_EPSILON = 1 << 40
_ALTERNATIONS = 3
_SHARES = (1.0, 1.6, 2.5)  # how much more of δ each link may have than the next one
_DEEPEST, _FINE = 700.0, 1e-4  # -log of the least δ that a part is chosen for (the largest part, too), and how finely


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain, from a data set D to its neighbour D', by upper bounds on both orders' profiles.

    Attributes:
        forward: ε >= 0 -> at least H_{e^ε}(M(D) ‖ M(D')).
        backward: ε >= 0 -> at least H_{e^ε}(M(D') ‖ M(D)).
    """

    forward: Profile
    backward: Profile

    @classmethod
    def symmetric(cls, profile: Profile) -> Link:
        """A link with one profile for both orders: replace-one, or the larger of remove and add."""
        return cls(profile, profile)

    def reversed(self) -> Link:
        """The link from D' to D."""
        return Link(self.backward, self.forward)


def group_guarantee(guarantee: EpsilonDelta, size: int) -> EpsilonDelta:
    """From (ε, δ) for neighbours to (kε, δ (e^(kε) - 1)/(e^ε - 1)) for groups of k; (0, kδ) at ε = 0.

    Args:
        guarantee: Holds for every ordered pair of neighbours.
        size: k >= 1.

    Returns:
        ε exactly, δ rounded up and at most 1.

    Raises:
        InvalidValue: The size is not a positive integer.

    Source: Dwork & Roth 2014, Theorem 2.2, at δ = 0.

    >>> group_guarantee(EpsilonDelta("0.5"), 3).epsilon
    Fraction(3, 2)
    """
    k, epsilon, delta = positive_integer(size, "size"), guarantee.epsilon, guarantee.delta
    if epsilon == 0 or delta == 0:
        return EpsilonDelta(k * epsilon, min(Fraction(1), k * delta))
    with working(_PRECISION):
        log_delta = ball(delta).log() + ball(k * epsilon).expm1().log() - ball(epsilon).expm1().log()
        capped = Fraction(1) if log_delta.upper() >= 0 else ball_end(log_delta.exp(), "up")
    return EpsilonDelta(k * epsilon, min(Fraction(1), capped))


def group_zcdp(rho: ExactLike, size: int) -> Fraction:
    """From ρ-zCDP for neighbours to k²ρ-zCDP for groups of k, exactly.

    Source: Bun & Steinke 2016; another proof in ``composition_theorems.md``, section 7.
    """
    return positive_integer(size, "size") ** 2 * at_least_zero(rho, "rho")


def group_profile(link: Link, size: int, epsilon: ExactLike) -> Enclosure:
    """Bound δ_k(ε) for groups of k records, in both orders: the chain of k equal links, and its reversal.

    Args:
        link: What is known of neighbours.
        size: k >= 1.
        epsilon: At least 0.

    Returns:
        [0, upper]: the upper end is proven for the split of ε that a search found; a better split may exist.

    Raises:
        InvalidValue: A value outside its domain, or a profile that returns something negative.

    Source: the chain inequality is the profiles' form of Dong, Roth & Su 2022 on trade-off functions.
    """
    number, k = at_least_zero(epsilon, "epsilon"), positive_integer(size, "size")
    return _over(link, lambda way: chain_delta((way,) * k, number))


def group_epsilon(link: Link, size: int, delta: ExactLike, tolerance: float = 1e-6) -> Enclosure:
    """Bound ε_k(δ) for groups of k records, in both orders; arguments as for :func:`group_profile`.

    Args:
        link: What is known of neighbours.
        size: k >= 1.
        delta: In (0, 1].
        tolerance: How far, relatively, the search for ε goes.

    Returns:
        [0, upper]: the upper end is proven.

    Raises:
        InvalidValue: A value outside its domain.
        NotCertified: No ε was found at which the chain's bound is as small as δ.
    """
    number, k = probability(delta, "delta"), positive_integer(size, "size")
    return _over(link, lambda way: chain_epsilon((way,) * k, number, tolerance))


def replace_profile(remove: Profile, add: Profile, epsilon: ExactLike) -> Enclosure:
    """Bound δ(ε) under replace-one by the profiles for removing and adding a record: min h_remove(α₁) + α₁ h_add(α₂).

    The mechanism must be defined, and its profiles proven, for the smaller data set in the middle too. Replacing a
    record is its own reversal, so one order suffices. Returns and errors as for :func:`group_profile`.
    """
    return chain_delta((Link(remove, add), Link(add, remove)), at_least_zero(epsilon, "epsilon"))


def replace_epsilon(remove: Profile, add: Profile, delta: ExactLike, tolerance: float = 1e-6) -> Enclosure:
    """Bound ε(δ) under replace-one as :func:`replace_profile` does; arguments and errors as :func:`group_epsilon`."""
    return chain_epsilon((Link(remove, add), Link(add, remove)), probability(delta, "delta"), tolerance)


def chain_delta(links: Sequence[Link], epsilon: Fraction) -> Enclosure:
    """Bound H_{e^ε} between the two ends of a chain: [0, upper] with the proven bound at the best split found."""
    search = Chain(links)
    return Enclosure(Fraction(0), search.upper(search.best(epsilon)), GROUP.name, _PRECISION)


def chain_epsilon(links: Sequence[Link], delta: Fraction, tolerance: float = 1e-6) -> Enclosure:
    """Bound the least ε with H_{e^ε} <= δ between the two ends of a chain: [0, upper].

    Raises:
        InvalidValue: δ = 0, or the tolerance is not in (0, 1).
        NotCertified: No ε was found at which the chain's bound is as small as δ.
    """
    if delta == 0:
        raise InvalidValue("delta", delta, "greater than 0", "for pure guarantees use group_guarantee")
    if not 0 < tolerance < 1:
        raise InvalidValue("tolerance", tolerance, "greater than 0 and less than 1")
    parts = Chain(links).parts_for(delta, tolerance)
    return Enclosure(Fraction(0), sum(parts, Fraction(0)), GROUP.name, _PRECISION)


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
        """At least H_{e^ε} of the link, for any real ε: below 0 by reversal."""
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
        """The chain's bound at a split: proven, rounded up, at most 1."""
        with working(_PRECISION):
            total = self._total(parts)
            return min(Fraction(1), ball_end(total, "up")) if total < 2 else Fraction(1)

    def log_size(self, parts: Sequence[Fraction]) -> float:
        """The logarithm of the bound, above 1 too, to search with."""
        with working(_PRECISION):
            total = self._total(parts).mid()
            return float(total.log().mid()) if total > 0 else -math.inf

    def split(self, epsilon: Fraction, skew: float) -> tuple[Fraction, ...]:
        """Parts that sum to ε exactly, in arithmetic progression but for rounding."""
        n = len(self.links)
        parts = [Fraction(float(epsilon) / n + skew * (j - (n - 1) / 2)) for j in range(n - 1)]
        return (*parts, epsilon - sum(parts, Fraction(0)))

    def suffices(self, skew: float, delta: Fraction, epsilon: Fraction) -> bool:
        """Whether the bound at ε, split with this skew, is at most δ."""
        return self.upper(self.split(epsilon, skew)) <= delta

    def best_skew(self, epsilon: Fraction) -> float:
        """The skew with the least bound, as far as a search on the line can tell."""
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
        """The split of ε that the search found."""
        skewed = self.split(epsilon, self.best_skew(epsilon))
        low, high = -_DEEPEST, 0.0  # of log δ: the smallest δ for which parts chosen in turn fit into ε
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
        """Parts of which each uses up its share of δ, given the ones before it; None where one would be too long.

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
            within = partial(self._within, link.forward, allowed)
            parts.append(Fraction(0) if within(Fraction(0)) else _last_allowed(within, high, _FINE))
        return tuple(parts)

    def _within(self, profile: Profile, allowed: Fraction, epsilon: Fraction) -> bool:
        return self._profile(profile, epsilon) <= allowed

    def parts_for(self, delta: Fraction, tolerance: float) -> tuple[Fraction, ...]:
        """A split with a bound of at most δ, whose sum is about as small as the search could make it.

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
        """The same in arithmetic progression, or None."""
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
    """Go down from an allowed number to one that is allowed and close to where that ends."""
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


def _over(link: Link, bound: Callable[[Link], Enclosure]) -> Enclosure:
    """The larger of both orders' bounds."""
    forward = bound(link)
    return forward if link.forward is link.backward else forward.larger(bound(link.reversed()))
