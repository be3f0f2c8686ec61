"""Descent where PL holds near the start: the tail of weighted chi-squares."""

import math

import numpy as np
import pytest

D, T, ETA, SIGMA, ZETA, START, RADIUS, RUNS = 3, 40, 0.5, 0.02, 0.3, 0.1, 2.0, 20_000


@pytest.mark.parametrize("last", [1, 0.05])
def test_weighted_chi_squares_are_rarely_larger(last):
    rate, rng = 0.2 * last, np.random.default_rng(2)
    weights = (1 - rate) ** np.arange(T)
    sums = (rng.standard_normal((RUNS, T, D)) ** 2).sum(axis=2) @ weights
    most = (math.sqrt(D) + math.sqrt(2 * rate * math.log(3 / ZETA))) ** 2 / rate
    assert (sums > most).mean() <= ZETA / 3
