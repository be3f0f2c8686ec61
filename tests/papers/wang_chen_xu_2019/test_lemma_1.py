"""Lemma 1: what its constant must be in one case."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_a_constant_of_two_is_enough_and_one_is_not():
    values = {"epsilon": 2, "delta": "1e-5", "steps": 2_500, "sample_rate": "0.02"}
    statement = theorem("wang-chen-xu-2019/lemma-1")
    assert spending(statement, {**values, "noise_constant": 2}).kept is True
    assert spending(statement, {**values, "noise_constant": 1}).kept is False
