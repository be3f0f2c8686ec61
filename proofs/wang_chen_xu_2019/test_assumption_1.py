"""Assumption 1: dissipativity is attained."""

import math


def test_dissipativity_is_attained():
    # f = -G|w| (smoothed away from 0), r = λ|w|²/2: at |w| = G/λ equality
    for lipschitz, regularisation in ((2.0, 0.3), (0.5, 4.0)):
        w = lipschitz / regularisation
        inner = w * (regularisation * w - lipschitz)
        bound = regularisation / 2 * w**2 - lipschitz**2 / (2 * regularisation)
        assert math.isclose(inner, bound, abs_tol=1e-12)
