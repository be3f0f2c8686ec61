"""Theorem 5.1: the range of the printed form, and a double well."""

import numpy as np
from mpmath import linspace, mpf, sqrt


def test_the_printed_form_follows_exactly_in_its_range():
    for level in linspace(mpf("0.05"), mpf(20), 40):  # log(1/δ)
        edge = 2 / (sqrt(1 + 2 * level) + sqrt(2 * level))
        for s, follows in ((edge * mpf("0.999"), True), (edge * mpf("1.001"), False)):
            assert (s * s / 2 + s * sqrt(2 * level) <= s * sqrt(1 + 2 * level)) is follows
        assert 1 <= edge * sqrt(1 + 2 * level) <= 2


def test_a_double_well_stays_below():
    """C by perturbation of a Gaussian; the Rényi divergences of two tilted double wells, on a grid."""
    grid = np.linspace(-8, 8, 40001)
    well = 0.5 * grid**2 + 0.4 * np.cos(3 * grid)
    constant = np.exp(0.8)  # exp(range of the perturbation) times 1
    for slope in (0.05, 0.4, 1.5):  # 2Gβ/n
        weights = [np.exp(-well - sign * slope / 2 * grid) for sign in (1, -1)]
        first, second = (one / one.sum() for one in weights)
        for order in (1.5, 2.0, 4.0):
            divergence = np.log((first**order * second ** (1 - order)).sum()) / (order - 1)
            assert divergence <= order * constant * slope**2 / 2
