"""One step of a composition, cut at lattice points: P- and Q-mass of the losses between them, as balls.

A ``GaussianStep`` is a Gaussian one, whose loss increases with one Gaussian variable; it keeps the smaller tail of each
Gaussian, so that even tiny masses are accurate. A ``LossStep`` is any other pair, by the distribution of its loss. The
routes ask both the same questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, Masses, ball, law_at
from dpbounds.privacy.pairs.pairs import (
    Direction,
    DrawnGaussians,
    Draws,
    Pair,
    Sampled,
    SampledGaussians,
    ShiftedGaussians,
    Tagged,
)
from dpbounds.privacy.proofs import Declined

_LOOK = 96  # bits of precision for the shape of a distribution
_LAW_BITS = 64
# bits saved where tails are sums of positive terms, each to full accuracy: only the spacing loses bits
_SUM_BITS = 32
_MOST_ALIGNED = 16  # atoms


@dataclass(frozen=True, slots=True)
class Lattice:
    """The points offset + k·spacing, k an integer (both exact)."""

    offset: Fraction
    spacing: Fraction
    _ratios: dict[tuple[int, int], arb] = field(default_factory=dict, init=False, repr=False, compare=False)
    _balls_at: dict[int, tuple[arb, arb]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def point(self, index: int) -> arb:
        """Return the lattice point as a ball."""
        offset, spacing = self._balls()
        return offset + index * spacing

    def ratio(self, index: int) -> arb:
        """Return dQ/dP at the lattice point, e^-point; kept with the lattice, as each is used many times."""
        key = (index, working_bits())
        if key not in self._ratios:
            self._ratios[key] = (-self.point(index)).exp()
        return self._ratios[key]

    def _balls(self) -> tuple[arb, arb]:
        """Return offset and spacing as balls, kept per precision."""
        bits = working_bits()
        if bits not in self._balls_at:
            self._balls_at[bits] = (ball(self.offset), ball(self.spacing))
        return self._balls_at[bits]

    def index_below(self, loss: arb) -> tuple[int, float]:
        """Return the index of the lattice point below a ball's centre, and the centre's height above it (a choice)."""
        offset, spacing = self._balls()
        position = ((loss - offset) / spacing).mid()
        below = position.floor().unique_fmpz()
        if below is None:
            raise Declined("lattice: the working precision does not place a loss on the lattice")
        return int(below), float(position - below) * float(self.spacing)


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom of the loss between two lattice points: first and last index, P-mass and Q-mass."""

    first: int
    last: int
    p: arb
    r: arb


@dataclass(frozen=True, slots=True)
class Cells:
    """A step's distribution, cut at lattice points."""

    marks: tuple[int, ...]  # lattice indices k_0 < k_1 < ... < k_n of the cuts
    # P-mass and Q-mass of the (non-atomic) losses between consecutive cuts (n pairs of balls)
    masses: tuple[Masses, ...]
    below: arb  # P-mass of the losses below the first cut
    above: arb  # P-mass of the finite losses above the last cut
    atoms: tuple[Atom, ...] = ()  # what lies at single losses, each between two lattice points within the cuts

    def total(self) -> Masses:
        """Return P- and Q-mass between the first and the last cut."""
        p = sum((mass for mass, _ in self.masses), arb(0)) + sum((atom.p for atom in self.atoms), arb(0))
        r = sum((mass for _, mass in self.masses), arb(0)) + sum((atom.r for atom in self.atoms), arb(0))
        return p, r


_Tail = tuple[bool, arb]  # (True, mass to the left of a point) or (False, mass to the right of it)


@dataclass(frozen=True, slots=True)
class GaussianStep:
    """One Gaussian pair, turned so that its loss increases with x.

    With N(m) = N(m, v) and A(x) = 1 - q + q exp((2x - 1) / 2v), the likelihood ratio of (1-q) N(0) + q N(1) to N(0):

    - remove: P = (1-q) N(0) + q N(1), Q = N(0), L(x) = log A(x) > log(1-q);
    - add: P = N(0), Q = (1-q) N(0) + q N(-1), L(x) = -log A(-x) < -log(1-q);
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1), L(x) = log A(x) - log A(-x), odd.
    """

    direction: Direction
    sample_rate: Fraction
    variance: Fraction

    @property
    def means(self) -> tuple[int, ...]:
        """Means of the Gaussians that occur in P or Q."""
        return {Direction.REMOVE: (0, 1), Direction.ADD: (0, -1), Direction.REPLACE: (0, 1, -1)}[self.direction]

    @property
    def bounded_above(self) -> bool:
        """Whether no loss exceeds -log(1-q)."""
        return self.direction is Direction.ADD

    @property
    def extra_bits(self) -> int:
        """Bits that its masses lose to cancellation, beyond those lost to the spacing."""
        return max(0, -exponent_of(self.sample_rate))

    def largest_loss(self) -> arb | None:
        """Return the least upper bound of the finite losses, or None."""
        return -(-ball(self.sample_rate)).log1p() if self.bounded_above else None

    def infinite(self) -> arb:
        """Return P-mass at infinite loss: none."""
        return arb(0)

    def total_variation(self) -> arb:
        """Return H_1(P ‖ Q)."""
        p, r = self._beyond(self._tails(arb(0)))
        return p - r

    def _position(self, loss: arb) -> arb | None:
        """Return the x at which L(x) = ``loss``; None where no x has so extreme a loss (log(1-q) and beyond)."""
        if self.direction is Direction.REMOVE:
            return self._position_remove(loss)
        if self.direction is Direction.ADD:
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
        raise Declined(
            "lattice: a lattice point is too close to log(1-q) to be distinguished from it at this precision"
        )

    def _position_replace(self, loss: arb) -> arb:
        # u = exp(x/v) solves a u² - b (e^l - 1) u - a e^l = 0, a = q exp(-1/2v), b = 1-q; for l < 0 use that L is odd,
        # so that nothing cancels.
        if loss < 0:
            return -self._position_replace(-loss)
        a = ball(self.sample_rate) * (ball(-1 / (2 * self.variance))).exp()
        growth = ball(1 - self.sample_rate) * loss.expm1()
        root = (growth + (growth * growth + 4 * a * a * loss.exp()).sqrt()) / (2 * a)
        return ball(self.variance) * root.log()

    def _masses(self, pieces: Sequence[arb]) -> Masses:
        """Return P-mass and Q-mass of a set that has mass ``pieces[i]`` under N(means[i])."""
        q = ball(self.sample_rate)
        mixed = (1 - q) * pieces[0] + q * pieces[1]
        if self.direction is Direction.REMOVE:
            return mixed, pieces[0]
        if self.direction is Direction.ADD:
            return pieces[0], mixed
        return mixed, (1 - q) * pieces[0] + q * pieces[2]

    def _cut(self, lattice: Lattice, marks: Sequence[int]) -> Cells:
        tails = [self._tails(lattice.point(mark)) for mark in marks]
        start: list[_Tail] = [(True, arb(0))] * len(self.means)
        (below, _), *masses = (
            self._masses([_between(left, right) for left, right in zip(first, second, strict=True)])
            for first, second in pairwise([start, *tails])
        )
        above, _ = self._beyond(tails[-1])
        return Cells(tuple(marks), tuple(masses), below, above)

    def _beyond(self, tails: list[_Tail]) -> Masses:
        return self._masses([_between(tail, (False, arb(0))) for tail in tails])

    def _tails(self, loss: arb) -> list[_Tail]:
        """Return each Gaussian's smaller tail at the point where the loss is ``loss``."""
        position, spread = self._position(loss), (2 * ball(self.variance)).sqrt()
        if position is None:  # below all losses (remove), or above them (add)
            return [(self.direction is Direction.REMOVE, arb(0))] * len(self.means)
        tails: list[_Tail] = []
        for mean in self.means:
            distance = (position - mean) / spread
            left = bool(distance < 0)  # either side would be right; the smaller one keeps its relative accuracy
            tails.append((left, (-distance if left else distance).erfc() / 2))
        return tails


def _between(first: _Tail, second: _Tail) -> arb:
    (first_is_left, a), (second_is_left, b) = first, second
    if first_is_left:
        return b - a if second_is_left else 1 - a - b
    return a + b - 1 if second_is_left else a - b


@dataclass(frozen=True, slots=True)
class LossStep:
    """Any other pair, by the distribution of its loss."""

    pair: Pair

    def law(self) -> LossDistribution:
        """Return the distribution at the working precision."""
        return law_at(self.pair, working_bits())

    @property
    def discrete(self) -> bool:
        """Whether the loss has atoms only."""
        with working(_LOOK):
            return self.law().discrete

    @property
    def bounded_above(self) -> bool:
        """Whether the finite losses have an upper bound."""
        with working(_LOOK):
            return self.discrete or self.law().highest is not None

    @property
    def extra_bits(self) -> int:
        """Bits that its masses lose to cancellation, beyond those lost to the spacing."""
        if isinstance(self.pair, Tagged):
            return max(as_step(part).extra_bits for _, part in self.pair.parts) + _LAW_BITS
        rate = Fraction(1) if isinstance(self.pair, DrawnGaussians) else self.draws.rate
        base = self.pair.base if isinstance(self.pair, Sampled) else self.pair
        sums = self.draws.slots > 1 and isinstance(base, ShiftedGaussians | DrawnGaussians)
        return (-_SUM_BITS if sums else _LAW_BITS) + max(0, -2 * exponent_of(rate))

    @property
    def draws(self) -> Draws:
        """The number of participations of the record."""
        return self.pair.participation

    def largest_loss(self) -> arb | None:
        """Return the least upper bound of the finite losses, or None."""
        return self.law().largest_loss()

    def infinite(self) -> arb:
        """Return P-mass at infinite loss."""
        return self.law().infinite

    def total_variation(self) -> arb:
        """Return H_1(P ‖ Q)."""
        return self.law().delta(arb(0))

    def _cut(self, lattice: Lattice, marks: Sequence[int]) -> Cells:
        law = self.law()
        tails = [law.tail(lattice.point(mark)) for mark in marks]
        masses = tuple((first[0] - second[0], first[1] - second[1]) for first, second in pairwise(tails))
        below, _ = law.head(lattice.point(marks[0]))
        above, _ = tails[-1]
        atoms = []
        for point in law.points:
            atom = _atom(point, lattice)
            if atom.last <= marks[0]:
                below = below + atom.p
            elif atom.first >= marks[-1]:
                above = above + atom.p
            else:
                atoms.append(atom)
        return Cells(tuple(marks), masses, below, above, tuple(atoms))


def _atom(point: LossAtom, lattice: Lattice) -> Atom:
    """Return the atom with the lattice points around it: proven to lie between them, for any rounding."""
    below, _ = lattice.index_below(point.loss)
    for first, last in ((below, below + 1), (below - 1, below + 1), (below, below + 2), (below - 1, below + 2)):
        if point.loss >= lattice.point(first) and point.loss <= lattice.point(last):
            return Atom(first, last, point.p, point.r)
    raise Declined("lattice: an atom could not be placed between two lattice points at this precision")


AnyStep = GaussianStep | LossStep


def as_step(pair: Pair) -> AnyStep:
    """Return the step of a pair; with q = 1 a Gaussian pair is a shift, and a shift is "remove" with q = 1.

    Raises:
        InvalidValue: A parameter of the pair lies outside its domain.
    """
    if isinstance(pair, ShiftedGaussians):
        if pair.squared_shift <= 0:
            raise InvalidValue("squared_shift", pair.squared_shift, "greater than 0")
        return GaussianStep(Direction.REMOVE, Fraction(1), 1 / pair.squared_shift)
    if not isinstance(pair, SampledGaussians):
        return LossStep(pair)
    if not 0 < pair.sample_rate <= 1:
        raise InvalidValue("sample_rate", pair.sample_rate, "greater than 0 and at most 1")
    if pair.variance <= 0:
        raise InvalidValue("variance", pair.variance, "greater than 0")
    step = GaussianStep(pair.direction, pair.sample_rate, pair.variance)
    if pair.sample_rate == 1:  # N(1) against N(-1) at variance v is N(1) against N(0) at variance v/4
        quarter = pair.variance / 4 if pair.direction is Direction.REPLACE else pair.variance
        return replace(step, direction=Direction.REMOVE, variance=quarter)
    return step


def cut(step: AnyStep, lattice: Lattice, marks: Sequence[int]) -> Cells:
    """Cut the distribution of one step at the lattice points ``marks``.

    Raises:
        InvalidValue: The marks do not increase.
        Declined: The working precision does not tell a lattice point from a bound of the loss, or place an atom.
    """
    if len(marks) < 2 or any(second <= first for first, second in pairwise(marks)):
        raise InvalidValue("marks", marks, "two or more lattice indices in increasing order")
    return step._cut(lattice, marks)


def exponent_of(number: Fraction) -> int:
    """Return roughly log2 of a positive number."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def natural_spacing(step: AnyStep) -> float | None:
    """Return a spacing that divides all distances between the atoms of a step; None where none is found."""
    if isinstance(step, GaussianStep):
        return None
    with working(_LOOK):
        losses = sorted(float(point.loss) for point in step.law().points)
    gaps = [second - first for first, second in pairwise(losses) if second - first > 0]
    if not gaps or len(losses) > _MOST_ALIGNED:
        return None
    unit = min(gaps)
    aligned = all(abs(gap / unit - round(gap / unit)) < 1e-9 for gap in gaps) and math.isfinite(unit)
    return unit if aligned else None
