"""Theorem 6, a second time from the text (with the fourth root), and how far its budget reaches."""

import pytest
from mpmath import ln, root, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

TWINS = {
    "rate": lambda l1_norm_bound, delta, dataset_size, candidates, failure_probability, epsilon: (
        l1_norm_bound
        * root(ln(1 / delta), 4)
        * sqrt(ln(dataset_size * candidates / failure_probability))
        / sqrt(dataset_size * epsilon)
    ),
    "steps": lambda dataset_size, epsilon, delta, candidates, failure_probability: (
        dataset_size * epsilon / (sqrt(ln(1 / delta)) * ln(candidates * dataset_size / failure_probability))
    ),
    "step_fraction": lambda steps, norm_bound: sqrt(2 / (steps * norm_bound**2)),
}


@pytest.mark.thorough
def test_the_printed_budget_overspends_far_out():
    algorithm = theorem("wang-xu-2019/algorithm-4")
    kept = spending(algorithm, {"epsilon": 30, "delta": "0.5", "steps": 2000})
    assert kept.kept is True
    spent = spending(algorithm, {"epsilon": 60, "delta": "0.5", "steps": 2000})
    assert spent.kept is False
