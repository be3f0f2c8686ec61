"""Algorithm 4: two halves of a budget."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_two_halves_are_a_whole():
    found = spending(theorem("lowy-ullman-wright-2024/algorithm-4"), {"epsilon": "0.8", "delta": "1e-6"})
    assert found.kept is True
    assert found.spent.lower > 0.79
