"""Empirical lower bounds on ε: never above the truth (up to the stated confidence), and not far below it."""

import math

import numpy as np
import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms.verification.attacks.audits import (
    Rates,
    _refuted,
    at_threshold,
    by_threshold,
    from_gaussian_trade_off,
    from_rates,
    gaussian_epsilon,
    in_one_run,
    largest_rate,
)
from dpbounds.errors import InvalidValue


@pytest.mark.parametrize(("errors", "runs"), [(0, 50), (1, 50), (7, 50), (49, 50)])
def test_clopper_pearson_by_definition(errors, runs):
    """The largest rate p for which so few errors still have probability 1 - confidence."""
    rate = largest_rate(errors, runs, 0.975)
    assert stats.binom.cdf(errors, runs, rate) == pytest.approx(0.025, rel=1e-9)
    assert largest_rate(runs, runs, 0.975) == 1


def test_randomised_response_is_found():
    # error rate 1/(1 + e) on both sides: ε = 1 exactly
    runs = 10**6
    errors = round(runs / (1 + math.e))
    audit = from_rates(Rates(errors, runs, errors, runs))
    assert 0.99 < audit.epsilon < 1
    assert from_rates(Rates(errors, runs, errors, runs), delta=0.1).epsilon < audit.epsilon


def test_a_coin_finds_nothing():
    assert from_rates(Rates(50, 100, 50, 100)).epsilon == 0
    assert from_gaussian_trade_off(Rates(50, 100, 50, 100), 1e-5).epsilon == 0


@pytest.mark.parametrize(("mu", "delta"), [(0.5, 1e-3), (1.0, 1e-5), (3.0, 1e-8)])
def test_the_gaussian_curve_is_the_certified_one(mu, delta):
    proven = dp.epsilon(dp.Gaussian(noise_stddev=1, sensitivity=str(mu)), delta=str(delta))
    assert gaussian_epsilon(mu, delta) == pytest.approx(proven.upper, rel=1e-9)


def expected_best(mu, negatives, positives, delta):
    """The threshold for N(0, 1) against N(μ, 1) at which so many runs are expected to prove the most."""

    def expected(threshold):
        errors = round(negatives * stats.norm.sf(threshold)), round(positives * stats.norm.cdf(threshold - mu))
        return from_rates(Rates(errors[0], negatives, errors[1], positives), delta).epsilon

    return max(np.linspace(mu / 2, mu / 2 + 8, 321), key=expected)


@pytest.mark.rotating(4)
@pytest.mark.parametrize(("delta", "share"), [(1e-2, 0.9), (1e-5, 0.7)])
def test_one_gaussian_release_is_nearly_found(delta, share):
    """μ = 1, 95 % confidence, a million samples: most of the true ε (median of 11 audits), and hardly ever more."""
    truth = gaussian_epsilon(1, delta)
    negatives, positives = 700_000, 300_000
    threshold = expected_best(1, negatives, positives, delta)
    found = []
    for seed in range(11):
        draw = np.random.default_rng(seed)
        audit = at_threshold(draw.normal(size=negatives), draw.normal(size=positives) + 1, threshold, delta)
        found.append(audit.epsilon / truth)
    assert np.median(found) >= share
    assert sum(one > 1 for one in found) <= 3  # 4 or more have a probability below 0.002


@pytest.mark.rotating(4)
def test_a_known_shape_of_the_curve_gains_nearly_all():
    truth = gaussian_epsilon(1, 1e-5)
    draw = np.random.default_rng(0)
    first, second = draw.normal(size=500_000), draw.normal(size=500_000) + 1
    assert 0.55 * truth <= by_threshold(first, second, 1e-5).epsilon <= truth  # the threshold from half of the runs
    assert 0.97 * truth <= by_threshold(first, second, 1e-5, gaussian=True).epsilon <= 1.01 * truth


def test_the_confidence_is_kept():
    """400 audits of a mechanism at its true ε: more than 5 % too large has probability below 1e-9 beyond 42."""
    draw = np.random.default_rng(2)
    truth = math.log(3)
    wrong = 0
    for _ in range(400):
        errors = draw.binomial(300, 1 / 4, size=2)  # randomised response with ε = log 3
        wrong += from_rates(Rates(int(errors[0]), 300, int(errors[1]), 300)).epsilon > truth
    assert wrong <= stats.binom.isf(1e-9, 400, 0.05)


def test_a_broken_noise_is_caught_and_a_sound_one_is_not_in_either_direction():
    draw = np.random.default_rng(3)
    promised = gaussian_epsilon(1, 1e-5)
    for distance in (1, 2):  # of half the noise
        first, second = draw.normal(size=20_000), draw.normal(size=20_000) + distance
        found = [by_threshold(sign * first, sign * second, 1e-5, gaussian=True).epsilon for sign in (1, -1)]
        assert [epsilon > promised for epsilon in found] == [distance == 2] * 2
        assert min(found) > 0.7 * promised


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


def test_the_term_in_delta_by_brute_force():
    m, r, v, epsilon, delta = 30, 20, 17, 0.4, 1e-3
    share = 1 / (1 + math.exp(-epsilon))

    def tail(count):
        return sum(math.comb(r, k) * share**k * (1 - share) ** (r - k) for k in range(max(count, 0), r + 1))

    worst = max((tail(v - i) - tail(v)) / i for i in range(1, m + 1))
    p_value = tail(v) + 2 * m * delta * worst
    assert _refuted(epsilon, m, r, v, delta, p_value * 1.0001)
    assert not _refuted(epsilon, m, r, v, delta, p_value * 0.9999)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Rates(3, 2, 0, 1),
        lambda: Rates(0, 0, 0, 1),
        lambda: from_rates(Rates(1, 2, 1, 2), delta=1),
        lambda: from_rates(Rates(1, 2, 1, 2), confidence=1),
        lambda: by_threshold([1.0], [2.0, 3.0]),
        lambda: by_threshold([math.nan, 1.0], [2.0, 3.0]),
        lambda: in_one_run(3, 4, 2),
        lambda: in_one_run(3, 2, 3),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()


def test_in_words():
    assert str(from_rates(Rates(0, 1000, 0, 1000), 1e-5)).startswith("epsilon >= 5.")
