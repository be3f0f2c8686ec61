from fractions import Fraction

import numpy as np
import pytest
import sympy

from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, double_well, landscape, power
from dpbounds.errors import InvalidValue

RADIUS = 3
GRID = np.linspace(-RADIUS, RADIUS, 600_001)


@pytest.fixture(params=[WAVY, DOUBLE_WELL, power(3), power(4)], ids=lambda profile: profile.name)
def problem(request):
    return landscape(request.param, records=40, start=[0.5, -1.0, 2.0], radius=RADIUS)


def test_constants_are_suprema(problem):
    _, slope, curvature = problem.profile.derivatives(GRID)
    third = np.diff(curvature) / np.diff(GRID)
    assert np.abs(curvature).max() == pytest.approx(float(problem.smoothness), rel=1e-6)
    assert np.abs(third).max() == pytest.approx(float(problem.hessian_lipschitz), rel=1e-3)
    ratio = np.abs(slope[GRID != 0] / GRID[GRID != 0]).max()
    assert ratio * RADIUS == pytest.approx(float(problem.profile.largest_slope(sympy.Integer(RADIUS))), rel=1e-5)


def test_bounds_hold_on_the_ball(problem):
    X = np.random.default_rng(0).standard_normal((4000, 3))
    X *= RADIUS * np.random.default_rng(1).random((4000, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    one = np.random.default_rng(2).integers(0, 40, size=(4000, 1))
    assert np.linalg.norm(problem.batch_gradient(X, one), axis=1).max() <= float(problem.lipschitz)
    values = problem.objective(X) + (problem.shifts[one[:, 0]] * X).sum(axis=1)
    assert values.max() - values.min() <= float(problem.loss_range)
    gap = problem.objective(problem.initial_point[None])[0] - float(problem.minimum)
    assert gap <= float(problem.initial_gap) <= gap * 1.001


def test_gradients_hessians_and_batches(problem):
    X, h = np.random.default_rng(3).uniform(-1.5, 1.5, (3, 3)), 1e-5
    for j in range(3):
        step = np.eye(3)[j] * h
        slope = (problem.objective(X + step) - problem.objective(X - step)) / (2 * h)
        assert problem.gradient(X)[:, j] == pytest.approx(slope, abs=1e-8)
        curvature = (problem.gradient(X + step) - problem.gradient(X - step)) / (2 * h)
        assert problem.hessian(X)[:, :, j] == pytest.approx(curvature, abs=1e-7)
    everyone = np.tile(np.arange(40), (3, 1))
    assert problem.batch_gradient(X, everyone) == pytest.approx(problem.gradient(X), abs=1e-13)


def test_the_wavy_landscape_is_pl_and_not_convex():
    w = np.linspace(-20, 20, 400_000)
    value, slope, curvature = WAVY.derivatives(w)
    assert curvature.min() < -3.9
    assert (slope**2 / 2 >= float(WAVY.pl_constant) * value).all()
    assert (slope**2 / 2 < 1.01 * float(WAVY.pl_constant) * value).any()


def test_saddles_and_minima_are_where_they_are_said_to_be():
    wells = landscape(DOUBLE_WELL, records=2, start=[0, 0], radius=2)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, -1.0]])
    assert (wells.gradient(X) == 0).all()
    assert np.linalg.eigvalsh(wells.hessian(X))[:, 0].tolist() == [-1, -1, 2]
    assert wells.objective(X)[2] == float(wells.minimum)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"records": 3}, "records must be .*, not 3"),
        ({"start": [3, 0.1]}, "start"),
        ({"start": [np.nan]}, "start"),
        ({"radius": 0}, "radius must be .*, not 0"),
        ({"shift_bound": -1}, "shift_bound must be .*, not -1"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        landscape(WAVY, **{"records": 2, "start": [0.0], "radius": 3, **changes})


@pytest.mark.parametrize("m", [3, 4, 7])
def test_powers_meet_their_kl_inequality_with_equality(m):
    value, slope, _ = power(m).derivatives(np.linspace(-2, 2, 1001))
    assert value == pytest.approx((np.abs(slope) / m) ** (m / (m - 1)), rel=1e-11, abs=1e-300)
    with pytest.raises(InvalidValue, match=r"degree must be .*, not 2"):
        power(2)


def test_points_where_the_constants_do_not_hold_are_refused(problem):
    """A gradient there may be longer than what noise is calibrated for."""
    on_the_sphere = np.array([[0.0, 0.0, RADIUS * (1 + 1e-12)]])  # as a projection in floating point leaves it
    rows = np.arange(40)[None].repeat(40, axis=0).T[:, :1]
    longest = np.linalg.norm(problem.batch_gradient(on_the_sphere.repeat(40, axis=0), rows), axis=1).max()
    assert longest <= float(problem.lipschitz)
    beyond = np.array([[0.0, 0.0, RADIUS * (1 + 1e-8)]])
    for ask in (problem.objective, problem.gradient, problem.objective_and_gradient, problem.hessian):
        with pytest.raises(InvalidValue, match="project first"):
            ask(beyond)
    with pytest.raises(InvalidValue, match="project first"):
        problem.batch_gradient(np.array([[np.nan, 0.0, 0.0]]), [[0]])


@pytest.mark.parametrize("depth", [1000, 10**6])
def test_the_gap_is_a_bound_where_terms_cancel(depth):
    # near the bottom w² = a of w⁴/4 - a w²/2 the gap is tiny and its terms are not
    bottom = depth**0.5
    for shift in np.linspace(-1e-3, 1e-3, 41):
        one = landscape(double_well(depth), 2, [bottom + shift], 2 * bottom)
        exact = (Fraction(float(bottom + shift)) ** 2 - depth) ** 2 / 4
        assert exact <= Fraction(str(one.initial_gap)) < exact + depth**2 * 1e-8
