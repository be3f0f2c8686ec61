"""How often a Poisson sample is cut to a largest size, and which sizes of data sets are taken together.

Everything is rounded to the side on which the pairs of ``truncated.md`` still dominate (or, for ``least_rate``, are
still attained).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb
from scipy.special import betainc

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball

_PRECISION, _LARGEST_PRECISION, _ACCURACY = 192, 1 << 14, 96
_SELDOM = Fraction(1, 1 << 2048)  # a chance that counts as that much: no smaller δ is ever asked for

_MOST_RANGES, _MARGIN, _MOST_EXPONENT = 8, 2e-4, 40.0


@dataclass(frozen=True, slots=True)
class Cut:
    """A Poisson sample of rate q of which at most B records are kept, for all sizes n of data sets in a range.

    Attributes:
        at_most: Not less than the chance τ that B or more of the n - 1 others are sampled, for the largest n.
        at_least: Not more than τ for the smallest n.
        kept: Not less than a record's chance to be in the batch, given that so many others are sampled, for the
            smallest n; at most q.
    """

    at_most: Fraction
    at_least: Fraction
    kept: Fraction


def cut_of(rate: Fraction, most: int, smallest: int, largest: int) -> Cut:
    """The cut to B = ``most`` records for data sets of ``smallest`` to ``largest`` records (the larger neighbour)."""
    top = _chances(rate, most, largest)[1]
    low, _, kept = _chances(rate, most, smallest)
    return Cut(top, low, kept)


@lru_cache(maxsize=256)
def _chances(rate: Fraction, most: int, size: int) -> tuple[Fraction, Fraction, Fraction]:
    """τ from below and from above, and from above the chance to be kept, τ·kept = (B/n) P(Bin(n, q) > B)."""
    if size <= most:
        return Fraction(0), Fraction(0), rate
    if rate == 1:
        return Fraction(1), Fraction(1), Fraction(most, size)
    precision = _PRECISION
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            tau, beyond = binomial_tail(size - 1, rate, most), binomial_tail(size, rate, most + 1)
            kept = most * beyond / (size * tau)
            if kept.is_finite() and min(tau.rel_accuracy_bits(), kept.rel_accuracy_bits()) >= _ACCURACY:
                if tau < ball(_SELDOM):
                    return Fraction(0), _SELDOM, rate
                low, high = max(Fraction(0), ball_end(tau, "down")), min(Fraction(1), ball_end(tau, "up"))
                return low, high, min(rate, ball_end(kept, "up"))
        precision *= 2
    raise NotCertified(f"the chance that more than {most} of {size} records are sampled lost all accuracy")


def binomial_tail(count: int, rate: Fraction, least: int) -> arb:
    """P(Bin(count, rate) >= least) for 1 <= least, as a regularised incomplete beta function."""
    if least > count:
        return arb(0)
    if least > count * rate:
        return ball(rate).beta_lower(least, count - least + 1, 1)
    return 1 - ball(1 - rate).beta_lower(count - least + 1, least, 1)


def least_rate(rate: Fraction, most: int, size: int) -> Fraction:
    """Not more than a record's chance to be in the batch: q P(Bin(n-1, q) < B) + (B/n) P(Bin(n, q) > B)."""
    if size <= most:
        return rate
    if rate == 1:
        return Fraction(most, size)
    with working(_PRECISION):
        uncut = 1 - binomial_tail(size - 1, rate, most)
        cut = Fraction(most, size) * ball_end(binomial_tail(size, rate, most + 1), "down")
        return min(rate, max(Fraction(0), rate * max(Fraction(0), ball_end(uncut, "down"))) + max(Fraction(0), cut))


# --- Sizes of data sets: a choice, which decides how large a bound is, not whether it holds ---------------------------


def size_ranges(rate: Fraction, most: int, largest: int, squared_shift: float) -> tuple[tuple[int, int], ...]:
    """Cut 1, ..., ``largest`` into few ranges, in each of which one pair spends little more than the worst size does.

    Args:
        rate: q of the samples.
        most: B, less than ``largest``.
        largest: The largest size of a data set.
        squared_shift: Of a release, for a record's own bound.

    Returns:
        First and last size of each, from the largest downwards.
    """
    margin = _MARGIN
    while True:
        found = tuple(_ranges(_Costs(float(rate), most, squared_shift), largest, margin))
        if len(found) <= _MOST_RANGES:
            return found
        margin *= 2


@dataclass(frozen=True, slots=True)
class _Costs:
    """Roughly the variance of a step's loss, in floating point."""

    rate: float
    most: int
    squared_shift: float

    def tau(self, size: int) -> float:
        return float(betainc(self.most, size - self.most, self.rate)) if size > self.most else 0.0

    def kept(self, size: int) -> float:
        tau = self.tau(size)
        if tau < 1e-250:
            return self.rate
        return min(self.rate, self.most / size * float(betainc(self.most + 1, size - self.most, self.rate)) / tau)

    def of(self, smallest: int, largest: int) -> float:
        """Of the pair for a range of sizes."""
        top, low = self.tau(largest), self.tau(smallest)
        once, twice = (math.expm1(min(times * self.squared_shift, _MOST_EXPONENT)) for times in (1, 4))
        both = (top - low) * self.rate**2 + low * self.kept(smallest) ** 2
        return (1 - top) * self.rate**2 * once + both * twice


def _ranges(costs: _Costs, largest: int, margin: float) -> Iterator[tuple[int, int]]:
    allowed = (1 + margin) * max(costs.of(size, size) for size in _places(costs, largest))
    while largest >= 1:
        low, high = 1, largest  # the cost of a range falls as its first size rises
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if costs.of(middle, largest) <= allowed else (middle + 1, high)
        yield low, largest
        largest = low - 1


def _places(costs: _Costs, largest: int) -> list[int]:
    """Sizes among which the worst one is looked for: the largest, and those at which batches begin to be cut."""
    mean, spread = costs.most / costs.rate, math.sqrt(costs.most) / costs.rate
    found = {round(mean + spread * step / 8) for step in range(-64, 65)}
    return [largest, *(size for size in found if 1 <= size < largest)]
