"""Proposition D.1: the step size balances the two terms, and a quadratic stays below."""

import sympy
from mpmath import mpf


def test_the_step_size_balances_the_two_terms():
    eta, radius, second, q, steps = sympy.symbols("eta D V q T", positive=True)  # V = G² + dσ²
    sum_of_both = radius**2 / (2 * eta * q * steps) + eta * second / (2 * q)
    best = radius / sympy.sqrt(steps * second)
    assert sympy.simplify(sum_of_both.diff(eta).subs(eta, best)) == 0
    assert sympy.simplify(sum_of_both.subs(eta, best) - radius * sympy.sqrt(second) / (q * sympy.sqrt(steps))) == 0


def test_a_quadratic_stays_below():
    # F = w²/2 (q = 1, even q = 2 here), started at D: exact second moments; G >= |w| on the path is D here
    start, eta, sigma, steps = mpf(2), mpf("0.1"), mpf("0.3"), 40
    square, total = start**2, mpf(0)
    for _ in range(steps):
        total += square / 2
        square = (1 - eta) ** 2 * square + (eta * sigma) ** 2
        assert square <= start**2
    bound = (start**2 / (eta * steps) + eta * (start**2 + sigma**2)) / 2
    assert bound / 20 <= total / steps <= bound
