"""One bin of Gaussian noise: its outcome in cells, and its likelihood ratios rounded to whole multiples of a spacing.

V = u(y) - α w(y), u and w the likelihood ratios of the record and of its replacement (1 where there is none). V is
rounded at random so that its mean stays: from above that is a spread, from below a test (``proof.md``, sections 5, 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball, upper_tail
from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.rounding import (
    ACCURATE_BITS,
    LEAST_WEIGHT,
    MASS_PRECISION,
    UNIT,
    Floats,
    double_above,
)

Indices = NDArray[np.int64]

_REACH = 8.5  # deviations by which the cells of y extend beyond the shift: the mass outside is that of one rounding
LARGEST_SHIFT = 64  # squared: beyond it ratios span too many scales for one spacing


@dataclass(frozen=True, slots=True)
class Cells:
    """The output y of a bin, in cells between whole numbers divided by ``per_unit``; the extreme cells are unbounded.

    Attributes:
        per_unit: Number of cells per unit.
        u, w: Doubles below and above the likelihood ratios at the cuts.
        none: Masses of the cells under N(0, 1), each off by at most two roundings, none below 2^-900.
        first, second: The same under the first and the second distribution, N(μ, 1), N(0, 1) or N(-μ, 1).
    """

    per_unit: int
    u: tuple[Floats, Floats]
    w: tuple[Floats, Floats]
    none: Floats
    first: Floats
    second: Floats


@lru_cache(maxsize=16)
def cells_of(
    squared_shift: Fraction, per_unit: int, direction: Direction = Direction.REPLACE, largest: int = LARGEST_SHIFT
) -> Cells:
    """Return the cells for μ² = ``squared_shift``, with u = exp(μy - μ²/2), and w(y) = u(-y), or 1 without a record.

    Raises:
        Declined: The shift is too large, or a mass is not known well enough.
    """
    if squared_shift > largest:
        raise Declined("allocation: under replace-one the ratios of so little noise reach too far")
    with working(MASS_PRECISION):
        mu = ball(squared_shift).sqrt()
        half = math.ceil((_REACH + math.sqrt(squared_shift)) * per_unit)
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
    """Return the masses of the cells between the cuts, and beyond them, under N(mean, 1)."""
    below, above = [upper_tail(mean - y) for y in cuts], [upper_tail(y - mean) for y in cuts]
    inner = [below[i + 1] - below[i] if cuts[i] < mean else above[i] - above[i + 1] for i in range(len(cuts) - 1)]
    found = [below[0], *inner, above[-1]]
    if any(mass.rel_accuracy_bits() < ACCURATE_BITS or not mass > 2.0**-900 for mass in found):
        raise Declined("allocation: the mass of a cell is not known well enough")
    return np.array([float(mass.mid()) for mass in found])


@dataclass(frozen=True, slots=True)
class Bin:
    """The term of one bin, rounded at random to multiples of the spacing; and the number of equal bins.

    Attributes:
        count: n.
        start: The multiple at which the arrays begin.
        none, first, second: Masses under N(0, 1), with the record, with its replacement: doubles, each off by a factor
            (1 ± ``off``) at most. (Where nothing is run: all such bins in one, the last two times their number.)
        off: That error.
        moved: At least E |V - V'| in real units, for a distribution V' of these multiples with that error at most, and
            V exact, but capped and spread: the effect of rounding the weights of the spread.
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
    """Return doubles below and above V at the cuts."""
    (u_low, u_high), (w_low, w_high) = cells.u, cells.w
    low, high = u_low - alpha * w_high, u_high - alpha * w_low
    slack = 4 * UNIT * (u_high + alpha * w_high)  # three roundings, each of at most the larger sum
    return low - 2 * slack, high + 2 * slack


def rounded(cells: Cells, alpha: float, spacing: float, ends: tuple[int, int], count: int) -> Bin:
    """Return the bin whose cells below the first and above the second of two cuts are taken together.

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
    """Return the bins that are not run: together they add steps (1 - α)."""
    exact = steps * (1 - alpha)
    below = math.floor(exact / spacing)
    share = min(max(exact / spacing - below, 0.0), 1.0)
    none = np.array([1 - share, share])
    moved = 16 * UNIT * (abs(exact) + spacing * (abs(below) + 1))
    return Bin(1, below, none, steps * none, steps * none, 16 * UNIT, moved, 0.0)


def _floor(values: Floats) -> Indices:
    """Return whole numbers that are at most x, for all x whose quotient was rounded to ``values_at_cuts``."""
    if not np.all(np.abs(values) < 2.0**40):
        raise Declined("allocation: the spacing is too fine for the ratios of a bin")
    return np.floor(values - 4 * UNIT * np.abs(values)).astype(np.int64)
