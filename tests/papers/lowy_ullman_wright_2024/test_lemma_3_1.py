"""Lemma 3.1: the condition that it omits."""

import sympy

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, initial_gap, lipschitz, smoothness
from dpbounds.papers.lowy_ullman_wright_2024.lemma_3_1 import rate
from tests.papers.twins import evaluated


def test_the_omitted_condition_keeps_the_batch_within_the_data():
    """The first branch of b₂ in the source is (G n ε/√(Δ L d ln(1/δ)))^{2/3}: at most n exactly under its condition."""
    ell = sympy.log(1 / delta)
    branch = lipschitz * dataset_size * epsilon / sympy.sqrt(initial_gap * smoothness * dimension * ell)
    threshold = (lipschitz * epsilon) ** 2 / (initial_gap * smoothness * dimension * ell)
    batch = branch ** sympy.Rational(2, 3)
    assert sympy.simplify((batch / dataset_size) ** 3 - threshold / dataset_size) == 0
    # a gap ψ ~ γ²G²A² of a warm start (a Polyak-Łojasiewicz risk, γ² = 1/(2μ)) violates it once n is large
    a = sympy.sqrt(dimension * ell) / (epsilon * dataset_size)
    ratio = sympy.powsimp(sympy.expand((threshold / dataset_size).subs(initial_gap, lipschitz**2 * a**2)))
    assert sympy.simplify(ratio / (dataset_size * epsilon**4 / (smoothness * dimension**2 * ell**2))) == 1
    assert rate.subs(initial_gap, 0) == lipschitz * a


def test_the_balance_of_the_two_terms():
    steps, a = sympy.symbols("steps a", positive=True)
    descent = sympy.sqrt(initial_gap * smoothness / steps)
    noise = lipschitz * steps * a**2
    best = (sympy.sqrt(sympy.sqrt(initial_gap * smoothness) / lipschitz) / a) ** sympy.Rational(4, 3)
    for term in (descent, noise):
        at_best = sympy.powdenest(sympy.simplify(term.subs(steps, best)), force=True)
        wanted = (initial_gap * smoothness * lipschitz) ** sympy.Rational(1, 3) * a ** sympy.Rational(2, 3)
        assert sympy.simplify(sympy.expand_log(sympy.log(at_best / wanted), force=True)) == 0


def test_conditions_are_reported():
    values = {"Delta_F": 1, "G": 1, "L": 1, "d": 10, "n": 10_000, "delta": "1e-5"}
    evaluate = evaluated("lowy-ullman-wright-2024/lemma-3.1")
    assert evaluate("rate", epsilon=1, **values).applies is True
    assert evaluate("rate", epsilon=2, **values).applies is False
