"""What searches need, beside SciPy's own and 50-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest
import scipy.optimize
import scipy.special

from dpbounds.privacy.routes import searching
from dpbounds.privacy.routes.searching import crossing, log_tail, log_tails


@pytest.mark.parametrize("x", [-37.0, -8.25, -1.0, -0.999, 0.0, 0.5, 7.5, 36.99, 37.0, 37.01, 200.0, 1e8])
def test_a_tail_to_fourteen_digits(x):
    with mpmath.workdps(50):
        exact = mpmath.log(mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2) if x < 1e4 else -(mpmath.mpf(x) ** 2) / 2
        if x <= -8:  # 1 - tiny, which fifty digits do not hold to fifty digits
            exact = mpmath.log1p(-mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2)
        assert log_tail(x) == pytest.approx(float(exact), rel=2e-14)


def test_a_tail_beyond_what_doubles_hold():
    assert log_tail(1e200) == log_tail(math.inf) == -math.inf
    assert log_tail(-1e200) == 0


@pytest.mark.parametrize("shape", [(5,), (3, 4), (searching._FEW + 1,)])
def test_few_and_many_points_alike(shape):
    x = np.linspace(-6, 45, math.prod(shape)).reshape(shape)
    assert log_tails(x) == pytest.approx(scipy.special.log_ndtr(-x), rel=1e-13)


def test_complex_points():
    x = np.array([1 + 1j, 30 - 2j])
    assert np.exp(log_tails(x)) == pytest.approx(scipy.special.erfc(x / math.sqrt(2)) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("function", "low", "high", "most"),
    [
        (lambda t: math.exp(t) - 3, 0.0, 15.0, 25),
        (lambda t: t**9 - 1e-4, 0.0, 1.0, 25),
        (lambda t: -math.atan(t - 0.3), -8.0, 8.0, 25),
        (lambda t: -math.inf if t < 2 else 1e-9, 0.0, 4.0, 45),  # flat, infinite, and a leap
    ],
)
def test_a_crossing_in_few_looks(function, low, high, most):
    looks = []

    def counted(t):
        looks.append(t)
        return function(t)

    found = crossing(counted, low, high, 1e-3)
    assert found == pytest.approx(scipy.optimize.bisect(function, low, high, xtol=1e-9), abs=1e-3)
    assert len(looks) <= most
    assert all(low <= t <= high for t in looks)


def test_an_end_may_be_the_crossing():
    assert crossing(lambda t: t, 0.0, 1.0, 1e-3) == 0
    assert crossing(lambda t: t - 1, 0.0, 1.0, 1e-3) == 1
