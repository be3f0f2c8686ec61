"""Fact 2.3: the exact tail of a Gaussian vector's norm stays below the norm-sub-Gaussian one."""

import pytest
from mpmath import exp, gammainc, mpf


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 20, 1000])
def test_the_tail_with_constant_one(dimension):
    largest = mpf(0)
    for k in range(1, 60):
        u = mpf(k) / 10
        exact = gammainc(mpf(dimension) / 2, dimension * u**2 / 2, regularized=True)  # P(chi² >= d u²)
        largest = max(largest, exact / (2 * exp(-(u**2) / 2)))
        assert exact <= 2 * exp(-(u**2) / 2)
    assert largest > 0.4


def test_a_smaller_constant_would_fail():
    # nSG(0.8 σ) is too little for d = 1: compare the tails at u = 6 of the smaller parameter
    u = mpf(6)
    assert gammainc(mpf(1) / 2, (u * mpf("0.8")) ** 2 / 2, regularized=True) > 2 * exp(-(u**2) / 2)
