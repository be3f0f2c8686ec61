import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.spider.spider import Spider
from dpbounds.algorithms.warm_starts.random_projection import RandomProjection, _projected
from dpbounds.errors import InvalidValue
from tests.algorithms.shared import refused


def low_rank(n=200, d=60, rank=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    targets = 0.5 * np.sign(features[:, 0]) + 0.1 * rng.standard_normal(n)
    return problems.geman_mcclure(features, targets, **options)


def method(problem, k=10, **options):
    return RandomProjection.calibrated(
        problem, Spider.calibrated, **{"projected_dimension": k, "epsilon": 2, "delta": "1e-5", "steps": 20} | options
    )


def test_predictions_on_projected_records_are_those_in_the_large_space():
    problem = low_rank()
    projection = np.random.default_rng(1).standard_normal((10, 60)) / np.sqrt(10)
    inside, clipped = _projected(problem, projection)
    u = np.random.default_rng(2).standard_normal((4, 10)) / 3
    assert clipped == 0
    assert np.allclose(inside.features @ u.T, problem.features @ (u @ projection).T)
    # ∇F̃(u) = Φ ∇F(Φᵀu) where nothing was clipped
    assert np.allclose(inside.gradient(u), problem.gradient(u @ projection) @ projection.T)


@pytest.mark.parametrize("model", ["linear model", "margins"])
def test_projected_records_are_clipped_one_by_one_to_twice_the_bound(model):
    """The noise in R^k rests on it: a random projection lengthens some records, by chance as much as it wants."""
    problem = low_rank()
    if model == "margins":
        problem = problems.sigmoid_loss(problem.features, np.sign(problem.targets), l1=0)
    projection = 2.5 * np.random.default_rng(1).standard_normal((2, 60)) / np.sqrt(2)
    inside, clipped = _projected(problem, projection)
    long = np.linalg.norm(
        (problem.features if model == "linear model" else problem.signed_features) @ projection.T, axis=1
    )
    assert clipped == (long > 2).sum()
    assert 50 < clipped < 150
    records = inside.features if model == "linear model" else inside.signed_features
    lengths = np.linalg.norm(records, axis=1)
    assert lengths.max() <= 2
    assert lengths[long > 2] == pytest.approx(2)
    assert lengths[long <= 2] == pytest.approx(long[long <= 2])
    each = inside.batch_gradient(np.zeros((200, 2)), np.arange(200)[:, None])
    assert 0.3 * float(inside.lipschitz) < np.linalg.norm(each, axis=1).max() <= float(inside.lipschitz)


def test_constants_grow_with_the_bound_on_projected_records():
    problem = low_rank()
    inside, _ = _projected(problem, np.eye(60)[:10])
    assert inside.smoothness == 4 * problem.smoothness
    assert inside.lipschitz == 2 * problem.lipschitz


def test_a_run():
    problem = low_rank()
    trained = method(problem)
    run = trained.run(problem, seed=3, repetitions=3)
    assert run.output.shape == (3, 60)
    assert run.spent.upper <= 2
    run.ledger.check_plan(trained.planned)
    assert np.allclose(run.measured["gradient_norm"], np.linalg.norm(problem.gradient(run.output), axis=1))
    again = trained.run(problem, seed=3, repetitions=2)
    assert np.array_equal(again.output, run.output[:2])


def test_outputs_lie_in_the_row_space_of_a_matrix_of_their_own():
    problem = low_rank()
    run = method(problem).run(problem, seed=3, repetitions=2)
    for row, generator in zip(run.output, streams(3, 2), strict=True):
        projection = generator.standard_normal((10, 60)) / np.sqrt(10)
        _, residual, *_ = np.linalg.lstsq(projection.T, row, rcond=None)
        assert residual.sum() < 1e-20


def test_small_projected_gradients_mean_small_gradients_when_the_rank_is_low():
    """|v| <= 2|Φv| for all v of the row space once k is a few times the rank (here 3, k = 40)."""
    problem = low_rank(rank=3)
    run = method(problem, k=40).run(problem, seed=0, repetitions=6)
    assert (run.measured["gradient_norm"] <= 2 * run.measured["projected_gradient_norm"] + 1e-12).all()


def test_the_default_dimension_is_public():
    trained = RandomProjection.calibrated(low_rank(n=50), Spider.calibrated, epsilon=1, delta="1e-5", steps=5)
    assert trained.projected_dimension == int(np.ceil(50**0.8))


def test_refusals():
    refused("radius", method, low_rank(radius=1))
    refused("projected_dimension", method, low_rank(), k=0)
    with pytest.raises(InvalidValue, match="problem"):
        RandomProjection(ProjectedGradientDescent(5, 3), 4).run(problems.landscape(problems.WAVY, 8, [1.0], 2), 0, 1)
