"""Lemma 1."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_the_budget_suffices():
    found = spending(theorem("wang-xu-2019/lemma-1"), {"epsilon": "0.9", "delta": "1e-5", "steps": 1000})
    assert found.kept is True
