"""Losses whose constants hold on a ball: phase retrieval and least squares."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import problems
from dpbounds.algorithms.oracles import GradientDifferenceOracle, HessianOracle, at_least
from dpbounds.algorithms.problems.least_squares import SQUARED_RESIDUAL, pl_constant_of, spread_least_squares
from dpbounds.algorithms.problems.phase_retrieval import QUARTIC
from dpbounds.errors import InvalidValue

RNG = np.random.default_rng(11)
FEATURES = RNG.standard_normal((60, 4))
TARGETS = RNG.standard_normal(60)
MODELS = {
    "phase": lambda **changes: problems.phase_retrieval(
        **{
            "features": FEATURES,
            "targets": np.abs(TARGETS),
            "radius": 2,
            "feature_bound": "3/2",
            "target_bound": 1,
            "start": [0.5, 0, 0, 1],
            **changes,
        }
    ),
    "squares": lambda **changes: problems.least_squares(
        **{"features": FEATURES, "targets": TARGETS, "radius": 2, "feature_bound": "3/2", "target_bound": 1, **changes}
    ),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


# ρ from where a steep slope lies at t = Y to where it lies at t = 0
@pytest.mark.parametrize("rho", ["1/5", "1/2", "4/5", "1", "3"])
@pytest.mark.parametrize("loss", [QUARTIC, SQUARED_RESIDUAL], ids=lambda loss: loss.name)
def test_constants_are_suprema(loss, rho):
    rho, limit = sympy.Rational(rho), sympy.Rational(5, 4)
    u = np.linspace(-float(rho), float(rho), 8001)
    t = np.linspace(-float(limit) if loss.negative_targets else 0, float(limit), 41)[:, None]
    value, slope, curvature = loss.derivatives(u, t)
    third = np.diff(curvature, axis=1) / np.diff(u)
    measured = {
        "largest_slope": np.abs(slope).max(),
        "largest_curvature": np.abs(curvature).max(),
        "largest_third_derivative": np.abs(third).max(),
        "supremum": value.max() - value.min(),
    }
    for name, found in measured.items():
        exact = float(getattr(loss, name)(rho, limit))
        assert found <= exact * (1 + 1e-9) + 1e-9, name
        assert found >= exact * (1 - 1e-3), name
    assert value.min() >= 0


def test_constants_are_attained_by_one_record(model):
    """On the sphere, along the record: nothing smaller would do for every data set."""
    radius, bound = float(model.radius), float(model.feature_bound)
    direction = np.array([0.0, 0.6, 0.8, 0.0])
    build, worst = (problems.phase_retrieval, 0.0) if model.loss is QUARTIC else (problems.least_squares, -1.0)
    one = build(bound * direction[None], [worst], radius=2, feature_bound="3/2", target_bound=1)
    X = radius * direction[None]
    assert np.linalg.norm(one.gradient(X)) == pytest.approx(float(model.lipschitz), rel=1e-7)
    assert np.linalg.eigvalsh(one.hessian(X))[0, -1] == pytest.approx(float(model.smoothness), rel=1e-7)
    assert one.objective(X)[0] == pytest.approx(float(model.loss_range), rel=1e-7)


def test_derivatives_match_differences(model):
    X, h = RNG.uniform(-0.9, 0.9, (3, 4)), 1e-5
    gradient, hessian = model.gradient(X), model.hessian(X)
    for j in range(4):
        step = np.eye(4)[j] * h
        slope = (model.objective(X + step) - model.objective(X - step)) / (2 * h)
        assert gradient[:, j] == pytest.approx(slope, abs=1e-8)
        curvature = (model.gradient(X + step) - model.gradient(X - step)) / (2 * h)
        assert hessian[:, :, j] == pytest.approx(curvature, abs=1e-7)
    everyone = np.tile(np.arange(60), (3, 1))
    assert model.batch_gradient(X, everyone) == pytest.approx(gradient, abs=1e-14)
    assert model.objective_at(X) == pytest.approx(model.objective(X), abs=1e-15)


def test_constants_hold_on_the_ball(model):
    X = RNG.standard_normal((200, 4))
    X *= 2 * RNG.random((200, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    rows = RNG.integers(0, 60, size=(200, 1))
    assert np.linalg.norm(model.batch_gradient(X, rows), axis=1).max() <= float(model.lipschitz)
    assert np.abs(np.linalg.eigvalsh(model.hessian(X))).max() <= float(model.smoothness)
    assert model.objective(model.initial_point[None])[0] <= float(model.initial_gap)
    far = np.array([[0.0, 0.0, 0.0, 2.0 * (1 + 1e-8)]])
    for ask in (model.objective, model.gradient, model.hessian, model.objective_at):
        with pytest.raises(InvalidValue, match="project first"):
            ask(far)


def test_oracles_can_use_the_constants(model):
    for name in ("lipschitz", "smoothness", "hessian_lipschitz", "loss_range", "initial_gap"):
        assert at_least(getattr(model, name), name) >= 0
    assert GradientDifferenceOracle(model, Fraction(1), (), None).per_record_bounds(
        np.zeros((1, 4)), np.ones((1, 4)) / 2
    )
    assert HessianOracle(model, Fraction(1), (), None, rank=1).per_record_bound > 0


def test_the_origin_of_phase_retrieval_is_a_saddle():
    model = problems.phase_retrieval(FEATURES, np.abs(TARGETS))
    assert (model.initial_point == 0).all()
    assert (model.gradient(np.zeros((1, 4))) == 0).all()
    assert np.linalg.eigvalsh(model.hessian(np.zeros((1, 4)))).max() <= 0


@pytest.mark.rotating(4)
def test_phase_retrieval_finds_the_signal_up_to_its_sign():
    best = np.array([0.5, -0.3, 0.2, 0.6])
    clipped = problems.least_squares(FEATURES, TARGETS).features  # norm at most 1
    model = problems.phase_retrieval(clipped, (clipped @ best) ** 2, start=[0.1, 0, 0, 0.1])
    x = model.initial_point[None]
    for _ in range(20_000):
        x = x - 0.3 * model.gradient(x)
    assert min(np.abs(x - best).max(), np.abs(x + best).max()) < 1e-6


def test_spread_least_squares_is_pl_with_its_constant_and_no_better():
    solution = np.array([0.3, -0.2, 0.1, 0.4, 0.0, 0.2])
    model = spread_least_squares(30, solution, rank=3, feature_bound=2)
    assert pl_constant_of(model, 3) == pytest.approx(4 / 3, rel=1e-9)
    assert model.notes[0].startswith("records are clipped one by one to the public bounds: 0 of 30")
    assert ", 0 targets" in model.notes[0]
    X = RNG.uniform(-0.4, 0.4, (500, 6))
    value, gradient = model.objective_and_gradient(X)
    ratio = (gradient**2).sum(axis=1) / 2 / value
    assert ratio == pytest.approx(4 / 3, rel=1e-9)  # one eigenvalue: equality everywhere
    assert model.objective(solution[None])[0] == pytest.approx(0, abs=1e-30)
    assert np.linalg.eigvalsh(model.hessian(X[:1]))[0, :3] == pytest.approx(0, abs=1e-12)


def test_the_pl_constant_of_records_is_the_infimum_of_its_ratio():
    # n < p: the solutions are a line
    few = problems.least_squares(FEATURES[:3], TARGETS[:3], radius=4, feature_bound=5, target_bound=3)
    best = np.linalg.lstsq(few.features, few.targets, rcond=None)[0]
    mu = pl_constant_of(few, 3)
    X = best + 0.1 * np.random.default_rng(5).standard_normal((20_000, 4))
    X = X[np.linalg.norm(X, axis=1) <= 4]
    value, gradient = few.objective_and_gradient(X)
    ratio = (gradient**2).sum(axis=1) / 2 / value
    assert len(X) > 100
    assert mu * (1 - 1e-9) <= ratio.min() <= mu * 1.5
    with pytest.raises(InvalidValue, match=r"rank must be .*, not 4"):
        pl_constant_of(few, 4)
    with pytest.raises(InvalidValue, match="squared residual"):
        pl_constant_of(MODELS["phase"](), 2)


@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": [[1.0, np.nan, 0, 0]] * 60}, r"features\[0, 1\] must be .*, not nan"),
        ({"features": np.zeros(60)}, "features.shape"),
        ({"features": np.zeros((0, 4))}, "features.shape"),
        ({"features": [["a"] * 4] * 60}, "features must be .*, not list"),
        ({"targets": TARGETS[:-1]}, "targets.shape"),
        ({"targets": np.full(60, np.inf)}, r"targets\[0\] must be .*, not inf"),
        ({"targets": ["a"] * 60}, "targets must be .*, not list"),
        ({"target_bound": 0}, "target_bound must be .*, not 0"),
        ({"target_bound": np.nan}, "target_bound must be .*, not nan"),
        ({"feature_bound": -1}, "feature_bound must be .*, not -1"),
        ({"feature_bound": np.inf}, "feature_bound must be .*, not inf"),
        ({"feature_bound": 0}, "feature_bound must be .*, not 0"),
        ({"radius": 0}, "radius must be .*, not 0"),
        ({"radius": None}, "radius must be .*, not None"),
        ({"start": [3, 0, 0, 0]}, "start"),
        ({"start": [0, 0]}, "start.shape"),
        ({"start": [np.nan, 0, 0, 0]}, "start"),
    ],
)
def test_bad_data_is_refused_by_name(which, changes, message):
    with pytest.raises(InvalidValue, match=message):
        MODELS[which](**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"records": 31}, "a multiple of the rank"),
        ({"rank": 7}, "rank must be .*, not 7"),
        ({"rank": 0}, "rank must be .*, not 0"),
        ({"solution": [2.0] * 6}, "solution"),
        ({"solution": [np.nan] * 6}, "solution"),
    ],
)
def test_bad_designs_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        spread_least_squares(**{"records": 30, "solution": [0.1] * 6, "rank": 3, **changes})
