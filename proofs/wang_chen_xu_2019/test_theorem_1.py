"""Theorem 1: no constant serves the printed range of ε and δ."""

import pytest
from mpmath import exp, expm1, ln, log1p, mpf, ncdf, sqrt, workdps


def failure_of_the_last_iterate(squared_constant, steps, epsilon, delta):
    """The exact δ at ε of w_T: linear losses, all of slope 0 but one, of slope G u or -G u; n = G = β = 1.

    w_T is Gaussian: its mean moves by 2Gη S₁/n and its variance is (2η/β) S₂, with S_k the sum of (1 - ηλ)^(kj).
    """
    with workdps(60):
        step = mpf(epsilon) ** 2 / (squared_constant * steps * ln(1 / mpf(delta)))
        decay = log1p(-mpf("0.01") / steps)  # λ = 1/(100 ηT)
        first, second = (expm1(k * steps * decay) / expm1(k * decay) for k in (1, 2))
        shift = 2 * step * first / sqrt(2 * step * second)
        ratio = mpf(epsilon) / shift
        return ncdf(shift / 2 - ratio) - exp(mpf(epsilon)) * ncdf(-shift / 2 - ratio)


def test_a_constant_that_is_large_enough_for_one_budget():
    assert failure_of_the_last_iterate(8, 300, 20, "1e-5") < mpf("1e-5")


@pytest.mark.parametrize("squared_constant", [8, 16, 100])
@pytest.mark.parametrize("share", [2, 50])
def test_no_constant_serves_the_printed_range(squared_constant, share):
    # ε = T/share is below c₁T for c₁ > 1/share, whatever c₁: the failure does not fall as T grows
    epsilon = 2 * squared_constant * 12
    assert failure_of_the_last_iterate(squared_constant, share * epsilon, epsilon, "1e-5") > 0.99
    # δ near 1 at ε = 1
    near = mpf(1) - mpf(10) ** -6
    assert failure_of_the_last_iterate(squared_constant, 1000 * share, 1, near) > near
