"""Talwar, Thakurta & Zhang: the second moment w² + R², against sets for which it is known."""

import pytest
from mpmath import gamma, inf, mpf, ncdf, quad, sqrt


@pytest.mark.parametrize("d", [1, 2, 5, 50])
def test_the_l2_ball_stays_below(d):
    width = sqrt(2) * gamma(mpf(d + 1) / 2) / gamma(mpf(d) / 2)
    assert width**2 < d <= width**2 + 1  # E |v|² = d: the width alone is not enough


@pytest.mark.parametrize("d", [1, 3, 30])
def test_the_l1_ball_stays_below(d):
    def beyond(t):  # P(max |v_i| > t)
        return 1 - (2 * ncdf(t) - 1) ** d

    width = quad(beyond, [0, 1, 3, 9, 20])
    moment = quad(lambda t: 2 * t * beyond(t), [0, 1, 3, 9, 20])
    assert moment <= width**2 + 1
    assert inf > moment >= width**2
