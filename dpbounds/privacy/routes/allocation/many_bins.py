"""One of very many bins, Gaussian noise, a record removed or added: many thresholds from one sum of ratios.

If a record is removed or added, V = u - α, and the sum of all V is the sum S of all u less a number: one distribution
of S serves all thresholds around it (``proof.md``, section 8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Discrete
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.bin_sums import Sum
from dpbounds.privacy.routes.allocation.convex_hulls import Point, hull_of_bounds, hull_of_tests
from dpbounds.privacy.routes.allocation.one_bin import Bin, Cells, cells_of, rounded
from dpbounds.privacy.routes.allocation.published_bin import LARGEST_THRESHOLD, points_if_published
from dpbounds.privacy.routes.allocation.rounding import UNIT
from dpbounds.privacy.routes.allocation.tuning import MANY_BINS, TUNING
from dpbounds.privacy.routes.allocation.windows import window_of


@dataclass(frozen=True, slots=True)
class Run:
    """Bins of several kinds, and how many are not run.

    Attributes:
        kinds: Cells, and how many bins have them.
        resting: Bins that are not run.
        bins: All.
    """

    kinds: tuple[tuple[Cells, int], ...]
    resting: int
    bins: int

    @classmethod
    def of(cls, pair: Allocated, cells: int) -> Run:
        """Return the bins of a pair, whichever its direction."""
        kinds = []
        assert pair.shifts
        for squared, count in pair.shifts:
            kinds.append((cells_of(squared, cells, Direction.REMOVE), count))
        return cls(tuple(kinds), pair.bins - sum(count for _, count in pair.shares), pair.bins)

    @property
    def deviation(self) -> float:
        """Return roughly the deviation of the loss."""
        return math.sqrt(sum(count * _variance(cells) for cells, count in self.kinds)) / self.bins


def _variance(cells: Cells) -> float:
    u = cells.u[1]
    return float(np.sum(cells.none[1:-1] * ((u[1:] + u[:-1]) / 2) ** 2)) - 1.0


@lru_cache(maxsize=32)
def between(pair: Allocated, negligible: float) -> tuple[Discrete, Discrete]:
    """Return pairs as ``replace_one.between`` does, for one of m bins and a record that is removed or added."""
    opposite = Direction.ADD if pair.direction is Direction.REMOVE else Direction.REMOVE
    points, reverse = (_all_points(replace(pair, direction=each), negligible) for each in (pair.direction, opposite))
    return hull_of_bounds(points, reverse), hull_of_tests(points, reverse)


@lru_cache(maxsize=32)
def _all_points(pair: Allocated, negligible: float) -> tuple[Point, ...]:
    return tuple(_points(pair, negligible))


def _points(pair: Allocated, negligible: float) -> Iterator[Point]:
    """Yield thresholds from α = 1 on (of R, down from 1 where the record is added), until the profile is negligible."""
    run = Run.of(pair, MANY_BINS.cells)
    added, step, least = pair.direction is Direction.ADD, run.deviation / MANY_BINS.losses, Fraction(1)
    loss = 0.0
    while loss < LARGEST_THRESHOLD:
        losses, rare = [], loss > TUNING.dense * run.deviation
        for _ in range(TUNING.shared_thresholds):
            losses.append(loss)
            loss += step * max(1.0, 2 * loss / (TUNING.dense * run.deviation) - 1)
        bits = MANY_BINS.bits - 2 * rare
        for found in at_thresholds(pair, run, [math.exp(-each if added else each) for each in losses], bits):
            if found.width > TUNING.unknown:  # not distinguished from the transform's round-off
                yield from points_if_published(pair, math.log(found.alpha), least, negligible)
                return
            yield found
            least = min(least, found.profile)
            if found.profile <= negligible:
                return
        checkpoint()
    yield from points_if_published(pair, loss, least, negligible)


def at_thresholds(pair: Allocated, run: Run, ratios: Sequence[float], bits: int) -> list[Point]:
    """Return the profile at several thresholds of R, at least 1 each, or at most 1 each if the record is added."""
    added = pair.direction is Direction.ADD
    sign = -1 if added else 1
    middle = run.bins * ratios[len(ratios) // 2] - run.resting
    cap = run.bins * max(0.0, ratios[-1] - 1) + MANY_BINS.reach * run.deviation * run.bins
    tops = [_top(cells, cap) for cells, _ in run.kinds]
    window = window_of(run.kinds, [(0, top) for top in tops], -sign * middle, 0.0, bits, sign, TUNING.shared_tilt)
    h, tilted = window.spacing, []
    bins = [rounded(cells, 0.0, h, (0, top), count) for (cells, count), top in zip(run.kinds, tops, strict=True)]
    shift = math.floor(middle / h)
    window = replace(window, start=window.start + sign * shift)
    bins = [_turned(each) for each in bins] if added else bins
    without = Sum.of([(each, each.count) for each in bins], window)
    for index, each in enumerate(bins):
        held = replace(each, none=each.first, count=1)
        rest = [(other, other.count - (i == index)) for i, other in enumerate(bins)]
        tilted.append((Sum.of([(held, 1), *((other, n) for other, n in rest if n)], window), each.count))
    grown = math.fsum(each.count * each.off for each in bins) + 64 * UNIT
    if not grown < 2.0**-10:
        raise Declined("allocation: too many roundings in floating point")
    more, less = Fraction(1 + 4 * grown), Fraction(1 - 4 * grown)
    # what is capped lowers (S - K)_+; what is raised to the first cut lowers (K - S)_+
    gone = [
        2 * float(cells.none[0]) * (float(cells.u[1][0]) + h) if added else each.lost
        for (cells, _), each in zip(run.kinds, bins, strict=True)
    ]
    slack = Fraction(math.fsum(each.count * (each.moved + lost) for each, lost in zip(bins, gone, strict=True)))
    places, alphas = [], []
    for ratio in ratios:
        exact = (run.bins * ratio - run.resting) / h
        place = math.floor(exact) if added else math.ceil(exact)
        alpha = (place * Fraction(h) + run.resting) / run.bins  # threshold of R, exactly
        if alpha > 0 and not (alpha > 1 if added else alpha < 1):
            places.append(sign * place)  # threshold of S, or of -S: E (S - at)_+, P(S > at)
            alphas.append(alpha)

    def with_record(side: int) -> list[Fraction]:
        sums = [(count, each.beyond(places, weighted=False, side=side)) for each, count in tilted]
        return [sum((n * Fraction(values[i]) for n, values in sums), Fraction(0)) for i in range(len(places))]

    calls = without.beyond(places, weighted=True, side=1)
    above, below = (without.beyond(places, weighted=False, side=side) for side in (1, -1))
    found = []
    for alpha, call, seen_without, idle_, record, over in zip(
        alphas, calls, above, below, with_record(-1), with_record(1), strict=True
    ):
        profile = (Fraction(call) * Fraction(h) * more + slack) / run.bins
        mass, idle = Fraction(seen_without) * more, Fraction(idle_)
        if added:  # α of the swapped pair is 1/R, its profile (1 - R/α)_+ under Q; its P is without the record
            seen, mistaken = idle * less, (over * more + run.resting * mass) / run.bins
            found.append(Point(1 / alpha, profile / alpha, seen, min(Fraction(1), mistaken)))
        else:
            seen = (record * less + run.resting * idle * less) / run.bins
            found.append(Point(alpha, min(profile, Fraction(1)), seen, min(Fraction(1), mass)))
    return found


def _turned(each: Bin) -> Bin:
    """Return the bin of minus the multiples."""
    last = each.start + len(each.none) - 1
    return replace(each, start=-last, none=each.none[::-1], first=each.first[::-1], second=each.second[::-1])


def _top(cells: Cells, cap: float) -> int:
    """Return the cut beyond which one bin decides, for any values of the others: a choice."""
    low = cells.u[0]
    return max(min(int(np.searchsorted(low, cap)) + 1, len(low) - 1), len(low) // 2 + 1)
