"""Theorem 5.7: the start is close to the target, and the number of rounds suffices."""

import numpy as np
from mpmath import ln, mpf


def test_the_start_is_close():
    grid = np.linspace(0, 1, 4001)
    for beta in (0.1, 1.0, 8.0, 60.0):
        for loss in (grid, np.abs(grid - 0.4), -np.abs(np.abs(grid - 0.5) - 0.2)):
            weight = np.exp(-beta * loss)
            divergence = np.log(weight.mean()) + beta * loss.mean()  # KL of the uniform start from the target
            assert 0 <= divergence <= min(beta, beta**2 / 8)


def test_the_number_of_rounds_suffices():
    for reach in (mpf("1e-4"), mpf("0.3"), mpf(1)):  # η/C
        for start, delta in ((mpf(3), mpf("1e-5")), (mpf("0.01"), mpf("0.4"))):
            count = ln(1 + 8 * start / delta**2) / reach
            assert start / (1 + reach) ** (2 * count) <= delta**2 / 8
