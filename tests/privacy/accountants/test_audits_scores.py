"""Audits by scores: models whose ε is known, claims, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue
from dpbounds.privacy.accountants.audits.scores import gaussian_epsilon_at_least
from dpbounds.privacy.notions.gaussian import gaussian_delta

DELTA = "1e-5"
ONE_RUN = {"design": "one-run", "delta": DELTA}
MANY_RUNS = {"design": "many-runs", "delta": DELTA}


# --- Models that are trained here


def means_of_records(noise_multiplier, runs, seed=0):
    """Noisy sums of records of norm 1 with and without a canary, as scores along the canary."""
    draw = np.random.default_rng(seed)
    records = draw.normal(size=(50, 8))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    canary = np.eye(8)[0]
    coins = draw.random(runs) < 0.5
    released = records.sum(axis=0) + np.outer(coins, canary) + draw.normal(size=(runs, 8)) * noise_multiplier
    return released @ canary, coins


@pytest.mark.parametrize(("noise", "runs"), [(1, 1000), (0.5, 400)])
def test_a_noisy_mean_of_records(noise, runs):
    truth = dp.epsilon(dp.Gaussian(noise), DELTA).upper
    found = dp.audit_scores(*means_of_records(noise, runs), **MANY_RUNS)
    assert 0.7 / noise < found.mu < 1 / noise
    assert found.epsilon < found.gaussian_epsilon < truth
    assert 0.2 * truth < found.epsilon
    assert found.gaussian_epsilon > 0.6 * truth
    assert not found.refutes(truth)
    assert not found.refutes_gaussian(truth)


def test_a_mean_with_too_little_noise_refutes_its_claim():
    claimed = dp.epsilon(dp.Gaussian(2), DELTA).upper
    broken = dp.audit_scores(*means_of_records(0.25, 400), **MANY_RUNS)
    assert broken.refutes(claimed)
    slightly = dp.audit_scores(*means_of_records(1, 1000), **MANY_RUNS)
    assert slightly.refutes_gaussian(claimed)
    assert not slightly.refutes(claimed)


def test_noise_on_many_canaries_in_one_run():
    """A sum of canaries with directions of their own: each coordinate is Gaussian noise on its coin."""
    draw = np.random.default_rng(3)
    coins = draw.random(4000) < 0.5
    scores = coins + draw.normal(size=4000) / 2
    truth = dp.epsilon(dp.Gaussian(noise_stddev=1, sensitivity=2), DELTA).upper
    found = dp.audit_scores(scores, coins, **ONE_RUN)
    assert 0.25 * truth < found.epsilon < truth
    assert 0.5 < found.mu < 2
    chosen = dp.audit_scores(scores, coins, **ONE_RUN, guesses=400)
    assert found.epsilon < chosen.epsilon < truth  # one number of guesses need not share the error
    assert chosen.found_by.endswith(" of 400 guesses right")
    halves = dp.audit_scores(scores, coins, **ONE_RUN, threshold=0.5)
    assert halves.found_by.endswith(" of 4000 guesses right")
    assert 0 < halves.epsilon < found.epsilon


@pytest.mark.seconds
def test_a_model_by_stochastic_gradient_descent_in_one_run():
    from dpbounds.algorithms import PrivateTraining
    from dpbounds.algorithms.sampling import Poisson
    from dpbounds.algorithms.verification.attacks.canaries import with_canaries
    from dpbounds.algorithms.verification.studies.problems import design

    problem = replace(design(500, 500), l1=Fraction(0))
    coins = np.random.default_rng(0).random(500) < 0.5
    training = PrivateTraining.calibrated(
        problem, 8, DELTA, steps=4, optimiser=1.0, sampling=Poisson("1/2"), relation="zero-out-one"
    )
    run = training.run(with_canaries(problem, coins), seed=1, repetitions=1)
    found = dp.audit_scores(run.output[0], coins, **ONE_RUN, relation="zero-out-one")
    assert 0.5 < found.epsilon < run.spent.upper <= 8
    assert not found.refutes(8)
    assert dp.audit_scores(-run.output[0], coins, **ONE_RUN).epsilon == 0  # the wrong way round


# --- Results


def test_records_in_words():
    found = dp.audit_scores(*means_of_records(0.5, 400), **MANY_RUNS, confidence="0.9")
    assert str(found).startswith("epsilon >= ")
    assert "at delta = 1e-05 (add-or-remove-one), with confidence 0.9 (" in str(found)
    assert " scores in lie above the " in found.found_by or " scores out lie below the " in found.found_by
    assert found.included + found.excluded == 400
    assert "at least" in found._repr_html_()
    assert repr(found).startswith("ScoreAudit(design='many-runs', ")


def test_the_test_that_shows_a_bound_is_described():
    """With 64 scores in and 16 out the middle ones say nothing."""
    inside, outside = np.r_[np.full(48, 2.0), np.zeros(16)], np.zeros(16)
    found = dp.audit_scores(np.r_[inside, outside], np.arange(80) < 64, design="many-runs", delta=0)
    assert found.found_by == "48 of 64 scores in lie above the largest of 16 scores out"
    inside, outside = np.zeros(16), np.r_[np.full(48, -2.0), np.zeros(16)]
    mirrored = dp.audit_scores(np.r_[inside, outside], np.arange(80) < 16, design="many-runs", delta=0)
    assert mirrored.found_by == "48 of 64 scores out lie below the smallest of 16 scores in"
    assert mirrored.epsilon == found.epsilon > 0


def test_more_confidence_and_a_larger_delta_give_less():
    scores, coins = means_of_records(0.5, 400)
    usual = dp.audit_scores(scores, coins, **MANY_RUNS).epsilon
    assert dp.audit_scores(scores, coins, **MANY_RUNS, confidence="0.999").epsilon < usual
    assert dp.audit_scores(scores, coins, design="many-runs", delta="0.05").epsilon < usual
    pure = dp.audit_scores(scores, coins, design="many-runs", delta=0)
    assert pure.epsilon >= usual
    assert pure.gaussian_epsilon is None
    assert not pure.refutes_gaussian(0)


def test_epsilon_of_mu_is_rounded_down():
    truth = dp.epsilon(dp.Gaussian(noise_stddev=1, sensitivity="1.5"), DELTA)
    found = gaussian_epsilon_at_least(Fraction("1.5"), Fraction(DELTA))
    assert found <= truth.exact_upper
    assert gaussian_delta(Fraction("2.25"), found) >= Fraction(DELTA)
    assert gaussian_delta(Fraction("2.25"), found + Fraction(1, 2**45)) < Fraction(DELTA)
    assert float(found) == pytest.approx(truth.lower, rel=1e-9)
    assert gaussian_epsilon_at_least(Fraction(0), Fraction(DELTA)) == 0


def test_scores_that_say_nothing():
    coins = np.arange(40) % 2 == 0
    for design in ("one-run", "many-runs"):
        found = dp.audit_scores(np.zeros(40), coins, design=design, delta=DELTA)
        assert found.epsilon == found.mu == 0


# --- What is refused

COINS = [True, False] * 20
SCORES = list(range(40))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"included": [True] * 40}, "40 scores of canaries that were in, and none that was out"),
        ({"included": [0] * 40}, "none that was in"),
        ({"scores": [*SCORES[:-1], float("nan")]}, "nan at place 39"),
        ({"scores": [*SCORES[:-1], float("inf")]}, "inf at place 39"),
        ({"scores": SCORES[:-1]}, "one entry for each of the 39 scores"),
        ({"scores": [1]}, "from 2 to 10000000"),
        ({"scores": ["a"] * 40}, "finite numbers in a row"),
        ({"scores": [SCORES]}, "an array of shape (1, 40)"),
        ({"included": [2, *COINS[1:]]}, "true or false, or 1 or 0"),
        ({"included": ["in"] * 40}, "finite numbers in a row"),
        ({"design": "two runs"}, "'one-run' or 'many-runs'"),
        ({"delta": 1}, "delta"),
        ({"confidence": 1}, "confidence"),
        ({"relation": "neighbours"}, "relation"),
        ({"guesses": 41}, "from 1 to 40"),
        ({"guesses": 0}, "from 1 to 40"),
        ({"guesses": 3, "design": "many-runs"}, "None with many runs"),
        ({"guesses": 3, "threshold": 1}, "where a threshold is given"),
        ({"threshold": "x"}, "threshold"),
    ],
    ids=str,
)
def test_wrong_use(wrong, told):
    with pytest.raises(InvalidValue) as refused:
        dp.audit_scores(**{"scores": SCORES, "included": COINS, "design": "one-run", "delta": DELTA} | wrong)
    assert told in str(refused.value)


def test_coins_that_are_not_fair_are_refused_with_one_run():
    coins = np.arange(200) < 20
    with pytest.raises(InvalidValue, match=r"20 in and 180 out; fair coins fall like this with probability"):
        dp.audit_scores(np.zeros(200), coins, **ONE_RUN)
    assert dp.audit_scores(np.zeros(200), coins, **MANY_RUNS).epsilon == 0
