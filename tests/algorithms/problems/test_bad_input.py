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
OF_BALLS = (problems.phase_retrieval, problems.least_squares)

REFUSED = [
    *(
        (OF_LABELS + OF_TARGETS, {"features": features}, message)
        for features, message in (
            (np.where(FEATURES == 3, np.nan, FEATURES), r"features\[1, 1\] must be .*finite.*, not nan"),
            (np.where(FEATURES == 3, -np.inf, FEATURES), r"features\[1, 1\] must be .*, not -inf"),
            (FEATURES[:, 0], r"features.shape must be .*, not \(6,\)"),
            (FEATURES[None], r"features.shape must be .*, not \(1, 6, 2\)"),
            (np.zeros((0, 2)), "features.shape"),
            (np.zeros((N, 0)), "features.shape"),
            ([["a", "b"]] * N, "features must be .*, not list"),
            ([[1.0, 2.0], [1.0]] * 3, "features must be .*, not list"),
            (FEATURES[:-1], "shape must be \\(5,\\)"),
        )
    ),
    *(
        (OF_LABELS + OF_TARGETS, {"feature_bound": bound}, "feature_bound must be ")
        for bound in (0, -1, math.nan, math.inf, None, "large", True, 1e-200, 1e200)
    ),
    *((OF_LABELS + OF_TARGETS, {"radius": radius}, "radius must be ") for radius in (0, -2, math.nan, "wide")),
    *(
        (OF_LABELS, {"outcomes": labels}, message)
        for labels, message in (
            ([1, -1, 0, 1, 1, 1], r"labels\[2\] must be .*-1 or \+1.*, not 0.0"),
            ([1, 0, 0, 1, 1, 0], r"2 \* labels - 1"),
            ([1, -1, math.nan, 1, 1, 1], r"labels\[2\] must be .*, not nan"),
            ([1, -1, 2, 1, 1, 1], r"labels\[2\] must be .*, not 2.0"),
            (["up"] * N, "labels must be .*, not list"),
            (np.ones((N, 1)), "labels.shape"),
            (np.ones(N + 1), "labels.shape"),
        )
    ),
    *((OF_LABELS[:1], {"l1": l1}, f"l1 must be .*, not {l1!r}") for l1 in (-1, "x")),
    *((OF_TARGETS, {"target_bound": bound}, "target_bound must be ") for bound in (0, -1, math.nan, math.inf, None)),
    (OF_TARGETS, {"outcomes": [1, 2, math.inf, 1, 1, 1]}, r"targets\[2\] must be .*, not inf"),
    (OF_TARGETS, {"outcomes": np.ones((N, 1))}, "targets.shape"),
    (OF_TARGETS, {"outcomes": ["up"] * N}, "targets must be .*, not list"),
    (OF_BALLS, {"radius": None}, "radius must be .*, not None"),
    (OF_BALLS, {"start": [3, 0]}, "start"),
    (OF_BALLS, {"start": [0, 0, 0]}, "start.shape"),
    (OF_BALLS, {"start": [math.nan, 0]}, "start"),
]


@pytest.mark.parametrize(
    ("build", "changes", "message"), [(build, *case) for builds, *case in REFUSED for build in builds]
)
def test_what_cannot_be_vouched_for_is_refused(build, changes, message):
    given = {"features": FEATURES, "outcomes": LABELS, **changes}
    with pytest.raises(InvalidValue, match=message):
        build(given.pop("features"), given.pop("outcomes"), **given)


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
