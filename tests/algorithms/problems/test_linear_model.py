import numpy as np
import pytest
import sympy

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems import residual_losses
from dpbounds.errors import InvalidValue

LOSSES = [
    residual_losses.GEMAN_MCCLURE,
    residual_losses.CAUCHY,
    residual_losses.biweight(sympy.Rational(3, 2)),
    residual_losses.SQUARED_SIGMOID,
    residual_losses.SQUARED_PROBIT,
]
GRID = np.linspace(-12, 12, 960_001)
RNG = np.random.default_rng(5)
FEATURES = RNG.standard_normal((300, 4))
TARGETS = RNG.standard_normal(300)
LABELS = np.where(TARGETS > 0, 1, -1)
MODELS = {
    "geman": lambda: problems.geman_mcclure(FEATURES, TARGETS, feature_bound=2),
    "cauchy": lambda: problems.cauchy(FEATURES, TARGETS, feature_bound=2, radius=3),
    "biweight": lambda: problems.biweight_regression(FEATURES, TARGETS, cutoff=2),
    "sigmoid": lambda: problems.squared_sigmoid_link(FEATURES, LABELS),
    "probit": lambda: problems.squared_probit_link(FEATURES, LABELS),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_constants_are_suprema_never_exceeded_and_attained(loss):
    value, slope, curvature = loss.derivatives(GRID)
    third = np.diff(curvature) / np.diff(GRID)
    constants = (loss.largest_slope, loss.largest_curvature, loss.largest_third_derivative)
    for measured, constant in zip((slope, curvature, third), constants, strict=True):
        exact = float(constant)
        assert np.abs(measured).max() <= exact * (1 + 1e-6)
        assert np.abs(measured).max() >= exact * (1 - 1e-3)
    assert value.min() >= 0
    if loss.supremum is not None:
        assert 0.99 * float(loss.supremum) <= value.max() <= float(loss.supremum)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_derivatives_match_differences_and_the_symbolic_value(loss):
    u, h = np.linspace(-3.05, 3.05, 62), 1e-5
    value, slope, curvature = loss.derivatives(u)
    above, below = loss.derivatives(u + h), loss.derivatives(u - h)
    assert slope == pytest.approx((above[0] - below[0]) / (2 * h), abs=1e-9)
    assert curvature == pytest.approx((above[1] - below[1]) / (2 * h), abs=1e-9)
    written = [float(loss.value(sympy.Rational(float(x)))) for x in u]
    assert value == pytest.approx(written, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("loss", LOSSES[:2], ids=lambda loss: loss.name)
@pytest.mark.parametrize("rho", ["1/10", "1", "5", "40"])
def test_quasar_convexity_is_the_infimum_of_its_ratio(loss, rho):
    rho = sympy.Rational(rho)
    u = np.linspace(1e-3, 1, 20_001) * float(rho)
    value, slope, _ = loss.derivatives(u)
    ratio, q = (u * slope / value).min(), float(loss.quasar_convexity(rho))
    assert q <= ratio * (1 + 1e-9)
    assert q == pytest.approx(min(1, ratio), rel=1e-9)


def test_a_realisable_model_is_quasar_convex_with_its_constant():
    best = np.array([0.4, -0.2, 0.3, 0.1])
    X = best + 2 * RNG.standard_normal((400, 4))
    distance = np.linalg.norm(X - best, axis=1).max()
    for build in (problems.geman_mcclure, problems.cauchy):
        clipped = problems.geman_mcclure(FEATURES, TARGETS).features
        model = build(clipped, clipped @ best)
        value, gradient = model.objective_and_gradient(X)
        q = float(model.quasar_convexity(float(distance)))
        assert ((gradient * (X - best)).sum(axis=1) >= q * value * (1 - 1e-12)).all()
    with pytest.raises(InvalidValue, match="quasar-convexity"):
        problems.biweight_regression(FEATURES, TARGETS).quasar_convexity(1)


def test_gradient_and_hessian_match_finite_differences(model):
    X, h = 0.5 * RNG.standard_normal((3, 4)), 1e-5
    gradient, hessian = model.gradient(X), model.hessian(X)
    for j in range(4):
        step = np.zeros(4)
        step[j] = h
        assert gradient[:, j] == pytest.approx(
            (model.objective(X + step) - model.objective(X - step)) / (2 * h), abs=1e-9
        )
        difference = (model.gradient(X + step) - model.gradient(X - step)) / (2 * h)
        assert hessian[:, :, j] == pytest.approx(difference, abs=1e-7)


def test_a_batch_is_the_mean_over_its_own_records(model):
    X = RNG.standard_normal((3, 4)) / 3  # in the ball where there is one
    rows = RNG.integers(0, 300, size=(3, 17))
    found = model.batch_gradient(X, rows)
    for x, own, gradient in zip(X, rows, found, strict=True):
        u = model.features[own] @ x - model.targets[own]
        expected = (model.loss.derivatives(u)[1][:, None] * model.features[own]).mean(axis=0)
        assert gradient == pytest.approx(expected, abs=1e-14)
    assert model.batch_gradient(X, np.tile(np.arange(300), (3, 1))) == pytest.approx(model.gradient(X), abs=1e-14)


def test_constants_hold_for_the_model(model):
    X = RNG.standard_normal((50, 4))
    X *= 3 / np.linalg.norm(X, axis=1, keepdims=True).max()
    norms = np.linalg.norm(model.batch_gradient(X, RNG.integers(0, 300, size=(50, 1))), axis=1)
    assert norms.max() <= float(model.lipschitz)
    assert np.abs(np.linalg.eigvalsh(model.hessian(X))).max() <= float(model.smoothness)
    assert model.objective(model.initial_point[None])[0] <= float(model.initial_gap) * (1 + 1e-12)
    assert model.objective_at(X) == pytest.approx(model.objective(X), abs=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": TARGETS[:-1]}, "targets.shape"),
        ({"targets": np.full(300, np.nan)}, r"targets\[0\] must be .*, not nan"),
        ({"targets": ["a"] * 300}, "targets must be .*, not list"),
        ({"target_bound": 0}, "target_bound must be .*, not 0"),
        ({"feature_bound": -1}, "feature_bound must be .*, not -1"),
        ({"radius": 0}, "radius must be .*, not 0"),
        ({"features": np.zeros((0, 4))}, "features.shape"),
    ],
)
def test_bad_data_is_refused_by_name(changes, message):
    with pytest.raises(InvalidValue, match=message):
        problems.geman_mcclure(**{"features": FEATURES, "targets": TARGETS, **changes})


@pytest.mark.parametrize(
    "rows", [np.zeros((2, 3), int), np.full((1, 1), 300), np.full((1, 1), -1), np.zeros((1, 0), int)]
)
def test_bad_rows_are_refused(rows):
    with pytest.raises(InvalidValue, match="rows"):
        MODELS["geman"]().batch_gradient(np.zeros((1, 4)), rows)
