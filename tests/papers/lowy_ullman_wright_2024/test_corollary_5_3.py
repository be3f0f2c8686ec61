"""Corollary 5.3: it follows from Theorem 3.2, with a smaller power of 1/q_c than printed.

With constants: its pieces, and what both halves spend.
"""

import pytest
import sympy

from dpbounds.expressions.symbols import lipschitz, quasar_convexity, smoothness
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_5_3, proposition_5_2
from tests.papers.reference_formulas import evaluated

explicit = evaluated("lowy-ullman-wright-2024/corollary-5.3/explicit")


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


RISK = {"G": 1, "D": 2, "q_c": "0.5", "d": 4, "n": 200, "rho": "0.1"}


def test_it_is_the_proposition_and_the_theorem():
    psi = explicit("excess_risk", digits=40, **RISK).value
    half = {**RISK, "rho": "0.05"}
    assert psi.overlaps(evaluated("lowy-ullman-wright-2024/proposition-d.1/explicit")("tuned", **half).value)
    theirs = evaluated("lowy-ullman-wright-2024/theorem-3.2/explicit")(
        "bound", psi=psi, G=1, L=2, d=4, n=200, rho="0.05"
    )
    assert theirs.value.overlaps(explicit("bound", L=2, **RISK).value)


def test_the_quasar_constant_enters_by_its_cube_root():
    values = {**RISK, "n": 10**7, "L": 1000}
    one, other = (explicit("bound", **{**values, "quasar_convexity": q}).value.lower for q in ("0.8", "0.1"))
    assert other / one == pytest.approx(2, rel=0.1)
