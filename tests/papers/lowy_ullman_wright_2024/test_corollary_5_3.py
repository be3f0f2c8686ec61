"""Corollary 5.3: it follows from Theorem 3.2, with a smaller power of 1/q_c than printed."""

import sympy

from dpbounds.expressions.symbols import lipschitz, quasar_convexity, smoothness
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_5_3, proposition_5_2


def test_it_follows_from_theorem_3_2():
    level = corollary_5_3.noise_level
    warm = lipschitz * level + (lipschitz * smoothness * proposition_5_2.rate) ** sympy.Rational(1, 3) * level ** (
        sympy.Rational(2, 3)
    )
    values = {symbol: sympy.Rational(k + 2, 5) for k, symbol in enumerate(sorted(warm.free_symbols, key=str))}
    values[quasar_convexity] = sympy.Rational(1, 7)
    values |= {symbol: sympy.Rational(1, 9) for symbol in warm.free_symbols if symbol.name == "delta"}
    difference = (warm - corollary_5_3.sharper()).subs(values)
    assert abs(sympy.N(difference, 40)) < sympy.Float("1e-35")
    assert sympy.N((corollary_5_3.rate - corollary_5_3.sharper()).subs(values)) > 0  # printed: valid, larger
