import gzip
from importlib.resources import files

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems import forest_cover as module
from dpbounds.errors import InvalidValue


@pytest.fixture(scope="module")
def sample():
    return problems.covertype(feature_bound=1000)


def test_the_sample_that_ships_has_its_records_and_classes(sample):
    assert sample.features.shape == (10_000, 55)
    assert (sample.labels == 1).sum() == 1462
    assert sample.feature_names[0] == "Elevation"
    assert sample.feature_names[-1] == "intercept"
    assert any("CC BY 4.0" in note for note in sample.notes)
    assert not sample.features.flags.writeable


def test_every_record_lies_in_the_public_ranges(sample):
    assert np.abs(sample.features).max() <= 1
    assert np.isin(sample.features[:, 10:], (-1, 1)).all()


def test_the_first_record_is_scaled_by_hand(sample):
    # 2596 m high, aspect 51 degrees, slope 3 degrees, 258 m from water
    assert sample.features[0, :4] == pytest.approx(
        [(2596 - 3000) / 1500, 51 / 180 - 1, 3 / 45 - 1, 0.258 - 1], rel=1e-13
    )


def test_another_file_is_read_and_wrong_columns_are_named(tmp_path):
    raw = (files("dpbounds.algorithms.problems") / "data" / "covertype_sample.csv.gz").read_bytes()
    lines = gzip.decompress(raw).decode().splitlines()[:50]
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines))
    own = problems.covertype(positive=5, path=path)
    assert own.features.shape == (49, 55)
    assert (np.linalg.norm(own.features, axis=1) <= 1).all()
    path.write_text("\n".join(lines).replace("Slope", "Steepness"))
    with pytest.raises(InvalidValue, match="Slope, Steepness"):
        problems.covertype(path=path)
    with pytest.raises(InvalidValue, match=r"positive must be .*, not 8"):
        problems.covertype(positive=8)
    assert len(module._RANGES) == 54


@pytest.mark.one_in(4)
def test_wang_and_xu_design_is_seeded_separable_and_bounded():
    data, again, other = (problems.wang_xu_design(1000, 20, seed=seed, feature_bound=4) for seed in (3, 3, 4))
    assert (data.features == again.features).all()
    assert (data.features != other.features).any()
    assert (np.linalg.norm(data.features, axis=1) <= 4).all()
    assert problems.sigmoid_loss(data.features, data.labels, feature_bound=4).lipschitz == 1
    # a separating direction exists by construction; least squares finds one close to it
    guess = np.linalg.lstsq(data.features, data.labels, rcond=None)[0]
    assert (np.sign(data.features @ guess) == data.labels).mean() > 0.9
    assert abs(data.labels.mean()) < 0.16  # five standard deviations: a false alarm in 1e-6 of seeds
    with pytest.raises(InvalidValue, match=r"records must be .*, not 0"):
        problems.wang_xu_design(0)


def test_realisable_targets_leave_no_residual():
    rng = np.random.default_rng(0)
    best = np.array([1.0, -2.0, 0.5])
    features, targets, bound = problems.realisable_targets(rng.standard_normal((100, 3)), 1, best)
    model = problems.geman_mcclure(features, targets, target_bound=bound)
    assert model.objective(best[None])[0] == 0
    assert (model.targets == targets).all()


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("constants", "tight"),
    [
        ({}, "smoothness"),
        ({"lipschitz": 2, "smoothness": 300, "initial_gap": "1/2"}, "lipschitz"),
        ({"hessian_lipschitz": "1/1000", "loss_range": 1}, "hessian_lipschitz"),
    ],
)
def test_a_problem_with_constants_has_them_and_one_is_attained(constants, tight):
    problem = problems.with_constants(50, 3, **constants)
    wanted = {"lipschitz": 1, "smoothness": 1, "initial_gap": 1} | constants
    assert all(getattr(problem, name) == sympy.Rational(value) for name, value in wanted.items())
    report = problems.check_problem(problem)  # raises where a record exceeds one
    assert report.found[tight].share > 0.5
    assert problem.objective(np.zeros((1, 3)))[0] == pytest.approx(
        float(min(problem.initial_gap, problem.loss_range / 2))
    )


def test_a_problem_without_a_gap_is_flat():
    problem = problems.with_constants(5, 2, initial_gap=0)
    values, gradients = problem.objective_and_gradient(np.ones((1, 2)))
    assert values[0] == 0
    assert not gradients.any()


def test_constants_that_are_not_allowed():
    with pytest.raises(InvalidValue, match="at most 1e8 numbers"):
        problems.with_constants(10**6, 10**6)
    with pytest.raises(InvalidValue, match="initial_gap must be at least 0"):
        problems.with_constants(5, 2, initial_gap=-1)
    with pytest.raises(InvalidValue, match="smoothness must be greater than 0"):
        problems.with_constants(5, 2, smoothness=0)
