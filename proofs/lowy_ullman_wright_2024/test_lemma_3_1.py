"""Lemma 3.1: the two terms balance at the number of steps of its proof."""

import pytest
import sympy


def test_the_balance_of_the_two_terms():
    steps, a, initial_gap, smoothness, lipschitz = sympy.symbols("T a Delta_F L G", positive=True)
    descent = sympy.sqrt(initial_gap * smoothness / steps)
    noise = lipschitz * steps * a**2
    best = (sympy.sqrt(sympy.sqrt(initial_gap * smoothness) / lipschitz) / a) ** sympy.Rational(4, 3)
    for term in (descent, noise):
        at_best = sympy.powdenest(sympy.simplify(term.subs(steps, best)), force=True)
        wanted = (initial_gap * smoothness * lipschitz) ** sympy.Rational(1, 3) * a ** sympy.Rational(2, 3)
        assert sympy.simplify(sympy.expand_log(sympy.log(at_best / wanted), force=True)) == 0


def test_the_minimum_over_the_number_of_steps():
    steps, x, y = sympy.symbols("T x y", positive=True)  # x = LΔ, y = G²a⁴
    curve = 4 * x / steps + 8 * y * steps**2
    best = (x / (4 * y)) ** sympy.Rational(1, 3)
    assert sympy.simplify(curve.diff(steps).subs(steps, best)) == 0
    wanted = 6 * 4 ** sympy.Rational(1, 3) * x ** sympy.Rational(2, 3) * y ** sympy.Rational(1, 3)
    assert sympy.simplify(sympy.powdenest(curve.subs(steps, best) / wanted, force=True)) == 1
    assert float(sympy.sqrt(6) * 2 ** sympy.Rational(1, 3)) == pytest.approx(3.0862, abs=1e-4)
