"""One step's privacy loss, moved to a lattice: an upper and a lower measure, proven in ball arithmetic.

The loss is an increasing function of one Gaussian variable. It is cut into cells at lattice points s + k h. For the
upper measure every cell is spread to its two ends, keeping its P-mass and its Q-mass; for the lower measure the cells
are merged, from one side to the other, into atoms whose centroid is a lattice point. Why the first can only raise and
the second only lower δ, for any number of steps, is written out in ``proof.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb, fmpq

from dpbounds.errors import InvalidValue
from dpbounds.privacy.pairs import Order, Pair, ShiftedGaussians
from dpbounds.privacy.proofs import Declined

# How far beyond its lattice point the centroid of a merged piece is aimed, so that rounding cannot leave it short.
_SAFETY_BITS = 40


def ball(number: Fraction | int) -> arb:
    """A ball around a rational number, at the working precision."""
    return arb(fmpq(number.numerator, number.denominator))


@dataclass(frozen=True, slots=True)
class Step:
    """One pair, turned so that its loss increases with x.

    With N(m) = N(m, v) and A(x) = 1 - q + q exp((2x - 1) / 2v), the likelihood ratio of (1-q) N(0) + q N(1) to N(0):

    - remove: P = (1-q) N(0) + q N(1), Q = N(0), L(x) = log A(x) > log(1-q);
    - add: P = N(0), Q = (1-q) N(0) + q N(-1), L(x) = -log A(-x) < -log(1-q);
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1), L(x) = log A(x) - log A(-x), odd.
    """

    order: Order
    sample_rate: Fraction
    variance: Fraction

    @property
    def means(self) -> tuple[int, ...]:
        """Means of the Gaussians that occur in P or Q."""
        return {Order.REMOVE: (0, 1), Order.ADD: (0, -1), Order.REPLACE: (0, 1, -1)}[self.order]

    @property
    def bounded_below(self) -> bool:
        """Whether no loss falls below log(1-q)."""
        return self.order is Order.REMOVE and self.sample_rate < 1

    @property
    def bounded_above(self) -> bool:
        """Whether no loss exceeds -log(1-q)."""
        return self.order is Order.ADD

    def position(self, loss: arb) -> arb | None:
        """The x at which L(x) = ``loss``; None where no x has so extreme a loss (log(1-q) and beyond).

        Raises:
            Declined: The working precision does not tell the loss from its bound.
        """
        if self.order is Order.REMOVE:
            return self._position_remove(loss)
        if self.order is Order.ADD:
            mirrored = self._position_remove(-loss)
            return None if mirrored is None else -mirrored
        return self._position_replace(loss)

    def _position_remove(self, loss: arb) -> arb | None:
        if self.sample_rate == 1:
            return ball(self.variance) * loss + ball(Fraction(1, 2))
        rate = ball(self.sample_rate)
        ratio = 1 + loss.expm1() / rate  # (e^l - (1-q)) / q = exp((2x-1)/2v)
        if ratio <= 0:
            return None
        if ratio > 0:
            return ball(self.variance) * ratio.log() + ball(Fraction(1, 2))
        raise Declined("lattice: a lattice point is too close to log(1-q) to be told from it at this precision")

    def _position_replace(self, loss: arb) -> arb:
        # u = exp(x/v) solves a u² - b (e^l - 1) u - a e^l = 0, a = q exp(-1/2v), b = 1-q; for l < 0 use that L is odd,
        # so that nothing cancels.
        if loss < 0:
            return -self._position_replace(-loss)
        a = ball(self.sample_rate) * (ball(-1 / (2 * self.variance))).exp()
        growth = ball(1 - self.sample_rate) * loss.expm1()
        root = (growth + (growth * growth + 4 * a * a * loss.exp()).sqrt()) / (2 * a)
        return ball(self.variance) * root.log()

    def masses(self, pieces: Sequence[arb]) -> tuple[arb, arb]:
        """P-mass and Q-mass of a set that has mass ``pieces[i]`` under N(means[i])."""
        q = ball(self.sample_rate)
        mixed = (1 - q) * pieces[0] + q * pieces[1]
        if self.order is Order.REMOVE:
            return mixed, pieces[0]
        if self.order is Order.ADD:
            return pieces[0], mixed
        return mixed, (1 - q) * pieces[0] + q * pieces[2]


def as_step(pair: Pair) -> Step:
    """The step of a dominating pair; with q = 1 every pair is a shift, and a shift is "remove" with q = 1.

    Raises:
        InvalidValue: A parameter of the pair lies outside its domain.
    """
    if isinstance(pair, ShiftedGaussians):
        if pair.squared_shift <= 0:
            raise InvalidValue("squared_shift", pair.squared_shift, "a number greater than 0")
        return Step(Order.REMOVE, Fraction(1), 1 / pair.squared_shift)
    if not 0 < pair.sample_rate <= 1:
        raise InvalidValue("sample_rate", pair.sample_rate, "a number greater than 0 and at most 1")
    if pair.variance <= 0:
        raise InvalidValue("variance", pair.variance, "a number greater than 0")
    step = Step(pair.order, pair.sample_rate, pair.variance)
    if pair.sample_rate == 1:  # N(1) against N(-1) at variance v is N(1) against N(0) at variance v/4
        quarter = pair.variance / 4 if pair.order is Order.REPLACE else pair.variance
        return replace(step, order=Order.REMOVE, variance=quarter)
    return step


@dataclass(frozen=True, slots=True)
class Lattice:
    """The points offset + k·spacing, k an integer (both exact)."""

    offset: Fraction
    spacing: Fraction

    def point(self, index: int) -> arb:
        """The lattice point as a ball."""
        return ball(self.offset) + index * ball(self.spacing)


@dataclass(frozen=True, slots=True)
class Cells:
    """A step's law, cut at lattice points.

    Attributes:
        marks: Lattice indices k_0 < k_1 < ... < k_n of the cuts.
        masses: P-mass and Q-mass of the losses between consecutive cuts (n pairs of balls).
        below: P-mass of the losses below the first cut.
        above: P-mass of the losses above the last cut.
    """

    marks: tuple[int, ...]
    masses: tuple[tuple[arb, arb], ...]
    below: arb
    above: arb


Atoms = tuple[tuple[int, arb], ...]  # lattice index, mass

_Tail = tuple[bool, arb]  # (True, mass to the left of a point) or (False, mass to the right of it)


def cut(step: Step, lattice: Lattice, marks: Sequence[int]) -> Cells:
    """Cut the law of one step at the lattice points ``marks``.

    Raises:
        InvalidValue: The marks do not increase.
    """
    if len(marks) < 2 or any(second <= first for first, second in pairwise(marks)):
        raise InvalidValue("marks", marks, "two or more lattice indices in increasing order")
    spread = (2 * ball(step.variance)).sqrt()
    tails = [_tails(step, lattice.point(mark), spread) for mark in marks]
    masses = tuple(
        step.masses([_between(left, right) for left, right in zip(first, second, strict=True)])
        for first, second in pairwise(tails)
    )
    start: list[_Tail] = [(True, arb(0))] * len(step.means)
    below, _ = step.masses([_between(left, right) for left, right in zip(start, tails[0], strict=True)])
    above, _ = _beyond(step, tails[-1])
    return Cells(tuple(marks), masses, below, above)


def masses_above(step: Step, loss: arb) -> tuple[arb, arb]:
    """P(L > loss) and Q(L > loss) for one step."""
    return _beyond(step, _tails(step, loss, (2 * ball(step.variance)).sqrt()))


def _beyond(step: Step, tails: list[_Tail]) -> tuple[arb, arb]:
    return step.masses([_between(tail, (False, arb(0))) for tail in tails])


def _tails(step: Step, loss: arb, spread: arb) -> list[_Tail]:
    """For each Gaussian of the step, the smaller tail at the point where the loss is ``loss``."""
    position = step.position(loss)
    if position is None:
        return [(step.bounded_below, arb(0))] * len(step.means)
    tails: list[_Tail] = []
    for mean in step.means:
        distance = (position - mean) / spread
        left = bool(distance < 0)  # either side would be right; the smaller one keeps its relative accuracy
        tails.append((left, (-distance if left else distance).erfc() / 2))
    return tails


def _between(first: _Tail, second: _Tail) -> arb:
    (first_is_left, a), (second_is_left, b) = first, second
    if first_is_left:
        return b - a if second_is_left else 1 - a - b
    return a + b - 1 if second_is_left else a - b


def upper_atoms(cells: Cells, lattice: Lattice) -> Atoms:
    """Spread each cell to its ends so that P-mass and Q-mass stay; what lies below the first cut moves up to it.

    Together with ``cells.above`` at infinity this is an upper measure.
    """
    atoms: defaultdict[int, arb] = defaultdict(lambda: arb(0))
    atoms[cells.marks[0]] += cells.below
    ratios = [(-lattice.point(mark)).exp() for mark in cells.marks]  # dQ/dP at the cuts, decreasing
    for i, (p, r) in enumerate(cells.masses):
        high, low = ratios[i], ratios[i + 1]
        gap = high - low
        atoms[cells.marks[i + 1]] += (p * high - r) / gap
        atoms[cells.marks[i]] += (r - p * low) / gap
    return tuple(sorted(atoms.items()))


@dataclass(frozen=True, slots=True)
class RoundingDown:
    """When a piece is simply rounded down instead of taking from its neighbour (a choice; either way is sound).

    Where the tilted law has next to no mass, rounding down costs nothing, while taking could exhaust what is rare and
    decisive; and so it is for a narrow bulk that lies a hair above a lattice point.

    Attributes:
        tilt: λ.
        log_mass: log ∫ e^(λL) dP.
        slack: How much loss, on average over the tilted law, rounding down may cost.
    """

    tilt: float
    log_mass: float
    slack: float

    def cost(self, log_p: float, loss: float, distance: float) -> float:
        """What it costs to move a piece of P-mass e^log_p at ``loss`` down by ``distance``."""
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
    position = ((centroid - ball(lattice.offset)) / ball(lattice.spacing)).mid()
    below = position.floor().unique_fmpz()
    if below is None:
        raise Declined("lattice: the working precision does not place a centroid on the lattice")
    distance = float(position - below) * float(lattice.spacing)
    return _Piece(p, r, float(p.mid().log()), float(centroid), int(below), distance)


Masses = tuple[arb, arb]  # P-mass and Q-mass


def pieces_of(cells: Cells) -> tuple[list[Masses], int]:
    """What the lower measure is merged from, left to right: the cells, those on either side of index 0 in one.

    The lattice is laid so that a narrow bulk has its centroid a hair above that point (see ``settled``). In one piece
    it stays there when its neighbours take a little of it; cut in two, its left half would move down a whole spacing.

    Returns:
        The pieces, and the position of the bulk (or of the first piece at or above index 0).
    """
    masses = list(cells.masses)
    at = bisect_left(cells.marks, 0)
    if 0 < at < len(masses) and cells.marks[at - 1 : at + 2] == (-1, 0, 1):
        (p, r), (next_p, next_r) = masses[at - 1 : at + 1]
        at -= 1
        masses[at : at + 2] = [(p + next_p, r + next_r)]
    return masses, at


def lower_atoms(pieces: Sequence[Masses], lattice: Lattice, rule: RoundingDown, from_left: int) -> Atoms:
    """Merge the pieces of one step's law (left to right) into atoms on lattice points: a lower measure.

    The first ``from_left`` pieces are merged from the left, then the others from the right, until both sides meet. A
    pool holds what is not yet placed. It takes from the next piece just enough to bring its centroid log(p/r) to the
    next lattice point (or a hair above it) and is placed there; the rest of that piece is the new pool. Where the rule
    says so, and at the end, the pool is rounded down.

    Where to meet is a choice. All from the left, a narrow bulk of small losses can use up the few large losses on which
    δ depends; all from the right, the last pool can be a bulk at the lower bound of the loss.

    Raises:
        Declined: A piece could not be shown to lie at or above its lattice point.
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
    """Place all but the last pool, which is returned; ``budget`` holds what rounding down may still cost."""
    sign = 1 if rightwards else -1
    aim_above = 1 + sign * arb(2) ** -_SAFETY_BITS
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
        ratio = (-lattice.point(target)).exp()
        missing = sign * (pool.r - ratio * pool.p)
        gain = sign * (ratio * p - r)
        if not (gain > missing and gain > 0):  # even the whole piece does not bring the centroid there (or who knows)
            pool = _piece(pool.p + p, pool.r + r, lattice)
            continue
        share = (missing / gain * aim_above).mid()
        share = arb(0) if share < 0 else arb(1) if share > 1 else share  # an exact number in [0, 1]
        _place(atoms, pool.p + share * p, pool.r + share * r, target, lattice)
        pool = _piece((1 - share) * p, (1 - share) * r, lattice) if share < 1 else None
    return pool


def settled(step: Step, lattice: Lattice, slack: float) -> Lattice:
    """The lattice shifted so that what lies within a spacing of its offset has its centroid ``slack`` above it.

    (A choice: to within a fraction of the slack, and where the loss is narrow on the scale of the spacing.)
    """
    for _ in range(5):
        (p, r), (next_p, next_r) = cut(step, lattice, (-1, 0, 1)).masses
        if not (p + next_p > 0 and r + next_r > 0):
            break
        centroid = ((p + next_p) / (r + next_r)).log()
        shift = float(centroid - ball(lattice.offset)) - slack
        lattice = Lattice(lattice.offset + Fraction(shift), lattice.spacing)
        if abs(shift) < 0.1 * slack:
            break
    return lattice


def _place(atoms: defaultdict[int, arb], p: arb, r: arb, target: int, lattice: Lattice) -> None:
    """Add an atom at the target, or just below it, where its centroid is proven not to lie lower."""
    for index in (target, target - 1, target - 2):
        if (-lattice.point(index)).exp() * p >= r:
            atoms[index] += p
            return
    raise Declined("lattice: a merged piece could not be shown to lie above its lattice point at this precision")


def tilted(atoms: Iterable[tuple[int, arb]], tilt: Fraction, spacing: Fraction) -> Atoms:
    """Multiply each mass by exp(tilt · index · spacing)."""
    rate = ball(tilt * spacing)
    return tuple((index, mass * (rate * index).exp()) for index, mass in atoms)


def total(atoms: Iterable[tuple[int, arb]]) -> arb:
    """Total mass."""
    return sum((mass for _, mass in atoms), arb(0))


def working_precision(spacing: Fraction, sample_rates: Iterable[Fraction]) -> int:
    """Bits that leave some sixty good ones in every mass: two differences on the scale of the spacing are taken."""
    smallest = min(sample_rates)
    return 160 + 3 * max(0, -_exponent(spacing)) + max(0, -_exponent(smallest))


def _exponent(number: Fraction) -> int:
    return number.numerator.bit_length() - number.denominator.bit_length()
