"""Every constructor of a problem from data refuses what it cannot vouch for, and clips what is too long."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems import sets
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


def wavy(changes):
    return problems.landscape(problems.WAVY, **{"records": 2, "start": [0.0], "radius": 3, **changes})


def design(changes):
    return problems.spread_least_squares(**{"records": 30, "solution": [0.1] * 6, "rank": 3, **changes})


spread = problems.surface_landscape


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: problems.bumps.coins(10, 16), "dimension must be .*, not 16"),
        (lambda: problems.bumps.coins(0, 3), "records must be .*, not 0"),
        (lambda: problems.bumps.coins(10**6, 15), "records must be .*, not 1000000"),
        (lambda: problems.bumps.coins(10, 2, [0.5] * 3), "probabilities.shape"),
        (lambda: problems.bumps.coins(10, 1, [0.5, math.nan]), "probabilities"),
        (lambda: problems.bumps.coins(10, 1, [0.5, 1.5]), "probabilities"),
        (lambda: problems.bumps.coins(10, 2, slope=0), "slope must be .*, not 0"),
        (lambda: problems.bumps.coins(10, 2, radius=-1), "radius must be .*, not -1"),
        (lambda: problems.bumps.marked(10, 2, mark=4, probability=0.5), "index of the bump must be .*, not 4"),
        (lambda: problems.bumps.marked(10, 2, mark=0, probability=math.nan), "probability must be .*, not nan"),
        (lambda: problems.bumps.hard_probability(10, 2, 0, 0), "epsilon must be .*, not 0"),
        (lambda: problems.bumps.hard_probability(10, 2, 1, 1), "delta must be .*, not 1"),
        (lambda: problems.escape_test(1), "dimension must be .*, not 1"),
        (lambda: problems.population_phase_retrieval(2, 0), "signal must be .*, not 0"),
        (lambda: problems.population_phase_retrieval(2, math.nan), "signal must be .*, not nan"),
        (lambda: problems.narrow_well(2, 0), "width must be .*, not 0"),
        (lambda: problems.narrow_well(2, 1, slope=-1), "slope must be .*, not -1"),
        (lambda: problems.narrow_well(2, 1, centre=[0]), "centre.shape"),
        (lambda: problems.narrow_well(2, 1, centre=[0, math.inf]), "centre"),
        (lambda: problems.gibbs_risk(0, 2, 1), "inverse_temperature must be .*, not 0"),
        (lambda: problems.gibbs_risk(1, 2, 1, radius=0.5), "radius must be .*, not 0.5"),
        (lambda: spread(problems.escape_test(2), 2, [0, 0, 0]), "start.shape"),
        (lambda: spread(problems.escape_test(2), 3, [0, 0]), "records must be .*, not 3"),
        (lambda: spread(problems.escape_test(2), 2, [0, 0], shift_bound=0), "shift_bound must be .*, not 0"),
        (lambda: spread(problems.escape_test(2), 2, [5, 0], radius=1), "start"),
        (lambda: spread(problems.escape_test(2), 2, [0, 0], radius=-1), "radius must be .*, not -1"),
        (lambda: spread(problems.narrow_well(2, 1), 2, [0, 0]).hessian(np.zeros((1, 2))), "not smooth"),
        (lambda: spread(problems.population_phase_retrieval(2), 2, [0, 0]), "give a ball"),
        (lambda: spread(problems.population_phase_retrieval(2, 3), 2, [0, 0], radius=2), "hold the signal"),
        (lambda: sets.L2Ball(0), "dimension"),
        (lambda: sets.L1Ball(3, 0), "radius"),
        (lambda: sets.Simplex(3, -1), "empty"),
        (lambda: sets.Simplex(3, math.inf), "radius"),
        (lambda: sets.Box([0, 1], [1, 0]), r"lower\[1\].*empty"),
        (lambda: sets.Box([0, 1], [1, 1]), "leave a fixed coordinate out"),
        (lambda: sets.Box([0], [1, 2]), "as many"),
        (lambda: sets.Box([], []), "at least one"),
        (lambda: sets.Polytope([[1, 2], [1, 2]]), "twice"),
        (lambda: sets.Polytope([[1, math.nan]]), r"vertices\[0, 1\]"),
        (lambda: sets.Polytope([1, 2]), "one row per vertex"),
        (lambda: sets.SparseVectors(3, 4), "at most the dimension"),
        (lambda: wavy({"records": 3}), "records must be .*, not 3"),
        (lambda: wavy({"start": [3, 0.1]}), "start"),
        (lambda: wavy({"start": [np.nan]}), "start"),
        (lambda: wavy({"radius": 0}), "radius must be .*, not 0"),
        (lambda: wavy({"shift_bound": -1}), "shift_bound must be .*, not -1"),
        (lambda: design({"records": 31}), "a multiple of the rank"),
        (lambda: design({"rank": 7}), "rank must be .*, not 7"),
        (lambda: design({"rank": 0}), "rank must be .*, not 0"),
        (lambda: design({"solution": [2.0] * 6}), "solution"),
        (lambda: design({"solution": [np.nan] * 6}), "solution"),
    ],
)
def test_what_makes_no_problem_and_no_set_is_refused(make, message):
    with pytest.raises(InvalidValue, match=message):
        make()
