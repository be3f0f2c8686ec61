"""One step's privacy loss, moved to a lattice: an upper and a lower measure, proven in ball arithmetic.

The loss is cut into cells at lattice points s + k h (``steps.py``). For the upper measure every cell is spread to its
two ends, keeping its P-mass and its Q-mass; for the lower measure the cells are merged, from one side to the other,
into atoms whose centroid is a lattice point. Why the first can only raise and the second only lower δ, for any number
of steps, is written out in ``proof.md``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from dpbounds.privacy.pairs.losses import Masses, ball
from dpbounds.privacy.routes.lattice.steps import AnyStep, Cells, Lattice, cut, exponent_of

# How far beyond its lattice point the centroid of a merged piece is aimed, so that rounding cannot leave it short.
_SAFETY_BITS, _NUDGE_BITS = 40, 60


Atoms = tuple[tuple[int, arb], ...]  # lattice index, mass


def upper_atoms(cells: Cells, lattice: Lattice) -> Atoms:
    """Spread each cell to its ends so that P-mass and Q-mass stay; the mass below the first cut moves up to it.

    Together with ``cells.above`` at infinity this is an upper measure.
    """
    atoms: defaultdict[int, arb] = defaultdict(lambda: arb(0))
    atoms[cells.marks[0]] += cells.below
    ratios = [lattice.ratio(mark) for mark in cells.marks]  # dQ/dP at the cuts, decreasing
    for i, (p, r) in enumerate(cells.masses):
        high, low = ratios[i], ratios[i + 1]
        gap = high - low
        atoms[cells.marks[i + 1]] += (p * high - r) / gap
        atoms[cells.marks[i]] += (r - p * low) / gap
    for atom in cells.atoms:
        high, low = lattice.ratio(atom.first), lattice.ratio(atom.last)
        atoms[atom.last] += (atom.p * high - atom.r) / (high - low)
        atoms[atom.first] += (atom.r - atom.p * low) / (high - low)
    return tuple(sorted(atoms.items()))


@dataclass(frozen=True, slots=True)
class RoundingDown:
    """Conditions for rounding a piece down instead of taking from its neighbour (a choice; either way is sound).

    Where the tilted distribution has next to no mass, rounding down costs nothing, while taking could exhaust what is
    rare and decisive; and so it is for a narrow bulk that lies a hair above a lattice point.
    """

    tilt: float  # λ
    log_mass: float  # log ∫ e^(λL) dP
    slack: float  # how much loss, on average over the tilted distribution, rounding down may cost

    def cost(self, log_p: float, loss: float, distance: float) -> float:
        """Return the cost of moving a piece of P-mass e^log_p at ``loss`` down by ``distance``."""
        return math.exp(min(0.0, log_p + self.tilt * loss - self.log_mass)) * distance


@dataclass(frozen=True, slots=True)
class _Piece:
    """Mass that is not yet placed, and in floats where it lies: the lattice point below its centroid, how far above."""

    p: arb
    r: arb
    log_p: float
    loss: float
    below: int
    distance: float


def _piece(p: arb, r: arb, lattice: Lattice) -> _Piece:
    centroid = (p / r).log()
    below, distance = lattice.index_below(centroid)
    if not _lies_above(p, r, below, lattice):  # a tie, which merging two cells can produce: it needs a nudge
        below, distance = below - 1, distance + float(lattice.spacing)
    return _Piece(p, r, float(p.mid().log()), float(centroid), below, distance)


def pieces_of(cells: Cells) -> tuple[list[Masses], int]:
    """Return the pieces of the lower measure, left to right: cells and atoms, those on either side of 0 in one.

    The lattice is laid so that a narrow bulk has its centroid a hair above the point of index 0 (see ``settled``). In
    one piece it stays there when its neighbours take a little of it; cut in two, its left half would move down a whole
    spacing.

    Returns:
        The pieces, and the position of the bulk (or of the first piece at or above index 0).
    """
    placed = [(first, last, mass) for (first, last), mass in zip(pairwise(cells.marks), cells.masses, strict=True)]
    placed += [(atom.first, atom.last, (atom.p, atom.r)) for atom in cells.atoms]
    placed.sort(key=lambda piece: piece[0])
    bulk = [mass for first, last, mass in placed if first >= -1 and last <= 1]
    before = [mass for first, last, mass in placed if first < 0 and not (first >= -1 and last <= 1)]
    after = [mass for first, last, mass in placed if first >= 0 and not last <= 1]
    whole = (sum((p for p, _ in bulk), arb(0)), sum((r for _, r in bulk), arb(0)))
    return [*before, *([whole] if bulk else []), *after], len(before)


def lower_atoms(pieces: Sequence[Masses], lattice: Lattice, rule: RoundingDown, from_left: int) -> Atoms:
    """Merge the pieces of one step's distribution (left to right) into atoms on lattice points: a lower measure.

    The first ``from_left`` pieces are merged from the left, then the others from the right, until both sides meet. A
    pool holds the mass that is not yet placed. It takes from the next piece just enough to bring its centroid log(p/r)
    to the next lattice point (or a hair above it) and is placed there; the rest of that piece is the new pool. Where
    the rule says so, and at the end, the pool is rounded down.

    Where to meet is a choice. All from the left, a narrow bulk of small losses can use up the few large losses on which
    δ depends; all from the right, the last pool can be a bulk at the lower bound of the loss.
    """
    atoms: defaultdict[int, arb] = defaultdict(lambda: arb(0))
    budget = [rule.slack]
    pool = _sweep(atoms, list(reversed(pieces[from_left:])), lattice, rule, budget, rightwards=False)
    rest = [] if pool is None else [(pool.p, pool.r)]
    pool = _sweep(atoms, [*pieces[:from_left], *rest], lattice, rule, budget, rightwards=True)
    if pool is not None:
        _place(atoms, pool.p, pool.r, pool.below, lattice)
    return tuple(sorted(atoms.items()))


def _sweep(
    atoms: defaultdict[int, arb],
    pieces: list[Masses],
    lattice: Lattice,
    rule: RoundingDown,
    budget: list[float],
    *,
    rightwards: bool,
) -> _Piece | None:
    """Place all but the last pool, which is returned; ``budget`` is the remaining allowance for rounding down."""
    sign = 1 if rightwards else -1
    aim_above, nudge = 1 + sign * arb(2) ** -_SAFETY_BITS, arb(2) ** -_NUDGE_BITS
    pool: _Piece | None = None
    for p, r in pieces:
        if not (p > 0 and r > 0):  # leaving mass out can only lower the bound
            continue
        if pool is not None:
            cost = rule.cost(pool.log_p, pool.loss, pool.distance)
            if pool.distance <= rule.slack or cost <= max(budget[0] / 4, rule.slack / (4 * len(pieces))):
                _place(atoms, pool.p, pool.r, pool.below, lattice)
                pool, budget[0] = None, budget[0] - cost
        if pool is None:
            pool = _piece(p, r, lattice)
            continue
        target = pool.below + 1 if rightwards else pool.below
        ratio = lattice.ratio(target)
        missing = sign * (pool.r - ratio * pool.p)
        gain = sign * (ratio * p - r)
        if not (gain > missing and gain > 0):  # even the whole piece does not bring the centroid there (or who knows)
            pool = _piece(pool.p + p, pool.r + r, lattice)
            continue
        share = (missing / gain * aim_above).mid()
        share = share.max(nudge) if rightwards else share
        share = arb(0) if share < 0 else arb(1) if share > 1 else share  # an exact number in [0, 1]
        _place(atoms, pool.p + share * p, pool.r + share * r, target, lattice)
        pool = _piece((1 - share) * p, (1 - share) * r, lattice) if share < 1 else None
    return pool


def settled(step: AnyStep, lattice: Lattice, slack: float) -> Lattice:
    """Return the lattice shifted so that the mass within a spacing of its offset has its centroid ``slack`` above it.

    (A choice: to within a fraction of the slack, and where the loss is narrow on the scale of the spacing.)
    """
    for _ in range(5):
        p, r = cut(step, lattice, (-1, 1)).total()
        if not (p > 0 and r > 0):
            break
        centroid = (p / r).log()
        shift = float(centroid - ball(lattice.offset)) - slack
        lattice = Lattice(lattice.offset + Fraction(shift), lattice.spacing)
        if abs(shift) < 0.1 * slack:
            break
    return lattice


def _place(atoms: defaultdict[int, arb], p: arb, r: arb, target: int, lattice: Lattice) -> None:
    """Add an atom at the target, or just below it, where its centroid is proven not to lie lower.

    Mass that is not proven to lie there (its balls are too wide) is left out, which can only lower the bound.
    """
    for index in (target, target - 1, target - 2):
        if _lies_above(p, r, index, lattice):
            atoms[index] += p
            return


def _lies_above(p: arb, r: arb, index: int, lattice: Lattice) -> bool:
    """Return whether the centroid log(p/r) is proven to lie at or above a lattice point."""
    return bool(lattice.ratio(index) * p >= r)


def tilted(atoms: Iterable[tuple[int, arb]], tilt: Fraction, spacing: Fraction) -> Atoms:
    """Multiply each mass by exp(tilt · index · spacing)."""
    rate = ball(tilt * spacing)
    return tuple((index, mass * (rate * index).exp()) for index, mass in atoms)


def total(atoms: Iterable[tuple[int, arb]]) -> arb:
    """Return the total mass."""
    return sum((mass for _, mass in atoms), arb(0))


def working_precision(spacing: Fraction, extra_bits: int) -> int:
    """Return bits that leave some sixty good ones in every mass: two differences on the scale of the spacing are taken.

    A multiple of 64, so that distributions that take long to build are built for few precisions.
    """
    return -64 * (-(160 + 3 * max(0, -exponent_of(spacing)) + extra_bits) // 64)
