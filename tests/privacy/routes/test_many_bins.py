"""One of many bins, a record removed or added: thresholds with one law, against quadrature and single ones."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.privacy.pairs.pairs import Allocated, Direction, ShiftedGaussians
from dpbounds.privacy.routes.allocation import discrete_pairs, many_bins, replace_one
from dpbounds.privacy.routes.allocation.convex_hulls import Point
from dpbounds.privacy.routes.allocation.tuning import TUNING, Fineness

F = Fraction
BITS = 13
LOSSES = (0.02, 0.5, 1.1)


def pair_of(direction: Direction, bins: int, *shares: tuple[str, int]) -> Allocated:
    return Allocated(direction, bins, tuple((ShiftedGaussians(F(squared)), n) for squared, n in shares))


CASES = {
    "two": (2, (("1", 2),), [1.0, 1.0]),
    "three, one not run": (3, (("1", 2),), [1.0, 1.0]),
    "kept, the last epoch cut short": (3, (("2", 1), ("1", 2)), [math.sqrt(2), 1.0, 1.0]),
}


def points(direction: Direction, name: str, losses: tuple[float, ...] = LOSSES) -> list[Point]:
    bins, shares, _ = CASES[name]
    pair = pair_of(direction, bins, *shares)
    added = direction is Direction.ADD
    ratios = [math.exp(-loss if added else loss) for loss in losses]
    return many_bins.at_thresholds(pair, many_bins.Run.of(pair, 48), ratios, BITS)


def by_quadrature(direction: Direction, name: str, alpha: float) -> float:
    """E (R - α)_+ or E (1 - α R)_+ under Q, R the mean of the bins' ratios, by sums over fine grids."""
    bins, _, shifts = CASES[name]
    y = np.linspace(-8, 8, 161 if len(shifts) > 2 else 1201)
    density = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)
    values, masses = np.array([float(bins - len(shifts))]), np.array([1.0])
    for mu in shifts:
        values = np.add.outer(values, np.exp(mu * y - mu * mu / 2)).ravel()
        masses = np.multiply.outer(masses, density).ravel()
    ratio = values / bins
    gains = ratio - alpha if direction is Direction.REMOVE else 1 - alpha * ratio
    return float(np.maximum(gains, 0.0) @ masses)


@pytest.mark.seconds
def test_the_profile_is_enclosed() -> None:
    for direction in (Direction.REMOVE, Direction.ADD):
        for name in CASES:
            for each in points(direction, name):
                truth = by_quadrature(direction, name, float(each.alpha))
                low = float(each.seen - each.alpha * each.mistaken)
                slack = 2e-3 * truth + 1e-5  # of the quadrature
                assert low - slack <= truth <= float(each.profile) + slack
        found = points(direction, "two")
        assert len(found) == len(LOSSES)
        assert all(each.alpha >= 1 for each in found)
        assert max(each.width for each in found) < 5e-3


def test_two_steps_of_which_a_record_takes_one() -> None:
    for direction in (Direction.REMOVE, Direction.ADD):
        (found,) = points(direction, "two", (0.5,))
        truth = by_quadrature(direction, "two", float(found.alpha))
        assert float(found.seen - found.alpha * found.mistaken) <= truth * 1.002
        assert truth <= float(found.profile) * 1.002
        assert found.width < 5e-3


@pytest.mark.seconds
@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
def test_thresholds_agree_with_each_on_its_own(direction: Direction) -> None:
    pair = pair_of(direction, 5000, ("1", 4000))
    sign = -1 if direction is Direction.ADD else 1
    for found in many_bins.at_thresholds(
        pair, many_bins.Run.of(pair, 96), [math.exp(sign * x) for x in (0.01, 0.04)], 15
    ):
        alone = replace_one.point(pair, float(found.alpha), Fineness(64, 15, 20))
        near = 1e-9 * float(found.profile)
        assert alone.seen - alone.alpha * alone.mistaken <= found.profile * (1 + F(near)) + F(near)
        assert found.seen - found.alpha * found.mistaken <= alone.profile * (1 + F(near)) + F(near)
        assert found.width < 2e-2


@pytest.mark.seconds
def test_a_hundred_thousand_bins() -> None:
    """As each threshold on its own found: [0.0176684, 0.017689], in seven times the time."""
    found = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(1), 100_000), "1e-8")
    assert float(found.exact_lower) >= 0.0176684
    assert float(found.exact_upper) <= 0.017689
    assert found.exact_upper <= F("1.001") * found.exact_lower


@pytest.mark.minutes
def test_both_ways_agree_where_both_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 2000 steps twice: on the grid, and at thresholds."""
    run = dp.RandomlyAllocated(dp.Gaussian(1), 2000) ** 2
    grid = dp.epsilon(run, "1e-6")
    monkeypatch.setattr(discrete_pairs, "TUNING", replace(TUNING, many_bins=1000))
    discrete_pairs._sum_above.cache_clear()
    found = dp.epsilon(run, "1e-6")
    assert found.exact_lower <= grid.exact_upper
    assert grid.exact_lower <= found.exact_upper
    assert found.exact_upper <= F("1.001") * found.exact_lower
