"""Theorem 3.4: as Lemma 3.3 with another gap."""

import sympy

from dpbounds.expressions.symbols import excess_risk, initial_gap
from dpbounds.papers.lowy_ullman_wright_2024 import lemma_3_3, theorem_3_4


def test_it_is_the_lemma_with_the_warm_gap():
    for mine, source in ((theorem_3_4.rate, lemma_3_3.rate), (theorem_3_4.printed, lemma_3_3.printed())):
        warm, cold = mine, source.subs(initial_gap, excess_risk)
        assert sympy.simplify(sympy.powdenest(sympy.expand_power_base(warm - cold, force=True), force=True)) == 0
    assert theorem_3_4.rate != theorem_3_4.printed
