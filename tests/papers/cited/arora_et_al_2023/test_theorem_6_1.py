"""Arora et al., Theorem 6.1: where the two terms meet; what a note says, with numbers."""

import numpy as np
import pytest
from mpmath import mpf, root, sqrt

from tests.papers.twins import evaluated


def test_the_projection_balances_its_loss_against_the_methods_rate():
    product = mpf(10) ** 5
    found = evaluated("cited/arora-et-al-2023/theorem-6.1")("projection-dimension", n=10**5, epsilon=1)
    size = mpf(found.value.lower)
    assert float(root(size / product**2, 3)) == pytest.approx(float(1 / sqrt(size)))


def test_a_projection_and_its_lift_are_far_from_the_identity_and_the_bound_holds_nevertheless():
    generator = np.random.default_rng(3)
    n, d, k = 400, 200, 50
    features = generator.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    projection = generator.standard_normal((k, d)) / np.sqrt(k)
    assert np.linalg.norm(np.eye(d) - np.eye(d, k) @ projection, 2) >= 1
    for _ in range(50):
        weights = generator.choice([-1.0, 1.0], size=n)  # derivatives of the losses, at most G = 1
        gradient = features.T @ weights / n
        assert np.linalg.norm(gradient) <= 2 * np.linalg.norm(projection @ gradient) + 1 / np.sqrt(k)
