"""Theorem 7: the range that no constant serves; how long it takes to leave a saddle."""

import pytest
from mpmath import erfc, mpf, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

STATEMENT = theorem("wang-chen-xu-2019/theorem-7")


@pytest.mark.parametrize("constant", [8, 40])
@pytest.mark.parametrize("share", [2, 100])
def test_no_constant_serves_the_printed_range(constant, share):
    # the iterates of linear losses are a composed Gaussian, μ = 2ε/√(c ln(1/δ)); ε = T/share is below c₁T
    epsilon = 12 * constant
    far = {"epsilon": epsilon, "delta": "1e-5", "steps": share * epsilon, "noise_constant": constant}
    assert spending(STATEMENT, far).kept is False
    near = {"epsilon": 1, "delta": "0.9999", "steps": 10 * share, "noise_constant": constant}
    assert spending(STATEMENT, near).kept is False


def test_an_exact_saddle_is_left_after_a_number_of_steps_that_grows_with_n():
    # x -> (1 + ηγ)x - ησz from 0 with ηγ = 1/10: after T steps N(0, η²σ² Σ (1 + ηγ)^(2k)); away means |x| > η
    def away(sigma, steps):
        spread = sigma * sqrt(sum(mpf("1.1") ** (2 * k) for k in range(steps)))
        return erfc(1 / spread / sqrt(mpf(2)))

    assert away(mpf("0.1"), 60) > 0.97
    assert away(mpf(10) ** -6, 60) < mpf(10) ** -100  # a million times less noise, the same number of steps
    assert away(mpf(10) ** -6, 60 + 150) > 0.97  # and ln(10⁵)/ln(1.1) = 121 more
