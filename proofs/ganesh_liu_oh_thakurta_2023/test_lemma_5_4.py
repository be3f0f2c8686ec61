"""Lemma 5.4 by enumeration: three records, three values, an arbitrary randomised algorithm."""

from itertools import product

import numpy as np
import pytest


def test_the_identity_holds_exactly():
    generator = np.random.default_rng(5)
    law = np.array([0.2, 0.5, 0.3])
    loss = generator.normal(size=(4, 3))  # of 4 outputs on 3 values of a record
    algorithm = {data: generator.dirichlet(np.ones(4)) for data in product(range(3), repeat=3)}
    gap = difference = 0.0
    for data in product(range(3), repeat=3):
        weight = law[list(data)].prod()
        gap += weight * algorithm[data] @ (loss @ law - loss[:, list(data)].mean(axis=1))
        for fresh in range(3):
            for place in range(3):  # the place is uniform: the algorithm need not be symmetric
                other = (*data[:place], fresh, *data[place + 1 :])
                change = (algorithm[data] - algorithm[other]) @ loss[:, fresh]
                difference += weight * law[fresh] * change / 3
    assert gap == pytest.approx(difference)
    assert abs(gap) > 0.01
