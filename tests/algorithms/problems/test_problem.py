import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems.proximal import proximal_l1
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue

RNG = np.random.default_rng(7)
FEATURES = RNG.standard_normal((300, 5))
LABELS = np.where(FEATURES @ RNG.standard_normal(5) > 0, 1, -1)


@pytest.fixture(params=[None, "0.7"], ids=["R^p", "ball"])
def problem(request):
    return problems.sigmoid_loss(FEATURES, LABELS, l1="0.03", feature_bound=2, radius=request.param)


def points(count=4, seed=1, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal((count, 5))


def test_objective_is_the_loss_written_down_record_by_record(problem):
    X = points()
    z = problem.signed_features
    for x, value in zip(X, problem.objective(X), strict=True):
        losses = [1 / (1 + math.exp(float(np.dot(row, x)))) for row in z]
        assert value == pytest.approx(math.fsum(losses) / len(z) + 0.03 * np.abs(x).sum(), rel=1e-13)


def test_many_records_are_summed_over_all_blocks():
    features = np.random.default_rng(0).standard_normal((5000, 3))
    labels = np.where(features[:, 0] > 0, 1, -1)
    whole = problems.sigmoid_loss(features, labels, l1=0)
    parts = [problems.sigmoid_loss(features[i : i + 500], labels[i : i + 500], l1=0) for i in range(0, 5000, 500)]
    X = points(3)[:, :3]
    assert whole.gradient(X) == pytest.approx(np.mean([part.gradient(X) for part in parts], axis=0), abs=1e-15)
    assert whole.objective(X) == pytest.approx(np.mean([part.objective(X) for part in parts], axis=0), abs=1e-14)


def test_large_margins_neither_overflow_nor_warn():
    steep = problems.sigmoid_loss([[100.0], [-100.0]], [1, 1], l1=0, feature_bound=100)
    assert steep.objective([[1e6]])[0] == 0.5
    assert steep.gradient([[1e6]])[0, 0] == 0


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_slope_and_curvature_constants_symbolically():
    m = sympy.symbols("m", real=True)
    s = sympy.symbols("s")
    phi = 1 / (1 + sympy.exp(m))
    assert sympy.simplify(sympy.diff(phi, m) + phi * (1 - phi)) == 0
    assert sympy.simplify(sympy.diff(phi, m, 2) - phi * (1 - phi) * (1 - 2 * phi)) == 0
    curvature = s * (1 - s) * (1 - 2 * s)
    candidates = [*sympy.solve(sympy.diff(curvature, s), s), 0, 1]
    largest = max((abs(curvature.subs(s, root)) for root in candidates), key=lambda value: float(value))
    assert sympy.simplify(largest - problems.SIGMOID.largest_curvature) == 0
    assert sympy.simplify(largest - 1 / (6 * sympy.sqrt(3))) == 0
    assert sympy.maximum(s * (1 - s), s, sympy.Interval(0, 1)) == problems.SIGMOID.largest_slope
    assert phi.subs(m, 0) == problems.SIGMOID.value_at_zero


def test_per_record_gradient_norms(problem):
    for x, found in zip(points(), problem.per_record_gradient_norms(points()), strict=True):
        each = problem.batch_gradient(np.tile(x, (300, 1)), np.arange(300)[:, None])
        assert found == pytest.approx(np.linalg.norm(each, axis=1), rel=1e-12)


@pytest.mark.parametrize("radius", [None, 0.3, 2.0])
@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_proximal_map_against_a_general_minimiser(radius, threshold):
    for seed in range(4):
        v = 1.5 * np.random.default_rng(seed).standard_normal(3)
        # u = a - b with a, b >= 0 makes ‖u‖₁ = Σ(a+b) smooth at the solution

        def objective(w, v=v):
            return 0.5 * ((w[:3] - w[3:] - v) ** 2).sum() + threshold * w.sum()

        ball = {"type": "ineq", "fun": lambda w: radius**2 - ((w[:3] - w[3:]) ** 2).sum()}
        constraints = [] if radius is None else [ball]
        options = {"ftol": 1e-14, "maxiter": 500}
        found = minimize(
            objective, np.full(6, 0.1), bounds=[(0, None)] * 6, constraints=constraints, method="SLSQP", options=options
        )
        ours = proximal_l1(v[None], threshold, radius)[0]
        assert found.x[:3] - found.x[3:] == pytest.approx(ours, abs=1e-5)


def test_proximal_step_minimises_the_model_in_equation_2(problem):
    X, G, gamma = points(), points(seed=2), 0.8
    step = problem.proximal_step(X, G, gamma)
    radius = math.inf if problem.radius is None else float(problem.radius)
    assert (np.linalg.norm(step, axis=1) <= radius * (1 + 1e-15)).all()

    def model(U):
        return (G * U + (U - X) ** 2 / (2 * gamma) + 0.03 * np.abs(U)).sum(axis=-1)

    scales = np.repeat([1e-4, 1e-2, 1.0], 50)[:, None, None]
    others = step + scales * np.random.default_rng(3).standard_normal((150, *step.shape))
    others *= np.minimum(1, radius / np.linalg.norm(others, axis=-1, keepdims=True))
    assert (model(others) >= model(step) - 1e-14).all()


def test_projected_gradient_is_the_gradient_without_regulariser_and_constraint():
    free = problems.sigmoid_loss(FEATURES, LABELS, l1=0)
    X, G = points(), points(seed=2)
    assert free.projected_gradient(X, G, 0.5) == pytest.approx(G, abs=1e-14)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), min_size=3, max_size=3), min_size=1, max_size=4),
    st.fractions(min_value=Fraction(1, 1000), max_value=1000),
)
def test_clipped_rows_are_within_the_bound_exactly_and_clipping_twice_changes_nothing(rows, bound):
    matrix = np.array(rows)
    clipped, _ = clip_rows(matrix, bound)
    for row in clipped:
        assert sum((Fraction(float(entry)) ** 2 for entry in row), Fraction(0)) <= bound**2
    again, changed = clip_rows(clipped, bound)
    assert changed == 0
    assert (again == clipped).all()


def test_clipping_keeps_direction_and_short_rows_and_loses_little_length():
    matrix = np.array([[3.0, 4.0], [0.1, 0.2], [0.0, 0.0], [3e200, 4e200]])
    clipped, count = clip_rows(matrix, Fraction(1))
    assert count == 2
    assert clipped[[0, 3]] == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]]), rel=1e-14)
    assert (clipped[[1, 2]] == matrix[[1, 2]]).all()


def test_the_problem_is_frozen_and_keeps_its_own_copy():
    features = FEATURES.copy()
    own = problems.sigmoid_loss(features, LABELS)
    before = own.signed_features.copy()
    features[:] = 0
    assert (own.signed_features == before).all()
    with pytest.raises(ValueError, match="read-only"):
        own.signed_features[0, 0] = 1
    with pytest.raises(AttributeError):
        own.l1 = 0


def test_gradients_of_another_shape_are_refused(problem):
    with pytest.raises(InvalidValue, match=r"gradients.shape must be .*, not \(2, 4\)"):
        problem.proximal_step(np.zeros((2, 5)), np.zeros((2, 4)), 1.0)


def test_a_problem_describes_itself(problem):
    assert "n = 300, p = 5" in str(problem)
    assert "G = 1/2" in str(problem)
