"""Menart et al.: the noisy mean, for a quadratic loss, is within them."""

import pytest
from mpmath import ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("cited/menart-et-al-2023/theorem-1")


def test_knowing_the_exponent_pays_below_2_only():
    for exponent, pays in ((1, True), ("1.5", True), (2, False)):
        values = {"n": 10_000, "d": 9, "rho": "0.01", "k": exponent}
        known, unknown = (evaluate(part, **values).value.lower for part in ("concentrated", "adaptive"))
        assert (known < 0.99 * unknown) is pays


def test_a_quadratic_loss_is_below_the_rate():
    """F = |w - z̄|²/2 is 1-PL (γ² = 1/2, k = 2): the noisy mean of records of norm 1 has excess risk dσ²/2."""
    n, d, epsilon, delta = 1000, 20, mpf(1), mpf("1e-6")
    noise = sqrt(2 * ln(mpf("1.25") / delta)) * 2 / (n * epsilon)
    rate = evaluate(
        "rate", gamma=sqrt(mpf("0.5")), G=2, d=d, delta="1e-6", n=n, epsilon=1, Delta_F=1,
        k=2, L=1,
    )  # fmt: skip
    assert rate.value.lower == pytest.approx(float(3 * d * ln(1 / delta) / n**2))
    assert float(d * noise**2 / 2) < 2 * rate.value.lower
