"""Theorem 2: the added noise is isotropic, and the total is not."""

import numpy as np
import pytest


def test_the_noise_that_is_added_is_isotropic_but_the_total_is_not():
    draw = np.random.default_rng(3)
    count, dimension = 100_000, 2
    noise = draw.standard_normal((count, dimension))
    noise *= (draw.uniform(size=count) ** (1 / dimension) / np.linalg.norm(noise, axis=1))[:, None]
    sampled = np.array([[1.0, 0.0], [-1.0, 0.0]])[draw.integers(2, size=count)]  # gradients of two records, mean 0
    added, total = np.cov(noise.T), np.cov((noise + sampled).T)
    assert added == pytest.approx(np.eye(2) / 4, abs=0.01)
    assert total == pytest.approx(np.diag([1.25, 0.25]), abs=0.02)
