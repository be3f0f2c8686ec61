"""Gaussian widths: known closed forms, Monte Carlo, and enclosures that hold each other."""

import math

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.stats import norm

from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Polytope, Simplex, SparseVectors, support
from dpbounds.algorithms.problems.sets.widths import mean_largest, mean_largest_magnitude, mean_norm
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate


def enclosure(width):
    return width if isinstance(width, Enclosure) else evaluate(width, {})


def test_means_of_small_maxima_are_the_known_closed_forms():
    for count, known in ((2, 1 / sympy.sqrt(sympy.pi)), (3, 3 / (2 * sympy.sqrt(sympy.pi)))):
        exactly = evaluate(known, {}, digits=19)
        assert mean_largest(count).overlaps(exactly)
        assert mean_largest(count).width < 1e-18
    for count, known in ((1, sympy.sqrt(2 / sympy.pi)), (2, 2 / sympy.sqrt(sympy.pi))):
        assert mean_largest_magnitude(count).overlaps(evaluate(known, {}, digits=19))
        assert mean_largest_magnitude(count).width < 1e-18
    assert mean_largest(1) == Enclosure.exactly(0)


@pytest.mark.parametrize("count", [5, 100, 10**6])
def test_means_of_large_maxima_match_quadrature_of_the_density(count):
    def density(t):
        return t * count * norm.pdf(t) * norm.cdf(t) ** (count - 1)

    expected, _ = quad(density, -12, 12, points=[-3, 0, 3, 5], limit=400, epsabs=1e-12)
    assert (mean_largest(count).lower + mean_largest(count).upper) / 2 == pytest.approx(expected, rel=1e-9)
    assert mean_largest(count).width < 1e-17
    magnitude = mean_largest_magnitude(count)
    assert magnitude < math.sqrt(2 * math.log(2 * count))
    assert mean_largest(count) < magnitude


def test_mean_norm_is_the_mean_of_a_chi_variable():
    for k in (1, 2, 7):
        expected, _ = quad(lambda t, k=k: t**k * math.exp(-t * t / 2), 0, 40)
        expected /= 2 ** (k / 2 - 1) * math.gamma(k / 2)
        assert float(mean_norm(k)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "each",
    [
        L2Ball(6, "3/2"),
        L1Ball(6, "3/2"),
        Simplex(6, 2),
        Box([0, -1, -3], [1, 4, 2]),
        Polytope([[2, 0, 1], [-1, 1.5, 0], [0.5, -1, 2], [0, 0, -1.5]]),
        SparseVectors(12, 3, 2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_width_against_monte_carlo(each):
    """A right width is missed with probability below 2e-7 per set (5.2 standard errors), a fixed seed aside."""
    suprema = support(each, np.random.default_rng(11).standard_normal((100_000, each.dimension)))
    error = 5.2 * suprema.std() / math.sqrt(len(suprema))
    width = enclosure(each.gaussian_width)
    assert width.lower - error <= suprema.mean() <= width.upper + error
    if isinstance(each, (L2Ball, L1Ball, Simplex, Box)):
        assert width.width < 1e-12


def test_bounds_meet_where_they_should():
    simplex = Polytope(Simplex(5).vertices).gaussian_width
    assert simplex.width < 1e-15
    assert simplex.overlaps(Simplex(5).gaussian_width)
    assert SparseVectors(7, 1, 2).gaussian_width.overlaps(L1Ball(7, 2).gaussian_width)
    assert SparseVectors(7, 1, 2).gaussian_width.width < 1e-15
    assert SparseVectors(7, 7, 2).gaussian_width.overlaps(enclosure(L2Ball(7, 2).gaussian_width))
    assert SparseVectors(7, 7, 2).gaussian_width.width < 1e-13
    assert Polytope(L1Ball(4).vertices).gaussian_width.contains(L1Ball(4).gaussian_width)
    assert Polytope([[1, 2]]).gaussian_width == Enclosure.exactly(0)
    assert Simplex(1).gaussian_width == Enclosure.exactly(0) or Simplex(1).gaussian_width.upper == 0
