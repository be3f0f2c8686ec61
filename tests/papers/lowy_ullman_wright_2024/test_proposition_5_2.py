"""Proposition 5.2: the printed batch, and what is really spent."""

import pytest
from sympy import limit, simplify, sqrt as sqrt_of

from dpbounds.expressions.symbols import (
    batch_size,
    dataset_size,
    delta,
    dimension,
    epsilon,
    noise_stddev,
    quasar_convexity,
)
from dpbounds.papers.lowy_ullman_wright_2024 import proposition_5_2 as statement
from dpbounds.papers.lowy_ullman_wright_2024.proposition_d_1 import at_the_prescribed_step


def test_abadi_et_al_ask_for_the_larger_batch():
    # ε <= c₁ (b/n)² T at T = ε²n²/(d ln(1/δ))
    share = (batch_size / dataset_size) ** 2 * statement.number_of_steps / epsilon
    assert simplify(share.subs(batch_size, statement.batch)) == 1
    assert limit(share.subs(batch_size, sqrt_of(dimension * epsilon)), epsilon, 0) == 0


def test_the_intermediate_display_lacks_the_quasar_constant():
    # one run's expected gap, divided by what is displayed, grows like 1/q_c
    gap = at_the_prescribed_step.subs(noise_stddev, sqrt_of(statement.variance))
    displayed = statement.rate * quasar_convexity
    assert quasar_convexity not in displayed.free_symbols
    ratio = gap / displayed
    values = {symbol: 1 for symbol in ratio.free_symbols if symbol not in (quasar_convexity, delta)}
    at = [float(ratio.subs({**values, delta: 0.001, quasar_convexity: q})) for q in (1, 0.1, 0.01)]
    assert at[1] == pytest.approx(10 * at[0])
    assert at[2] == pytest.approx(100 * at[0])
