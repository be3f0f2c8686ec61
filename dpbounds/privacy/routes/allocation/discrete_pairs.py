"""Two discrete pairs in place of secret steps: one dominates, one is attained (``proof.md``, sections 1 to 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeVar

import numpy as np
from flint import arb

from dpbounds.expressions.enclosure import Enclosure, End, ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    Direction,
    Discrete,
    Pair,
    Product,
    SecretSteps,
    is_attack,
)
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation import (
    lower_distribution,
    many_bins,
    replace_one,
    signed_grid,
    upper_distribution,
)
from dpbounds.privacy.routes.allocation.choices import grid_ends, parts_of
from dpbounds.privacy.routes.allocation.lower_distribution import LowerDistribution
from dpbounds.privacy.routes.allocation.rounding import PRECISION, UNIT, repeated
from dpbounds.privacy.routes.allocation.tuning import ESTIMATE, TUNING, Fineness
from dpbounds.privacy.routes.allocation.upper_distribution import UpperDistribution
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.lattice.steps import as_step

# of a product without allocated pairs, at targets, to a width; one proof each
Prove = Callable[[Product, Sequence[Fraction], float], Sequence[Proof]]

ROUTE = "allocation"
_SCALE_BITS = 200  # bits of a factor, and of δ after it


@dataclass(frozen=True, slots=True)
class Grid:
    """Choices.

    Attributes:
        spacing: Spacing of the sum of all ratios.
        negligible: The mass that may be spread far away.
        fineness: Fineness of the profile under replace-one.
        least: The δ per epoch that may be given up there.
        by_threshold: Whether one of m Gaussian steps is enclosed at thresholds under the other relations, too.
        signed: Fineness under replace-one on a geometric grid; None if one spacing holds the sum.
    """

    spacing: Fraction
    negligible: float
    fineness: Fineness = ESTIMATE
    least: float = 0.0
    by_threshold: bool = False
    signed: signed_grid.Fineness | None = None

    def looks_at_thresholds(self, pair: SecretSteps) -> bool:
        """Return whether a pair is enclosed at thresholds, not on this grid."""
        return isinstance(pair, Allocated) and (
            pair.direction is Direction.REPLACE or (self.by_threshold and bool(pair.shifts))
        )

    def for_terms(self, few: int, all_: int) -> Fraction:
        """Return the spacing for a sum of few ratios of all: rounding errors of many independent sums average out.

        All spacings are the finest one times a power of two.
        """
        doublings = math.log2(max(1, all_ // few))
        return self.spacing * (1 << int(TUNING.coarsening * (doublings + max(0.0, doublings - TUNING.undecisive))))


def has_many_bins(pair: SecretSteps) -> bool:
    """Return whether a grid for the sum would be too fine: very many bins, none of which decides alone."""
    return (
        isinstance(pair, Allocated)
        and pair.direction is not Direction.REPLACE
        and pair.bins >= TUNING.many_bins
        and bool(pair.shifts)
        and all(squared <= TUNING.many_bins_shift for squared, _ in pair.shifts)
    )


@dataclass(frozen=True, slots=True)
class Dominating:
    """A pair that dominates up to a factor: δ(ε) of T of them is at most ``factor``^T times that of T of ``pair``."""

    pair: Discrete
    factor: Fraction


_M = TypeVar("_M", UpperDistribution, LowerDistribution)


# --- The sum of the ratios --------------------------------------------------------------------------------------------


def _on_grid(
    grid: Grid, terms: int, refined: Callable[[_M, Fraction], _M], added: Callable[[_M, _M], _M]
) -> Callable[[_M, _M], _M]:
    """Return the addition of two partial sums of the ratios, on the grid for their number."""

    def both(one: _M, other: _M) -> _M:
        spacing = grid.for_terms(one.terms + other.terms, terms)
        first = refined(one, spacing)
        return added(first, first if other is one else refined(other, spacing)).trimmed(grid.negligible)

    return both


@lru_cache(maxsize=16)
def _step_above(base: Pair, spacing: Fraction, negligible: float) -> UpperDistribution:
    def both(one: UpperDistribution, other: UpperDistribution) -> UpperDistribution:
        return upper_distribution.multiplied(one, other).trimmed(negligible)

    parts = (
        repeated(
            upper_distribution.one_ratio(as_step(inner), spacing, grid_ends(inner, spacing, negligible)), times, both
        )
        for inner, times in resolved(parts_of(base))
    )
    return reduce(both, parts)


@lru_cache(maxsize=16)
def _sum_above(shares: Product, bins: int, grid: Grid) -> UpperDistribution:
    terms = sum(count for _, count in shares)
    both = _on_grid(grid, terms, upper_distribution.refined, upper_distribution.added)
    finest = grid.for_terms(1, terms)
    parts = [repeated(_step_above(base, finest, grid.negligible), count, both) for base, count in shares]
    idle = bins - terms
    return reduce(both, [*parts, upper_distribution.constant(idle, grid.spacing)] if idle else parts)


@lru_cache(maxsize=16)
def _step_below(base: Pair, most: int, spacing: Fraction, negligible: float) -> LowerDistribution:
    def both(one: LowerDistribution, other: LowerDistribution) -> LowerDistribution:
        return lower_distribution.multiplied(one, other).trimmed(negligible)

    parts = (
        repeated(lower_distribution.one_step(inner, spacing, grid_ends(inner, spacing, negligible), most), times, both)
        for inner, times in resolved(parts_of(base))
    )
    return reduce(both, parts)


@lru_cache(maxsize=16)
def _sum_below(shares: Product, most: int, grid: Grid) -> LowerDistribution:
    terms = sum(count for _, count in shares)
    both = _on_grid(grid, terms, lower_distribution.refined, lower_distribution.added)
    finest = grid.for_terms(1, terms)
    return reduce(
        both,
        (repeated(_step_below(base, most, finest, grid.negligible), count, both) for base, count in shares),
    )


# --- Two discrete pairs -----------------------------------------------------------------------------------------------


def dominating(pair: Allocated, grid: Grid) -> Dominating:
    """Return a discrete pair that dominates, up to a factor that is next to 1."""
    if grid.looks_at_thresholds(pair):
        return Dominating(_at_thresholds(pair, grid)[0], Fraction(1))
    found = _sum_above(pair.shares, pair.bins, grid)
    with working(PRECISION):
        h, shift = ball(found.spacing), arb(pair.bins).log()
        removed = pair.direction is Direction.REMOVE
        offset = ball_end(-shift if removed else shift, "up")
        masses = {}
        for i in np.flatnonzero(found.masses):
            index, q = found.first + int(i), arb(float(found.masses[i]))
            if removed:
                masses[offset + index * found.spacing] = ball_end(q * (index * h).exp() / pair.bins, "up")
            else:
                masses[offset - index * found.spacing] = ball_end(q, "up")
        infinite = ball_end(arb(found.infinite) / pair.bins, "up") if removed else Fraction(found.zero)
    total = sum(masses.values(), infinite)
    if total > 2:  # what was cut off, or roundings: more mass than there is
        raise Declined("allocation: the grid does not hold the ratios")
    share = min(Fraction(1), Fraction(math.floor((1 << _SCALE_BITS) / total), 1 << _SCALE_BITS))
    points = tuple((loss, mass * share) for loss, mass in sorted(masses.items()))
    return Dominating(Discrete(points, 1 - sum((mass for _, mass in points), Fraction(0))), 1 / share)


def _at_thresholds(pair: Allocated, grid: Grid) -> tuple[Discrete, Discrete]:
    if has_many_bins(pair):
        return many_bins.between(pair, grid.least)
    if pair.direction is Direction.REPLACE and grid.signed is not None:
        return signed_grid.between(pair, grid.signed, grid.least)
    return replace_one.between(pair, grid.fineness, grid.least)


def attained(pair: SecretSteps, grid: Grid) -> Discrete:
    """Return the view of the attained run with coarse outcomes; a few outcomes may be missing."""
    if isinstance(pair, Allocated) and grid.looks_at_thresholds(pair):
        return _at_thresholds(pair, grid)[1]
    most, choices = pair.times, math.comb(pair.places, pair.times)
    idle = pair.places - sum(count for _, count in pair.run)
    found = _sum_below(pair.run, most, grid)
    points: dict[Fraction, Fraction] = {}
    infinite = Fraction(0)
    with working(PRECISION):
        slack = (arb(found.roundings + 1) * 2 * UNIT).exp()  # >= (1 - u)^-n
        if pair.direction is Direction.REMOVE:
            infinite += ball_end(arb(float(found.surely[most])) / choices / slack, "down")
        without = np.zeros((len(found.counts), 1))
        without[0] = found.gone
        for column in np.hstack([found.counts, without]).T:
            q, p = arb(float(column[0])), (arb(float(column[most])) + idle * arb(float(column[0]))) / choices
            if pair.direction is not Direction.REMOVE:
                p, q = q, p
            if not p > 0:
                continue
            mass = ball_end(p / slack, "down")
            if q > 0:
                where = ball_end((p / (q * slack * slack)).log(), "down")
                points[where] = points.get(where, Fraction(0)) + mass
            else:  # probability 0 under the other distribution
                infinite += mass
    return Discrete(tuple(sorted(points.items())), infinite)


def enclosed_by_pairs(
    product: Product,
    targets: Sequence[Fraction],
    for_epsilon: bool,
    grid: Grid,
    prove: Callable[[Product, Sequence[Fraction]], Sequence[Proof]],
) -> list[Proof]:
    """Enclose a product's loss on one grid; ``prove`` proves the losses of the two products of discrete pairs."""
    parameters = {"spacing": float(grid.spacing), "beyond the grid": grid.negligible}
    lower = tuple((attained(pair, grid) if isinstance(pair, SecretSteps) else pair, count) for pair, count in product)
    lows = [each.enclosure.exact_lower for each in prove(lower, targets)]
    if is_attack(product):  # an attack: nothing is proven from above
        end: End = math.inf if for_epsilon else Fraction(1)
        return [Proof(Enclosure(low, end, ROUTE, PRECISION), ROUTE, parameters) for low in lows]
    exponent, upper = arb(0), list[tuple[Pair, int]]()
    for pair, count in product:
        if isinstance(pair, Allocated):
            found = dominating(pair, grid)
            with working(PRECISION):
                exponent = exponent + count * ball(found.factor).log()
            upper.append((found.pair, count))
        else:
            upper.append((pair, count))
    with working(PRECISION):
        factor = ball_end(exponent.exp(), "up")
    asked = [_rounded_down(at / factor) for at in targets] if for_epsilon else targets
    highs = [each.enclosure.exact_upper for each in prove(tuple(upper), asked)]
    if not for_epsilon:
        highs = [min(Fraction(1), high * factor) for high in highs]
    return [
        Proof(Enclosure(min(low, high), high, ROUTE, PRECISION), ROUTE, parameters)
        for low, high in zip(lows, highs, strict=True)
    ]


def _rounded_down(number: Fraction) -> Fraction:
    """Return a positive number not above it, of few digits."""
    bits = number.denominator.bit_length() - number.numerator.bit_length() + _SCALE_BITS
    return Fraction(math.floor(number * (1 << max(bits, 0))), 1 << max(bits, 0))
