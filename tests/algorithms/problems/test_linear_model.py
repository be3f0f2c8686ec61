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
RNG = np.random.default_rng(5)
FEATURES = RNG.standard_normal((300, 4))
TARGETS = RNG.standard_normal(300)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_symbolic_value_is_the_loss(loss):
    u = np.linspace(-3.05, 3.05, 12)
    written = [float(loss.value(sympy.Rational(float(x)))) for x in u]
    assert loss.derivatives(u)[0] == pytest.approx(written, rel=1e-12, abs=1e-15)


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
