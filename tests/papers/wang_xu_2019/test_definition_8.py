"""Definition 8: widths of balls and the simplex, against quadrature."""

import mpmath
import pytest
from mpmath import gamma, sqrt

from tests.papers.reference_formulas import evaluated


def largest_of(count, both_signs):
    """E max of ``count`` Gaussians, or of their absolute values."""
    share = (lambda x: mpmath.erf(x / sqrt(2))) if both_signs else mpmath.ncdf
    above = mpmath.quad(lambda x: 1 - share(x) ** count, [0, 1, 2, 4, 12])
    return above if both_signs else above - mpmath.quad(lambda x: share(-x) ** count, [0, 1, 2, 4, 12])


@pytest.mark.parametrize("dimension", [2, 3, 10, 200])
def test_widths_against_quadrature(dimension):
    evaluate = evaluated("wang-xu-2019/definition-8")
    ball = float(gamma((dimension + 1) / 2) / gamma(dimension / 2) * sqrt(2))
    assert evaluate("l2-ball", d=dimension, R=1).value.lower == pytest.approx(ball)
    assert ball <= dimension**0.5
    for part, both in (("l1-ball", True), ("simplex", False)):
        bound = evaluate(part, d=dimension, R=1).value.lower
        assert 0.4 * bound < largest_of(dimension, both) <= bound
