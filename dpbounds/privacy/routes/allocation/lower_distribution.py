"""The mean of m likelihood ratios, from below in the convex order: outcomes of the attained run, merged coarsely.

Every step's outcome is replaced by the cell of its ratio, and of several steps together only a cell of the sum is kept:
post-processing, whatever the cells are. A cell has a Q-mass for none, one, ..., k of its steps holding the record
(``counts`` 0, 1, ..., k, summed over the steps), so that the distribution for a uniformly random choice of k steps
follows at the end (``proof.md``, section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Pair
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.rounding import LEAST, Floats, table
from dpbounds.privacy.routes.allocation.upper_distribution import LARGEST_GRID
from dpbounds.privacy.routes.lattice.discretisation import working_precision
from dpbounds.privacy.routes.lattice.steps import Lattice, LossStep, cut

_BITS = 1.5  # bits per unit of the loss: a little more than 1 / log 2


@dataclass(frozen=True, slots=True)
class LowerDistribution:
    """Cells of the ratios' sum, and the mass of each.

    Attributes:
        spacing: h > 0: cell j is meant for sums from e^(jh) to e^((j+1)h). (A choice: any outcome may lie in any cell.)
        first: The index of the first cell.
        counts: Row l: for each cell the mass summed over the sets of l of its steps that hold the record.
        surely: The same, summed over the outcomes that are impossible if the record is in none of the steps.
        gone: Q-mass of the outcomes that are impossible if the record is in any of the steps.
        roundings: Each number is off by at most a factor (1 ± 2^-53) to this power.
        terms: The number of steps.
    """

    spacing: Fraction
    first: int
    counts: Floats
    surely: Floats
    gone: float
    roundings: int
    terms: int

    def trimmed(self, negligible: float) -> LowerDistribution:
        """Put negligible masses on either side into the first and the last cell that stay."""
        none, all_ = self.counts[0], self.counts[-1]
        low = int(np.searchsorted(np.cumsum(none), negligible * none.sum()))
        high = len(none) - int(np.searchsorted(np.cumsum(all_[::-1]), negligible * all_.sum()))
        low = max(0, min(low, high - 1))
        counts = self.counts[:, low:high].copy()
        counts[:, 0] += self.counts[:, :low].sum(axis=1)
        counts[:, -1] += self.counts[:, high:].sum(axis=1)
        return replace(self, first=self.first + low, counts=counts, roundings=self.roundings + len(none) + 2)


def one_step(pair: Pair, spacing: Fraction, ends: tuple[int, int], most: int) -> LowerDistribution:
    """Return the cells of one step, between the grid points of two indices, and the mass beyond them.

    Args:
        pair: P with the record, Q without.
        spacing: h.
        ends: The two indices.
        most: Largest number of steps that may hold the record in the end.
    """
    lattice = Lattice(Fraction(0), spacing)
    step = LossStep(pair)
    rare = math.ceil(
        _BITS * float(spacing) * max(map(abs, ends))
    )  # an outcome that is rare under one distribution and frequent under the other
    with working(working_precision(spacing, step.extra_bits + rare)):
        law = step.law()
        cells = cut(step, lattice, range(ends[0], ends[1] + 1))
        low, high = lattice.point(ends[0]), lattice.point(ends[1])
        found = [list(law.head(low)), *([p, r] for p, r in cells.masses), list(law.tail(high))]
        for point in law.points:  # each into one cell; into which is a choice
            place = math.floor(float(point.loss) / float(spacing)) - ends[0] + 1
            cell = found[min(max(place, 0), len(found) - 1)]
            cell[0], cell[1] = cell[0] + point.p, cell[1] + point.r
        never, gone = (_accurate([mass, arb(0)])[0] for mass in (law.infinite, law.vanishing))
        counts = np.array([_accurate(masses) for masses in found]).T
    rows = np.zeros((most + 1, counts.shape[1]))
    rows[0], rows[1] = counts[1], counts[0]
    surely = np.zeros(most + 1)
    surely[1] = never
    return LowerDistribution(spacing, ends[0] - 1, rows, surely, gone, 1, 1)


def _accurate(masses: list[arb]) -> tuple[float, float]:
    """Return P- and Q-mass to the nearest double, or 0 if they are less accurate: leaving a cell out is sound."""
    found = []
    for mass in masses:
        if mass.rel_accuracy_bits() < 60 and not mass.is_zero():
            return 0.0, 0.0
        found.append(float(mass.mid()))
    return (found[0], found[1]) if all(value == 0 or value >= LEAST for value in found) else (0.0, 0.0)


def refined(part: LowerDistribution, spacing: Fraction) -> LowerDistribution:
    """Return the same on a grid that is finer by a whole factor: every point stays a point."""
    factor = int(part.spacing / spacing)
    if factor * spacing != part.spacing:
        raise ValueError("the grid must be finer a whole number of times")
    if factor == 1:
        return part
    counts = np.zeros((len(part.counts), (part.counts.shape[1] - 1) * factor + 1))
    counts[:, ::factor] = part.counts
    return replace(part, spacing=spacing, first=part.first * factor + factor // 2, counts=counts)


def added(one: LowerDistribution, other: LowerDistribution) -> LowerDistribution:
    """Return two independent groups of steps together."""
    if one.spacing != other.spacing:
        raise ValueError("both must have cells of one width")
    same, most = one is other, len(one.counts) - 1
    first = min(one.first, other.first)
    last = max(one.first + one.counts.shape[1], other.first + other.counts.shape[1]) - 1
    length = last - first + 1
    if length > LARGEST_GRID:
        raise Declined(f"allocation: a grid of {length} points is beyond the work limit")
    sums = table(one.spacing, length)
    found = np.zeros((most + 1, length + int(sums.places[0]) + 2))
    u, v = _widened(one, first, length), _widened(other, first, length)
    # which counts of one and of the other make up a count of both, as far as there are steps
    pairs = [(i, j) for i in range(min(most, one.terms) + 1) for j in range(min(most - i, other.terms) + 1)]
    for d in range(length):
        start = d + int(sums.places[d])
        for i, j in pairs:
            if same and i > j and d == 0:
                continue
            if same and i == j:
                products = u[i, d:] * u[j, : length - d] * (1.0 if d == 0 else 2.0)
            elif same and d == 0:
                products = 2.0 * u[i] * u[j]
            elif d == 0:
                products = u[i] * v[j]
            else:
                products = u[i, d:] * v[j, : length - d] + v[j, d:] * u[i, : length - d]
            found[i + j, start : start + length - d] += products
        if not d % 512:
            checkpoint()
    found[:, :length] += u * other.gone
    found[:, :length] += v * one.gone
    roundings = one.roundings + other.roundings + (most + 1) * (2 * length + 4) + 4
    seen, also = one.counts.sum(axis=1), other.counts.sum(axis=1)
    seen[0], also[0] = seen[0] + one.gone, also[0] + other.gone
    surely = np.array(
        [
            sum(
                one.surely[i] * (also[n - i] + other.surely[n - i]) + seen[i] * other.surely[n - i]
                for i in range(n + 1)
            )
            for n in range(most + 1)
        ]
    )
    gone = float(_large(np.array(one.gone * other.gone)))
    terms = one.terms + other.terms
    return LowerDistribution(
        one.spacing, first, _without_small(found), _large(surely), gone, roundings + 2 * length, terms
    )


def multiplied(one: LowerDistribution, other: LowerDistribution) -> LowerDistribution:
    """Return two releases on the same records, taken as one step: both hold the record, or neither does."""
    if one.spacing != other.spacing or one.terms != 1 or other.terms != 1:
        raise ValueError("both must be one step, with cells of one width")
    few, many = sorted((one.counts, other.counts), key=lambda counts: counts.shape[1])
    if few.shape[1] + many.shape[1] > LARGEST_GRID:
        raise Declined(f"allocation: a grid of {few.shape[1] + many.shape[1]} points is beyond the work limit")
    found = np.zeros((len(few), few.shape[1] + many.shape[1] - 1))
    for i in range(few.shape[1]):
        found[:2, i : i + many.shape[1]] += few[:2, i : i + 1] * many[:2]
    roundings = one.roundings + other.roundings + 2 * few.shape[1] + 4
    (none, seen), (also_none, also) = one.counts[:2].sum(axis=1), other.counts[:2].sum(axis=1)
    surely = np.zeros(len(few))
    surely[1] = one.surely[1] * (also + other.surely[1]) + seen * other.surely[1]
    gone = float(_large(one.gone * (also_none + other.gone) + none * other.gone))
    first, roundings = one.first + other.first, roundings + many.shape[1]
    return LowerDistribution(one.spacing, first, _without_small(found), _large(surely), gone, roundings, 1)


def _large(masses: Floats) -> Floats:
    """Return the masses without those whose later products might underflow."""
    return np.where(np.asarray(masses) < LEAST, 0.0, masses)


def _without_small(counts: Floats) -> Floats:
    """Leave out outcomes with a count so small that a later product might underflow: less information is sound."""
    if not np.isfinite(counts).all():
        raise Declined("allocation: there are too many ways to choose the steps for doubles")
    counts[:, ((counts > 0) & (counts < LEAST)).any(axis=0)] = 0.0
    return counts


def _widened(part: LowerDistribution, first: int, length: int) -> Floats:
    found = np.zeros((len(part.counts), length))
    start = part.first - first
    found[:, start : start + part.counts.shape[1]] = part.counts
    return found
