"""Corollary 4.4: as Theorem 3.4 with the warm start of equation (2)."""

import sympy

from dpbounds.expressions.symbols import dataset_size, delta, diameter, dimension, epsilon, excess_risk, lipschitz
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_4_4, theorem_3_4


def test_it_is_the_theorem_with_the_warm_start():
    gap = lipschitz * diameter * dimension / (epsilon * dataset_size)
    third = (theorem_3_4.rate - theorem_3_4.gradient_terms).subs(excess_risk, gap)
    mine = corollary_4_4.rate - corollary_4_4.gamma
    share = sympy.powdenest(sympy.expand_power_base(third / mine, force=True), force=True)
    assert sympy.simplify(share * sympy.log(1 / delta) ** sympy.Rational(1, 12)) == 1  # and nothing else is left
    printed = corollary_4_4.printed - corollary_4_4.gamma
    assert sympy.simplify((mine / printed * epsilon) ** 2 + sympy.log(delta)) == 0
