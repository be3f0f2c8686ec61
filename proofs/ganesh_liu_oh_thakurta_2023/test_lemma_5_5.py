"""Lemma 5.5: distributions of bounded range attain its hyperbolic tangent; Gibbs distributions of all datasets."""

from itertools import product
from math import comb

import numpy as np
import pytest
from mpmath import e, mp, mpf, tanh


def test_bounded_range_laws_attain_the_tangent():
    span = mpf("0.8")  # p / q is e^{-η/2} or e^{η/2}
    low, high = e ** (-span / 2), e ** (span / 2)
    share = (1 - low) / (high - low)
    assert mp.almosteq(share * (high - 1), tanh(span / 4))


GRID = np.linspace(-0.5, 0.5, 2001)  # G = D = 1
LOSSES = (GRID, -GRID, np.abs(GRID))  # of three kinds of records


def gibbs(beta, strength, counts):
    size = sum(counts)
    risk = sum(count * loss for count, loss in zip(counts, LOSSES, strict=True)) / size
    weight = np.exp(-beta * (risk + strength / 2 * GRID**2))
    return weight / weight.sum(), risk


@pytest.mark.parametrize("beta", [0.5, 3.0, 10.0, 60.0])
@pytest.mark.parametrize("strength", [0.02, 1.0])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_gap_of_all_data_sets(beta, strength, size):
    law = (0.4, 0.35, 0.25)
    population = sum(weight * loss for weight, loss in zip(law, LOSSES, strict=True))
    gap = 0.0
    for first, second in product(range(size + 1), repeat=2):
        third = size - first - second
        if third < 0:
            continue
        chance = comb(size, first) * comb(size - first, second) * law[0] ** first * law[1] ** second * law[2] ** third
        density, risk = gibbs(beta, strength, (first, second, third))
        gap += chance * density @ (population - risk)
    assert 0 < gap <= np.tanh(beta / (2 * size))
    assert gap <= 2 * np.exp(beta) / (size * strength)


@pytest.mark.parametrize("beta", [0.5, 3.0, 20.0])
def test_the_distance_of_neighbours(beta):
    for size in (1, 4):
        one, other = (gibbs(beta, 1e-9, (first, size - first, 0))[0] for first in (size // 2, size // 2 + 1))
        distance = np.abs(one - other).sum() / 2
        assert distance <= np.tanh(beta / (2 * size))
