"""Lemma 1, a second time from the text; what its constant must be in one case."""

from mpmath import ln, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

TWINS = {
    "noise_multiplier": lambda noise_constant, sample_rate, steps, delta, epsilon: (
        sample_rate * noise_constant / epsilon * sqrt(steps) * sqrt(ln(1 / delta))
    )
}


def test_a_constant_of_two_is_enough_and_one_is_not():
    values = {"epsilon": 2, "delta": "1e-5", "steps": 2_500, "sample_rate": "0.02"}
    statement = theorem("wang-chen-xu-2019/lemma-1")
    assert spending(statement, {**values, "noise_constant": 2}).kept is True
    assert spending(statement, {**values, "noise_constant": 1}).kept is False
