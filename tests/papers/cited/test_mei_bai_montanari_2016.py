"""Mei, Bai & Montanari: a Gaussian location model attains it up to logarithms."""

import pytest
from mpmath import ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated


def test_for_a_location_model_it_is_loose_by_the_logarithm_only():
    """f(w, z) = |w - z|²/2 with z ~ N(0, τ² I): the gradients differ by the mean of the z, everywhere the same."""
    found = evaluated("cited/mei-bai-montanari-2016/theorem-1")(tau=2, d=25, n=10_000).value.lower
    exact = 2 * sqrt(mpf(25) / 10_000)  # root mean square
    assert found / float(exact) == pytest.approx(float(sqrt(ln(10_000))))
