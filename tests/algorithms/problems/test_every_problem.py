"""Every problem offers all of ``FiniteSum``; derivatives fit together, batches are those of their records, and the
constants, of which noise is made, hold."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.oracles import GradientDifferenceOracle, HessianOracle, at_least
from dpbounds.errors import InvalidValue

RNG = np.random.default_rng(4)
N, P, RADIUS = 40, 3, 2
FEATURES, TARGETS = RNG.standard_normal((N, P)), RNG.standard_normal(N)
LABELS, START = np.where(TARGETS > 0, 1, -1), [0.1, 0.0, -0.1]
BOUNDS = {"feature_bound": "3/2", "target_bound": 1}


def spread(surface, radius=RADIUS):
    return problems.surface_landscape(surface, N, START, radius=radius)


OF_RECORDS = {  # from features, labels and targets
    "sigmoid": lambda a, y, t: problems.sigmoid_loss(a, y, l1=0, feature_bound=2),
    "sigmoid in a ball": lambda a, y, t: problems.sigmoid_loss(a, y, l1=0, radius=RADIUS),
    "squared sigmoid": lambda a, y, t: problems.squared_sigmoid_link(a, y),
    "squared probit": lambda a, y, t: problems.squared_probit_link(a, y),
    "biweight": lambda a, y, t: problems.biweight_regression(a, t, cutoff=2),
    "Geman-McClure": lambda a, y, t: problems.geman_mcclure(a, t, feature_bound=2),
    "Cauchy": lambda a, y, t: problems.cauchy(a, t, feature_bound=2, radius=RADIUS),
    "phase retrieval": lambda a, y, t: problems.phase_retrieval(a, np.abs(t), RADIUS, start=START, **BOUNDS),
    "least squares": lambda a, y, t: problems.least_squares(a, t, RADIUS, **BOUNDS),
}
PROBLEMS = {name: lambda build=build: build(FEATURES, LABELS, TARGETS) for name, build in OF_RECORDS.items()} | {
    "wavy": lambda: problems.landscape(problems.WAVY, N, START, radius=RADIUS),
    "double well": lambda: problems.landscape(problems.double_well(2), N, START, radius=RADIUS),
    "cubic": lambda: problems.landscape(problems.power(3), N, START, radius=RADIUS),
    "quartic": lambda: problems.landscape(problems.power(4), N, START, radius=RADIUS),
    "escape test": lambda: spread(problems.escape_test(P), radius=None),
    "population": lambda: spread(problems.population_phase_retrieval(P)),
    "well": lambda: spread(problems.narrow_well(P, "1/2", slope=2, centre=[0.3, 0.0, -1.0])),
    "bumps": lambda: problems.bumps.coins(N, P, slope=2, radius=RADIUS, seed=4),
}
UNBOUNDED = ("sigmoid", "sigmoid in a ball")  # their constants hold in all of space


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]()


def in_ball(count, radius=RADIUS, seed=0):
    """Points up to the sphere, where many constants are attained."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, P))
    return X * radius * np.minimum(1, 1.3 * rng.random((count, 1))) / np.linalg.norm(X, axis=1, keepdims=True)


def test_it_is_a_finite_sum(problem):
    offered = {member for member in vars(problems.FiniteSum) if not member.startswith("_")}
    assert len(offered) > 10
    assert {member for member in offered if not hasattr(problem, member)} == set()
    assert (problem.records, problem.dimension) == (N, P)
    X = np.stack([problem.initial_point, np.full(P, 0.3)])
    values, gradients = problem.objective_and_gradient(X)
    assert (values.shape, gradients.shape) == ((2,), (2, P))
    assert problem.objective(X).tolist() == values.tolist()
    assert problem.gradient(X).tolist() == gradients.tolist()
    assert problem.objective_at(X) == pytest.approx(values, rel=1e-14)
    before = problem.initial_point
    before[:] = 7
    assert (problem.initial_point != 7).all()


def test_derivatives_match_differences(problem):
    X, h = in_ball(40, 0.7 * RADIUS), 1e-5
    if problem.smoothness is None:  # away from tips and rims, where there is no gradient
        lengths = np.linalg.norm(problem.gradient(X + h) - problem.gradient(X - h), axis=1)
        X = X[lengths < 1e-3]
        assert len(X) > 10
    for j, step in enumerate(h * np.eye(P)):
        slope = (problem.objective(X + step) - problem.objective(X - step)) / (2 * h)
        assert problem.gradient(X)[:, j] == pytest.approx(slope, abs=2e-8)
        if problem.smoothness is not None:
            curvature = (problem.gradient(X + step) - problem.gradient(X - step)) / (2 * h)
            assert problem.hessian(X)[:, :, j] == pytest.approx(curvature, abs=1e-7)


def test_a_batch_is_the_mean_over_its_own_records(problem):
    X, rows = in_ball(5), RNG.integers(0, N, size=(5, 7))
    assert problem.batch_gradient(X, np.tile(np.arange(N), (5, 1))) == pytest.approx(problem.gradient(X), abs=1e-13)
    for x, own, found in zip(X, rows, problem.batch_gradient(X, rows), strict=True):
        assert (problem.batch_gradient(x[None], own[None])[0] == found).all()  # whatever the others ask
        each = problem.batch_gradient(np.tile(x, (7, 1)), own[:, None])
        assert found == pytest.approx(each.mean(axis=0), abs=1e-14)


@pytest.mark.parametrize("name", OF_RECORDS)
def test_a_record_in_a_batch_is_that_record(name):
    whole, X = PROBLEMS[name](), in_ball(4)
    for i in (0, 7, N - 1):
        alone = OF_RECORDS[name](FEATURES[i : i + 1], LABELS[i : i + 1], TARGETS[i : i + 1])
        assert whole.batch_gradient(X, np.full((4, 1), i)) == pytest.approx(alone.gradient(X), abs=1e-14)


def test_constants_hold_for_every_record(problem):
    X, rows = in_ball(400), RNG.integers(0, N, size=(400, 1))
    assert np.linalg.norm(problem.batch_gradient(X, rows), axis=1).max() <= float(problem.lipschitz) * (1 + 1e-12)
    values, start = problem.objective(X), problem.objective(problem.initial_point[None])[0]
    if hasattr(problem, "shifts"):
        assert problem.shifts.sum(axis=0) == pytest.approx(0, abs=1e-12)
        assert values.min() >= float(problem.minimum) - 1e-12
        values = values + (problem.shifts[rows[:, 0]] * X).sum(axis=1)
        gap = start - float(problem.minimum)
        assert gap <= float(problem.initial_gap) <= gap * 1.001
    assert start - problem.objective(X).min() <= float(problem.initial_gap) * (1 + 1e-12)
    if problem.loss_range is not None:
        assert values.max() - values.min() <= float(problem.loss_range)
    if problem.smoothness is None:
        assert problem.hessian_lipschitz is None
        return
    assert np.abs(np.linalg.eigvalsh(problem.hessian(X))).max() <= float(problem.smoothness) * (1 + 1e-12)
    for name in ("lipschitz", "smoothness", "hessian_lipschitz"):  # as oracles use them
        assert at_least(getattr(problem, name), name) >= 0
    assert (GradientDifferenceOracle(problem, Fraction(1), (), None).per_record_bounds(X, X / 2) > 0).all()
    assert HessianOracle(problem, Fraction(1), (), None, rank=1).per_record_bound > 0


def test_points_and_rows_that_are_none_are_refused(problem):
    for X in (np.zeros(P), np.zeros((1, P + 1)), np.zeros((1, 1, P))):
        for ask in (problem.objective, problem.gradient, problem.objective_at):
            with pytest.raises(InvalidValue, match=r"X\.shape"):
                ask(X)
    with pytest.raises(InvalidValue, match=r"X\.shape|not smooth"):
        problem.hessian(np.zeros(P))
    for rows in ([[N]], [[-1]], [[0.5]], [0], [[]], [[0], [1]]):
        with pytest.raises(InvalidValue, match="rows"):
            problem.batch_gradient(np.zeros((1, P)), rows)


def test_points_where_the_constants_do_not_hold_are_refused(problem):
    """A gradient there may be longer than what noise is calibrated for; on the sphere, rounding is let pass."""
    if getattr(problem, "radius", None) is None or problem.__class__ is problems.Problem:
        assert np.linalg.norm(problem.gradient(1e3 * np.ones((1, P)))) <= float(problem.lipschitz)
        return
    on_the_sphere = np.array([[0.0, 0.0, RADIUS * (1 + 1e-12)]]).repeat(N, axis=0)
    longest = np.linalg.norm(problem.batch_gradient(on_the_sphere, np.arange(N)[:, None]), axis=1).max()
    assert longest <= float(problem.lipschitz)
    asked = [problem.objective, problem.gradient, problem.objective_and_gradient, problem.objective_at]
    asked += [lambda X: problem.batch_gradient(X, [[0]])] + ([problem.hessian] if problem.smoothness else [])
    for beyond in ([[0.0, 0.0, RADIUS * (1 + 1e-8)]], [[np.nan, 0.0, 0.0]]):
        for ask in asked:
            with pytest.raises(InvalidValue, match="project first"):
                ask(np.array(beyond))


# --- every constant of every model is a supremum, held against a search over single records, the longest among them.
# A constant with a wrong power of B, or without the target, is too small (privacy) or too large (noise for nothing).

TARGET = Fraction(3, 2)
FAR = 30  # in units of a prediction, where a model lives in all of R^p


OF_ONE = {  # from a record, its label and its target, and the bounds
    "sigmoid": lambda a, y, t, given: problems.sigmoid_loss(a, y, l1=0, feature_bound=given["feature_bound"]),
    "squared sigmoid": lambda a, y, t, given: problems.squared_sigmoid_link(a, y, given["feature_bound"]),
    "squared probit": lambda a, y, t, given: problems.squared_probit_link(a, y, given["feature_bound"]),
    "Geman-McClure": lambda a, y, t, given: problems.geman_mcclure(a, t, **given),
    "Cauchy": lambda a, y, t, given: problems.cauchy(a, t, **given, radius=RADIUS),
    "biweight": lambda a, y, t, given: problems.biweight_regression(a, t, cutoff=2, **given),
    "phase retrieval": lambda a, y, t, given: problems.phase_retrieval(
        a, np.maximum(t, 0), RADIUS, **given, start=[RADIUS, 0]
    ),
    "least squares": lambda a, y, t, given: problems.least_squares(a, t, RADIUS, **given, start=[RADIUS, 0]),
}


# bounds between which the steepest slope of phase retrieval goes from the largest target to none
@pytest.mark.one_in(4)
@pytest.mark.parametrize("bound", [Fraction(1, 3), Fraction(2, 5), Fraction(5, 2)], ids=str)
@pytest.mark.parametrize("name", OF_ONE)
def test_constants_are_suprema(name, bound):
    def made(sign, length=float(bound)):
        record, target = np.array([[length, 0.0]]), np.array([sign * float(TARGET)])
        return OF_ONE[name](record, np.array([sign or 1]), target, {"feature_bound": bound, "target_bound": TARGET})

    model = made(1)
    reach = FAR / float(bound) if model.radius is None else RADIUS
    X = np.column_stack([np.linspace(-reach, reach, 3001), np.zeros(3001)])
    ones = made(1), made(-1), made(0), made(1, 0.0)
    reports = [problems.check_problem(one, reach, lines=1).found for one in ones[:3]]  # raises where one is too small
    for constant in ("lipschitz", "smoothness", "hessian_lipschitz"):
        share = max(report[constant].share for report in reports)
        assert share >= (0.97 if constant == "hessian_lipschitz" else 0.998) or not getattr(model, constant), constant
    # there are records whose loss is 0 somewhere, so that ranges over all records are largest losses
    largest = {
        "loss_range": max(float(one.objective(X).max()) for one in ones),
        "initial_gap": max(float(one.objective(one.initial_point[None])[0]) for one in ones),
    }
    for constant, found in largest.items():
        assert 0.998 <= found / float(getattr(model, constant)) <= 1 + 1e-12, constant
