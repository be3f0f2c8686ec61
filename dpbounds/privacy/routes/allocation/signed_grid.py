"""One of m bins under replace-one on a signed geometric grid: for little noise, whose ratios span many scales.

V_j = u_j - α w_j is rounded at random to points -e^(ih), 0, e^(ih), so that its mean stays or rises; so is every sum of
two. One computation, of many thresholds α at once, serves both bounds (``proof.md``, section 11).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from flint import arb

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Allocated, Discrete
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.convex_hulls import Point, hull_of_bounds, hull_of_tests
from dpbounds.privacy.routes.allocation.one_bin import Cells, cells_of, values_at_cuts
from dpbounds.privacy.routes.allocation.published_bin import points_if_published, profile_if_published
from dpbounds.privacy.routes.allocation.replace_one import deviation_of
from dpbounds.privacy.routes.allocation.rounding import (
    ACCURATE_BITS,
    LARGEST_LOSS,
    LEAST,
    LEAST_WEIGHT,
    PRECISION,
    UNIT,
    Floats,
    double_above,
    growth,
    repeated,
)
from dpbounds.privacy.routes.allocation.tuning import TUNING

LARGEST_GRID = 4_000  # points of one sign, so that h > 1e-3 (``proof.md``, section 11)
_LEFT_OUT = 256.0  # largest contribution of a point to (·)_+, its mass included, in units of the largest point
LARGEST_SHIFT = 144  # squared: beyond it masses of cells are too small for doubles


@dataclass(frozen=True, slots=True)
class Fineness:
    """Choices.

    Attributes:
        spacing: h.
        losses: Thresholds per deviation of the loss.
    """

    spacing: Fraction
    losses: float


# --- The grid ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Split:
    """Position of e^(ih) ± e^((i-d)h): between the points i + place_d and i + place_d + 1.

    Attributes:
        places: For d = 0, 1, ..., D - 1 (for differences that of d = 0 means nothing).
        near, far: The weights of these points that keep the mean, doubles off by at most two roundings.
        place: For all d >= D.
        falling: (Sum: the far one's, difference: the near one's) weight at d = D, which falls by e^-h from each
            to the next.
        rest: 1 minus that.
    """

    places: tuple[int, ...]
    near: tuple[float, ...]
    far: tuple[float, ...]
    place: int
    falling: float
    rest: float

    @property
    def settled(self) -> int:
        """D."""
        return len(self.places)


@lru_cache(maxsize=32)
def splits(spacing: Fraction) -> tuple[Split, Split]:
    """Return the positions of sums and of differences."""
    with working(PRECISION):
        h = ball(spacing)
        step, width, falling = h.exp(), h.expm1(), (-h).exp()
        found = []
        for sign in (1, -1):
            places, near, far, d, smaller = list[int](), list[float](), list[float](), 0, arb(1)
            while True:
                whole = 1 + sign * smaller  # in units of the larger one
                place, x = 0, arb(0)
                if d or sign > 0:
                    lower = (whole.log() / h).mid().floor().unique_fmpz()
                    assert lower is not None
                    place = int(lower)
                    x = (whole * step**-place - 1) / width
                    if not (x >= 0 and x <= 1):
                        raise Declined(
                            "allocation: a sum of two points cannot be distinguished from a point of the grid"
                        )
                if d and place == (0 if sign > 0 else -1):
                    break
                places.append(place)
                near.append(_nearest(1 - x))
                far.append(_nearest(x) if d or sign > 0 else 0.0)
                if d > LARGEST_GRID:
                    raise Declined("allocation: the grid is too fine")
                smaller, d = smaller * falling, d + 1
            less, more = (x, 1 - x) if sign > 0 else (1 - x, x)
            found.append(Split(tuple(places), tuple(near), tuple(far), place, _nearest(less), _nearest(more)))
    return found[0], found[1]


def _nearest(x: arb) -> float:
    """Return a double off by at most two roundings."""
    if x.rel_accuracy_bits() < ACCURATE_BITS:
        raise Declined("allocation: a weight is not known well enough")
    return float(x.mid())


@lru_cache(maxsize=32)
def _values(spacing: Fraction, first: int, length: int) -> tuple[Floats, Floats]:
    """Return doubles not above, and not below, e^(ih) for ``length`` values of i."""
    with working(PRECISION):
        step = ball(spacing).exp()
        exact = [step**i for i in range(first, first + length)]
        if not (exact[0] > 2.0**-900 and exact[-1] < 2.0**400):
            raise Declined("allocation: ratios are too large for doubles")
        return np.array([-double_above(-x) for x in exact]), np.array([double_above(x) for x in exact])


@dataclass(frozen=True, slots=True)
class Frame:
    """The grids of some thresholds: the points of the a-th are 0 and ±e^((firsts[a] + i) h), 0 <= i < length."""

    spacing: Fraction
    firsts: tuple[int, ...]
    length: int

    def magnitudes(self) -> tuple[Floats, Floats]:
        """Return doubles not above, and not below; a row per threshold."""
        low = min(self.firsts)
        below, above = _values(self.spacing, low, max(self.firsts) - low + self.length)
        rows = [slice(first - low, first - low + self.length) for first in self.firsts]
        return np.array([below[row] for row in rows]), np.array([above[row] for row in rows])


class _Signs(NamedTuple):
    """Masses by threshold and point of either sign, and at 0."""

    positive: Floats
    negative: Floats
    zero: Floats


# --- Distributions on it
# -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Laws:
    """Distributions of the sum of some V, rounded: for each threshold, under three distributions.

    Attributes:
        positive, negative: Masses at the points of either sign, by distribution (without the record; the sum of those
            where one of these bins holds the record; the same with its replacement), threshold and point. 0 or at least
            2^-450.
        zero: At 0, by distribution and threshold.
        lost: By threshold, at least what (·)_+ may be short of.
        roundings: Masses are off by a factor (1 ± 2^-53)^roundings at most; those of the second distribution may be too
            small, of the third too large.
    """

    positive: Floats
    negative: Floats
    zero: Floats
    lost: Floats
    roundings: int


def one_bin(cells: Cells, alphas: Sequence[float], frame: Frame) -> Laws:
    """Return one bin's V, its cells spread to points of the grid."""
    length, laws = frame.length, (cells.none, cells.first, cells.second)
    found = np.zeros((3, len(alphas), 2 * length + 1))
    lost = np.zeros(len(alphas))
    below, above = frame.magnitudes()
    for row, alpha in enumerate(alphas):
        low = np.concatenate([-above[row][::-1], [0.0], below[row]])  # not above the points
        high = np.concatenate([-below[row][::-1], [0.0], above[row]])
        least, most = values_at_cuts(cells, alpha)
        q, p, r = laws
        under = np.concatenate([[-1], np.searchsorted(high, least, side="right") - 1])  # -1: below the grid
        over = np.concatenate([np.searchsorted(low, most, side="left"), [len(low)]])
        capped = over == len(low)
        raised = (under < 0) & ~capped
        g, top = low[np.maximum(under, 0)], low[np.minimum(over, len(low) - 1)]
        size = (p + alpha * r) / q + np.abs(g) + np.abs(top)
        gap = np.where(top > g, top - g, 1.0)
        share = ((p - alpha * r) / q - g) / gap
        share = np.clip(share + 64 * UNIT * (size / gap + 1.0), LEAST_WEIGHT, 1.0)  # not below what keeps the mean
        share = np.where(raised, 1.0, np.where(capped, 0.0, share))
        spare = p - alpha * r - g * q + 64 * UNIT * (p + alpha * r + np.abs(g) * q)
        # a cell from below to above is put on the largest point; V less that is at most u
        spare = np.where(under < 0, p, spare)
        lost[row] = float(np.maximum(spare, 0.0)[capped].sum()) * growth(len(q))
        under = np.where(capped & (under < 0), 2 * length, np.maximum(under, 0))
        for law, masses in enumerate(laws):
            found[law, row] = np.bincount(under, masses * (1.0 - share), 2 * length + 1)
            found[law, row] += np.bincount(np.minimum(over, 2 * length), masses * share, 2 * length + 1)
    return _kept(
        found[:, :, length + 1 :],
        found[:, :, length - 1 :: -1],
        found[:, :, length],
        lost,
        2 * len(cells.none) + 16,
        above[:, -1],
    )


def resting(steps: int, alphas: Sequence[float], frame: Frame) -> Laws:
    """Return the bins that are not run, together steps (1 - α) <= 0."""
    positive = np.zeros((3, len(alphas), frame.length))
    negative, zero = np.zeros_like(positive), np.zeros((3, len(alphas)))
    below, above = frame.magnitudes()
    for row, alpha in enumerate(alphas):
        exact = steps * (alpha - 1)  # two roundings, unless it is 0
        place = int(np.searchsorted(below[row], exact * (1 + 8 * UNIT), side="left"))  # the point that is larger
        each = np.array([1.0, steps, steps])
        if place == frame.length or exact == 0:  # raised
            (negative[:, row, -1] if exact else zero[:, row])[:] = each
            continue
        near = above[row][place - 1] if place else 0.0  # not below the smaller point
        share = (exact - near) / (above[row][place] - near)
        # of the larger share: not above
        share = max(0.0, share - 64 * UNIT * (exact / (above[row][place] - near) + 1.0))
        share = share if share >= LEAST_WEIGHT else 0.0
        negative[:, row, place] += each * share
        (negative[:, row, place - 1] if place else zero[:, row])[:] += each * (1.0 - share)
    return Laws(positive, negative, zero, np.zeros(len(alphas)), 16)


def _kept(positive: Floats, negative: Floats, zero: Floats, lost: Floats, roundings: int, largest: Floats) -> Laws:
    """Drop points with tiny mass without the record: all tests reject there, and ``lost`` adds (·)_+."""
    masses = [positive.copy(), negative.copy(), zero[:, :, None].copy()]
    for part in masses:
        tiny = part[0] < LEAST
        lost = lost + _LEFT_OUT * LEAST * (largest + 1.0) * np.sum(tiny & (part[0] > 0), axis=1)
        part[:, tiny] = 0.0
        part[1][part[1] < LEAST] = 0.0
        part[2][~tiny] = np.maximum(part[2][~tiny], LEAST)
    return Laws(masses[0], masses[1], masses[2][:, :, 0], lost, roundings)


def added(one: Laws, other: Laws, frame: Frame) -> Laws:
    """Return the sum of two independent ones, rounded."""
    none = _law(one, 0), _law(other, 0)
    found = [_joined(*none, frame, same=one is other)]
    for law in (1, 2):
        parts = _joined(_law(one, law), none[1], frame)
        others = parts if one is other else _joined(none[0], _law(other, law), frame)
        found.append(_Signs(*(x + y for x, y in zip(parts, others, strict=True))))
        checkpoint()
    largest = frame.magnitudes()[1][:, -1]
    roundings = _roundings(one, other, frame)
    positive, negative, zero, excess = _folded(found, frame, largest)
    lost = (one.lost + other.lost + excess * growth(roundings)) * growth(8)
    return _kept(positive, negative, zero, lost, roundings, largest)


def _law(laws: Laws, index: int) -> _Signs:
    return _Signs(laws.positive[index], laws.negative[index], laws.zero[index])


def _room(frame: Frame) -> tuple[int, int]:
    """Return points below and above the grid that sums of two may reach."""
    plus, minus = splits(frame.spacing)
    return -min(*minus.places, minus.place), plus.places[0] + 1


def _joined(one: _Signs, other: _Signs, frame: Frame, *, same: bool = False) -> _Signs:
    """Return the distribution of sums of two, on points of either sign up to ``_room`` beyond the grid, and at 0."""
    length, (below, above) = frame.length, _room(frame)
    zero = one.zero * other.zero + np.sum(one.positive * other.negative, axis=1)
    zero += np.sum(one.negative * other.positive, axis=1)
    found, twice = [], 2.0 if same else 1.0
    for sign in (0, 1):  # the larger of the two, and hence the sum
        reached = np.zeros((len(zero), below + length + above))
        reached[:, below : below + length] += one[sign] * other.zero[:, None] + other[sign] * one.zero[:, None]
        for difference, split in enumerate(splits(frame.spacing)):
            little = sign ^ difference
            pairs = [(one[sign], other[little]), (other[sign], one[little])][: 1 if same else 2]
            for d in range(difference, min(split.settled, length)):
                # of equal sizes there is one pair, not two
                products = pairs[0][0][:, d:] * pairs[0][1][:, : length - d]
                if d and same:
                    products *= twice
                elif d:
                    products += pairs[1][0][:, d:] * pairs[1][1][:, : length - d]
                start = below + d + split.places[d]
                reached[:, start : start + length - d] += products * split.near[d]
                reached[:, start + 1 : start + 1 + length - d] += products * split.far[d]
            start = below + split.place
            for large, small in pairs:
                less, more = _smaller_ones(small, split, frame.spacing)
                near, far = (less, more) if difference else (more, less)
                reached[:, start : start + length] += twice * large * near
                reached[:, start + 1 : start + 1 + length] += twice * large * far
        found.append(reached)
    return _Signs(found[0], found[1], zero)


def _smaller_ones(masses: Floats, split: Split, spacing: Fraction) -> tuple[Floats, Floats]:
    """Return Σ_{d >= D} x_d m_{i-d} and Σ_{d >= D} (1 - x_d) m_{i-d}, x_d falling by e^-h from each to the next."""
    length, start = masses.shape[1], split.settled
    less, more = np.zeros_like(masses), np.zeros_like(masses)
    if start >= length:
        return less, more
    rising, falling, shrinking = _powers(spacing, length)
    kept = masses[:, : length - start]
    less[:, start:] = np.cumsum(kept * rising[: length - start], axis=1) * falling[: length - start] * split.falling
    more[:, start:] = split.rest * kept  # 1 - x_(d+1) = (1 - x_d) + (1 - e^-h) x_d
    more[:, start + 1 :] += shrinking * less[:, start:-1]
    return less, np.cumsum(more, axis=1)


@lru_cache(maxsize=16)
def _powers(spacing: Fraction, length: int) -> tuple[Floats, Floats, float]:
    """Return doubles next to e^(ih) and e^(-ih), i < length; and to 1 - e^-h."""
    if not spacing * length <= LARGEST_LOSS:
        raise Declined("allocation: ratios are too large for doubles")
    with working(PRECISION):
        h = ball(spacing)
        rising = np.array([_nearest((h * i).exp()) for i in range(length)])
        falling = np.array([_nearest((-h * i).exp()) for i in range(length)])
        return rising, falling, _nearest(-(-h).expm1())


def _folded(joined: Sequence[_Signs], frame: Frame, largest: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Move the mass beyond the grid: below it to 0 and the smallest point, above it to the largest point.

    Last, what (·)_+ is lowered by.
    """
    (below, above), length = _room(frame), frame.length
    with working(PRECISION):
        h = ball(frame.spacing)
        inward = np.array([_nearest((-h * (below - i)).exp()) for i in range(below)])
        to_zero = np.array([_nearest(-(-h * (below - i)).expm1()) for i in range(below)])
        outward = np.array([double_above((h * (i + 1)).expm1()) for i in range(above)])
    zero, found = np.array([each.zero for each in joined]), []
    for sign in (0, 1):
        reached = np.array([each[sign] for each in joined])
        inside, low = reached[:, :, below : below + length].copy(), reached[:, :, :below]
        inside[:, :, 0] += np.sum(low * inward, axis=2)
        zero += np.sum(low * to_zero, axis=2)
        inside[:, :, -1] += np.sum(reached[:, :, below + length :], axis=2)
        found.append(inside)
    excess = np.sum(joined[0].positive[:, below + length :] * outward, axis=1) * largest
    return found[0], found[1], zero, excess


def ends(one: Laws, other: Laws, frame: Frame) -> tuple[Floats, Floats, Floats]:
    """Return, for the sum of two, by threshold: a lower bound on E (sum)_+, and P(sum > 0) with record and replacement.

    The probabilities are sums over the bin that holds the record, and off as masses are.
    """
    below, above = frame.magnitudes()
    steps = (above[:, 1:] - below[:, :-1]) * (1 + 4 * UNIT)  # at least that between neighbours
    call = np.zeros(len(above))
    for left, right in ((_law(one, 0), _law(other, 0)), (_law(other, 0), _law(one, 0))):
        call += np.sum(left.positive * above, axis=1) * (right.zero + np.sum(right.positive, axis=1))
        # e^(ih) - e^(kh) = the steps from k to i
        call += np.sum(steps * _from(left.positive)[:, 1:] * _until(right.negative)[:, :-1], axis=1)
    seen = []
    for law in (1, 2):
        total = np.zeros(len(above))
        for left, right in ((_law(one, law), _law(other, 0)), (_law(one, 0), _law(other, law))):
            total += np.sum(left.positive, axis=1) * (np.sum(right.positive, axis=1) + right.zero)
            total += left.zero * np.sum(right.positive, axis=1)
            total += np.sum(left.positive[:, 1:] * _until(right.negative)[:, :-1], axis=1)
            total += np.sum(right.positive[:, 1:] * _until(left.negative)[:, :-1], axis=1)
        seen.append(total)
    call = (call * growth(_roundings(one, other, frame)) + one.lost + other.lost) * growth(4)
    return call, seen[0], seen[1]


def _roundings(one: Laws, other: Laws, frame: Frame) -> int:
    return one.roundings + other.roundings + 16 * frame.length + 8 * sum(_room(frame)) + 64


def _from(masses: Floats) -> Floats:
    return np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]


def _until(masses: Floats) -> Floats:
    return np.cumsum(masses, axis=1)


# --- What is proven at thresholds -------------------------------------------------------------------------------------


def at_thresholds(pair: Allocated, alphas: Sequence[float], frame: Frame, cells: Sequence[Cells]) -> list[Point]:
    """Return proven points at several thresholds, at least 1 each; ``cells``: of each kind of bin."""
    if not np.all(frame.magnitudes()[0][:, -1] + 2 >= pair.bins):
        raise Declined("allocation: the grid does not hold the sum of all bins")
    (_, most), *others = pair.shares
    leaf = one_bin(cells[0], alphas, frame)

    def both(left: Laws, right: Laws) -> Laws:
        return added(left, right, frame)

    parts = [repeated(leaf, most - 1, both)] if most > 1 else []
    parts += [
        repeated(one_bin(cut, alphas, frame), count, both) for cut, (_, count) in zip(cells[1:], others, strict=True)
    ]
    idle = pair.bins - sum(count for _, count in pair.shares)
    parts += [resting(idle, alphas, frame)] if idle else []
    rest = reduce(both, parts) if parts else _nothing(len(alphas), frame)
    call, seen, mistaken = ends(rest, leaf, frame)
    share = Fraction(growth(_roundings(rest, leaf, frame))) / pair.bins
    less = (2 - Fraction(growth(_roundings(rest, leaf, frame)))) / pair.bins
    return [
        Point(
            Fraction(alpha),
            min(Fraction(value) / pair.bins, profile_if_published(pair, alpha)),
            Fraction(p) * less,
            min(Fraction(1), Fraction(r) * share),
        )
        for alpha, value, p, r in zip(alphas, call.tolist(), seen.tolist(), mistaken.tolist(), strict=True)
    ]


def _nothing(rows: int, frame: Frame) -> Laws:
    """Return the sum of no bins."""
    empty, zero = np.zeros((3, rows, frame.length)), np.zeros((3, rows))
    zero[0] = 1.0
    return Laws(empty, empty, zero, np.zeros(rows), 0)


# --- Choices: no part of the proof ------------------------------------------------------------------------------------


def between(pair: Allocated, fineness: Fineness, negligible: float) -> tuple[Discrete, Discrete]:
    """See ``replace_one.between``, under replace-one."""
    found = _all_points(pair, fineness, negligible)
    return hull_of_bounds(found, found), hull_of_tests(found, found)


@lru_cache(maxsize=32)
def _all_points(pair: Allocated, fineness: Fineness, negligible: float) -> tuple[Point, ...]:
    return tuple(points(pair, fineness, negligible))


def points(pair: Allocated, fineness: Fineness, negligible: float) -> Iterator[Point]:
    """Yield thresholds from 1 on until the profile is negligible."""
    mu, h = math.sqrt(max(_shifts(pair))), float(fineness.spacing)
    deviation = min(deviation_of(pair), math.sqrt(2) * mu)
    loss, least, work = 0.0, Fraction(1), 0.0
    while loss < LARGEST_LOSS:
        losses = []
        for _ in range(TUNING.signed.batch):
            losses.append(loss)
            loss += deviation / fineness.losses * max(1.0, loss / (TUNING.dense * deviation))
        spans = [_span(pair, mu, each, h, negligible) for each in losses]
        length = max(math.ceil((top - bottom) / h) for bottom, top in spans) + 4
        if length > LARGEST_GRID:
            raise Declined(f"allocation: a grid of {length} points of either sign is beyond the work limit")
        batch = TUNING.signed.batch * length * splits(fineness.spacing)[0].settled * math.log2(pair.bins)
        work += batch
        if max(work, batch * TUNING.signed.deviations * fineness.losses / TUNING.signed.batch) > TUNING.signed.work:
            raise Declined("allocation: a signed grid for this many bins is beyond the work limit")
        frame = Frame(fineness.spacing, tuple(math.ceil(top / h) - length + 2 for _, top in spans), length)
        cells = _cells(pair, h)  # (cached)
        for found in at_thresholds(pair, [math.exp(each) for each in losses], frame, cells):
            least = min(least, found.profile)
            yield found
            if found.profile <= negligible:
                return
        checkpoint()
    yield from points_if_published(pair, loss, least, negligible)


def first_spacing(pair: Allocated, width: float, count: int) -> float:
    """Return a spacing that should suffice for ``count`` epochs."""
    # share of an epoch's deviation that each epoch spends
    spent = max(1 + 2 / math.sqrt(count), math.sqrt(max(_shifts(pair)) / 2))
    return 1.5 * math.sqrt(4 * width * spent / (1 + math.log2(pair.bins)))


def _cells(pair: Allocated, spacing: float) -> list[Cells]:
    found = []
    assert pair.shifts  # the pair of ``pairs.md``, section 5, holds for no other noise
    for squared, _ in pair.shifts:
        per_unit = max(TUNING.signed.fewest_cells, math.ceil(TUNING.signed.cells * math.sqrt(squared) / spacing))
        found.append(cells_of(squared, per_unit, pair.direction, LARGEST_SHIFT))
    return found


def _shifts(pair: Allocated) -> list[float]:
    return [float(squared) for squared, _ in pair.shifts]


def _span(pair: Allocated, mu: float, loss: float, spacing: float, negligible: float) -> tuple[float, float]:
    """Return logarithms around the decisive values at a threshold: of u with the record, and of α times Σ w."""
    normal, others = NormalDist(), max(1, pair.bins - 1)
    rare = min(max(TUNING.signed.beyond * negligible, 1e-300), 1e-3)
    far = -normal.inv_cdf(rare)
    farther = -normal.inv_cdf(rare / others)
    nearest = normal.inv_cdf(math.exp(math.log(rare) / others))  # the largest of that number is rarely below
    half = mu * mu / 2
    top = min(_log_sum(half + mu * far, others), loss + _log_sum(mu * farther - half, others))
    bottom = max(half - mu * far, loss + mu * nearest - half)
    return min(bottom, top) + math.log(spacing / math.sqrt(8 * others)), top


def _log_sum(exponent: float, count: int) -> float:
    """Return log(e^x + n)."""
    return float(np.logaddexp(exponent, math.log(count)))
