"""Proposition D.1: the step size balances the two terms."""

import sympy


def test_the_step_size_balances_the_two_terms():
    eta, radius, second, q, steps = sympy.symbols("eta D V q T", positive=True)  # V = G² + dσ²
    sum_of_both = radius**2 / (2 * eta * q * steps) + eta * second / (2 * q)
    best = radius / sympy.sqrt(steps * second)
    assert sympy.simplify(sum_of_both.diff(eta).subs(eta, best)) == 0
    assert sympy.simplify(sum_of_both.subs(eta, best) - radius * sympy.sqrt(second) / (q * sympy.sqrt(steps))) == 0
