"""Theorem A.6: a coin flip that refutes the factor d, and the factor 2d for sums of signed matrices."""

from itertools import product

import numpy as np
import pytest


def tail(dimension, threshold, variance):
    """The bound with the factor 2d, for matrices of norm 1."""
    return 2 * dimension * np.exp(-(threshold**2) / 2 / (variance + threshold / 3))


def test_one_coin_flip_exceeds_the_printed_bound():
    printed = tail(1, 1, 1) / 2
    probability = sum(abs(sign) >= 1 for sign in (1, -1)) / 2  # d = m = 1, X = ±1, t = 1
    assert printed == pytest.approx(0.687, abs=1e-3)
    assert printed < probability == 1 <= 2 * printed


@pytest.mark.parametrize("threshold", [1.0, 2.0, 3.5, 5.0])
def test_small_sums_of_signed_matrices_exactly(threshold):
    generator = np.random.default_rng(3)
    matrices = generator.normal(size=(8, 3, 3))
    matrices = [(one + one.T) / np.linalg.norm(one + one.T, 2) for one in matrices]
    variance = np.linalg.norm(sum(one @ one for one in matrices), 2)
    norms = [
        np.linalg.norm(sum(sign * one for sign, one in zip(signs, matrices, strict=True)), 2)
        for signs in product((1, -1), repeat=8)
    ]
    probability = np.mean([norm >= threshold for norm in norms])
    assert probability <= tail(3, threshold, variance)
