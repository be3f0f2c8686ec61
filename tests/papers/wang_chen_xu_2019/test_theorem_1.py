"""Theorem 1 with constants: the budget is kept."""

import pytest
from mpmath import exp, expm1, ln, log1p, mpf, ncdf, sqrt, workdps

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated, reference_of

explicit_twin = reference_of("wang-chen-xu-2019/theorem-1/explicit")
explicit = evaluated("wang-chen-xu-2019/theorem-1/explicit")
STATEMENT = theorem("wang-chen-xu-2019/theorem-1")


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


def test_it_is_the_composed_gaussian():
    found = failure_of_the_last_iterate(8, 300, 20, "1e-5")
    values = {"epsilon": 20, "delta": "1e-5", "steps": 300, "noise_constant": "2.8284271247461900976"}
    assert found < mpf("1e-5")
    assert spending(STATEMENT, values).kept is True


def test_the_constant_at_both_ends():
    small = explicit("step_constant", epsilon="1e-9", delta="1e-5").value.upper
    at_most = float(explicit_twin("step_constant", epsilon=ln(mpf(10) ** 5), delta=mpf(10) ** -5))
    assert small == pytest.approx(0.25)
    assert at_most == pytest.approx(3 - 2 * 2**0.5)
