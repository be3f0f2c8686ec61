"""Algorithm 5: the sensitivity of the upper triangle is attained."""

import numpy as np
import pytest


@pytest.mark.parametrize("dimension", [2, 7])
def test_sensitivity_of_the_upper_triangle_is_attained(dimension):
    # what one record moves has operator norm at most 1 here; its upper triangle then has an l2 norm of at most √d
    generator = np.random.default_rng(dimension)
    bases = np.linalg.qr(generator.normal(size=(200, dimension, dimension)))[0]
    spectra = generator.uniform(-1, 1, size=(200, 1, dimension))
    moved = (bases * spectra) @ bases.transpose(0, 2, 1)
    assert np.linalg.norm(np.triu(moved), axis=(1, 2)).max() <= dimension**0.5
    assert np.linalg.norm(np.triu(np.eye(dimension))) == pytest.approx(dimension**0.5)
