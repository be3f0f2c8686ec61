"""Lemma 8.1: the step of its source that was proved anew, on random projections."""

import numpy as np
import pytest


@pytest.mark.parametrize("k", [20, 60])
def test_a_projected_gradient_may_vanish_only_for_small_gradients(k):
    # v = X^T a/n with |a_i| <= G = 1 and Φv = 0: an attack on |v| <= 2|Φv| + C/√k
    n, d = 150, 200
    draw = np.random.default_rng(k)
    features = draw.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    projection = draw.normal(size=(k, d)) / np.sqrt(k)
    image = projection @ features.T
    inverse = np.linalg.pinv(image)
    a = np.sign(draw.normal(size=n))
    for _ in range(100):
        a = a - inverse @ (image @ a)  # now X^T a lies in the kernel
        v = features.T @ a / (n * np.abs(a).max())
        a = np.clip(3 * a, -1, 1)
    assert np.linalg.norm(projection @ v) < 1e-9
    assert 0.1 < np.linalg.norm(v) * np.sqrt(k) < 2


@pytest.mark.parametrize("k", [20, 100, 199])
def test_the_norm_that_the_source_bounds_is_at_least_one(k):
    d = 200
    projection = np.random.default_rng(k).normal(size=(k, d)) / np.sqrt(k)
    padded = np.vstack([projection, np.zeros((d - k, d))])
    assert np.linalg.norm(np.eye(d) - padded, 2) >= 1
