"""Theorem 6: the l1 geometry of its sampling error."""

import numpy as np
import pytest


@pytest.mark.parametrize(("records", "dimension"), [(40, 3), (40, 400), (900, 400)])
def test_random_signs_in_the_largest_coordinate(records, dimension):
    generator = np.random.default_rng(records + dimension)
    features = generator.choice([-1.0, 1.0], size=(records, dimension))
    signs = generator.choice([-1.0, 1.0], size=(300, records))
    largest = np.abs(signs @ features).max(axis=1)
    bound = np.sqrt(2 * records * np.log(2 * dimension))
    assert 0.5 * bound < largest.mean() <= bound
