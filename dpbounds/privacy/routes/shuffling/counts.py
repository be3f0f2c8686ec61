"""Numbers of clones of either kind in an epoch: the pair of distributions, and a discrete pair that dominates it.

``schemes/shuffled.md`` derives them and numbers the steps. Every choice of a ``Choice`` is sound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.losses import LossDistribution, ball, law_of
from dpbounds.privacy.pairs.pairs import Direction, Discrete, ShiftedGaussians, ShuffledBatches
from dpbounds.privacy.pairs.shuffled_reports import window
from dpbounds.privacy.proofs import Declined

PRECISION = 192
MOST_BATCHES = 10**6  # largest number of batches that is used: more batches hide a record at least as well
FINENESS = 800  # numbers of clones that differ by less than one in this number count as the smallest of them
_LARGEST_GRID = 40_000
_OFFSET = Fraction(1, 3)  # offset of the grid, so that outcomes' losses do not lie on it, except at random


@dataclass(frozen=True, slots=True)
class Choice:
    """Free parameters for one epoch.

    Attributes:
        odds: e^ε₀ > 1, the odds of the two kinds of labels.
        shares: p and p', the probabilities of another record to act like the record itself, and like its neighbour.
        clone_odds: e^ε₁ and e^ε₁' >= 1, by how much such a clone's distribution may exceed the one that it is part of;
            the sum of the products with the shares is at most 1.
        spacing: Spacing of the grid of losses.
        negligible: P-mass that may count as infinite loss.
    """

    odds: Fraction
    shares: tuple[Fraction, Fraction]
    clone_odds: tuple[Fraction, Fraction]
    spacing: Fraction
    negligible: float

    def __post_init__(self) -> None:
        taken = sum(share * odds for share, odds in zip(self.shares, self.clone_odds, strict=True))
        if not (self.odds > 1 and min(self.clone_odds) >= 1 and min(self.shares) >= 0 and 0 < taken <= 1):
            raise ValueError(
                f"odds {self.odds}, of clones {', '.join(map(str, self.clone_odds))} and shares "
                f"{', '.join(map(str, self.shares))} prove nothing"
            )

    @property
    def share(self) -> Fraction:
        """The probability of another record to be a clone."""
        return sum(self.shares, Fraction(0))

    @property
    def coin_odds(self) -> Fraction:
        """The odds that a clone's label is of the second kind."""
        alike, unlike = self.shares
        return (unlike * self.odds + alike) / (unlike + alike * self.odds)


def lost(pair: ShuffledBatches, choice: Choice) -> Fraction:
    """Return η, the total variation of one epoch between the run and the run with clones, rounded up."""
    with working(PRECISION):
        others = min(pair.batches, MOST_BATCHES) - 1
        found = labels = _beyond(pair.base, choice.odds)  # δ₀
        for base, share, odds in zip(clone_bases(pair), choice.shares, choice.clone_odds, strict=True):
            if share:
                found += others * ball(share) * (labels + _beyond(base, odds))
        return ball_end(found, "up")


def clone_bases(pair: ShuffledBatches) -> tuple[ShiftedGaussians, ShiftedGaussians]:
    """Return the distances of another record from the record and its neighbour: a zeroed record is nearer to all."""
    shift = pair.base.squared_shift
    return ShiftedGaussians(shift if pair.direction is Direction.REPLACE else 4 * shift), pair.base


def _beyond(base: ShiftedGaussians, odds: Fraction) -> arb:
    return law_of(base).delta(ball(odds).log()).upper()


@lru_cache(maxsize=16)
def dominating(pair: ShuffledBatches, choice: Choice) -> Discrete:
    """Return a discrete pair that dominates an epoch of the run with clones."""
    with working(PRECISION):
        grid = _Grid.of(pair, choice)
        masses = [[arb(0), arb(0)] for _ in range(len(grid.ratios) - 1)]  # P- and Q-mass of each cell
        within = 1 - ball(pair.rest)
        for clones, chance in _clones(min(pair.batches, MOST_BATCHES) - 1, choice):
            checkpoint()
            _add(masses, grid, clones + 1, within * chance, choice)
        if pair.rest > 0:
            _add_rest(masses, grid, law_of(pair.base), ball(pair.rest))
        atoms = [arb(0)] * len(grid.ratios)
        for i, (p, r) in enumerate(masses):
            if p.is_zero():
                continue
            high, low = grid.ratios[i], grid.ratios[i + 1]
            upper, lower = (p * high - r) / (high - low), (r - p * low) / (high - low)
            if not (upper >= 0 and lower >= 0):  # not distinguished from the grid: upwards
                upper, lower = p, arb(0)
            atoms[i + 1], atoms[i] = atoms[i + 1] + upper, atoms[i] + lower
    points = tuple(
        (grid.loss(i), mass) for i, atom in enumerate(atoms) if (mass := max(Fraction(0), ball_end(atom, "down"))) > 0
    )
    return Discrete(points, 1 - sum((mass for _, mass in points), Fraction(0)))  # what is left counts as infinite


@dataclass(frozen=True, slots=True)
class _Grid:
    """Losses (j + 1/3) h, j from ``first`` on, with e^-loss and the share of labels of the first kind that has it.

    The loss rises with that share, or falls.
    """

    first: int
    spacing: Fraction
    ratios: tuple[arb, ...]
    shares: tuple[arb, ...]
    rising: bool

    @classmethod
    def of(cls, pair: ShuffledBatches, choice: Choice) -> _Grid:
        top = math.log(choice.odds) / float(choice.spacing)
        last = math.ceil(top) + 1
        if pair.rest > 0:
            last = max(last, math.ceil(_reach(law_of(pair.base), pair.rest, choice.negligible) / choice.spacing) + 1)
        first = -math.ceil(top) - 2
        if last - first > _LARGEST_GRID:
            raise Declined(f"shuffled batches: a grid of {last - first} losses is beyond the work limit")
        s, o = ball(choice.odds), ball(choice.coin_odds)
        rising = pair.direction is not Direction.ADD
        ratios, shares = [], []
        for j in range(first, last + 1):
            alpha = ball((j + _OFFSET) * choice.spacing).exp()
            ratios.append(1 / alpha)
            shares.append(_share(s, o, alpha if rising else 1 / alpha))
        return cls(first, choice.spacing, tuple(ratios), tuple(shares), rising)

    def loss(self, index: int) -> Fraction:
        """Return the index-th loss."""
        return (self.first + index + _OFFSET) * self.spacing


def _share(s: arb, o: arb, alpha: arb) -> arb:
    """Return the share k/n of labels of the first kind at which these are α times as likely where the record is."""
    return (s * alpha - 1) / (s * o - 1 + alpha * (s - o))


def _reach(law: LossDistribution, rest: Fraction, negligible: float) -> Fraction:
    """Return a loss above which the rest has next to no mass: a choice."""
    reach = Fraction(1, 4)
    while float(rest) * float(law.tail(ball(reach))[0]) > negligible:
        reach *= 2
    low = reach / 2
    for _ in range(6):
        middle = (low + reach) / 2
        low, reach = (middle, reach) if float(rest) * float(law.tail(ball(middle))[0]) > negligible else (low, middle)
    return reach


def _clones(others: int, choice: Choice) -> Iterator[tuple[int, arb]]:
    """Yield numbers of clones with their probabilities: binomial; those in a row count as the least of them."""
    share = ball(choice.share)
    if others == 0 or choice.share == 1:
        yield others, arb(1)
        return
    low, high = window(others, float(choice.share), choice.negligible)
    chance, odds = binomial(others, low, share), share / (1 - share)
    step, least, total = max(1, math.floor(others * choice.share / FINENESS)), low, arb(0)
    for clones in range(low, high + 1):
        total = total + chance
        chance = chance * odds * (others - clones) / (clones + 1)
        if clones + 1 - least >= step or clones == high:
            yield least, total
            least, total = clones + 1, arb(0)


def _add(masses: list[list[arb]], grid: _Grid, labels: int, weight: arb, choice: Choice) -> None:
    """Add the outcomes of ``labels`` labels to the cells of their losses, in the order of their losses."""
    s, o, rising = ball(choice.odds), ball(choice.coin_odds), grid.rising
    chance = 1 / (1 + o)
    low, high = window(labels, float(chance), choice.negligible)
    start, end, by = (low, high, 1) if rising else (high, low, -1)
    base = weight * binomial(labels, start, chance)
    odds = 1 / o if rising else o
    scale = (1 + o) / (labels * (1 + s) * o)
    cell, edge = 0, labels * grid.shares[1]
    for k in range(start, end + by, by):
        while not (k < edge if rising else k > edge):
            if not (k > edge if rising else k < edge):
                raise Declined("shuffled batches: an outcome cannot be distinguished from a point of the grid")
            cell += 1
            edge = labels * grid.shares[cell + 1]
        first = base * scale * (s * o * k + (labels - k))
        second = base * scale * (o * k + s * (labels - k))
        p, r = (first, second) if rising else (second, first)
        mass = masses[cell]
        mass[0], mass[1] = mass[0] + p, mass[1] + r
        base = base * odds * (labels - k) / (k + 1) if rising else base * odds * k / (labels - k + 1)


def _add_rest(masses: list[list[arb]], grid: _Grid, law: LossDistribution, rest: arb) -> None:
    """Add the losses of the batch of another size, weighted by the probability that it holds the record."""
    tails = [law.tail(ball(grid.loss(i))) for i in range(len(grid.ratios))]
    below = law.head(ball(grid.loss(0)))[0]
    for mass, (one, two) in zip(masses, pairwise(tails), strict=True):
        mass[0], mass[1] = mass[0] + rest * (one[0] - two[0]), mass[1] + rest * (one[1] - two[1])
    first = masses[0]  # what lies below moves up to the first point of the grid
    first[0], first[1] = first[0] + rest * below, first[1] + rest * below * grid.ratios[0]
