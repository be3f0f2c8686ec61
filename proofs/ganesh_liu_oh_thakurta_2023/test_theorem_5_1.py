"""Theorem 5.1: the range of the printed form, a double well, and Gaussians with and without the range."""

import numpy as np
import pytest
from mpmath import exp, linspace, log, mpf, ncdf, sqrt


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


def failure(shift, epsilon):
    """δ at ε of two unit Gaussians: linear losses on the line with a quadratic regulariser, C = 1."""
    return ncdf(shift / 2 - epsilon / shift) - exp(epsilon) * ncdf(-shift / 2 - epsilon / shift)


@pytest.mark.parametrize("shift", [mpf("0.01"), mpf("0.1"), mpf("0.2")])
@pytest.mark.parametrize("delta", [mpf("1e-9"), mpf("1e-3"), mpf("0.3")])
def test_gaussians_within_the_range_keep_it(shift, delta):
    printed = shift * sqrt(1 + 2 * log(1 / delta))  # 2Gβ/n √(C (1 + 2 ln(1/δ)))
    assert failure(shift, printed) <= delta


@pytest.mark.parametrize("shift", [mpf("0.1"), mpf(2), mpf(20)])
def test_gaussians_keep_it_without_a_range(shift):
    for delta in (mpf("0.3"), mpf("1e-3"), mpf("1e-8")):
        epsilon = shift**2 / 2 + shift * sqrt(2 * log(1 / delta))
        assert failure(shift, epsilon) <= delta
