import numpy as np
import pytest

from dpbounds.algorithms.selection.above_threshold import stationarity
from dpbounds.algorithms.selection.above_threshold_attack import TwinRecord, attack
from dpbounds.errors import InvalidValue

STEP = 1e-6


@pytest.mark.seconds
@pytest.mark.parametrize(("candidates", "reached"), [(20, 1.4752), (100, 1.7404)])
def test_the_realised_loss_of_print(candidates, reached):
    assert attack(candidates).privacy_loss() == pytest.approx(reached, abs=1e-3)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_loss_grows_towards_two_and_stays_below():
    grown = [attack(k).privacy_loss() for k in (2, 5, 20, 100)]
    assert grown == sorted(grown)
    assert 1.7 < grown[-1] < 2
    assert attack(50, epsilon=0.3).privacy_loss() <= 0.6


@pytest.mark.parametrize("variant", ["one-test", "doubled"])
@pytest.mark.parametrize("gap", [-2, 0, 3, 8])
def test_both_repairs_keep_epsilon_where_print_does_not(variant, gap):
    for k in (5, 50) if gap == 0 else (20,):
        assert attack(k, variant=variant, gap=gap).privacy_loss() <= 1 + 1e-9


def test_one_test_attains_its_epsilon():
    assert attack(100, variant="one-test").privacy_loss() > 0.99


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_finer_and_longer_grid_changes_nothing(monkeypatch):
    from dpbounds.algorithms.selection import above_threshold_attack as module

    coarse = attack(20).privacy_loss()
    monkeypatch.setattr(module, "_GRID", 40.0)
    monkeypatch.setattr(module, "_WIDTH", 0.05)
    assert attack(20).privacy_loss() == pytest.approx(coarse, abs=1e-3)


def test_the_data_sets_differ_in_one_record_and_satisfy_the_assumptions():
    there, back = attack(20).neighbours
    assert (there.records, there.curvature) == (back.records, back.curvature)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 4e4, 400), rng.uniform(-1, 1, 400)])
    rows = rng.integers(0, there.records - 1, (400, 3))
    assert np.array_equal(there.batch_gradient(X, rows), back.batch_gradient(X, rows))
    own = np.full((400, 1), there.records - 1)
    assert np.array_equal(there.batch_gradient(X, own), -back.batch_gradient(X, own))
    for one in (there, back):
        for chosen in (rows, own):
            assert np.linalg.norm(one.batch_gradient(X, chosen), axis=1).max() <= 1 + 1e-12
        # Hessians: by differences of gradients, at distance h a record's gradient moves by at most h
        moved = X + STEP * rng.standard_normal(X.shape)
        for chosen in (rows, own):
            change = one.batch_gradient(moved, chosen) - one.batch_gradient(X, chosen)
            assert (np.linalg.norm(change, axis=1) <= np.linalg.norm(moved - X, axis=1) * (1 + 1e-6)).all()
        bends = np.abs(one.hessian(X) - one.hessian(moved)).max(axis=(1, 2))
        assert (bends <= float(one.hessian_lipschitz) * np.linalg.norm(moved - X, axis=1) + 1e-14).all()
        mean = ((one.records - 1) * one.batch_gradient(X, rows) + one.batch_gradient(X, own)) / one.records
        assert np.allclose(one.gradient(X), mean, rtol=0, atol=1e-15)


def test_a_record_moves_both_tests_by_nearly_as_much_as_it_can():
    found = attack(20)
    n, points = 10**6, found.selection.points
    values = [np.array(stationarity(problem, points)) for problem in found.neighbours]
    moved = (values[0] - values[1]) * n / 2
    assert np.allclose(moved[0, :-1], 0.99, atol=1e-3)
    assert np.allclose(moved[1, :-1], 1, atol=1e-3)
    assert np.allclose(moved[:, -1], [-0.99, -1], atol=1e-3)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (attack, (1,)),
        (attack, (20, 1.0, 1000)),
        (TwinRecord, (1, 0.1, 1)),
        (TwinRecord, (10, 2.0, 1)),
        (TwinRecord, (10, 0.1, 0)),
    ],
)
def test_what_makes_no_attack_is_refused(make, arguments):
    with pytest.raises(InvalidValue):
        make(*arguments)


def test_derivatives_fit_together():
    problem, X = TwinRecord(50, 0.4, -1), np.random.default_rng(1).uniform(-1, 1, (20, 2))
    for axis, shift in enumerate(1e-5 * np.eye(2)):
        slope = (problem.objective(X + shift) - problem.objective(X - shift)) / 2e-5
        bend = (problem.gradient(X + shift) - problem.gradient(X - shift)) / 2e-5
        assert np.allclose(slope, problem.gradient(X)[:, axis], atol=1e-7)
        assert np.allclose(bend, problem.hessian(X)[:, :, axis], atol=1e-6)
