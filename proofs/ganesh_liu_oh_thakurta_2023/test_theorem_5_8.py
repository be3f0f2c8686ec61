"""Theorem 5.8: the size of packings of a disc."""

import numpy as np
import pytest


@pytest.mark.parametrize("radius", [0.5, 0.2])
def test_packings_of_a_disc_are_smaller(radius):
    generator = np.random.default_rng(7)
    points = generator.uniform(-1, 1, size=(6000, 2))
    points = points[(points**2).sum(axis=1) <= 1]
    packing = points[:1]
    for point in points:
        if ((packing - point) ** 2).sum(axis=1).min() > radius**2:
            packing = np.vstack([packing, point])
    assert 0.2 * (1 + 2 / radius) ** 2 < len(packing) <= (1 + 2 / radius) ** 2
