"""Theorem 6: how far its budget reaches."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


@pytest.mark.seconds
def test_the_printed_budget_overspends_far_out():
    algorithm = theorem("wang-xu-2019/algorithm-4")
    kept = spending(algorithm, {"epsilon": 30, "delta": "0.5", "steps": 2000})
    assert kept.kept is True
    spent = spending(algorithm, {"epsilon": 60, "delta": "0.5", "steps": 2000})
    assert spent.kept is False
