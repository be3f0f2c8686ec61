"""Neighbours that the mechanisms on a ball tell apart as well as they can."""

import numpy as np

from dpbounds.algorithms.problems import WAVY, landscape

BOUND, RECORDS = 1000, 400


def steep():
    """Records h(x) + zx with |z| <= B, a steep B beside a flat h."""
    return landscape(WAVY, RECORDS, [0.0], "0.1", shift_bound=BOUND)


def loss_of_neighbours(beta, flat, x, factor):
    """The largest log-ratio of the laws on the points x where one z moves from B to -B, or is left out (n stays)."""

    def law(slope):
        exponents = -flat - beta * slope * x
        return exponents - np.logaddexp.reduce(exponents)

    return np.abs(law(BOUND) - law(BOUND * (1 - factor / RECORDS))).max()
