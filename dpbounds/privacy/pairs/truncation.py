"""The probability of truncation of a Poisson sample, and ranges of dataset sizes.

Everything is rounded to the side on which the pairs of ``truncated.md`` still dominate (or, for ``least_rate``, are
still attained).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import betainc

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.losses import ball

_PRECISION, _LARGEST_PRECISION, _ACCURACY = 192, 1 << 14, 96
_SELDOM = Fraction(1, 1 << 2048)  # least probability that is distinguished; smaller ones count as this

Floats = NDArray[np.float64]

_MOST_RANGES, _MARGIN, _CLOSER, _MOST_EXPONENT = 8, 1e-3, 3, 40.0
_MOVES, _FEW_MOVES, _MOST_MOVED, _SMALLEST_MOVE = 50, 11, 0.98, 1e-40
_LOOKED_AT = math.log(1e6)  # 1/δ
_HARDLY = 3e-5  # probability, in a run, of being in a truncated batch, below which one range of sizes suffices
_ORDERS = np.array([2, 3, 4, 5, 6, 8, 10, 14, 20, 32], dtype=np.float64)
_OF = np.array([order for order in _ORDERS for _ in range(2, int(order) + 1)])
_TAKEN = np.array([float(k) for order in _ORDERS for k in range(2, int(order) + 1)])
_CHOOSE = np.array([math.log(math.comb(int(n), int(k))) for n, k in zip(_OF, _TAKEN, strict=True)])
_STARTS = np.flatnonzero(_TAKEN == 2)


@dataclass(frozen=True, slots=True)
class Cut:
    """A Poisson sample of rate q, cut to at most B records, for all sizes n of datasets in a range.

    Attributes:
        at_most: Not less than the probability τ that B or more of the n - 1 others are sampled, for the largest n.
        at_least: Not more than τ for the smallest n.
        kept: Not less than a record's probability to be in the batch, given that B or more others are sampled, for the
            smallest n; at most q.
        just: Not more than the probability that B - 1 of the others are sampled, for any n.
        surely: Not more than a record's probability to be in the batch and B or more of the others sampled, for any n.
    """

    at_most: Fraction
    at_least: Fraction
    kept: Fraction
    just: Fraction = Fraction(0)
    surely: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class _Chances:
    """Probabilities for one n: of truncation, and of a record to be kept given that B or more others are sampled.

    Attributes:
        at_most: Not less than τ, the probability that B or more of the others are sampled.
        at_least: Not more than τ.
        kept_at_most: Not less than the probability to be kept; at most q.
        kept_at_least: Not more than it.
        just: Not more than the probability that B - 1 of the others are sampled.
    """

    at_most: Fraction
    at_least: Fraction
    kept_at_most: Fraction
    kept_at_least: Fraction
    just: Fraction


def cut_of(rate: Fraction, most: int, smallest: int, largest: int) -> Cut:
    """Return the truncation to ``most`` records, for larger neighbours of ``smallest`` to ``largest`` records."""
    first, last = _chances(rate, most, smallest), _chances(rate, most, largest)
    just = min(first.just, last.just, 1 - last.at_most)  # it grows with n, then falls
    surely = first.at_least * last.kept_at_least  # τ grows with n, the probability to be kept falls
    return Cut(last.at_most, first.at_least, first.kept_at_most, just, surely)


@lru_cache(maxsize=256)
def _chances(rate: Fraction, most: int, size: int) -> _Chances:
    none, one = Fraction(0), Fraction(1)
    if size <= most:
        return _Chances(none, none, rate, none, none)
    if rate == 1:
        return _Chances(one, one, Fraction(most, size), Fraction(most, size), none)
    precision = _PRECISION
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            tau, beyond = binomial_tail(size - 1, rate, most), binomial_tail(size, rate, most + 1)
            kept = most * beyond / (size * tau)
            if kept.is_finite() and min(tau.rel_accuracy_bits(), kept.rel_accuracy_bits()) >= _ACCURACY:
                if tau < ball(_SELDOM):
                    return _Chances(_SELDOM, none, rate, none, none)
                low, high = max(none, ball_end(tau, "down")), min(one, ball_end(tau, "up"))
                just = max(none, ball_end(binomial(size - 1, most - 1, ball(rate)), "down"))
                seldom, often = (min(rate, max(none, ball_end(kept, way))) for way in ("down", "up"))
                return _Chances(high, low, often, seldom, just)
        precision *= 2
    raise NotCertified(f"the probability that more than {most} of {size} records are sampled lost all accuracy")


def binomial_tail(count: int, rate: Fraction, least: int) -> arb:
    """Return P(Bin(count, rate) >= least) for 1 <= least, as a regularised incomplete beta function."""
    if least > count:
        return arb(0)
    if least > count * rate:
        return ball(rate).beta_lower(least, count - least + 1, 1)
    return 1 - ball(1 - rate).beta_lower(count - least + 1, least, 1)


def least_rate(rate: Fraction, most: int, size: int) -> Fraction:
    """Bound a record's probability to be in the batch from below: q P(Bin(n-1, q) < B) + (B/n) P(Bin(n, q) > B)."""
    if size <= most:
        return rate
    if rate == 1:
        return Fraction(most, size)
    with working(_PRECISION):
        uncut = 1 - binomial_tail(size - 1, rate, most)
        cut = Fraction(most, size) * ball_end(binomial_tail(size, rate, most + 1), "down")
        return min(rate, max(Fraction(0), rate * max(Fraction(0), ball_end(uncut, "down"))) + max(Fraction(0), cut))


# --- Choices, which decide how large a bound is, not whether it holds -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Costs:
    """Roughly the ε of a run at δ = 1e-6, by Rényi divergences of whole orders, in floating point.

    Attributes:
        squared_shift: Squared shift of a release, for a record's own bound.
        count: The number of releases.
        replaced: Whether both datasets hold a record in the place.
        zeroed: Whether it contributes nothing in one of them.
    """

    squared_shift: float
    count: int = 1
    replaced: bool = False
    zeroed: bool = False

    @property
    def joining(self) -> float:
        """Squared shift of a record that displaces no other; under replace-one, one of the same variance."""
        square = min(self.squared_shift, _MOST_EXPONENT)
        return math.log1p(4 * math.sinh(square)) if self.replaced else square

    @property
    def displacing(self) -> float:
        """Return the same where it displaces another one."""
        square = min(self.squared_shift, _MOST_EXPONENT)
        if self.zeroed:
            return math.log(math.exp(4 * square) + math.exp(square) - 2 * math.exp(2 * square) + 1)
        return 4 * square

    def of(self, rate: float, cut: tuple[float, float, float, float], moved: Floats) -> Floats:
        """Return the costs if amounts ``moved`` of mass are moved from truncated samples to samples that just are not.

        Args:
            rate: q.
            cut: τ from above and from below, the probability to be kept, and that of B - 1 others.
            moved: Several amounts.
        """
        most, least, kept, just = cut
        plain, still = np.array([rate]), np.zeros(1)
        total = np.zeros((1, len(_ORDERS)))
        if most + just < 1:
            total = (1 - most - just) * _grown(plain, still, self.joining)
        nearly, cuts, shares, arrives = np.full_like(moved, just), np.full_like(moved, least), 0 * moved, moved
        if self.replaced or self.zeroed:  # the tag has one distribution
            nearly, cuts = nearly + moved, cuts - moved
        elif least > 0:
            shares, arrives = moved / least, moved * (most / least)
        if most > least:
            kin = (rate - shares) / (1 - shares)
            total = total + (most - least) * _grown(kin, -shares, self.displacing)
        if just > 0:
            gain = just + arrives
            total = total + nearly[:, None] * _grown((just * rate + arrives) / gain, gain / nearly - 1, self.joining)
        if least > 0:
            lost = least - moved
            total = total + cuts[:, None] * _grown((least * kept - moved) / lost, lost / cuts - 1, self.displacing)
        found: Floats = ((self.count * np.log1p(total) + _LOOKED_AT) / (_ORDERS - 1)).min(axis=1)
        return found

    def best(self, rate: float, cut: tuple[float, float, float, float], moves: int = _MOVES) -> tuple[float, float]:
        """Return the best amount of mass to move, and the cost."""
        _, least, kept, just = cut
        moved = np.zeros(1)
        if min(just, least * kept) > _SMALLEST_MOVE:
            moved = least * kept * np.linspace(0.0, _MOST_MOVED, moves)
        costs = self.of(rate, cut, moved)
        index = int(np.argmin(costs))
        return float(moved[index]), float(costs[index])


def _grown(rates: Floats, gains: Floats, squared_shift: float) -> Floats:
    """Return E R^λ - 1, R = (1 + gain)(1 - rate + rate X), X a shift's ratio: rows of rates, columns of orders."""
    rate = np.clip(rates, 1e-300, 1 - 1e-16)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = _CHOOSE + _TAKEN * np.log(rate) + (_OF - _TAKEN) * np.log1p(-rate)
        shift = _TAKEN * (_TAKEN - 1) / 2 * squared_shift
        terms = np.exp(exponents + np.where(shift > 1, shift, 0.0)) * np.where(
            shift > 1, -np.expm1(-shift), np.expm1(np.minimum(shift, 1))
        )
        sums = np.add.reduceat(terms, _STARTS, axis=1)
        scale = _ORDERS * np.log1p(gains)[:, None]
        found: Floats = np.expm1(scale) + np.exp(scale) * sums
    return np.where(np.isnan(found), math.inf, found)


@lru_cache(maxsize=256)
def moved_of(cut: Cut, rate: Fraction, costs: Costs) -> Fraction:
    """Return the mass of P (or of both) to compare with batches that are not cut: less than ``surely``."""
    if not cut.surely:
        return Fraction(0)
    known = float(cut.at_most), float(cut.at_least), float(cut.kept), float(cut.just)
    return min(cut.surely * Fraction(99, 100), Fraction(costs.best(float(rate), known)[0]))


@lru_cache(maxsize=64)
def size_ranges(
    rate: Fraction, most: int, largest: int, squared_shift: float, count: int = 1
) -> tuple[tuple[int, int], ...]:
    """Cut 1, ..., ``largest`` into few ranges, so that one pair per range spends little more than the worst size.

    Args:
        rate: q of the samples.
        most: B, less than ``largest``.
        largest: The largest size of a dataset.
        squared_shift: Squared shift of a release, for a record's own bound.
        count: The number of releases.

    Returns:
        First and last size of each, from the largest downwards.
    """
    sizes = _Sizes(float(rate), most, Costs(squared_shift, count))
    if count * sizes.tau(largest) * float(rate) <= _HARDLY:
        return ((1, largest),)
    worst = max(sizes.of(size, size) for size in _places(sizes, largest))

    def few(margin: float) -> tuple[tuple[int, int], ...] | None:
        found = tuple(islice(_ranges(sizes, largest, (1 + margin) * worst), _MOST_RANGES + 1))
        return found if len(found) <= _MOST_RANGES else None

    short, margin = 0.0, _MARGIN
    while (best := few(margin)) is None:
        short, margin = margin, 1.5 * margin
    for _ in range(_CLOSER if short else 0):
        middle = (short + margin) / 2
        found = few(middle)
        short, margin, best = (middle, margin, best) if found is None else (short, middle, found)
    return best


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The approximate cost of the pair of a range of sizes."""

    rate: float
    most: int
    costs: Costs

    def tau(self, size: int) -> float:
        return float(betainc(self.most, size - self.most, self.rate)) if size > self.most else 0.0

    def just(self, size: int) -> float:
        if size <= self.most:
            return 0.0
        ways = math.lgamma(size) - math.lgamma(self.most) - math.lgamma(size - self.most + 1)
        return (
            math.exp(ways + (self.most - 1) * math.log(self.rate) + (size - self.most) * math.log1p(-self.rate))
            if self.rate < 1
            else 0.0
        )

    def kept(self, size: int) -> float:
        tau = self.tau(size)
        if tau < 1e-250:
            return self.rate
        return min(self.rate, self.most / size * float(betainc(self.most + 1, size - self.most, self.rate)) / tau)

    def of(self, smallest: int, largest: int) -> float:
        """Return the cost of the pair for a range of sizes."""
        top, low = self.tau(largest), self.tau(smallest)
        just = min(self.just(smallest), self.just(largest), 1 - top)
        return self.costs.best(self.rate, (top, low, self.kept(smallest), just), _FEW_MOVES)[1]


def _ranges(sizes: _Sizes, largest: int, allowed: float) -> Iterator[tuple[int, int]]:
    while largest >= 1:
        low, high = 1, largest  # the cost of a range falls as its first size rises
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if sizes.of(middle, largest) <= allowed else (middle + 1, high)
        yield low, largest
        largest = low - 1


def _places(sizes: _Sizes, largest: int) -> list[int]:
    """Return sizes to find the worst one: the largest, and those at which batches begin to be truncated."""
    mean, spread = sizes.most / sizes.rate, math.sqrt(sizes.most) / sizes.rate
    found = {round(mean + spread * step / 4) for step in range(-32, 33)}
    return [largest, *(size for size in found if 1 <= size < largest)]
