"""One of m bins, Gaussian noise: the profile of the attained pair, enclosed at chosen thresholds.

H_α(P ‖ Q) = E (V_1 + ... + V_m)_+ / m with V_i = u(y_i) - α w(y_i). One distribution of the sum of all bins but one
serves both bounds (``proof.md``, sections 5 to 7).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Discrete
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation import windows
from dpbounds.privacy.routes.allocation.bin_sums import Sum
from dpbounds.privacy.routes.allocation.convex_hulls import Point, hull_of_bounds, hull_of_tests
from dpbounds.privacy.routes.allocation.one_bin import (
    LARGEST_SHIFT,
    Bin,
    Cells,
    cells_of,
    idle,
    rounded,
    values_at_cuts,
)
from dpbounds.privacy.routes.allocation.published_bin import (
    LARGEST_THRESHOLD,
    points_if_published,
    profile_if_published,
)
from dpbounds.privacy.routes.allocation.rounding import UNIT
from dpbounds.privacy.routes.allocation.tuning import TUNING, Fineness

_CORE = 4.0  # deviations of y that the core of a bin covers


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
    window = windows.window_of(kinds, ends, resting * (1 - alpha), alpha, fineness.bits)
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
        min(profile, profile_if_published(pair, alpha)),
        Fraction(max(seen, 0.0)) * less / pair.bins,
        min(Fraction(1), Fraction(mistaken) * more / pair.bins),
    )


def _others(bins: Sequence[Bin], index: int) -> list[tuple[Bin, int]]:
    counts = [(each, each.count - (i == index)) for i, each in enumerate(bins)]
    return [(each, count) for each, count in counts if count]


# --- Two discrete pairs -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def between(pair: Allocated, fineness: Fineness, negligible: float) -> tuple[Discrete, Discrete]:
    """Return a pair that dominates, and one that an observer sees who makes one of finitely many tests.

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


# --- Choices: no part of the proof ------------------------------------------------------------------------------------


def _points(pair: Allocated, fineness: Fineness, negligible: float) -> Iterator[Point]:
    """Yield thresholds from 1 on until the profile is negligible, or no longer distinguished from round-off."""
    deviation = deviation_of(pair)
    step, loss, lost, patience = deviation / fineness.losses, 0.0, 0, 0
    most = fineness.bits + TUNING.retry.bits
    while loss < LARGEST_THRESHOLD and lost < TUNING.retry.useless:
        found = point(pair, math.exp(loss), fineness)
        if (
            found.width > (TUNING.retry.width if patience <= 0 else TUNING.retry.width_in_pause)
            and found.profile > negligible
        ):
            patience = TUNING.retry.pause
            for other in _neighbours(fineness, most):
                tried = point(pair, math.exp(loss), other)
                if tried.width < TUNING.retry.gain * found.width:
                    found, fineness, patience = tried, other, 1
                    break
        yield found
        if found.profile <= negligible:
            return
        lost, patience = (lost + 1 if found.width > TUNING.unknown else 0), patience - 1
        loss += step * max(1.0, loss / (TUNING.dense * deviation))
        checkpoint()
    yield from points_if_published(pair, loss, found.profile, negligible)


def _neighbours(fineness: Fineness, most: int) -> Iterator[Fineness]:
    """Yield choices to try next: shorter reaches, which leave more points near the bulk; then more points."""
    if fineness.reach > TUNING.retry.shortest_reach:
        yield replace(fineness, reach=fineness.reach / 2)
    if fineness.bits < most:
        yield replace(fineness, bits=fineness.bits + 1)


def deviation_of(pair: Allocated) -> float:
    """Return roughly the deviation of log P/Q: that of Σ (u_i - w_i) / m, or of one bin alone."""
    shifts = [(float(squared), n) for squared, n in pair.shifts]
    grown, ways = (lambda s: 4 * math.sinh(s), 4) if pair.direction is Direction.REPLACE else (math.expm1, 1)
    shared = sum(n * grown(min(s, LARGEST_SHIFT)) for s, n in shifts) / pair.bins**2
    return math.sqrt(min(shared, ways * max(s for s, _ in shifts)))


def _ends(cells: Cells, alpha: float, bins: int, reach: float) -> tuple[int, int]:
    """Return cuts beyond which a single bin decides, for any values of the others."""
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
