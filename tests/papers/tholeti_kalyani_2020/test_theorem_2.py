"""Theorem 2."""

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated


def test_longer_steps_than_allowed_are_reported():
    evaluate = evaluated("tholeti-kalyani-2020/theorem-2")
    values = {"zeta": "0.01", "step_threshold": "0.1"}
    assert evaluate("rate", eta="0.02", **values).applies is True
    assert evaluate("rate", eta="0.03", **values).applies is False


def test_the_noise_that_is_added_is_isotropic_but_the_total_is_not():
    draw = np.random.default_rng(3)
    count, dimension = 100_000, 2
    noise = draw.standard_normal((count, dimension))
    noise *= (draw.uniform(size=count) ** (1 / dimension) / np.linalg.norm(noise, axis=1))[:, None]
    sampled = np.array([[1.0, 0.0], [-1.0, 0.0]])[draw.integers(2, size=count)]  # gradients of two records, mean 0
    added, total = np.cov(noise.T), np.cov((noise + sampled).T)
    assert added == pytest.approx(np.eye(2) / 4, abs=0.01)
    assert total == pytest.approx(np.diag([1.25, 0.25]), abs=0.02)
