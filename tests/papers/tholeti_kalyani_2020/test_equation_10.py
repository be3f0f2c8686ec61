"""Equation (10): against difference quotients of equation (6)."""

import pytest
from mpmath import diff, mpf, workdps

from tests.papers.reference_formulas import evaluated

from_text = evaluated("tholeti-kalyani-2020/equation-10")


def delta(distance, dimension):
    value = evaluated("tholeti-kalyani-2020/equation-6")(Delta_g=str(distance), r_u=1, d=dimension, digits=40)
    middle = (value.value.exact_lower + value.value.exact_upper) / 2
    return mpf(middle.numerator) / middle.denominator


@pytest.mark.parametrize("dimension", [1, 2, 3, 20])
def test_the_slopes_are_difference_quotients(dimension):
    with workdps(40):
        values = {"Delta_g": 1, "r_u": 1, "d": dimension}
        slope = diff(lambda x: delta(x, dimension), mpf(1), h=mpf(10) ** -8)
        assert from_text("in-the-distance", **values).value.lower == pytest.approx(float(slope), rel=1e-6)
        # dz/dΔ = Δ/2 = 1/2 at Δ = 1
        assert from_text("in-the-square", **values).value.lower == pytest.approx(float(2 * slope), rel=1e-6)


@pytest.mark.parametrize("dimension", [1, 2, 10, 1000])
def test_the_slope_at_zero_bounds_the_curve(dimension):
    slope = from_text("at-zero", r_u=1, d=dimension).value.upper
    for distance in ("0.001", "0.1", "1", "1.9"):
        assert float(delta(distance, dimension)) <= slope * float(distance) * (1 + 1e-12)
