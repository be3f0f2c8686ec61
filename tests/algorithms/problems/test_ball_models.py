"""Losses whose constants hold on a ball: phase retrieval and least squares."""

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems.least_squares import pl_constant_of, spread_least_squares
from dpbounds.errors import InvalidValue

RNG = np.random.default_rng(11)
FEATURES = RNG.standard_normal((60, 4))
TARGETS = RNG.standard_normal(60)


def test_the_origin_of_phase_retrieval_is_a_saddle():
    model = problems.phase_retrieval(FEATURES, np.abs(TARGETS))
    assert (model.initial_point == 0).all()
    assert (model.gradient(np.zeros((1, 4))) == 0).all()
    assert np.linalg.eigvalsh(model.hessian(np.zeros((1, 4)))).max() <= 0


@pytest.mark.seconds
@pytest.mark.one_in(4)
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
    assert np.linalg.norm(model.features, axis=1) == pytest.approx(2, rel=1e-11)  # none was clipped
    assert (model.targets == model.features @ solution).all()
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
        pl_constant_of(problems.phase_retrieval(FEATURES, np.abs(TARGETS)), 2)
