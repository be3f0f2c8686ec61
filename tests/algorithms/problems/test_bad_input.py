"""Every constructor of a problem from data refuses what it cannot vouch for, and clips what is too long."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems.points import checked_points, checked_rows, checked_start
from dpbounds.errors import InvalidValue

N = 6
FEATURES = np.arange(12.0).reshape(N, 2)
LABELS = np.array([1, -1, 1, -1, 1, -1])
OF_LABELS = (problems.sigmoid_loss, problems.squared_sigmoid_link, problems.squared_probit_link)
OF_TARGETS = (
    problems.geman_mcclure,
    problems.cauchy,
    problems.biweight_regression,
    problems.phase_retrieval,
    problems.least_squares,
)
every = pytest.mark.parametrize("build", OF_LABELS + OF_TARGETS, ids=lambda build: build.__name__)

HUGE = np.array([[1e308, 1e308], [1e-320, 0.0], [0.0, 0.0], [3.0, -4.0], [1e200, -1.0], [0.1, 0.2]])


@every
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.where(FEATURES == 3, np.nan, FEATURES), r"features\[1, 1\] must be .*finite.*, not nan"),
        (np.where(FEATURES == 3, -np.inf, FEATURES), r"features\[1, 1\] must be .*, not -inf"),
        (FEATURES[:, 0], r"features.shape must be .*, not \(6,\)"),
        (FEATURES[None], r"features.shape must be .*, not \(1, 6, 2\)"),
        (np.zeros((0, 2)), "features.shape"),
        (np.zeros((N, 0)), "features.shape"),
        ([["a", "b"]] * N, "features must be .*, not list"),
        ([[1.0, 2.0], [1.0]] * 3, "features must be .*, not list"),
        (FEATURES[:-1], "shape must be \\(5,\\)"),
    ],
)
def test_bad_features(build, features, message):
    with pytest.raises(InvalidValue, match=message):
        build(features, LABELS)


@every
@pytest.mark.parametrize("bound", [0, -1, math.nan, math.inf, None, "large", True, 1e-200, 1e200])
def test_a_feature_bound_is_a_public_positive_number(build, bound):
    with pytest.raises(InvalidValue, match="feature_bound must be "):
        build(FEATURES, LABELS, feature_bound=bound)


@every
@pytest.mark.parametrize("radius", [0, -2, math.nan, "wide"])
def test_bad_radius(build, radius):
    with pytest.raises(InvalidValue, match="radius must be "):
        build(FEATURES, LABELS, radius=radius)


@pytest.mark.parametrize("build", OF_LABELS)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, -1, 0, 1, 1, 1], r"labels\[2\] must be .*-1 or \+1.*, not 0.0"),
        ([1, 0, 0, 1, 1, 0], r"2 \* labels - 1"),
        ([1, -1, math.nan, 1, 1, 1], r"labels\[2\] must be .*, not nan"),
        ([1, -1, 2, 1, 1, 1], r"labels\[2\] must be .*, not 2.0"),
        (["up"] * N, "labels must be .*, not list"),
        (np.ones((N, 1)), "labels.shape"),
        (np.ones(N + 1), "labels.shape"),
    ],
)
def test_bad_labels(build, labels, message):
    with pytest.raises(InvalidValue, match=message):
        build(FEATURES, labels)


@pytest.mark.parametrize("build", OF_TARGETS)
@pytest.mark.parametrize("bound", [0, -1, math.nan, math.inf, None])
def test_a_target_bound_is_a_public_positive_number(build, bound):
    with pytest.raises(InvalidValue, match="target_bound must be "):
        build(FEATURES, LABELS, target_bound=bound)


@pytest.mark.parametrize("build", OF_TARGETS)
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([1, 2, math.inf, 1, 1, 1], r"targets\[2\] must be .*, not inf"),
        (np.ones((N, 1)), "targets.shape"),
        (["up"] * N, "targets must be .*, not list"),
    ],
)
def test_bad_targets(build, targets, message):
    with pytest.raises(InvalidValue, match=message):
        build(FEATURES, targets)


@every
def test_records_without_a_bound_are_clipped_exactly(build):
    """Whatever the features, no row is longer than the public bound in exact arithmetic; short rows stay."""
    bound = Fraction(1, 3)
    problem = build(HUGE, LABELS, feature_bound="1/3")
    rows = problem.signed_features if hasattr(problem, "signed_features") else problem.features
    for row in rows:
        assert sum(Fraction(float(entry)) ** 2 for entry in row) <= bound**2
    assert np.abs(rows[5]).tolist() == [0.1, 0.2]
    assert np.linalg.norm(rows[[0, 3, 4]], axis=1) == pytest.approx(1 / 3)
    norms = np.linalg.norm(problem.batch_gradient(np.full((N, 2), 0.5), np.arange(N)[:, None]), axis=1)
    assert norms.max() <= float(problem.lipschitz)


@pytest.mark.parametrize("build", OF_TARGETS)
def test_targets_are_clipped_to_their_bound(build):
    problem = build(FEATURES, [1e308, -1e308, 0.2, 0.0, 0.3, -0.1], target_bound="1/2")
    low = 0.0 if build is problems.phase_retrieval else -0.5
    assert problem.targets.min() == pytest.approx(low, abs=1e-12)
    assert problem.targets.max() == pytest.approx(0.5)
    assert (np.abs(problem.targets) <= 0.5).all()
    assert problem.targets[[2, 4]].tolist() == [0.2, 0.3]


@every
@pytest.mark.parametrize("X", [np.zeros(2), np.zeros((1, 3)), np.zeros((1, 1, 2))])
def test_points_of_another_shape(build, X):
    problem = build(FEATURES, LABELS)
    for ask in (problem.objective, problem.gradient, problem.hessian, problem.objective_at):
        with pytest.raises(InvalidValue, match=r"X\.shape"):
            ask(X)


@every
@pytest.mark.parametrize("rows", [[[N]], [[-1]], [[0.5]], [0], [[]], [[0], [1]]])
def test_rows_that_are_none(build, rows):
    with pytest.raises(InvalidValue, match="rows"):
        build(FEATURES, LABELS).batch_gradient(np.zeros((1, 2)), rows)


def test_shared_checks():
    assert checked_points([[3.0, 4.0]], 2, Fraction(5)).tolist() == [[3.0, 4.0]]
    assert checked_points([[3.0, 4.0 + 1e-10]], 2, Fraction(5)).shape == (1, 2)
    for X in ([[3.0, 4.0 + 1e-7]], [[math.nan, 0.0]], [[math.inf, 0.0]]):
        with pytest.raises(InvalidValue, match="project first"):
            checked_points(X, 2, Fraction(5))
    assert checked_rows([[1, 1]], 1, 2).tolist() == [[1, 1]]
    # on the sphere by rounding, outside by exact arithmetic
    with pytest.raises(InvalidValue, match="start"):
        checked_start([0.1, 0.0], Fraction(1, 10))
    assert not checked_start([0.1, 0.0], Fraction(0.1)).flags.writeable
    with pytest.raises(InvalidValue, match=r"centre must be .*, not str"):
        checked_start("here", None, "centre")
