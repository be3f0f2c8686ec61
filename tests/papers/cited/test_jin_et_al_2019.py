"""Jin et al.: sums of random signs in one and many dimensions."""

import numpy as np
import pytest
from mpmath import binomial, ln, sqrt

from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("count", [10, 100])
def test_sums_of_random_signs_stay_below_with_constant_2(count):
    """|x| = 1 is norm-sub-Gaussian with s² = 1/(2 ln 2): 2 exp(-t²/2s²) >= 1 for t <= 1."""
    for failure in ("0.2", "1e-3"):
        found = evaluated("cited/jin-et-al-2019/hoeffding")(
            norm_sub_gaussian=sqrt(1 / (2 * ln(2))), b=count, d=1, zeta=failure
        )
        edge = 2 * found.value.lower
        tail = sum(binomial(count, k) for k in range(count + 1) if abs(2 * k - count) >= edge) / 2**count
        assert tail <= float(failure)


def test_the_dimension_hardly_matters():
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((300, 40, 64))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    norms = np.linalg.norm(vectors.sum(axis=1), axis=1)
    found = evaluated("cited/jin-et-al-2019/hoeffding")(
        norm_sub_gaussian=sqrt(1 / (2 * ln(2))), b=40, d=64, zeta="0.01"
    )
    assert norms.max() < found.value.lower
