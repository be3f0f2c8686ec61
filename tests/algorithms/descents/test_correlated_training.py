"""Training under correlated noise: against plain NumPy, for networks in JAX, planted bugs under guard, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms import GradientSteps, PrivateTraining, QuantileClipping, problems
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.noise import standard_gaussian, streams
from dpbounds.algorithms.oracles.correlated import dense
from dpbounds.algorithms.sampling import Correlated
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import MatrixMechanism
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz

RNG = np.random.default_rng(0)
N, P, STEPS = 60, 3, 12
FEATURES = RNG.standard_normal((N, P))
SIGNS = np.where(FEATURES[:, 0] > 0, 1, -1)
PLAIN = problems.sigmoid_loss(FEATURES, SIGNS, l1=0, feature_bound=10)
PROBLEM = problems.Clipped(PLAIN, 1)
BANDED = Toeplitz([1, "1/2", "1/4"], STEPS)
DRAWS = {
    "fixed order": Correlated(BANDED, 4),
    "cyclic Poisson": Correlated(BANDED, 4, "cyclic-poisson", "1/2"),
    "bins": Correlated(BANDED, 4, "balls-in-bins"),
    "tree": Correlated(BinaryTree(STEPS), 4),
}


def training(scheme: Correlated, **more: Any) -> PrivateTraining:
    return PrivateTraining(**{"noise_multiplier": 8, "steps": STEPS, "optimiser": 0.5, "sampling": scheme} | more)


def test_it_is_descent_with_the_noise_of_the_matrix() -> None:
    """Fixed groups; C N = Z, Z of the same stream; momentum beside it."""
    run = training(DRAWS["fixed order"], optimiser=GradientSteps(0.5, 0.9)).run(PROBLEM, seed=3, repetitions=1)
    (generator,) = streams(3, 1)
    fresh = np.concatenate([standard_gaussian([generator], P) for _ in range(STEPS)])
    noise = np.linalg.solve(dense(BANDED), fresh) * 8 / 15
    x, velocity = np.zeros(P), np.zeros(P)
    for step in range(STEPS):
        rows = np.arange(step % 4, N, 4)
        each = PLAIN.batch_gradient(np.tile(x, (len(rows), 1)), rows[:, None])
        lengths = np.linalg.norm(each, axis=1)
        velocity = 0.9 * velocity + (each * np.minimum(1, 1 / lengths)[:, None]).sum(axis=0) / 15 + noise[step]
        x = x - 0.5 * velocity
    assert run.output[0] == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("name", DRAWS)
def test_its_ledger_is_the_matrix_mechanism_and_guards_pass(name: str) -> None:
    method = training(DRAWS[name])
    run = method.run(PROBLEM, seed=1, repetitions=4, guarded=True)
    (release,) = run.ledger.releases
    written = release.mechanism()
    assert isinstance(written, MatrixMechanism)
    assert (written.matrix, written.participation, written.separation) == (
        method.sampling.matrix,
        method.sampling.draws,
        4,
    )
    run.ledger.check_plan(method.planned)
    assert Ledger.from_json(run.ledger.to_json()) == run.ledger
    with pytest.raises(BudgetExceeded):
        run.ledger.check_plan(training(DRAWS[name], noise_multiplier=9).planned)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_noise_is_calibrated_for_all_rows(relation: str) -> None:
    method = PrivateTraining.calibrated(
        PROBLEM, 2, "1e-5", relation=relation, optimiser=0.5, sampling=DRAWS["cyclic Poisson"]
    )
    spent = dp.epsilon(method.planned, "1e-5", relation)
    assert 1.999 < spent.upper <= 2
    assert method.steps == STEPS
    assert method.run(PROBLEM, repetitions=1).spent.upper <= 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"steps": 11}, "12, the rows of the matrix"),
        ({"clipping": QuantileClipping()}, "do not depend on others"),
        ({"noise": "secure"}, "noise"),
    ],
)
def test_what_does_not_fit(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        training(DRAWS["fixed order"], **options).run(PROBLEM, seed=1, repetitions=1)


def test_it_has_no_checkpoint_and_no_epochs(tmp_path: Any) -> None:
    with pytest.raises(InvalidValue, match="never saved"):
        training(DRAWS["fixed order"]).run(PROBLEM, checkpoint=tmp_path / "run")
    with pytest.raises(InvalidValue, match="a row for each step"):
        PrivateTraining.calibrated(PROBLEM, optimiser=0.5, sampling=DRAWS["fixed order"], epochs=3)
    with pytest.raises(InvalidValue, match="at most the number of records"):
        PrivateTraining.calibrated(PROBLEM, optimiser=0.5, sampling=Correlated(BANDED, 61))


@pytest.mark.seconds
def test_a_network_trains_under_it() -> None:
    jax = pytest.importorskip("jax")
    optax = pytest.importorskip("optax")
    jnp = jax.numpy

    def loss(parameters: Any, record: Any) -> Any:
        x, y = record
        hidden = jnp.tanh(x @ parameters["first"])
        return jnp.logaddexp(0.0, -y * (hidden @ parameters["second"]))

    start = {"first": 0.5 * RNG.standard_normal((P, 4)), "second": 0.5 * RNG.standard_normal(4)}
    parameters = {name: np.float32(each) for name, each in start.items()}
    data = (np.float32(FEATURES), np.float32(SIGNS))
    problem = problems.differentiable(loss, parameters, data, clip=1)
    scheme = Correlated(Toeplitz("square-root", 40, 4), 4, "cyclic-poisson", "1/2")
    method = PrivateTraining.calibrated(problem, 8, "1e-3", optimiser=optax.adam(0.05), sampling=scheme)
    run = method.run(problem, seed=0, repetitions=2, guarded=True)
    assert run.spent.upper <= 8
    (release,) = run.ledger.releases
    assert release.mechanism().participation == "cyclic-poisson"
    assert (run.measured["moved"] > 0.1).all()


@pytest.mark.seconds
def test_the_divisor_is_public() -> None:
    """The noise on an answer is z over what a group's sum is divided by, whatever was drawn."""
    run = training(DRAWS["cyclic Poisson"], noise_multiplier=8).run(PROBLEM, seed=2, repetitions=200)
    first = run.trace.noise.per_step[0] / P  # of the first row: C N = Z has N_1 = Z_1
    expected = float((8 / DRAWS["cyclic Poisson"].divisor(N)) ** 2)
    assert DRAWS["cyclic Poisson"].divisor(N) == Fraction(15, 2)
    assert first == pytest.approx(expected, rel=0.3)
