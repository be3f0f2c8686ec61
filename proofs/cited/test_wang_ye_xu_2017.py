"""Wang, Ye & Xu: the outline of its proof, with numbers."""

import pytest
from mpmath import mpf, root, sqrt


def test_the_balance_of_the_outline_gives_the_restored_rate():
    gradient, smoothness, gap, n, d, rho = mpf(3), mpf(5), mpf(2), mpf(10) ** 5, mpf(40), mpf("0.01")
    time = n / gradient * sqrt(gap * rho / (smoothness * d))  # step length times number of steps
    steps = 10**6
    step = time / steps
    assert step < 1 / smoothness
    square = 2 * gap / time + smoothness * step * d * 2 * gradient**2 * steps / (n**2 * rho)
    expected = sqrt(gradient) * root(smoothness * gap, 4) * root(d / rho, 4) / sqrt(n)
    assert float(sqrt(square) / expected) == pytest.approx(2)
