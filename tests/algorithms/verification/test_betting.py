"""The sequential bound: fair for every private mechanism, above the truth as rarely as stated whenever one stops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special, stats

from dpbounds.algorithms.verification.attacks.audits import gaussian_epsilon, gaussian_mu
from dpbounds.algorithms.verification.attacks.betting import (
    GAUSSIAN_ASSUMED,
    LIKELIHOOD,
    NOTHING_ASSUMED,
    SequentialAudit,
    _tail_bets,
    _won,
    divided,
)
from dpbounds.errors import InvalidValue

FALSE_ALARM = 1e-6


def allowed(audits, confidence):
    """How many bounds may exceed the truth, with probability 1 - 1e-6."""
    return stats.binom.isf(FALSE_ALARM, audits, 1 - confidence)


# --- Fairness, exactly


def least_delta(p, q, epsilon):
    """The δ that a mechanism with these chances needs at ε, in the worse direction."""
    return max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 1.0, 3.0]), st.sampled_from([0.0, 1e-3, 0.1]))
def test_no_bet_gains_on_average_against_a_mechanism_that_keeps_its_privacy(seed, epsilon, delta):
    """Any bets on five values, by the mean of their factor; and where privacy is broken, the right bet gains."""
    draw = np.random.default_rng(seed)
    p, noise = draw.dirichlet(np.ones(5)), draw.dirichlet(np.ones(5))
    # the mixture with p that is just private enough
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        private = least_delta(p, (1 - middle) * p + middle * noise, epsilon) <= delta
        low, high = (middle, high) if private else (low, middle)
    q = (1 - low) * p + low * noise
    for bets in (draw.random((1, 5)), (p / (p + q))[None], np.where(draw.random((1, 5)) < 0.5, np.nan, 0.9)):
        assert mean_factor(bets, p, q, epsilon, delta) <= 1 + 1e-9
    if least_delta(p, noise, epsilon) > 2 * delta + 1e-3:
        right = (p / (p + noise))[None]
        assert mean_factor(right, p, noise, epsilon, 0.0) > 1


def mean_factor(bets, p, q, epsilon, delta):
    """Over the coin and the value: the factor of one run is that of counts which hold this run alone."""
    total = 0.0
    for side, chances in enumerate((p, q)):
        for value, chance in enumerate(chances):
            counts = np.zeros((2, len(p)))
            counts[side, value] = 1
            total += chance / 2 * math.exp(_won(bets, counts, np.array([epsilon]), delta)[0])
    return total


def test_the_bets_are_those_of_a_gambler_who_knows_the_chances():
    """Two values, ε = 0, half a million runs before: Kelly's bet on either tail, and none where ε explains it."""
    counts = np.array([[300_000.0, 200_000.0], [200_000.0, 300_000.0]])
    bets = _tail_bets(counts, np.array([0.0, 0.5]), 0.0)
    assert bets[0] == pytest.approx([0.6, 0.4], abs=1e-5)
    assert np.isnan(bets[1]).all()  # e^0.5 = 1.65 is more than 3/2
    # at a large δ less is bet, or nothing
    assert np.isnan(_tail_bets(counts, np.array([0.0]), 0.5)).all()


# --- The stated confidence, on mechanisms whose ε is known, looked at after every batch


def largest_bound(draw, of_side, delta, confidence, *, gaussian=False, batches=4, size=150, ratio=None):
    """The largest bound at any look: what who stops at the best moment would claim."""
    found = SequentialAudit(
        divided({"x": 0} if ratio is None else {LIKELIHOOD: 0, "x": 0}), delta, confidence, gaussian=gaussian
    )
    best = 0.0
    for _ in range(batches):
        second = draw.random(size) < 0.5
        x = of_side(second)
        found.add({"x": x} if ratio is None else {LIKELIHOOD: ratio(x), "x": x}, second)
        best = max(best, found.audit.epsilon)
    return best


def laplace(draw):
    return lambda second: draw.laplace(size=len(second)) + second


def answers(draw):
    """Randomised response, ε = log 3."""
    return lambda second: ((draw.random(len(second)) < 0.25) ^ second).astype(float)


def ball(draw):
    """Uniform on an interval of length 1 that starts at 0 or at 0.05: (0, 0.05)-private."""
    return lambda second: draw.random(len(second)) + 0.05 * second


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("mechanism", "delta", "truth"),
    [(laplace, 0.0, 1.0), (laplace, 0.05, 1 + 2 * math.log(0.95)), (answers, 0.0, math.log(3)), (ball, 0.05, 0.0)],
)
def test_the_best_of_many_looks_exceeds_the_truth_as_rarely_as_stated(mechanism, delta, truth):
    audits, confidence = 60, 0.8
    draw = np.random.default_rng(7)
    bounds = [largest_bound(draw, mechanism(draw), delta, confidence) for _ in range(audits)]
    assert sum(bound > truth + 1e-12 for bound in bounds) <= allowed(audits, confidence)


@pytest.mark.seconds
@pytest.mark.parametrize("scale", [3.0, -1.0])
def test_a_ratio_that_is_wrong_costs_power_but_not_confidence(scale):
    """The "likelihood ratio" of the release N(0 or 1, 1) times 3 or -1, with and without the word of a ledger."""
    audits, confidence, delta = 30, 0.8, 1e-2
    truth, draw = gaussian_epsilon(1, delta), np.random.default_rng(9)
    for gaussian in (False, True):
        bounds = [
            largest_bound(
                draw,
                lambda second: draw.normal(size=len(second)) + second,
                delta,
                confidence,
                gaussian=gaussian,
                ratio=lambda x: scale * (x - 0.5),
            )
            for _ in range(audits)
        ]
        assert sum(bound > truth for bound in bounds) <= allowed(audits, confidence)
        assert np.median(bounds) > 0.1 * truth


def test_runs_that_are_bet_on_twice_are_seen_by_these_tests():
    """Learning from the very runs that are bet on does not keep the confidence: the tests above can fail."""
    draw, cheated = np.random.default_rng(1), 0
    for _ in range(20):
        second = draw.random(100) < 0.5
        found, x = SequentialAudit({"x": 1.0}, confidence=0.8), laplace(draw)(second)
        for bet in (False, *[True] * 12):
            found.add({"x": x}, second, bet=bet)
        cheated += found.audit.epsilon > 1
    assert cheated > allowed(20, 0.8)


# --- Power


def after(runs, mu, delta, *, gaussian, seed=0, confidence=0.95):
    """The bounds on the release N(0 or μ, 1), by its likelihood ratio."""
    draw = np.random.default_rng(seed)
    found = SequentialAudit({LIKELIHOOD: 1.0}, delta, confidence, gaussian=gaussian)
    for count in (runs // 50, runs // 20, runs // 10, runs // 5, runs // 4, runs // 4):
        second = draw.random(count) < 0.5
        found.add({LIKELIHOOD: mu * (draw.normal(size=count) + mu * second) - mu * mu / 2}, second)
    return found


def test_most_of_a_gaussian_release_is_found_with_and_without_a_ledger():
    mu = gaussian_mu(1.0, 1e-5)
    told, alone = (after(100_000, mu, 1e-5, gaussian=known) for known in (True, False))
    assert 0.8 < told.audit.epsilon < 1
    assert told.audit.method == GAUSSIAN_ASSUMED
    assert 0.4 < alone.audit.epsilon == alone.unassuming.epsilon < 1
    assert alone.audit.method == NOTHING_ASSUMED
    assert told.attack == alone.attack == LIKELIHOOD
    assert told.reach == pytest.approx(1, rel=0.05)


def test_broken_noise_is_found_soon():
    assert after(4000, 2 * gaussian_mu(1.0, 1e-5), 1e-5, gaussian=True).audit.epsilon > 1.1
    # nothing hidden at all: the bound is what so many runs can say
    found = SequentialAudit({"x": 1.0}, 1e-5, 0.95, gaussian=True)
    for _ in range(2):
        second = np.arange(2000) % 2 == 1
        found.add({"x": second + 0.0}, second)
    assert 5 < found.unassuming.epsilon < math.log(4000)
    assert found.audit.epsilon > 25


def test_a_coin_finds_nothing():
    draw = np.random.default_rng(0)
    found = SequentialAudit({"x": 0.5, LIKELIHOOD: 0.5}, 1e-5, gaussian=True)
    for _ in range(4):
        second = draw.random(1000) < 0.5
        found.add({"x": draw.normal(size=1000), LIKELIHOOD: draw.normal(size=1000)}, second)
    assert found.audit.epsilon == 0


def test_runs_to_learn_from_are_not_counted():
    found = SequentialAudit({"x": 1.0})
    second = np.arange(1000) % 2 == 1
    for _ in range(3):
        found.add({"x": second + 0.0}, second, bet=False)
    assert found.audit.epsilon == 0


def test_the_estimate_of_what_a_pair_can_show():
    """Randomised response with ε = 1, of which the ratio is ±1."""
    draw, found = np.random.default_rng(0), SequentialAudit({LIKELIHOOD: 1.0}, 1e-6, certified=2.0)
    second = draw.random(50_000) < 0.5
    found.add({LIKELIHOOD: np.where(second ^ (draw.random(50_000) < special.expit(-1.0)), 1.0, -1.0)}, second)
    assert found.reach == pytest.approx(1, abs=0.05)
    assert math.isnan(SequentialAudit({"x": 1.0}).reach)


@pytest.mark.parametrize(
    "call",
    [
        lambda: SequentialAudit({}),
        lambda: SequentialAudit({"x": 0.7, "y": 0.7}),
        lambda: SequentialAudit({"x": 1.0}, delta=1),
        lambda: SequentialAudit({"x": 1.0}, delta=0, gaussian=True),
        lambda: SequentialAudit({"x": 1.0}, confidence=1),
        lambda: SequentialAudit({"x": 1.0}).add({"x": np.array([1.0, math.nan])}, np.array([True, False])),
        lambda: SequentialAudit({"x": 1.0}).add({"x": np.ones(3)}, np.array([True, False])),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()
