"""Lemma 5.5 with constants: Gibbs distributions of all data sets, exactly."""

from itertools import product
from math import comb

import numpy as np
import pytest
from mpmath import mpf

from tests.papers.reference_formulas import reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/lemma-5.5/explicit")

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
    assert 0 < gap <= float(twin("bound", beta=mpf(beta), G=1, D=1, n=size))
    assert gap <= float(twin("transport", G=1, beta=mpf(beta), D=1, n=size, regularisation=mpf(strength)))


@pytest.mark.parametrize("beta", [0.5, 3.0, 20.0])
def test_the_distance_of_neighbours(beta):
    for size in (1, 4):
        one, other = (gibbs(beta, 1e-9, (first, size - first, 0))[0] for first in (size // 2, size // 2 + 1))
        distance = np.abs(one - other).sum() / 2
        assert distance <= float(twin("total_variation", beta=mpf(beta), G=1, D=1, n=size))
