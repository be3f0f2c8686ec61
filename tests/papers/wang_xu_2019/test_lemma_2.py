"""Lemma 2: the constant that it leaves open."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_the_constant_is_what_the_accountant_says():
    values = {"epsilon": 1, "delta": "1e-6", "steps": 10_000, "sample_rate": "0.01"}
    statement = theorem("wang-xu-2019/lemma-2")
    assert spending(statement, {**values, "noise_constant": "1.1575"}).kept is True
    assert spending(statement, {**values, "noise_constant": "1.1574"}).kept is False
