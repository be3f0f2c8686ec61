"""Theorem 4.2: the number of kicks, and the square that the selected accuracy lacks."""

from mpmath import mpf, sqrt
from sympy import Rational, Symbol, expand_log, log as ln, simplify


def test_kicks_outnumber_the_allowed_queries():
    # without logarithms, by powers of x: κ ~ x^{2/3}, γ ~ x^{2/3}; T = BM/γ², Γ = M/√(ργ), allowed B/(Mκ)
    x = Symbol("x", positive=True)
    kappa = gamma = x ** Rational(2, 3)
    kicks, allowed = gamma**-2 / gamma ** Rational(-1, 2), 1 / kappa
    assert simplify(expand_log(ln(kicks / allowed)) / ln(x)) == Rational(-1, 3)


def kicks_of(start, steps, pause):
    """How often line 8 asks O₁ in a run on x²/2, M = 1, exact oracles: the last estimate is small ever after."""
    x, estimate, frozen, kicks = start, 0.0, 1, 0
    for _ in range(steps):
        if abs(estimate) <= 0.5 and frozen <= 0:
            kicks, frozen = kicks + 1, pause
        else:
            frozen -= 1
        estimate = x
        x -= estimate
    return kicks


def test_a_run_near_a_minimum_keeps_kicking():
    assert kicks_of(0.1, 1000, 10) >= 1000 / 11 - 1
    assert kicks_of(0.1, 10_000, 10) >= 9 * kicks_of(0.1, 1000, 10)


def test_the_selected_accuracy_lacks_a_square():
    # ρ = 1, M/(n√φ) = h: a point whose smallest eigenvalue is -√α₁ - h is an α₂-SOSP for α₂ >= (√α₁ + h)² only
    h = mpf("0.01")
    ratios = []
    for power in (0, 4, 8):
        alpha = h**2 / mpf(10) ** power
        ratios.append((sqrt(alpha) + h) ** 2 / (alpha + h * sqrt(alpha)))
    assert ratios[0] <= 2  # where h² <= ρα₁ the printed form is enough
    assert ratios[2] > 50 * ratios[1] > 2500
