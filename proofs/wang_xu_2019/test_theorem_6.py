"""Theorem 6: the mean score of the Gibbs choice."""

import numpy as np
import pytest


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_mean_score_of_the_gibbs_choice(epsilon):
    generator = np.random.default_rng(1)
    for spread in (0.1, 1.0, 30.0):
        scores = spread * generator.random(64)
        weights = np.exp(epsilon * (scores - scores.max()) / 2)  # sensitivity 1
        lost = scores.max() - (weights * scores).sum() / weights.sum()
        assert lost <= 2 / epsilon * np.log(64)
