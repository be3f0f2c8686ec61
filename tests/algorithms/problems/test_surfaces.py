"""Strict saddles and the conical well: constants as suprema, saddles and minima where they are said to be."""

import math

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.optimize import minimize

from dpbounds.algorithms.problems import (
    escape_test,
    gibbs_risk,
    narrow_well,
    population_phase_retrieval,
    surface_landscape,
)

RNG = np.random.default_rng(8)
SURFACES = {
    "escape": (lambda: escape_test(3), 4),
    "phase": (lambda: population_phase_retrieval(3, "3/2"), 2),
    "phase, smallest ball": (lambda: population_phase_retrieval(3, "3/2"), "3/2"),
    "well": (lambda: narrow_well(3, "1/2", slope=2, centre=[0.3, 0.0, -1.0]), 2),
}


@pytest.fixture(params=SURFACES)
def problem(request):
    build, radius = SURFACES[request.param]
    return surface_landscape(build(), records=20, start=[0.1, 0.2, 0.3], radius=radius)


def in_ball(count, radius):
    X = RNG.standard_normal((count, 3))
    # up to the sphere, where many constants are attained
    return X * radius * np.minimum(1, 1.3 * RNG.random((count, 1))) / np.linalg.norm(X, axis=1, keepdims=True)


def largest(measure, radius):
    """The supremum on the ball as a search finds it: the best of many points, improved by a local search."""
    X = in_ball(4000, radius)
    best = X[np.argsort(-measure(X))[:5]]

    def loss(x):
        return -measure((x * min(1, radius / max(np.linalg.norm(x), 1e-300)))[None])[0]

    found = [minimize(loss, x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13}) for x in best]
    return max(-each.fun for each in found)


def test_constants_are_suprema(problem):
    radius, surface = float(problem.radius), problem.surface
    slope = float(surface.largest_slope(sympy.Rational(problem.radius)))
    assert largest(lambda X: np.linalg.norm(problem.gradient(X), axis=1), radius) == pytest.approx(slope, rel=1e-6)
    assert float(problem.lipschitz) == pytest.approx(slope + 1, rel=1e-7)
    if surface.hessian is None:
        assert problem.smoothness is problem.hessian_lipschitz is None
        return
    sizes = largest(lambda X: np.abs(np.linalg.eigvalsh(problem.hessian(X))).max(axis=1), radius)
    assert sizes == pytest.approx(float(problem.smoothness), rel=1e-6)

    def third(X):
        h, best = 1e-4, np.zeros(len(X))
        for u in [*np.eye(3), *(RNG.standard_normal((6, 3)))]:
            step = h * u / np.linalg.norm(u)
            change = (surface.hessian(X + step) - surface.hessian(X - step)) / (2 * h)
            best = np.maximum(best, np.abs(np.linalg.eigvalsh(change)).max(axis=1))
        return best

    constant = float(problem.hessian_lipschitz)
    assert third(in_ball(2000, radius)).max() <= constant * (1 + 1e-6)
    along = np.array([[0.0, math.sqrt(3 - math.sqrt(6)), 0.0]]) if "exp" in surface.name else radius * np.eye(3)[1:2]
    assert third(along)[0] == pytest.approx(constant, rel=1e-5)  # attained


def test_minima_are_minima(problem):
    points = problem.surface.minimisers
    assert problem.objective(points) == pytest.approx(float(problem.minimum), abs=1e-12)
    assert problem.gradient(points) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("which", "curvatures"), [("escape", [-0.5]), ("phase", [-6.75, -4.5, -4.5])])
def test_saddles_are_strict(which, curvatures):
    build, radius = SURFACES[which]
    problem = surface_landscape(build(), records=2, start=[0, 0, 0], radius=radius)
    saddles = problem.surface.saddles
    assert problem.gradient(saddles) == pytest.approx(0, abs=1e-12)
    least = np.linalg.eigvalsh(problem.hessian(saddles))[:, 0]
    assert least == pytest.approx(curvatures)
    assert least.max() == pytest.approx(-float(problem.surface.escape_curvature))
    at_minima = np.linalg.eigvalsh(problem.hessian(problem.surface.minimisers))
    assert at_minima.min() > 0


@pytest.mark.parametrize("which", ["escape", "phase"])
def test_there_are_no_other_stationary_points(which):
    """From random starts, the nearest zero of the gradient is a minimum or has the promised negative curvature."""
    build, radius = SURFACES[which]
    surface = build()
    X = in_ball(300, float(radius))
    for _ in range(60):  # Newton's method goes to stationary points of any kind
        steps = np.linalg.pinv(surface.hessian(X), rcond=1e-8, hermitian=True)
        X = np.clip(X - np.einsum("rij,rj->ri", steps, surface.value_and_gradient(X)[1]), -50, 50)
    value, gradient = surface.value_and_gradient(X)
    # (the plateau, where the gradient underflows, is no stationary point)
    found = (np.linalg.norm(gradient, axis=1) < 1e-10) & (np.linalg.norm(X[:, 1:], axis=1) < 5)
    assert found.sum() > 20
    least = np.linalg.eigvalsh(surface.hessian(X))[:, 0]
    minimal = value < float(surface.minimum) + 1e-9
    assert (found & minimal).any()
    assert (found & ~minimal).any()
    assert (least[found & ~minimal] <= -float(surface.escape_curvature) + 1e-6).all()


@pytest.mark.seconds
def test_population_risk_is_the_mean_over_gaussian_measurements():
    surface = population_phase_retrieval(2, 1)
    X = np.array([[0.4, -0.7], [1.2, 0.3]])
    a = np.random.default_rng(1).standard_normal((400_000, 2))
    losses = ((a @ X.T) ** 2 - a[:, :1] ** 2) ** 2 / 4
    error = losses.std(axis=0) / math.sqrt(len(a))
    # 5 standard errors, two numbers: a false alarm once in 10^6
    assert (np.abs(losses.mean(axis=0) - surface.value_and_gradient(X)[0]) < 5 * error).all()


@pytest.mark.parametrize(("p", "beta", "width", "radius"), [(1, 3, 0.5, 2), (2, 20, 0.25, 1), (5, 40, 0.5, 1)])
def test_gibbs_risk_matches_quadrature(p, beta, width, radius):
    def weight(r):
        return r ** (p - 1) * math.exp(-beta * 1.5 * min(r, width))

    top = quad(lambda r: 1.5 * min(r, width) * weight(r), 0, radius, points=[width])[0]
    expected = top / quad(weight, 0, radius, points=[width])[0]
    assert gibbs_risk(beta, p, width, radius, slope=1.5) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("p", "ratio", "worst"), [(2, 2, 0.8635), (5, 5, 1.782), (20, 3, 1.79)])
def test_thin_cones_break_the_bound_without_the_one(p, ratio, worst):
    """(p/β) ln(βGD/p) is exceeded on a thin cone (of length D = 1), the bound with 1 + ln is not."""
    beta = p * ratio
    depths = np.linspace(0.3, 1, 141)
    most = max(gibbs_risk(beta, p, h, 1) for h in depths) * beta / p
    assert math.log(ratio) < most < 1 + math.log(ratio)
    assert most == pytest.approx(worst, abs=6e-3)
