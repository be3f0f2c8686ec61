"""Theorem 9: no constant serves the printed range of ε; the decreases of its steps."""

import pytest
from mpmath import ceil, erfc, exp, ln, log, loggamma, mpf, sqrt, workdps
from sympy import Rational


def above(threshold):
    """P(N(0, 1) > threshold)."""
    return erfc(threshold / sqrt(mpf(2))) / 2


@pytest.mark.parametrize(("constant", "share", "steps"), [(8, "0.5", 6), (8, "0.1", 8), (100, "0.5", 8)])
def test_no_constant_serves_the_printed_range(constant, share, steps):
    """C = [-1, 1], G = n = 1, w₁ = 0; all losses are 0 but one, which is -w or w; ε = share·T, δ = 1e-5.

    L and ρ_H may be any upper bounds: they are chosen to make η small and the second test pass. With α = 1/4 the first
    test asks for a step towards v while |g|(1 - |w|) > 1/8. Under -w, if all noise is below 1/8, w walks up to at least
    6/7 and is returned. Under w a step up takes noise beyond 1, and w > 1/2 takes m of them.
    """
    with workdps(60):
        steps = mpf(10) ** steps
        epsilon, logarithm = mpf(share) * steps, ln(mpf(10) ** 5)
        ratio = epsilon / sqrt(constant * steps * logarithm)  # gradient over noise
        walk = 1 / (8 * constant * logarithm / mpf(share))  # η = α/(2D²L), by the choice of L
        needed = ceil(ln(mpf(2)) / -log(1 - walk))
        walked = ceil(ln(mpf(8)) / -log(1 - walk)) + 1
        # the Hessian is 0 and its noise σ₂: q(u) >= -4|H|; ρ_H is so large that Φ√(ρ_H α)/8 = σ₂ · 10√T
        curved = 2 * above(10 * sqrt(steps))
        returned = 1 - walked * 2 * above(ratio / 8) - curved
        assert walked < steps
        ways = loggamma(steps + 1) - loggamma(needed + 1) - loggamma(steps - needed + 1)
        elsewhere = exp(epsilon + ways + needed * ln(above(ratio))) + exp(epsilon + ln(steps * curved))
        assert returned - elsewhere > mpf("0.99")


def test_the_decreases():
    # second-order step, in units of Φbθ²: slope, curvature, remainder
    assert 2 * Rational(1, 48) - Rational(3, 8) / 2 + Rational(1, 6) / 2 == -Rational(1, 16)
    assert 2 * Rational(1, 36) - Rational(3, 8) / 2 + Rational(1, 6) / 2 == -Rational(7, 144)  # r with 72 for 96
    # first-order step at η = a/(2D²L), in units of a²/(D²L)
    assert -Rational(3, 8) / 2 + Rational(1, 4) / 2 == -Rational(1, 16)
