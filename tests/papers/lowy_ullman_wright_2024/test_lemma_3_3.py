"""Lemma 3.3: the factor that its third term lost."""

import pytest
import sympy

from dpbounds.expressions.symbols import dataset_size, delta, epsilon
from dpbounds.expressions.units import scaling_defects
from dpbounds.papers.lowy_ullman_wright_2024.lemma_3_3 import first_order, printed, rate
from dpbounds.theorems.registry import theorem


def test_the_third_term_lost_the_budget():
    unit = theorem("lowy-ullman-wright-2024/lemma-3.3").part("rate").unit
    assert scaling_defects(rate, unit, bases=("samples",)) == ()
    assert len(scaling_defects(printed(), unit, bases=("samples",))) == 1
    # the source's third term in zCDP, M/(n √φ √ρ) √α₁, with the φ that gives (ε, δ)-DP: φ + 2√(φ ln(1/δ)) = ε
    ell = sympy.log(1 / delta)
    budget = (sympy.sqrt(ell + epsilon) - sympy.sqrt(ell)) ** 2
    common = sympy.sqrt(first_order)
    ratio = sympy.simplify((rate - printed()) / common)
    at = {"smoothness": 1, "hessian_lipschitz": 1, "dataset_size": 1}
    values = {symbol: at[symbol.name] for symbol in ratio.free_symbols if symbol.name in at}
    for privacy in (0.01, 0.1, 1):
        point = {epsilon: privacy, delta: 1e-6, dataset_size: 1}
        lost = float(ratio.subs(values).subs(point)) + 1  # the corrected factor; the printed one is 1
        source = float((1 / sympy.sqrt(budget)).subs(point))
        assert source == pytest.approx(2 * lost, rel=0.05)
        assert lost > 3 / privacy
