"""Definition 1: why the distance is not squared."""

from fractions import Fraction

import pytest

from tests.papers.reference_formulas import evaluated


def difference_of_intervals(shift):
    """Uniform laws on [0, 2] and [shift, shift + 2]: the mass of one outside of the other."""
    return Fraction(min(shift, 2)) / 2


def test_the_square_would_promise_too_little():
    formula = evaluated("tholeti-kalyani-2020/equation-6")
    shift = Fraction(1, 2)
    with_the_square = formula(Delta_g=shift**2, r_u=1, d=1).value
    with_the_distance = formula(Delta_g=shift, r_u=1, d=1).value
    true = difference_of_intervals(shift)
    assert with_the_square.upper == pytest.approx(1 / 8)
    assert with_the_square.upper < true
    assert with_the_distance.lower == pytest.approx(float(true))
