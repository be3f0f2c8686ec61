"""Theorem 6: how far its budget reaches. With constants: the Gibbs distribution exactly."""

import numpy as np
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


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_mean_score_of_the_gibbs_choice(epsilon):
    generator = np.random.default_rng(1)
    for spread in (0.1, 1.0, 30.0):
        scores = spread * generator.random(64)
        weights = np.exp(epsilon * (scores - scores.max()) / 2)  # sensitivity 1
        lost = scores.max() - (weights * scores).sum() / weights.sum()
        assert lost <= 2 / epsilon * np.log(64)
