"""Theorem E.2: against Lemma E.1."""

import sympy

from dpbounds.expressions.symbols import excess_risk, initial_gap
from dpbounds.papers.lowy_ullman_wright_2024 import lemma_e_1, theorem_e_2


def test_it_is_lemma_e_1_with_the_excess_risk_for_the_gap_up_to_root_two():
    quoted = lemma_e_1.second_order.subs(initial_gap, excess_risk)
    printed = theorem_e_2.rate
    symbols = sorted(printed.free_symbols | quoted.free_symbols, key=str)
    for shift in range(4):
        point = {s: sympy.Rational(3 + (7 * k + 5 * shift) % 11, 2) for k, s in enumerate(symbols)}
        point |= {s: sympy.Rational(1, 9 + shift) for s in symbols if s.name == "delta"}
        small, large = sympy.N(quoted.subs(point)), sympy.N(printed.subs(point))
        assert small <= large * (1 + 1e-12)  # √(a + b) <= √a + √b
        assert large <= sympy.sqrt(2) * small
