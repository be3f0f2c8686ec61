"""Equation (2): the constants that would do."""

import pytest
from mpmath import ln, sqrt


def constant(dimension, size, tail):
    return (8 * (dimension * ln(size / dimension) + tail) + 4 * dimension) / (dimension * ln(size / sqrt(dimension)))


def test_the_constants_that_would_do():
    smallest = 2 + sqrt(2)
    dimensions = (1, 2, 3, 5, 10, 100)
    stated = [
        constant(d, smallest * d * x, ln(smallest * d * x / (2 * sqrt(d)))) for d in dimensions for x in (1, 3, 99)
    ]
    needed = [constant(d, smallest * d * x, ln(smallest * d * x / sqrt(d))) for d in dimensions for x in (1, 3, 99)]
    assert max(stated) < 16
    assert max(needed) == constant(1, smallest, ln(smallest)) == pytest.approx(19.2575, abs=1e-3)
    assert max(needed) < 20
