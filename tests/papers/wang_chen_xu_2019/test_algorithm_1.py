"""Algorithm 1: its step size gives twice the variance that Lemma 1 asks for."""

from sympy import simplify

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    epsilon,
    inverse_temperature,
    lipschitz,
    noise_constant,
    steps as iterations,
)
from dpbounds.theorems.registry import theorem

STATEMENT = theorem("wang-chen-xu-2019/algorithm-1")


def test_the_printed_step_doubles_the_variance():
    from sympy import log

    # Lemma 1 at q = 1: standard deviation Gσ/n on the mean gradient, σ = c₂ √(T ln(1/δ))/ε
    wanted = (lipschitz / dataset_size * noise_constant / epsilon) ** 2 * iterations * log(1 / delta)
    printed = 2 / (STATEMENT.part("step_size").expression * inverse_temperature)
    assert simplify(printed / wanted) == 2
