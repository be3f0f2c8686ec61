"""Algorithm 1: its step size gives twice the variance that Lemma 1 asks for."""

import pytest
from sympy import simplify

from dpbounds.expressions.symbols import dataset_size, delta, epsilon, inverse_temperature, lipschitz, noise_constant
from dpbounds.expressions.symbols import steps as iterations
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

STATEMENT = theorem("wang-chen-xu-2019/algorithm-1")


def test_the_printed_step_doubles_the_variance():
    from sympy import log

    # Lemma 1 at q = 1: standard deviation Gσ/n on the mean gradient, σ = c₂ √(T ln(1/δ))/ε
    wanted = (lipschitz / dataset_size * noise_constant / epsilon) ** 2 * iterations * log(1 / delta)
    printed = 2 / (STATEMENT.part("step_size").expression * inverse_temperature)
    assert simplify(printed / wanted) == 2


@pytest.mark.parametrize(("constant", "kept"), [(2, True), ("2.42", True), ("0.8", False)])
def test_what_is_spent(constant, kept):
    # the noise variance is 2c₂²·G²T ln(1/δ)/(nε)²: c₂ = 2 gives 8, which is enough for small ε
    values = {"epsilon": 1, "delta": "1e-5", "steps": 500, "noise_constant": constant}
    assert spending(STATEMENT, values).kept is kept
