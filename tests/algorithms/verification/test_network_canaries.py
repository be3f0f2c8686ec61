"""Audits of networks in one run: sound training keeps its ε, a broken copy is caught, by the audit or by the guards."""

import sys
from functools import partial

import numpy as np
import pytest

from dpbounds.algorithms import StochasticGradientDescent
from dpbounds.algorithms.oracles import BatchGradientOracle
from dpbounds.algorithms.problems import differentiable
from dpbounds.algorithms.sampling import Poisson
from dpbounds.algorithms.verification.attacks.network_canaries import audit_network
from dpbounds.errors import BudgetExceeded, InvalidValue

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.seconds

EPSILON, DELTA = 2, 1e-5
DRAW = np.random.default_rng(0)
RECORDS = DRAW.standard_normal((100, 20)).astype(np.float32), DRAW.integers(0, 4, 100)
PARAMETERS = {
    "in": jnp.asarray(DRAW.standard_normal((20, 24)) / 4, jnp.float32),
    "out": jnp.asarray(DRAW.standard_normal((24, 4)) / 4, jnp.float32),
}


def network(w, record):
    return -jax.nn.log_softmax(jnp.tanh(record[0] @ w["in"]) @ w["out"])[record[1]]


def trained(rate, steps, problem):
    return StochasticGradientDescent.calibrated(
        problem, EPSILON, DELTA, steps=steps, distance=1, sampling=Poisson(rate), relation="add-or-remove-one"
    )


def audited(score="sum", rate="9/10", steps=4, seed=0):
    return audit_network(
        partial(trained, rate, steps),
        network,
        PARAMETERS,
        RECORDS,
        clip=1,
        canaries=500,
        guesses=60,
        delta=DELTA,
        score=score,
        seed=seed,
    ).epsilon


@pytest.mark.parametrize("score", ["sum", "spread"])
def test_sound_training_keeps_its_epsilon(score):
    found = [audited(score, seed=seed) for seed in range(2)]
    assert max(found) <= EPSILON
    if score == "sum":
        assert max(found) > 0.25  # the audit is not blind
    print(score, found)


def test_a_layer_that_is_not_clipped(monkeypatch):
    """The slopes of canaries along it are as long as they like."""
    from dpbounds.algorithms.problems.differentiable_losses import sums

    cut = sums.clipped_sum

    def wrong(parts, groups, there, limits, cancel=1):
        clipped, within = cut(parts[1:], groups[1:], there, limits, cancel)
        free = sum(there[lane] * parts[0].of(lane) for lane in range(len(there)))
        return jnp.concatenate([free, clipped]), within

    monkeypatch.setattr(sums, "clipped_sum", wrong)
    found = audited()
    print("no clipping", found)
    assert found > EPSILON


def test_a_key_that_is_used_again(monkeypatch):
    """Every step's noise is the first one's: what varies is who was drawn."""
    first = {}

    def same(self, mean, **more):
        noisy = noise_of(self, mean, **more)
        drawn = first.setdefault("noise", noisy - mean)
        return mean + drawn

    noise_of = BatchGradientOracle._perturbed
    monkeypatch.setattr(BatchGradientOracle, "_perturbed", same)
    found = audited("spread", rate="1/2", steps=8)
    print("a key again", found)
    assert found > EPSILON


def test_a_mean_of_what_was_drawn(monkeypatch):
    """Its divisor is a secret: the guards see it."""

    def of_drawn(problem, X, rows, _by):
        return np.concatenate([problem.batch_gradient(x[None], own[None]) for x, own in zip(X, rows, strict=True)])

    problem = differentiable(network, PARAMETERS, RECORDS, clip=1)
    method = trained("1/2", 8, problem)
    method.run(problem, seed=1, repetitions=2, guarded=True)
    monkeypatch.setattr(sys.modules[BatchGradientOracle.__module__], "batch_means", of_drawn)
    with pytest.raises(BudgetExceeded):
        method.run(problem, seed=1, repetitions=2, guarded=True)


def test_more_canaries_than_parameters_are_refused():
    with pytest.raises(InvalidValue, match="canaries must be from 1 to 576"):
        audit_network(
            partial(trained, "1/2", 2), network, PARAMETERS, RECORDS, clip=1, canaries=577, guesses=2, delta=DELTA
        )
