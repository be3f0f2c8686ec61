"""Assumption 1 and what it gives: held against the double well of test_theorem_3."""

import math

from tests.papers.reference_formulas import reference_of

twin = reference_of("wang-chen-xu-2019/assumption-1")


def test_dissipativity_is_attained():
    # f = -G|w| (smoothed away from 0), r = λ|w|²/2: at |w| = G/λ equality
    for lipschitz, regularisation in ((2.0, 0.3), (0.5, 4.0)):
        w = lipschitz / regularisation
        inner = w * (regularisation * w - lipschitz)
        bound = twin("dissipativity_slope", regularisation=regularisation) * w**2 - twin(
            "dissipativity_offset", G=lipschitz, regularisation=regularisation
        )
        assert math.isclose(inner, bound, abs_tol=1e-12)
