"""Assumption 1 and what it gives, a second time, and held against the double well of test_theorem_3."""

import math

TWINS = {
    "smoothness": lambda smoothness, regularisation: regularisation + smoothness,
    "dissipativity_slope": lambda regularisation: regularisation / 2,
    "dissipativity_offset": lambda lipschitz, regularisation: lipschitz * lipschitz / regularisation / 2,
    "radius": lambda lipschitz, regularisation: lipschitz / regularisation,
}


def test_dissipativity_is_attained():
    # f = -G|w| (smoothed away from 0), r = λ|w|²/2: at |w| = G/λ equality
    for lipschitz, regularisation in ((2.0, 0.3), (0.5, 4.0)):
        w = lipschitz / regularisation
        inner = w * (regularisation * w - lipschitz)
        bound = TWINS["dissipativity_slope"](regularisation) * w**2 - TWINS["dissipativity_offset"](
            lipschitz, regularisation
        )
        assert math.isclose(inner, bound, abs_tol=1e-12)
