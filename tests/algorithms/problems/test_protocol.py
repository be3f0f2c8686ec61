"""Every problem offers all of ``FiniteSum``, with the shapes that it promises."""

import numpy as np
import pytest

from dpbounds.algorithms import problems

RNG = np.random.default_rng(4)
N, P = 8, 3
FEATURES, LABELS = RNG.standard_normal((N, P)), np.array([1, -1] * 4)
START = [0.1, 0.0, -0.1]
PROBLEMS = {
    "sigmoid": lambda: problems.sigmoid_loss(FEATURES, LABELS),
    "squared sigmoid": lambda: problems.squared_sigmoid_link(FEATURES, LABELS),
    "squared probit": lambda: problems.squared_probit_link(FEATURES, LABELS),
    "biweight": lambda: problems.biweight_regression(FEATURES, LABELS),
    "Geman-McClure": lambda: problems.geman_mcclure(FEATURES, LABELS),
    "Cauchy": lambda: problems.cauchy(FEATURES, LABELS),
    "phase retrieval": lambda: problems.phase_retrieval(FEATURES, LABELS),
    "least squares": lambda: problems.least_squares(FEATURES, LABELS),
    "double well": lambda: problems.landscape(problems.double_well(2), N, START, radius=2),
    "escape test": lambda: problems.surface_landscape(problems.escape_test(P), N, START),
    "population": lambda: problems.surface_landscape(problems.population_phase_retrieval(P), N, START, radius=1),
    "well": lambda: problems.surface_landscape(problems.narrow_well(P, 1), N, START, radius=2),
    "bumps": lambda: problems.bumps.coins(N, P),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_a_finite_sum(name):
    problem = PROBLEMS[name]()
    offered = {member for member in vars(problems.FiniteSum) if not member.startswith("_")}
    assert len(offered) > 10
    assert {member for member in offered if not hasattr(problem, member)} == set()
    assert (problem.records, problem.dimension) == (N, P)
    assert problem.initial_point.shape == (P,)
    X = np.stack([problem.initial_point, np.full(P, 0.3)])
    values, gradients = problem.objective_and_gradient(X)
    assert values.shape == (2,)
    assert gradients.shape == (2, P)
    assert problem.objective(X).tolist() == values.tolist()
    assert problem.gradient(X).tolist() == gradients.tolist()
    assert problem.objective_at(X) == pytest.approx(values, rel=1e-14)
    assert problem.batch_gradient(X, [[0, 1, 1], [5, 6, 7]]).shape == (2, P)
    if problem.smoothness is not None:
        assert problem.hessian(X).shape == (2, P, P)
        assert problem.hessian_lipschitz is not None
    # what the gap is measured from is the point that is offered
    assert float(problem.initial_gap) >= values[0] - problem.objective_at(0.4 * RNG.uniform(-1, 1, (200, P))).min()
    before = problem.initial_point
    before[:] = 7
    assert (problem.initial_point != 7).all()
