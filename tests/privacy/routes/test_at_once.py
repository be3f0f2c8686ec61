"""Bounds on δ(ε) by closed forms alone enclose what is proven more slowly; the variance bound, what is summed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.at_once import _allocated, delta_at_once

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(3))
GRID = np.linspace(-8.0, 8.0, 801)  # of each of two coordinates
WEIGHTS = np.outer(*[np.exp(-(GRID**2) / 2) / math.sqrt(2 * math.pi) * (GRID[1] - GRID[0])] * 2)


def mean_of_ratios(shift: float, signs: float = 1.0) -> np.ndarray:
    """The mean of N(±μ e_1) and N(±μ e_2) over N(0), on the grid."""
    ratio = np.exp(signs * shift * GRID - shift**2 / 2)
    return (ratio[:, None] + ratio[None, :]) / 2


@pytest.mark.parametrize("direction", pairs.Direction)
@pytest.mark.parametrize("squared", [Fraction(1, 25), Fraction(1, 2)])
def test_the_variance_bounds_one_of_two_steps(direction: pairs.Direction, squared: Fraction) -> None:
    """Against the definition, summed over a grid: never below it, and within a small factor where δ is not tiny."""
    pair = pairs.Allocated(direction, 2, ((pairs.ShiftedGaussians(squared), 2),))
    there, away = mean_of_ratios(math.sqrt(squared)), mean_of_ratios(math.sqrt(squared), -1.0)
    first, second = {
        pairs.Direction.REMOVE: (there, np.ones_like(there)),
        pairs.Direction.ADD: (np.ones_like(there), there),
        pairs.Direction.REPLACE: (there, away),
    }[direction]
    for epsilon in (Fraction(1, 10), *EPSILONS):
        exact = float((WEIGHTS * np.maximum(first - math.exp(epsilon) * second, 0)).sum())
        assert _allocated(pair, epsilon) >= exact * (1 - 1e-9)
    closest = float((WEIGHTS * np.maximum(first - math.exp(0.1) * second, 0)).sum())
    assert _allocated(pair, Fraction(1, 10)) <= 25 * closest


def test_the_variance_is_not_far_from_what_a_single_step_spends() -> None:
    """No Gaussian meets (x - a)_+ <= x²/(4a) more closely than by a factor of 2.4, at about 0.6 deviations."""
    pair = pairs.Allocated(pairs.Direction.REMOVE, 1, ((pairs.ShiftedGaussians(Fraction(1, 100)), 1),))
    assert 1 <= min(float(_allocated(pair, e)) / exact for e, exact in _single_steps()) <= 2.6


def _single_steps():
    mu = 0.1
    x = np.linspace(-12, 12, 240_001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    for e in (Fraction(1, 20), Fraction(8, 100), Fraction(1, 10), Fraction(12, 100), Fraction(1, 5)):
        yield e, float((density * np.maximum(np.exp(mu * x - mu**2 / 2) - math.exp(e), 0)).sum())


RUNS = {
    "poisson": dp.PoissonSampled(dp.Gaussian(2), "0.1") ** 20,
    "laplace": dp.PoissonSampled(dp.Laplace(3), "0.2") ** 3,
    "mixed": dp.Gaussian(5) @ dp.Laplace(4) ** 2,
    "fixed size": dp.SampledWithoutReplacement(dp.Gaussian(4), 4, 20) ** 3,
    "allocated": dp.RandomlyAllocated(dp.Gaussian(2), 8) ** 2,
    "black box": dp.ApproximateDP("0.1", "1e-6", relation="replace-one") ** 3,
}


BOTH = (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE)
CASES = [(name, relation) for name in RUNS for relation in BOTH if name != "black box" or relation is BOTH[1]]


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_the_bounds_enclose_what_is_proven(name: str, relation: Relation) -> None:
    classes = list(neighbour_classes(RUNS[name], relation).every())
    products = [each.product for each in classes]
    attacks = [attack for each in classes for attack in each.attacks]
    for epsilon in EPSILONS:
        known = dp.delta(RUNS[name], epsilon, relation, tolerance=1e-2)
        found = [delta_at_once(product, epsilon) for product in products]
        attained = [delta_at_once(attack, epsilon) for attack in attacks]
        assert max(each.exact_upper for each in found) >= known.exact_lower
        assert all(each.exact_lower <= known.exact_upper for each in attained)
        assert all(0 <= each.exact_lower <= each.exact_upper <= 1 for each in found)
