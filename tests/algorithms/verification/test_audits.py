"""What an audit's bounds are made of: the Gaussian curve, and the audit in one run."""

import math

import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms.verification.attacks.audits import gaussian_epsilon, gaussian_mu, in_one_run
from dpbounds.errors import InvalidValue


@pytest.mark.parametrize(("mu", "delta"), [(0.5, 1e-3), (1.0, 1e-5), (3.0, 1e-8)])
def test_the_gaussian_curve_is_the_certified_one(mu, delta):
    proven = dp.epsilon(dp.Gaussian(noise_stddev=1, sensitivity=str(mu)), delta=str(delta))
    assert gaussian_epsilon(mu, delta) == pytest.approx(proven.upper, rel=1e-9)
    assert gaussian_mu(proven.upper, delta) == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_one_run_with_perfect_randomised_response(epsilon):
    """m coins, each answered truthfully with probability e^ε/(1 + e^ε): nearly all of ε is found."""
    canaries = 20_000
    correct = round(canaries / (1 + math.exp(-epsilon)))
    found = in_one_run(canaries, canaries, correct)
    assert 0.93 * epsilon < found.epsilon < epsilon
    # by definition: at the bound the binomial tail is the error probability
    tail = stats.binom.sf(correct - 1, canaries, 1 / (1 + math.exp(-found.epsilon)))
    assert tail == pytest.approx(0.05, rel=1e-3)


def test_delta_costs_something_in_one_run():
    exact = in_one_run(1000, 1000, 800)
    assert in_one_run(1000, 1000, 800, delta=1e-5).epsilon < exact.epsilon
    assert in_one_run(1000, 1000, 800, delta=1e-2).epsilon < in_one_run(1000, 1000, 800, delta=1e-5).epsilon
    assert in_one_run(1000, 1000, 500).epsilon == 0
    assert in_one_run(1000, 0, 0).epsilon == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: in_one_run(3, 2, 1, delta=1),
        lambda: in_one_run(3, 2, 1, confidence=1),
        lambda: in_one_run(3, 4, 2),
        lambda: in_one_run(3, 2, 3),
        lambda: in_one_run(0, 0, 0),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()


def test_in_words():
    assert str(in_one_run(1000, 1000, 800, 1e-5)).startswith("epsilon >= 1.")
