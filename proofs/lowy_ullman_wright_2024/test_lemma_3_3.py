"""Lemma 3.3: its third term is of lower order."""

import sympy


def test_the_third_term_is_of_lower_order():
    s, x = sympy.symbols("s x", positive=True)
    assert sympy.expand(s / 2 + x**2 / 2 - sympy.sqrt(s) * x - (sympy.sqrt(s) - x) ** 2 / 2) == 0
