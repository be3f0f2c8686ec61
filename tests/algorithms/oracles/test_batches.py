"""Means over batches, of one repetition as of many."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms.oracles.batches import batch_means


class Counts:
    """A problem whose record i has the gradient i, everywhere."""

    def batch_gradient(self, X, rows):
        return rows.mean(axis=1, dtype=float, keepdims=True)


@pytest.mark.parametrize("sizes", [(3,), (3, 3), (3, 5), (4,), (4, 4), (0,), (0, 4)])
def test_a_sum_is_divided_by_the_public_number_whatever_the_sizes(sizes):
    rows = [np.arange(1, 1 + size) for size in sizes]
    found = batch_means(Counts(), np.zeros((len(sizes), 1)), rows, Fraction(4))
    assert found.ravel().tolist() == pytest.approx([each.sum() / 4 for each in rows], rel=1e-15)
