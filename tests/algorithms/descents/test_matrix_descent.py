"""DP-FTRL step by step in plain NumPy; the law of its noise and of its batches; planted bugs that are caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms import MatrixDescent, noise
from dpbounds.algorithms.guards.residuals import row_of
from dpbounds.algorithms.ledger import Ledger, OpenLedger, PrivacyBudget
from dpbounds.algorithms.oracles import CorrelatedGradientOracle, correlated
from dpbounds.algorithms.oracles.correlated import dense, encoding, noise_of_sums
from dpbounds.algorithms.sampling import Correlated
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, LowerTriangular, Toeplitz
from tests.algorithms.shared import wavy

MATRICES: dict[str, Encoder] = {
    "one band": Toeplitz([1], 7),
    "three bands": Toeplitz(["2", "-1/2", "1/4"], 7),
    "all bands": Toeplitz("square-root", 7),
    "any": LowerTriangular([["1"], ["1/2", 2], [0, "1/3", "-1"], ["1/7", 0, 0, 1], [1, 1, 1, 1, "1/2"]]),
    "tree": BinaryTree(7),
}
every_matrix = pytest.mark.parametrize("name", MATRICES)


def by_definition(matrix: Encoder) -> np.ndarray:
    rows = np.zeros((matrix.steps, matrix.steps))
    for step in range(matrix.steps):
        rows[step, : step + 1] = [float(each) for each in row_of(matrix, step)]
    return rows


@every_matrix
def test_streams_are_encoded_and_decoded_row_by_row(name):
    matrix = MATRICES[name]
    assert np.allclose(dense(matrix), by_definition(matrix), rtol=1e-14)
    decoder, fresh = encoding(matrix), np.random.default_rng(0).standard_normal((matrix.steps, 3))
    found = np.stack([decoder.decoded(z) for z in fresh])
    assert np.allclose(by_definition(matrix) @ found, fresh, atol=1e-12)
    sums = np.cumsum(np.linalg.inv(by_definition(matrix)), axis=0)
    assert np.allclose(noise_of_sums(matrix), np.linalg.norm(sums, axis=1))


def test_blocks_of_a_tree_are_those_that_end_at_a_step():
    assert [sum(row_of(BinaryTree(8), step)) for step in range(8)] == [1, 2, 1, 4, 1, 2, 1, 8]
    assert row_of(BinaryTree(8), 5) == [0, 0, 0, 0, 1, 1]


def asked(matrix: Encoder, repetitions: int, seed: int = 0, **draws) -> tuple[np.ndarray, CorrelatedGradientOracle]:
    """Noise in units of a row's, shape (T, R, p), and the oracle that drew it."""
    problem = wavy(20)
    scheme = Correlated(matrix, 4, **draws)
    oracle = CorrelatedGradientOracle(problem, scheme, Fraction(3), noise.streams(seed, repetitions), OpenLedger())
    point = np.tile(problem.initial_point, (repetitions, 1))
    answers = [oracle(point) for _ in range(matrix.steps)]
    return np.stack([(each.noisy - opened(each.exact)) / oracle.noise_stddev for each in answers]), oracle


def law_holds(matrix: Encoder) -> bool:
    """Whether the noise of all steps has the covariance (CᵀC)^-1, within seven standard errors."""
    found, _ = asked(matrix, 3000)
    rows = found.transpose(1, 2, 0).reshape(-1, matrix.steps)
    inverse = np.linalg.inv(by_definition(matrix))
    expected = inverse @ inverse.T
    empirical = rows.T @ rows / len(rows)
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / len(rows))
    return bool((np.abs(empirical - expected) < 7 * spread).all())


@every_matrix
def test_the_noise_has_the_law_of_the_matrix(name):
    assert law_holds(MATRICES[name])


def _independent(patch):
    patch.setattr(correlated._Banded, "decoded", lambda self, z: z)


def _reused(patch):
    first = {}

    def drawn(generators, dimension, *, noise_stddev, per_record_bound, ledger, sampling=None):
        ledger.gaussian(noise_stddev=Fraction(noise_stddev), per_record_bound=per_record_bound, sampling=sampling)
        if id(ledger) not in first:
            first[id(ledger)] = ledger, noise.standard_gaussian(generators, dimension) * noise_stddev
        return first[id(ledger)][1].copy()

    patch.setattr(correlated.noise, "gaussian", drawn)


def _of_another_matrix(patch):
    real = correlated._Banded._weights
    patch.setattr(correlated._Banded, "_weights", lambda self: [each * 0.6**k for k, each in enumerate(real(self))])


def _taken_back_twice(patch):
    real = correlated._Banded._weights
    patch.setattr(
        correlated._Banded, "_weights", lambda self: [each * (1 + (k > 0)) for k, each in enumerate(real(self))]
    )


BUGS = (_independent, _reused, _of_another_matrix, _taken_back_twice)


@pytest.mark.seconds
@pytest.mark.seconds_cases("taken_back_twice")
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__.strip("_"))
def test_noise_of_another_law_is_told_from_the_right_one(bug: Callable, monkeypatch):
    bug(monkeypatch)
    assert not law_holds(MATRICES["all bands"])


@pytest.mark.seconds
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__.strip("_"))
def test_guards_catch_noise_that_is_not_the_matrix_s(bug: Callable, monkeypatch):
    algorithm, problem = example("dp-ftrl").calibrated(PrivacyBudget.of(1, "1e-5"))
    algorithm.run(problem, seed=1, repetitions=48, guarded=True)
    bug(monkeypatch)
    with pytest.raises(BudgetExceeded):
        algorithm.run(problem, seed=1, repetitions=48, guarded=True)


# --- Batches ----------------------------------------------------------------------------------------------------------

RATE = "1/4"
SAMPLED = {"draws": "cyclic-poisson", "sample_rate": RATE, "matrix": "square-root", "bands": 3}


def _not_sampled(patch):
    patch.setattr(correlated, "drawn", lambda scheme, records, place, group, generator: np.flatnonzero(group == place))


def _of_the_next_group(patch):
    real = correlated.drawn
    patch.setattr(
        correlated, "drawn", lambda scheme, n, place, *rest: real(scheme, n, (place + 1) % scheme.bins, *rest)
    )


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("bug", "given"),
    [(_not_sampled, SAMPLED), (_of_the_next_group, SAMPLED), (_of_the_next_group, {"matrix": "tree"})],
    ids=["not sampled", "of another group, sampled", "of another group"],
)
def test_batches_that_are_not_accounted_are_caught(bug: Callable, given, monkeypatch):
    algorithm = MatrixDescent.calibrated(wavy(40), 1, "1e-5", steps=20, batches=5, **given)
    algorithm.run(wavy(40), seed=1, repetitions=8, guarded=True)
    bug(monkeypatch)
    with pytest.raises(BudgetExceeded):
        algorithm.run(wavy(40), seed=1, repetitions=8, guarded=True)


# --- The walk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"matrix": "tree"}, {"matrix": Toeplitz(["1", "1/2"], 12)}], ids=str)
def test_step_by_step(given):
    problem, T, m = wavy(30), 12, 4
    algorithm = MatrixDescent.calibrated(problem, 1, "1e-5", steps=T, batches=m, distance="1/2", **given)
    run = algorithm.run(problem, seed=5, repetitions=2)
    stddev = float(algorithm.noise_multiplier) * float(problem.lipschitz) / 8  # ⌈30/4⌉
    inverse, eta = np.linalg.inv(by_definition(algorithm.sampling.matrix)), algorithm.step_size_for(problem)
    for generator, returned in zip(noise.streams(5, 2), run.output, strict=True):
        fresh = np.stack([generator.standard_normal(problem.dimension) for _ in range(T)]) * stddev
        total, w = np.zeros(problem.dimension), problem.initial_point
        for t in range(T):
            members = np.arange(t % m, 30, m)
            g = problem.batch_gradient(w[None], members[None])[0] * (len(members) / 8) + (inverse @ fresh)[t]
            total = total + g
            step = -eta * total
            w = problem.initial_point + step * min(1.0, 0.5 / np.linalg.norm(step))
        assert np.allclose(returned, w, atol=1e-9)


def test_the_ledger_holds_the_matrix_once():
    found, oracle = asked(MATRICES["three bands"], 2)
    ledger = oracle.ledger.close()
    (entry,) = ledger.releases
    expected = dp.MatrixMechanism(
        Fraction(oracle.noise_stddev) / oracle.per_record_bound,
        MATRICES["three bands"],
        "fixed-order",
        separation=4,
        groups="position",
    )
    assert entry.mechanism() == expected
    assert Ledger.from_json(ledger.to_json()) == ledger
    assert len(found) == oracle.visits == 7
    with pytest.raises(UnsupportedMechanism, match="7 rows"):
        oracle(np.tile(oracle.problem.initial_point, (2, 1)))


@pytest.mark.seconds
@pytest.mark.parametrize("given", [{}, {"matrix": "tree"}, {"bands": 5}, SAMPLED], ids=str)
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_the_ledger_keeps_the_budget(given, relation):
    problem = wavy(60)
    algorithm = MatrixDescent.calibrated(problem, 1, "1e-5", steps=20, batches=5, relation=relation, **given)
    run = algorithm.run(problem, seed=0, repetitions=1)
    assert run.spent.at_most(1)
    run.ledger.check_plan(algorithm.planned)


def test_groups_that_are_thrown_are_written_down_as_such():
    """Their calibration takes seconds: the noise is given."""
    scheme = Correlated(Toeplitz("square-root", 20, 4), 5, "balls-in-bins")
    algorithm = MatrixDescent(20, scheme)
    run = algorithm.run(wavy(60), seed=0, repetitions=2)
    run.ledger.check_plan(algorithm.planned)
    (entry,) = run.ledger.releases
    assert entry.mechanism().participation == "balls-in-bins"
    assert Ledger.from_json(run.ledger.to_json()) == run.ledger


def test_correlated_noise_makes_better_sums_than_independent_noise_of_the_same_budget():
    problem, steps = wavy(60), 100
    made = {
        name: MatrixDescent.calibrated(problem, 1, "1e-5", steps=steps, batches=20, matrix=matrix)
        for name, matrix in (("root", "square-root"), ("tree", "tree"), ("none", Toeplitz([1], steps)))
    }
    errors = {
        name: float(each.noise_multiplier) * float(noise_of_sums(each.sampling.matrix).max())
        for name, each in made.items()
    }
    assert errors["root"] < 0.6 * errors["none"]
    assert errors["root"] < errors["tree"] < errors["none"]


def test_what_does_not_fit():
    problem = wavy(20)
    with pytest.raises(UnsupportedMechanism, match="position"):
        MatrixDescent.calibrated(problem, 1, "1e-5", steps=8, relation="add-or-remove-one")
    with pytest.raises(InvalidValue, match="one per step"):
        MatrixDescent.calibrated(problem, 1, "1e-5", steps=8, matrix=Toeplitz([1], 9))
    with pytest.raises(InvalidValue, match="square-root or tree"):
        MatrixDescent.calibrated(problem, 1, "1e-5", steps=8, matrix="toeplitz")
    with pytest.raises(InvalidValue, match="bins"):
        MatrixDescent.calibrated(problem, 1, "1e-5", steps=8, batches=21)
    with pytest.raises(InvalidValue, match="sample_rate"):
        Correlated(Toeplitz([1], 4), 2, "cyclic-poisson")
    with pytest.raises(InvalidValue, match="draws"):
        Correlated(Toeplitz([1], 4), 2, "shuffled")
    with pytest.raises(InvalidValue, match="Correlated"):
        MatrixDescent(2, "square-root")
    scheme = Correlated(Toeplitz([1], 4), 2)
    with pytest.raises(InvalidValue, match="gaussian"):
        CorrelatedGradientOracle(problem, scheme, Fraction(1), noise.streams(0, 1), OpenLedger(), "secure")
