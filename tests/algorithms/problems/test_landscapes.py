from fractions import Fraction

import numpy as np
import pytest
import sympy

from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, double_well, landscape, power
from dpbounds.errors import InvalidValue

RADIUS = 3
GRID = np.linspace(-RADIUS, RADIUS, 60_001)
PROFILES = [WAVY, DOUBLE_WELL, double_well("1/4"), double_well(3), double_well(6), power(3), power(4)]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_constants_are_suprema(profile):
    problem = landscape(profile, records=40, start=[0.5, -1.0, 2.0], radius=RADIUS)
    value, slope, curvature = problem.profile.derivatives(GRID)
    third = np.diff(curvature) / np.diff(GRID)
    assert np.abs(curvature).max() == pytest.approx(float(problem.smoothness), rel=1e-6)
    assert np.abs(third).max() == pytest.approx(float(problem.hessian_lipschitz), rel=1e-3)
    assert value.min() == pytest.approx(float(profile.minimum), abs=1e-7)
    ratio = np.abs(slope[GRID != 0] / GRID[GRID != 0]).max()
    assert ratio * RADIUS == pytest.approx(float(profile.largest_slope(sympy.Integer(RADIUS))), rel=1e-5)
    assert float(problem.lipschitz) == pytest.approx(ratio * RADIUS + 1, rel=1e-5)


@pytest.mark.parametrize("depth", ["1/4", "1", "3"])
def test_saddles_and_minima_are_where_they_are_said_to_be(depth):
    wells, a = landscape(double_well(depth), records=2, start=[0, 0], radius=RADIUS), float(Fraction(depth))
    X = np.array([[0.0, 0.0], [a**0.5, 0.0], [a**0.5, -(a**0.5)]])
    assert wells.gradient(X) == pytest.approx(0, abs=1e-15)
    assert np.linalg.eigvalsh(wells.hessian(X))[:, 0] == pytest.approx([-a, -a, 2 * a])
    assert wells.objective(X)[2] == pytest.approx(float(wells.minimum))
    with pytest.raises(InvalidValue, match=r"depth must be .*, not 0"):
        double_well(0)


@pytest.mark.parametrize("m", [3, 4, 7])
def test_powers_meet_their_kl_inequality_with_equality(m):
    value, slope, _ = power(m).derivatives(np.linspace(-2, 2, 1001))
    assert value == pytest.approx((np.abs(slope) / m) ** (m / (m - 1)), rel=1e-11, abs=1e-300)
    with pytest.raises(InvalidValue, match=r"degree must be .*, not 2"):
        power(2)


@pytest.mark.parametrize("depth", [1000, 10**6])
def test_the_gap_is_a_bound_where_terms_cancel(depth):
    # near the bottom w² = a of w⁴/4 - a w²/2 the gap is tiny and its terms are not
    bottom = depth**0.5
    for shift in np.linspace(-1e-3, 1e-3, 41):
        one = landscape(double_well(depth), 2, [bottom + shift], 2 * bottom)
        exact = (Fraction(float(bottom + shift)) ** 2 - depth) ** 2 / 4
        assert exact <= Fraction(str(one.initial_gap)) < exact + depth**2 * 1e-8
