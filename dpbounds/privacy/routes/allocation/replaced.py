"""One of m bins, Gaussian noise: the profile of the attained pair, enclosed at chosen thresholds.

H_α(P ‖ Q) = E (V_1 + ... + V_m)_+ / m with V_i = u(y_i) - α w(y_i), u and w the likelihood ratios of the record and of
its replacement (1 where there is none). V_i is rounded at random to whole multiples of a spacing so that its mean
stays: from above that is a spread, from below a test. One law of the sum of all bins but one serves both (``proof.md``,
sections 5 to 7).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball, law_of, upper_tail
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Discrete, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.rounding import LEAST_WEIGHT, UNIT, Floats, double_above
from dpbounds.privacy.routes.lattice.spectra import ComposedSpectrum
from dpbounds.privacy.routes.lattice.window import TiltedMeasure

Indices = NDArray[np.int64]

_PRECISION = 160
_ACCURATE = 60  # bits, of every mass before it becomes a double
_BEYOND = 8.5  # how far beyond the shift cells of y reach: a choice
_LARGEST_SHIFT = 64  # squared: beyond it ratios span too many scales for one spacing
_LARGEST_LOSS = 60.0
_ROW = 256  # numbers that are summed one after the other
_LARGEST_POWER = arb(2) ** 450  # whose square is a double
_UNDERFLOWN = 2.0**-900  # more than products that underflow may add up to
_TILTED = 0.5  # of the tilt at which that bound is best: less makes for a shorter window
_STEEPER = 8  # rates that are left for Chernoff bounds
_STEEPEST = 300.0  # how much the tilt may weigh one end of the window more than the other, as a logarithm: a choice
_OUTSIDE = math.log(1e-17)  # of the sum's law, that may lie outside the window: a choice
_RATES = np.geomspace(1e-3, 1e4, 85)  # of Chernoff bounds, in units of one over a deviation: a choice
_CORE = 4.0  # the y whose deviation that is
_WIDE = 6.0  # deviations, from which on losses lie farther apart: a choice
_LOST, _UNKNOWN = 3, 0.5  # so many points in a row of which so much is not known end the transforms: a choice
_ENOUGH, _POOR, _BETTER, _PATIENCE = 5e-3, 2e-2, 0.75, 8  # when other choices are tried, at once, kept, and tried again
_MORE_BITS, _SHORTEST = 3, 0.2
_SPARSE = 0.1  # distance of losses where the bin may as well be published, in units of the shift: a choice
_MASS_BITS = 1100
_TARGET = 2.0**-60  # the norm of frequencies that may be left out


# --- One bin ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cells:
    """What a bin shows, y, cut at whole numbers divided by ``per_unit``; the first and the last cell are unbounded.

    Attributes:
        per_unit: How many cells there are per unit.
        u, w: Doubles below and above the likelihood ratios at the cuts.
        none: Masses of the cells under N(0, 1), each off by at most two roundings, none below 2^-900.
        first, second: The same under the first and the second law, N(μ, 1), N(0, 1) or N(-μ, 1).
    """

    per_unit: int
    u: tuple[Floats, Floats]
    w: tuple[Floats, Floats]
    none: Floats
    first: Floats
    second: Floats


@lru_cache(maxsize=16)
def cells_of(
    squared_shift: Fraction, per_unit: int, direction: Direction = Direction.REPLACE, largest: int = _LARGEST_SHIFT
) -> Cells:
    """The cells for μ² = ``squared_shift``: u = exp(μy - μ²/2), and w is u at -y; 1 where the data set has no record.

    Raises:
        Declined: The shift is too large, or a mass is not known well enough.
    """
    if squared_shift > largest:
        raise Declined("allocation: under replace-one the ratios of so little noise reach too far")
    with working(_PRECISION):
        mu = ball(squared_shift).sqrt()
        half = math.ceil((_BEYOND + math.sqrt(squared_shift)) * per_unit)
        cuts = [ball(Fraction(j, per_unit)) for j in range(-half, half + 1)]
        ratios = [(mu * y - mu * mu / 2).exp() for y in cuts]
        high = np.array([double_above(ratio) for ratio in ratios])
        low = np.array([-double_above(-ratio) for ratio in ratios])
        none, moved, one = _masses(cuts, arb(0)), _masses(cuts, mu), np.ones(len(cuts))
        there, mirrored, absent = ((low, high), moved), ((low[::-1], high[::-1]), moved[::-1]), ((one, one), none)
        u, first = absent if direction is Direction.ADD else there
        w, second = absent if direction is Direction.REMOVE else mirrored
        return Cells(per_unit, u, w, none, first, second)


def _masses(cuts: Sequence[arb], mean: arb) -> Floats:
    """The masses of the cells between the cuts, and beyond them, under N(mean, 1)."""
    below, above = [upper_tail(mean - y) for y in cuts], [upper_tail(y - mean) for y in cuts]
    inner = [below[i + 1] - below[i] if cuts[i] < mean else above[i] - above[i + 1] for i in range(len(cuts) - 1)]
    found = [below[0], *inner, above[-1]]
    if any(mass.rel_accuracy_bits() < _ACCURATE or not mass > 2.0**-900 for mass in found):
        raise Declined("allocation: the mass of a cell is not known well enough")
    return np.array([float(mass.mid()) for mass in found])


@dataclass(frozen=True, slots=True)
class Bin:
    """What one bin adds to the sum, rounded at random to multiples of the spacing; and how many bins are like it.

    Attributes:
        count: n.
        start: The multiple at which the arrays begin.
        none, first, second: Masses under N(0, 1), with the record, with its replacement: doubles, each off by a factor
            (1 ± ``off``) at most. (Where nothing is run: all such bins in one, the last two times their number.)
        off: That.
        moved: At least E |V - V'| in real units for a law V' of these multiples that is off no more than that, V being
            exact, but capped and spread: what rounding the weights of the spread may have moved.
        lost: At least E (V - cap)_+ beyond the largest multiple.
    """

    count: int
    start: int
    none: Floats
    first: Floats
    second: Floats
    off: float
    moved: float
    lost: float

    @property
    def multiples(self) -> Floats:
        """The multiples, as doubles: exact."""
        return np.arange(self.start, self.start + len(self.none), dtype=np.float64)


def values_at_cuts(cells: Cells, alpha: float) -> tuple[Floats, Floats]:
    """Doubles below and above V at the cuts."""
    (u_low, u_high), (w_low, w_high) = cells.u, cells.w
    low, high = u_low - alpha * w_high, u_high - alpha * w_low
    slack = 4 * UNIT * (u_high + alpha * w_high)  # three roundings, each of at most the larger sum
    return low - 2 * slack, high + 2 * slack


def rounded(cells: Cells, alpha: float, spacing: float, ends: tuple[int, int], count: int) -> Bin:
    """The bin whose cells below the first and above the second of two cuts are taken together.

    Those below are raised to the first cut's value, those above capped at the second's.
    """
    low, high = values_at_cuts(cells, alpha)
    bottom, top = ends
    none, first, second = cells.none, cells.first, cells.second
    # the cell between the cuts i and i+1 has index i+1
    inner = slice(bottom + 1, top + 1)
    below = _floor(low[bottom:top] / spacing)
    above = -_floor(-high[bottom + 1 : top + 1] / spacing)
    floor = int(-_floor(-high[bottom : bottom + 1] / spacing)[0])
    cap = int(_floor(low[top : top + 1] / spacing)[0])
    if not floor < cap:
        raise Declined("allocation: the spacing is too coarse for the ratios of a bin")
    q, p, r = none[inner], first[inner], second[inner]
    gap = (above - below).astype(np.float64)
    share = np.clip(((p - alpha * r) / (q * spacing) - below) / gap, 0.0, 1.0)
    share = np.where(share < LEAST_WEIGHT, 0.0, share)
    start = min(int(below.min(initial=floor)), floor)
    length = max(int(above.max(initial=cap)), cap) - start + 1

    def placed(masses: Floats) -> Floats:
        found: Floats = np.bincount(below - start, masses[inner] * (1 - share), length).astype(np.float64)
        found += np.bincount(above - start, masses[inner] * share, length)
        found[floor - start] += masses[: bottom + 1].sum()
        found[cap - start] += masses[top + 1 :].sum()
        return found

    size = 16 * UNIT * (float(np.sum(p + alpha * r)) + spacing * float(np.sum(q * (np.abs(below) + gap))))
    off = (2 * len(none) + 16) * UNIT
    beyond = [float(masses[top + 1 :].sum()) * factor for masses, factor in ((first, 1.0), (second, alpha))]
    beyond.append(float(none[top + 1 :].sum()) * cap * spacing)
    lost = beyond[0] - beyond[1] - beyond[2] + 2 * off * sum(map(abs, beyond))
    return Bin(count, start, placed(none), placed(first), placed(second), off, 2 * size, max(lost, 0.0))


def idle(steps: int, alpha: float, spacing: float) -> Bin:
    """The bins that are not run: together they add steps (1 - α)."""
    exact = steps * (1 - alpha)
    below = math.floor(exact / spacing)
    share = min(max(exact / spacing - below, 0.0), 1.0)
    none = np.array([1 - share, share])
    moved = 16 * UNIT * (abs(exact) + spacing * (abs(below) + 1))
    return Bin(1, below, none, steps * none, steps * none, 16 * UNIT, moved, 0.0)


def _floor(values: Floats) -> Indices:
    """Whole numbers that are not above x, for all x whose quotient was rounded to ``values_at_cuts``."""
    if not np.all(np.abs(values) < 2.0**40):
        raise Declined("allocation: the spacing is too fine for the ratios of a bin")
    return np.floor(values - 4 * UNIT * np.abs(values)).astype(np.int64)


# --- The sum of all bins but one --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """What is proven at one threshold.

    Attributes:
        alpha: α, exact.
        profile: At least H_α(P ‖ Q).
        seen: At most the P-mass of some test.
        mistaken: At least its Q-mass.
    """

    alpha: Fraction
    profile: Fraction
    seen: Fraction
    mistaken: Fraction

    @property
    def width(self) -> float:
        """How much of the profile is not known, as a share of it; at most 1."""
        known = max(Fraction(0), self.seen - self.alpha * self.mistaken)
        return float((self.profile - known) / self.profile) if self.profile else 0.0


@dataclass(frozen=True, slots=True)
class Fineness:
    """Choices.

    Attributes:
        cells: Of y, per unit.
        bits: 2^bits points of the sum.
        losses: Per deviation of the loss of all bins.
        reach: Deviations of the sum, by which a bin's ratio may exceed what outweighs the other bins.
    """

    cells: int
    bits: int
    losses: int
    reach: float = 6.0


@dataclass(frozen=True, slots=True)
class Window:
    """Where the sum is looked at, and how (choices).

    Attributes:
        spacing: h, of the multiples.
        start, length: The multiples that are looked at.
        rising, falling: How steep the Chernoff bounds are, rising more than the tilt.
        tilt: θ >= 0: of the law of the sum is computed what e^(θ sum) makes of it, so that what is rare, but large
            enough to count, is known as well as what is common.
    """

    spacing: float
    start: int
    length: int
    rising: float
    falling: float
    tilt: float = 0.0


def point(pair: Allocated, alpha: float, fineness: Fineness) -> Point:
    """Enclose the profile at α >= 1, a double."""
    if not alpha >= 1:
        raise ValueError("for thresholds of at least 1: the others are those of the other direction, mirrored")
    kinds = []
    assert pair.shifts  # the pair of ``pairs.md``, section 5, holds for no other noise
    for squared, count in pair.shifts:
        kinds.append((cells_of(squared, fineness.cells, pair.direction), count))
    resting = pair.bins - sum(count for _, count in pair.shares)
    ends = [_ends(cells, alpha, pair.bins, fineness.reach) for cells, _ in kinds]
    window = window_of(kinds, ends, resting * (1 - alpha), alpha, fineness.bits)
    bins = [rounded(cells, alpha, window.spacing, cut, count) for (cells, count), cut in zip(kinds, ends, strict=True)]
    bins += [idle(resting, alpha, window.spacing)] if resting else []
    total, upper, seen, mistaken = Fraction(0), 0.0, 0.0, 0.0
    for index, each in enumerate(bins):
        without = window if index < len(kinds) else replace(window, start=window.start - each.start)
        found = Sum.of(_others(bins, index), without)
        total += each.count * Fraction(found.weighed(each, each.none * each.multiples, 1))
        seen += each.count * found.weighed(each, each.first, -1)
        mistaken += each.count * found.weighed(each, each.second, 1)
        upper += each.count * (each.moved + each.lost)
    grown = math.fsum(each.count * each.off for each in bins) + 64 * UNIT
    if not grown < 2.0**-10:
        raise Declined("allocation: too many roundings in floating point")
    more, less = Fraction(1 + 4 * grown), Fraction(1 - 4 * grown)
    profile = (max(total, Fraction(0)) * Fraction(window.spacing) + Fraction(upper)) / pair.bins * more
    return Point(
        Fraction(alpha),
        min(profile, revealed(pair, alpha)),
        Fraction(max(seen, 0.0)) * less / pair.bins,
        min(Fraction(1), Fraction(mistaken) * more / pair.bins),
    )


def _others(bins: Sequence[Bin], index: int) -> list[tuple[Bin, int]]:
    counts = [(each, each.count - (i == index)) for i, each in enumerate(bins)]
    return [(each, count) for each, count in counts if count]


def revealed(pair: Allocated, alpha: float) -> Fraction:
    """At least the profile where the bin is published, and that of a replacement: another one where one is alike.

    Steps that are not run tell nothing.
    """
    with working(_PRECISION):
        value, loss = arb(0), ball(Fraction(alpha)).log()
        assert pair.shifts
        for squared, count in pair.shifts:
            apart = 1 if pair.direction is not Direction.REPLACE else 4 if count == 1 else 2  # (2μ)², or μ² in two bins
            value = value + count * law_of(ShiftedGaussians(apart * squared)).delta(loss)
        return ball_end(value / pair.bins, "up")


@dataclass(frozen=True, slots=True)
class Sum:
    """The law of the sum of some bins on the window, tilted and wrapped around, as computed.

    Attributes:
        window: Where.
        masses: Of the tilted law, in doubles, not negative.
        back: What turns them into masses of the law: doubles, off by three roundings and two of balls at most.
        off: At least the norm of the error of ``masses``.
        above, below: At least the mass of the law on either side of the window.
        wrapped: At least the mass of the tilted law outside of the window.
    """

    window: Window
    masses: Floats
    back: Floats
    off: float
    above: float
    below: float
    wrapped: float

    @classmethod
    def of(cls, others: Sequence[tuple[Bin, int]], window: Window) -> Sum:
        """The sum of so many bins of each kind; ``Declined`` where a bin alone reaches beyond the window."""
        laws, origin, mass = [], 0, arb(1)  # of the tilted laws, before they are divided by it
        with working(_PRECISION):
            tilt = arb(window.tilt) * arb(window.spacing)
            for each, count in others:
                used = np.flatnonzero(each.none)
                if int(used[-1] - used[0]) >= window.length:
                    raise Declined("allocation: the ratios of a bin reach beyond the window")
                plain = zip((used - used[0]).tolist(), each.none[used].tolist(), strict=True)
                atoms = tuple((int(place), arb(one) * (tilt * place).exp()) for place, one in plain)
                total = sum((tilted for _, tilted in atoms), arb(0)) if window.tilt else arb(1)
                laws.append(TiltedMeasure.of(atoms, 1 / total, count))
                mass = mass * total**count
                origin += count * (each.start + int(used[0]))
            if len(laws) == 1 and laws[0].count == 1 and not window.tilt:
                start = origin - window.start  # nothing is added up; does all of it lie in the window?
                if start >= 0 and start + laws[0].length <= window.length:
                    masses = np.zeros(window.length)
                    masses[start + np.array(laws[0].positions)] = laws[0].nearest
                    return cls(window, masses, np.ones(window.length), 0.0, 0.0, 0.0, 0.0)
            spectrum = ComposedSpectrum.of(laws, window.length, _TARGET)
            values, error = spectrum.masses([])
            masses = np.roll(np.maximum(values, 0.0), -((window.start - origin) % window.length))
            first, last = window.start - 1 - origin, window.start + window.length - origin

            def moment(rate: arb) -> arb:
                """E e^(rate (sum - origin)) of the tilted law, the sum in multiples."""
                z, found = rate.exp(), arb(1)
                for law in laws:
                    found = found * law.moment(z) ** law.count
                return found

            steep, falling = arb(window.rising * window.spacing) - tilt, arb(window.falling * window.spacing)
            if not steep > 0:
                raise Declined("allocation: a Chernoff bound less steep than the tilt")
            tilted_above = moment(steep) * (-steep * last).exp()
            below = mass * moment(-falling - tilt) * (falling * first).exp()
            return cls(
                window,
                masses,
                _powers(mass * (-tilt * (first + 1)).exp(), (-tilt).exp(), window.length),
                double_above(error),
                double_above(mass * (-tilt * last).exp() * tilted_above),
                double_above(below),
                double_above(tilted_above + below * (tilt * first).exp() / mass),
            )

    def weighed(self, each: Bin, weights: Floats, side: int) -> float:
        """E of the weights of one more bin over the outcomes with a positive sum: not below (1), not above (-1)."""
        sums = _sums_from_right(weights)
        sizes = sums if weights.min(initial=0.0) >= 0 else _sums_from_right(np.abs(weights))
        first = 1 - each.start - self.window.start  # at the window's first point, of the first weight that counts
        found = _read_backwards(sums, first, self.window.length)
        size = found if sizes is sums else _read_backwards(sizes, first, self.window.length) * self.back
        found = found * self.back
        size = found if sizes is sums else size
        value = _summed(self.masses * found)
        # sums of rows, of numbers of rows, products: of both sums
        roundings = 2 * (_ROW + (self.window.length + len(weights)) // _ROW + 16) * UNIT
        slack = 2 * roundings * (value if size is found else _summed(self.masses * size))
        missing = float(sizes[0]) * self.above + float(sizes[min(max(first, 0), len(weights))]) * self.below
        unknown = math.sqrt(float(np.sum(found * found))) * self.off + float(np.max(size)) * self.wrapped
        return value + side * (slack + 1.001 * (missing + unknown) + _UNDERFLOWN)

    def beyond(self, places: Sequence[int], *, weighted: bool, side: int) -> list[float]:
        """P(S > at) or (weighted) E (S - at)_+, in multiples, for many places: at most (side 1), or at least (side -1).

        ``back`` is geometric, so that what a place leaves of it is, but for its first value, at most what the window's
        start leaves.

        Raises:
            Declined: A place is outside of the window, or the Chernoff bound is not steep enough.
        """
        length, back = self.window.length, self.back
        sums = _sums_from_right(self.masses * back)
        if weighted:  # Σ (i - at) m_i is the sum of those sums
            sums = _sums_from_right(sums[:-1])
        shape = back / back[0] * (np.arange(1, length + 1) if weighted else 1.0)
        norm, largest = 1.001 * math.sqrt(float(np.sum(shape * shape))), 1.001 * float(np.max(shape))
        end, relative = self.window.start + length, 4 * (_ROW + length // _ROW + 16) * UNIT
        found = []
        for at in places:
            first = at + 1 - self.window.start
            if not 0 <= first < length:
                raise Declined("allocation: a threshold beyond the window")
            value, missing = float(sums[first]), 0.0
            if side > 0:
                missing = self.above
                if weighted:  # s - at <= (end - at) e^(r (s - end)) from the end on, as r (end - at) >= 1
                    if not self.window.rising * self.window.spacing * (end - at) >= 1.001:
                        raise Declined("allocation: a Chernoff bound that is not steep enough")
                    missing *= end - at
            unknown = float(back[first]) * (norm * self.off + largest * self.wrapped)
            found.append(value + side * (relative * value + 1.001 * (missing + unknown) + _UNDERFLOWN))
        return found


def _powers(first: arb, ratio: arb, length: int) -> Floats:
    """First * ratio^i for i < length: by the product of two tables."""
    if ratio == 1:
        return np.full(length, double_above(first))
    rows = -(-length // _ROW)
    if not (first < _LARGEST_POWER and first * ratio**length > 1 / _LARGEST_POWER):
        raise Declined("allocation: the tilt is too large for doubles")
    step = ratio**_ROW
    starts = np.array([double_above(first * step**i) for i in range(rows)])
    inside = np.array([double_above(ratio**i) for i in range(_ROW)])
    found: Floats = np.multiply.outer(starts, inside).reshape(-1)[:length]
    return found


def _read_backwards(values: Floats, first: int, length: int) -> Floats:
    """The values at first, first - 1, ..., so many; the last stands for those beyond it, the first for those before."""
    last = len(values) - 1
    found = np.empty(length)
    begin = min(max(first - last, 0), length)  # as long as the place is beyond the last
    end = min(max(first, 0), length)  # from here on the place is at most 0
    found[:begin] = values[last]
    if begin < end:
        found[begin:end] = values[first - end + 1 : first - begin + 1][::-1]
    found[max(begin, end) :] = values[0]
    return found


def _by_rows(values: Floats) -> Floats:
    """Rows of 256 numbers each, filled up with zeros."""
    rows = -(-len(values) // _ROW)
    if rows * _ROW == len(values):
        return values.reshape(rows, _ROW)
    found = np.zeros(rows * _ROW)
    found[: len(values)] = values
    return found.reshape(rows, _ROW)


def _summed(values: Floats) -> float:
    return float(_by_rows(values).sum(axis=1).sum())


def _sums_from_right(values: Floats) -> Floats:
    """Σ_{i >= j} of the values for j = 0, ..., length: each of so many additions as there are rows, and in a row."""
    turned = _by_rows(values[::-1])
    inside = np.cumsum(turned, axis=1)
    before = np.concatenate([[0.0], np.cumsum(inside[:, -1])[:-1]])
    return np.concatenate([[0.0], (inside + before[:, None]).reshape(-1)[: len(values)]])[::-1]


# --- Two discrete pairs -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def between(pair: Allocated, fineness: Fineness, negligible: float) -> tuple[Discrete, Discrete]:
    """A pair that dominates, and one that an observer sees who makes one of finitely many tests.

    Args:
        pair: One of m bins, Gaussian noise.
        fineness: Choices.
        negligible: A δ per epoch that may be given up. A choice.
    """
    opposite = {Direction.REMOVE: Direction.ADD, Direction.ADD: Direction.REMOVE}.get(pair.direction, pair.direction)
    points, reverse = (_all_points(each, fineness, negligible) for each in (pair, replace(pair, direction=opposite)))
    return hull_of_bounds(points, reverse), hull_of_tests(points, reverse)


@lru_cache(maxsize=32)
def _all_points(pair: Allocated, fineness: Fineness, negligible: float) -> tuple[Point, ...]:
    return tuple(_points(pair, fineness, negligible))


def hull_of_bounds(points: Sequence[Point], reverse: Sequence[Point]) -> Discrete:
    """The least convex curve through upper bounds on the profile, which lies below every chord; its kinks are atoms.

    ``reverse``: those of the pair with its laws swapped.
    """
    mirrored = [(1 / each.alpha, 1 - (1 - each.profile) / each.alpha) for each in reverse if each.alpha > 1]
    corners = [(Fraction(0), Fraction(1)), *reversed(mirrored), *((each.alpha, each.profile) for each in points)]
    least = Fraction(1)
    falling = []
    for alpha, value in corners:
        least = min(least, value)  # a profile does not increase
        falling.append((alpha, least))
    hull = _lower_hull(falling)
    slopes = [(second[1] - first[1]) / (second[0] - first[0]) for first, second in pairwise(hull)] + [Fraction(0)]
    atoms: dict[Fraction, Fraction] = {}
    for (alpha, _), (before, after) in zip(hull[1:], pairwise(slopes), strict=True):
        mass = _down((after - before) * alpha)
        if mass > 0:
            with working(_PRECISION):
                atoms[ball_end(ball(alpha).log(), "up")] = mass
    return Discrete(tuple(sorted(atoms.items())), 1 - sum(atoms.values(), Fraction(0)))


def hull_of_tests(points: Sequence[Point], reverse: Sequence[Point]) -> Discrete:
    """What tests see, and with what probability by mistake; the mirrored tests as well. A segment is an outcome."""
    tests = [(each.mistaken, each.seen) for each in points]
    tests += [(1 - each.seen, 1 - each.mistaken) for each in reverse]
    hull = [
        (mistaken, -missed)
        for mistaken, missed in _lower_hull(
            sorted((mistaken, -seen) for mistaken, seen in [(Fraction(0), Fraction(0)), *tests, (Fraction(1),) * 2])
        )
    ]
    atoms: dict[Fraction, Fraction] = {}
    with working(_PRECISION):
        for (mistaken, seen), (then_mistaken, then_seen) in pairwise(hull):
            p, r = then_seen - seen, then_mistaken - mistaken
            if p > 0:
                loss = ball_end((ball(p) / ball(r)).log(), "down")
                atoms[loss] = atoms.get(loss, Fraction(0)) + _down(p)
    return Discrete(tuple(sorted(atoms.items())), Fraction(0))


def _lower_hull(corners: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the lower convex hull of points in increasing order; of those one above the other, the lowest."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in corners:
        if hull and hull[-1][0] == x:
            if y >= hull[-1][1]:
                continue
            hull.pop()
        while len(hull) >= 2:
            (first, low), (second, high) = hull[-2], hull[-1]
            if (second - first) * (y - low) > (high - low) * (x - first):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _down(mass: Fraction) -> Fraction:
    return Fraction(math.floor(mass * (1 << _MASS_BITS)), 1 << _MASS_BITS)


# --- Choices: no part of the proof ------------------------------------------------------------------------------------


def _points(pair: Allocated, fineness: Fineness, negligible: float) -> Iterator[Point]:
    """Thresholds from 1 on until the profile is negligible, or no longer told from the transform's round-off."""
    deviation = deviation_of(pair)
    step, loss, lost, patience = deviation / fineness.losses, 0.0, 0, 0
    most = fineness.bits + _MORE_BITS
    while loss < _LARGEST_LOSS and lost < _LOST:
        found = point(pair, math.exp(loss), fineness)
        if found.width > (_ENOUGH if patience <= 0 else _POOR) and found.profile > negligible:
            patience = _PATIENCE
            for other in _neighbours(fineness, most):
                tried = point(pair, math.exp(loss), other)
                if tried.width < _BETTER * found.width:
                    found, fineness, patience = tried, other, 1
                    break
        yield found
        if found.profile <= negligible:
            return
        lost, patience = (lost + 1 if found.width > _UNKNOWN else 0), patience - 1
        loss += step * max(1.0, loss / (_WIDE * deviation))
        checkpoint()
    yield from published(pair, loss, found.profile, negligible)


def published(pair: Allocated, loss: float, least: Fraction, negligible: float) -> Iterator[Point]:
    """Thresholds from a loss on where the bin may as well be published: a known bound on the profile is ``least``."""
    reach = max(float(squared) for squared, _ in pair.shifts)
    while loss < _LARGEST_LOSS + 4 * reach:
        alpha = math.exp(loss)
        bound = revealed(pair, alpha)
        if bound < least:
            least = bound
            yield Point(Fraction(alpha), bound, Fraction(0), Fraction(0))
        if bound <= negligible:
            return
        loss += _SPARSE * math.sqrt(reach)


def _neighbours(fineness: Fineness, most: int) -> Iterator[Fineness]:
    """A shorter reach leaves more points for what matters where noise is little; then more points."""
    if fineness.reach > _SHORTEST:
        yield replace(fineness, reach=fineness.reach / 2)
    if fineness.bits < most:
        yield replace(fineness, bits=fineness.bits + 1)


def deviation_of(pair: Allocated) -> float:
    """Roughly that of log P/Q: of Σ (u_i - w_i) / m, or of one bin alone."""
    shifts = [(float(squared), n) for squared, n in pair.shifts]
    grown, ways = (lambda s: 4 * math.sinh(s), 4) if pair.direction is Direction.REPLACE else (math.expm1, 1)
    shared = sum(n * grown(min(s, _LARGEST_SHIFT)) for s, n in shifts) / pair.bins**2
    return math.sqrt(min(shared, ways * max(s for s, _ in shifts)))


def _ends(cells: Cells, alpha: float, bins: int, reach: float) -> tuple[int, int]:
    """Cuts beyond which a single bin decides, whatever the others show."""
    low, high = values_at_cuts(cells, alpha)
    middle, half = (low + high) / 2, (len(low) - 1) // 2
    core = slice(half - int(_CORE * cells.per_unit), half + int(_CORE * cells.per_unit))
    values, masses = (middle[core] + middle[core.start - 1 : core.stop - 1]) / 2, cells.none[core]
    mean = float(np.sum(values * masses) / np.sum(masses))
    deviation = math.sqrt(float(np.sum((values - mean) ** 2 * masses) / np.sum(masses)))
    cap = bins * (alpha - 1) + reach * math.sqrt(bins) * deviation
    top = min(int(np.searchsorted(middle, cap)) + 1, len(low) - 1)
    bottom = max(int(np.searchsorted(middle, -1.5 * cap)) - 1, 0)
    return min(bottom, half - 1), max(top, half + 1)


def window_of(
    kinds: Sequence[tuple[Cells, int]],
    ends: Sequence[tuple[int, int]],
    constant: float,
    alpha: float,
    bits: int,
    sign: int = 1,
    tilted: float = _TILTED,
) -> Window:
    """A spacing for which the sum of all bins (times the sign) and a constant hardly ever leaves so many points."""
    laws = []
    for (cells, count), (bottom, top) in zip(kinds, ends, strict=True):
        low, high = values_at_cuts(cells, alpha)
        edges = ((low + high) / 2)[bottom : top + 1]
        values = np.concatenate([[edges[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1]]])
        masses = cells.none[bottom + 1 : top + 1]
        masses = np.concatenate([[cells.none[: bottom + 1].sum()], masses, [cells.none[top + 1 :].sum()]])
        laws.append((sign * values, np.log(masses), count))
    count = sum(n for _, _, n in laws)
    variance = sum(n * float(np.sum(np.exp(logs) * values**2)) for values, logs, n in laws)
    rates = _RATES / math.sqrt(variance)

    def cumulants(slopes: Floats) -> Floats:
        totals = slopes * constant
        for values, logs, n in laws:
            exponents = logs + slopes[:, None] * values
            top = exponents.max(axis=1)
            totals += n * (top + np.log(np.sum(np.exp(exponents - top[:, None]), axis=1)))
        return totals

    upwards, downwards = cumulants(rates), cumulants(-rates)
    lows = (downwards - _OUTSIDE) / rates
    lowest = int(np.argmin(lows))
    best, tilt, least = int(np.argmin(upwards[:-_STEEPER])), 0.0, 0.0
    if upwards[best] < 0:  # where P(sum > 0) is bounded best
        tilt = tilted * float(rates[best])
        least = float(cumulants(np.array([tilt]))[0])
    length, lower = 1 << bits, -float(lows[lowest])
    while True:
        steeper = rates > 1.001 * tilt
        highs = (upwards[steeper] - least - _OUTSIDE) / (rates[steeper] - tilt)
        highest = int(np.argmin(highs))
        upper = float(highs[highest])
        if tilt * (upper - lower) <= _STEEPEST:
            break
        tilt /= 2
        least = float(cumulants(np.array([tilt]))[0])
    # spreading moves the sum by up to a spacing per bin
    spacing = _few_bits((upper - lower) / max(length / 2, length - 64 - count // 64))
    start = math.floor(lower / spacing) - 8 - count // 256
    return Window(spacing, start, length, float(rates[steeper][highest]), float(rates[lowest]), tilt)


def _few_bits(value: float) -> float:
    """About the same, above, with so few bits that multiples are doubles."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, 10)), exponent - 10)
