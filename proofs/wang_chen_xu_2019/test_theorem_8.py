"""Theorem 8: norms of symmetric noise."""

import numpy as np
import pytest


def symmetric(generator, count, dimension):
    entries = generator.normal(size=(count, dimension, dimension))
    upper = np.triu(entries)
    return upper + np.triu(entries, 1).transpose(0, 2, 1)


@pytest.mark.parametrize("dimension", [2, 30])
def test_norms_of_symmetric_noise(dimension):
    norms = np.abs(np.linalg.eigvalsh(symmetric(np.random.default_rng(2), 800, dimension))).max(axis=1)
    assert norms.mean() <= 2 * dimension**0.5 * 1.05  # E λ_max <= 2√d; of the norm a little more
    for chance in (0.2, 0.02):
        limit = 2 * dimension**0.5 + 2 * np.log(2 / chance) ** 0.5
        assert (norms > limit).mean() <= chance
