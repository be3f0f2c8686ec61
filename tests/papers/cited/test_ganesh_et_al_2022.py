"""Ganesh, Thakurta & Upadhyay: the exact risk of a linear loss in one dimension."""

import pytest
from mpmath import coth, mpf

from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("n", [10, 1000, 10**5])
def test_a_linear_loss_on_an_interval_attains_it(n):
    """F(w) = Gw on [0, D]: the mean of w under exp(-βF) is known."""
    gradient, diameter, epsilon = mpf(2), mpf(3), mpf(1)
    inverse = n * epsilon / (2 * gradient * diameter)
    x = inverse * gradient * diameter
    exact = gradient * diameter * (1 / x + mpf(1) / 2 - coth(x / 2) / 2)
    rate = evaluated("cited/ganesh-et-al-2022/main-result")(G=2, D=3, d=1, n=n, epsilon=1)
    assert 1 < float(exact) / rate.value.lower < 2.0001
