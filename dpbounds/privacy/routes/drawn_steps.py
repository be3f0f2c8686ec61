"""Sampled Gaussian releases: bounds from the number of steps that draw the record, in closed forms.

They hold for any numbers, and are narrow where losses are large: a draw then spends nearly as much as without sampling.
The proof is in ``drawn_steps.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import Direction as Side
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.gaussian_profiles import upper_bound_of_epsilon
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, GaussianProduct, Pair, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import (
    closed_form_delta,
    closed_form_epsilon,
    squared_shift_of,
)

METHOD = "drawn steps"

_PRECISION = 192
# deviations from the mean, beyond which fewer or more draws are certain, or impossible in practice
_FARTHEST = Fraction(160)
_COUNTED = 5000  # draws whose probability is computed; that of more is bounded
_LOOKS = 40  # most evaluations in a search for a number of draws
_FURTHER = (0, 1, 3)  # deviations, on the safe side of the number of draws that is found, that are tried
_RUNGS = 24  # numbers of draws with weights of their own
_APART = Fraction(1, 50)  # distance of these numbers in deviations, if a single draw is less
_FAR = 40  # deviations of a loss beyond which its tail is bounded by an exponential
_HALVINGS = 24  # steps of the search for ε(δ)

# The squared distance of the means in a drawn step, in units of the squared per-record bound: by itself (2), beside the
# largest loss of the steps in which Q is sampled (3), and in an attack (4), of which there is none for add.
_AS_THEY_ARE = {Direction.REMOVE: 1, Direction.ADD: 1, Direction.REPLACE: 4}
_BESIDE_THE_LARGEST = {Direction.REMOVE: 1, Direction.ADD: 0, Direction.REPLACE: 1}
_ATTACKED = {Direction.REMOVE: 1, Direction.REPLACE: 1}

# Where the other routes can plan in doubles.
_TARGETS = Fraction(1, 10**1000), Fraction(10**9)
_NEXT_TO_ONE = Fraction(1, 10**12)
_MOST_STEPS = 10**12
_RAREST = Fraction(1, 10**12)
_VARIANCES = Fraction(1, 2500), Fraction(10**24)


def delta_ends(product: GaussianProduct, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return lower and upper bounds on δ(ε), ε >= 0."""
    sampled = _Sampled.of(product)
    return sampled.delta_at_least(epsilon), sampled.delta_at_most(epsilon)


def epsilon_ends(product: GaussianProduct, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return lower and upper bounds on ε(δ), δ in (0, 1).

    Raises:
        NotCertified: The numbers are too large to be written down.
    """
    sampled = _Sampled.of(product)
    high = sampled.epsilon_at_most(delta)
    return sampled.epsilon_at_least(delta, high), high


@dataclass(frozen=True, slots=True)
class _Sampled:
    """The sampled releases of a product, and the squared shift of the others.

    A place t stands for a number of draws of each pair: about t standard deviations above the mean.
    """

    releases: tuple[tuple[SampledGaussians, int], ...]
    fixed: Fraction

    @classmethod
    def of(cls, product: GaussianProduct) -> _Sampled:
        releases = tuple((pair, count) for pair, count in product if isinstance(pair, SampledGaussians))
        return cls(releases, squared_shift_of(product))

    @property
    def every(self) -> list[int]:
        """A draw in every step."""
        return [count for _, count in self.releases]

    @property
    def none(self) -> list[int]:
        """No draws."""
        return [0 for _ in self.releases]

    @property
    def bits(self) -> int:
        """Working precision for probabilities of this number of steps."""
        return _PRECISION + 2 * sum(self.every).bit_length()

    def draws(self, place: Fraction) -> list[int]:
        """Return the numbers of draws at a place: the tails of rare draws fall with the square root of their number."""
        found = []
        for pair, count in self.releases:
            mean = count * pair.sample_rate
            with working(self.bits):
                root = ball_end(ball(mean).sqrt(), "up")
            found.append(max(0, min(count, int(mean + place * (root + max(place, Fraction(0)))) + 1)))
        return found

    def shift(self, draws: list[int], distances: Mapping[Direction, int]) -> Fraction:
        """Return the squared shift of these draws and of the full batches."""
        each = zip(self.releases, draws, strict=True)
        return self.fixed + sum((k * distances[pair.direction] / pair.variance for (pair, _), k in each), Fraction(0))

    def more_than(self, draws: list[int]) -> Fraction:
        """Return an upper bound on the probability that some pair has more draws."""
        with working(self.bits):
            if not any(draws):
                never = self._never(self.releases)
                return Fraction(1) if never is None else ball_end(-never.expm1(), "up")
            each = zip(self.releases, draws, strict=True)
            tails = [_more_than(k, count, pair.sample_rate)[1] for (pair, count), k in each]
        return min(Fraction(1), sum(tails, Fraction(0)))

    def at_least(self, draws: list[int]) -> Fraction:
        """Return a lower bound on the probability that every pair has as many draws, or more."""
        found = Fraction(1)
        with working(self.bits):
            for (pair, count), k in zip(self.releases, draws, strict=True):
                found *= _more_than(k - 1, count, pair.sample_rate)[0] if k else 1
        return found

    @staticmethod
    def _never(releases: Iterable[tuple[SampledGaussians, int]]) -> arb | None:
        """Return the logarithm of the probability that no step draws; None if some step always does."""
        found = sum((count * (-ball(pair.sample_rate)).log1p() for pair, count in releases), arb(0))
        return found if found.is_finite() else None

    def _ways(self) -> Iterator[tuple[Mapping[Direction, int], Fraction]]:
        """Yield distances of the means, and an ε to add to what a pair with that shift spends: (2) and (3)."""
        yield _AS_THEY_ARE, Fraction(0)
        both = [each for each in self.releases if each[0].direction is not Direction.REMOVE]
        if both:
            with working(self.bits):
                if (never := self._never(both)) is not None:
                    yield _BESIDE_THE_LARGEST, ball_end(-never, "up")

    @property
    def _attackable(self) -> bool:
        """Whether (4) has an attack."""
        return all(pair.direction in _ATTACKED for pair, _ in self.releases)

    def _hidden(self, draws: list[int]) -> Fraction | None:
        """Return an upper bound on the loss that sampling hides of these draws: (4); None if it is infinite."""
        with working(self.bits):
            found = arb(0)
            for (pair, count), k in zip(self.releases, draws, strict=True):
                q = ball(pair.sample_rate)
                found -= (k * q.log() if k else 0) + ((count - k) * (-q).log1p() if count > k else 0)
            return ball_end(found, "up") if found.is_finite() else None

    def delta_at_most(self, epsilon: Fraction) -> Fraction:
        """Bound δ(ε) from above by (2) and (3): all draws, none, or fewer from where both terms are alike."""
        best = min(Fraction(1), self._spent(self.every, epsilon))
        if not self.releases:
            return best
        _, place = self._boundary(lambda draws: self.more_than(draws) > self._spent(draws, epsilon))
        ladders = ([self.none], *(self._ladder(place + further, -1) for further in _FURTHER))
        return min(best, *(self._from_above(ladder)(epsilon) for ladder in ladders))

    def epsilon_at_most(self, delta: Fraction) -> Fraction:
        """Bound ε(δ) from above by (5): all draws, none, or about the fewest whose excess is less probable than δ."""
        best = self._spent_epsilon(self.every, delta)
        if not self.releases:
            return best
        _, place = self._boundary(lambda draws: self.more_than(draws) >= delta)
        ladders = ([self.none], *(self._ladder(place + further, -1) for further in _FURTHER))
        for ladder in ladders:
            missed, spent = self.more_than(ladder[0]), self._from_above(ladder)
            if missed < delta:
                best = min(best, self._spent_epsilon(ladder[0], delta - missed))
            best = _halved(best, Fraction(0), spent, lambda bound: bound <= delta)
        return best

    def delta_at_least(self, epsilon: Fraction) -> Fraction:
        """Bound δ(ε) from below by (4): no draws, or more from where both factors are alike."""
        if not self._attackable:
            return Fraction(0)
        place, _ = self._boundary(lambda draws: self.at_least(draws) > self._attained(draws, epsilon, "down"))
        ladders = ([self.none], *(self._ladder(place - further, 1) for further in _FURTHER))
        return max(self._from_below(ladder)(epsilon) for ladder in ladders)

    def epsilon_at_least(self, delta: Fraction, most: Fraction) -> Fraction:
        """Bound ε(δ) from below by (5): no draws, or up to the most that are more probable than δ; at most ``most``."""
        if not self._attackable:
            return Fraction(0)
        place, _ = self._boundary(lambda draws: self.at_least(draws) > delta)
        best = Fraction(0)
        for ladder in ([self.none], *(self._ladder(place - further, 1) for further in _FURTHER)):
            probability, hidden = self.at_least(ladder[0]), self._hidden(ladder[0])
            if probability > delta and hidden is not None:
                best = max(
                    best, _shifted_epsilon(self.shift(ladder[0], _ATTACKED), delta / probability, "down") - hidden
                )
            attained = self._from_below(ladder)
            best = _halved(best, most, attained, lambda bound: bound > delta)
        return best

    def _spent(self, draws: list[int], epsilon: Fraction) -> Fraction:
        """Return an upper bound on δ(ε) where the draws are known, and no more than these."""
        left = ((self.shift(draws, distances), epsilon - more) for distances, more in self._ways())
        return min((_shifted_delta(*each, "up") for each in left if each[1] >= 0), default=Fraction(1))

    def _spent_epsilon(self, draws: list[int], delta: Fraction) -> Fraction:
        each = ((self.shift(draws, distances), more) for distances, more in self._ways())
        return min(_shifted_epsilon(shift, delta, "up") + more for shift, more in each)

    def _attained(self, draws: list[int], epsilon: Fraction, side: Side) -> Fraction:
        """Return a bound on δ(ε) of an attack that counts on the losses of these draws."""
        hidden = self._hidden(draws)
        return Fraction(0) if hidden is None else _shifted_delta(self.shift(draws, _ATTACKED), epsilon + hidden, side)

    def _from_above(self, ladder: list[list[int]]) -> Callable[[Fraction], Fraction]:
        """Return the bound (2) for fewer and fewer draws."""
        missed = [self.more_than(draws) for draws in ladder]

        def bound(epsilon: Fraction) -> Fraction:
            spent = [Fraction(1)]
            for draws in ladder:
                spent.append(min(spent[-1], self._spent(draws, epsilon)))
            with working(_PRECISION):
                falls = (ball(more) - ball(fewer) for more, fewer in pairwise(spent))
                each = (ball(probability) * fall for probability, fall in zip(missed, falls, strict=True))
                return min(Fraction(1), ball_end(sum(each, ball(spent[-1])), "up"))

        return bound

    def _from_below(self, ladder: list[list[int]]) -> Callable[[Fraction], Fraction]:
        """Return the bound (4) for more and more draws: they add what they attain beyond fewer."""
        probabilities = [self.at_least(draws) for draws in ladder]

        def bound(epsilon: Fraction) -> Fraction:
            total, counted = Fraction(0), Fraction(0)
            for draws, probability in zip(ladder, probabilities, strict=True):
                attained = self._attained(draws, epsilon, "down")
                if attained > counted:
                    with working(_PRECISION):
                        total += ball_end(ball(probability) * (ball(attained) - ball(counted)), "down")
                    counted = self._attained(draws, epsilon, "up")
            return max(Fraction(0), total)

        return bound

    def _ladder(self, place: Fraction, way: int) -> list[list[int]]:
        """Return numbers of draws from a place on, down (-1) or up (1), without repetitions."""
        most = max((math.isqrt(int(count * pair.sample_rate)) for pair, count in self.releases), default=0)
        apart = max(_APART, 1 / (1 + most + 2 * abs(place)))  # at most one draw
        found: list[list[int]] = []
        for rung in range(_RUNGS):
            draws = self.draws(place + way * rung * apart)
            if draws not in found:
                found.append(draws)
        return found

    def _boundary(self, holds: Callable[[list[int]], bool]) -> tuple[Fraction, Fraction]:
        """Return two places with numbers of draws next to each other, up to which a property holds, and beyond."""
        inside, beyond = -_FARTHEST, _FARTHEST
        for _ in range(_LOOKS):
            fewer, more = self.draws(inside), self.draws(beyond)
            if beyond - inside <= _APART and all(b - a <= 1 for a, b in zip(fewer, more, strict=True)):
                break
            checkpoint()
            middle = (inside + beyond) / 2
            draws = self.draws(middle)
            below = draws == fewer or (draws != more and holds(draws))
            inside, beyond = (middle, beyond) if below else (inside, middle)
        return inside, beyond


def _halved(
    inside: Fraction,
    outside: Fraction,
    bound: Callable[[Fraction], Fraction],
    holds: Callable[[Fraction], bool],
) -> Fraction:
    """Return ``inside``, or a number closer to ``outside`` at which a property of the bound holds."""
    for _ in range(_HALVINGS):
        checkpoint()
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(bound(middle)) else (inside, middle)
    return inside


def _shifted_delta(squared_shift: Fraction, epsilon: Fraction, side: Side) -> Fraction:
    if squared_shift == 0:
        return Fraction(0)
    beyond = epsilon - squared_shift / 2
    if beyond > 0 and beyond**2 > _FAR**2 * squared_shift:  # δ(ε) <= Q(a) <= exp(-a²/2), a = beyond/s
        with working(_PRECISION):
            return Fraction(0) if side == "down" else ball_end((-ball(beyond**2 / (2 * squared_shift))).exp(), "up")
    return ball_end(closed_form_delta(ShiftedGaussians(squared_shift), epsilon)[0], side)


def _shifted_epsilon(squared_shift: Fraction, delta: Fraction, side: Side) -> Fraction:
    if squared_shift == 0:
        return Fraction(0)
    ends = closed_form_epsilon(ShiftedGaussians(squared_shift), delta)
    if side == "down":
        return ends[0]
    with working(_PRECISION):  # far below 1 the search for the ends stops early
        return min(ends[1], ball_end(upper_bound_of_epsilon(squared_shift, delta), "up"))


def _more_than(draws: int, count: int, rate: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the probability of more than ``draws`` draws: an incomplete beta function, and Chernoff's bounds."""
    if draws >= count:
        return Fraction(0), Fraction(0)
    if rate == 1:
        return Fraction(1), Fraction(1)
    least = draws + 1
    low, high = Fraction(0), Fraction(1)
    if Fraction(least, count) > rate:
        high = min(high, ball_end(_chernoff(least, count, rate), "up"))
    elif Fraction(draws, count) < rate:
        low = max(low, ball_end(1 - _chernoff(draws, count, rate), "down"))
    if least <= _COUNTED and count <= _MOST_STEPS:
        exact = ball(rate).beta_lower(arb(least), arb(count - draws), 1)
        if -1 < exact < 2:  # the ball is too wide to be of use
            low, high = max(low, ball_end(exact, "down")), min(high, ball_end(exact, "up"))
    return low, high


def _chernoff(draws: int, count: int, rate: Fraction) -> arb:
    """Bound the probability of at least ``draws`` draws, above the mean; of at most ``draws``, below it."""
    share, q = Fraction(draws, count), ball(rate)
    divergence = draws * (ball(share).log() - q.log()) if draws else arb(0)
    if draws < count:
        divergence = divergence + (count - draws) * (ball(1 - share).log() - (-q).log1p())
    return (-divergence).exp()


def plannable(product: Product, target: Fraction) -> bool:
    """Return whether the other routes, which choose in doubles, can plan for this product and target (δ or ε)."""
    if not (target == 0 or _TARGETS[0] <= target <= _TARGETS[1]) or 1 - _NEXT_TO_ONE < target < 1:
        return False
    return all(count <= _MOST_STEPS and _moderate(pair) for pair, count in product)


def _moderate(pair: Pair) -> bool:
    match pair:
        case ShiftedGaussians(squared_shift=squared_shift):
            return 1 / _VARIANCES[1] <= squared_shift <= 1 / _VARIANCES[0]
        case SampledGaussians(sample_rate=rate, variance=variance):
            return rate >= _RAREST and _VARIANCES[0] <= variance <= _VARIANCES[1]
    return True


def negligible(product: GaussianProduct, epsilon: Fraction) -> bool:
    """Return whether δ(ε) < 10^-1000 even without sampling: ε >= μ²/2 + sqrt(2 log 10^1000) μ, sqrt(...) < 68."""
    sampled = _Sampled.of(product)
    whole = sampled.shift(sampled.every, _AS_THEY_ARE)
    beyond = epsilon - whole / 2
    return beyond > 0 and beyond * beyond > 68**2 * whole
