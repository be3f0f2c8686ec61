import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import noise, oracles, problems
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.oracles.batches import draw_rows
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.expressions import symbols
from tests.algorithms.shared import assert_independent_repetitions, holds, refused

PROBLEM = realisable(300, 3)
G = 3 * math.sqrt(3) / 8
SAMPLINGS = {
    "full": None,
    "poisson": Poisson("1/10"),
    "without": Batch(30, 300, replacement=False),
    "with": Batch(30, 300, replacement=True),
}


@pytest.mark.parametrize("variant", ["projected", "as-printed"])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_it_is_algorithm_3_step_by_step(name, variant):
    sampling = SAMPLINGS[name]
    method = StochasticGradientDescent(4, 6, "1/2", sampling, variant=variant)
    run = method.run(PROBLEM, seed=5, repetitions=3)
    divisor = 300 if sampling is None else 30
    sigma, second = 4 * G / divisor, G**2 * (1 + 0.9 / 30 if name == "poisson" else 1)
    eta = 0.5 / math.sqrt(6 * (second + 3 * sigma**2))
    assert run.step_size == pytest.approx(eta, rel=1e-9)
    outside = False
    for r, generator in enumerate(noise.streams(5, 3)):
        R = generator.integers(1, 6, endpoint=True)
        w, risks = np.zeros(3), []
        for t in range(1, 7):
            residuals = (PROBLEM.features @ w - PROBLEM.targets) ** 2
            risks.append((residuals / (1 + residuals)).mean())
            if t == R:
                assert run.output[r] == pytest.approx(w, abs=1e-12)
            rows = np.arange(300) if sampling is None else draw_rows(sampling, 300, generator)
            a, b = PROBLEM.features[rows], PROBLEM.targets[rows]
            u = a @ w - b
            gradient = (a * (2 * u / (1 + u**2) ** 2)[:, None]).sum(axis=0) / divisor
            w = w - eta * (gradient + sigma * generator.standard_normal(3))
            outside = outside or np.linalg.norm(w) > 0.5
            if variant == "projected" and np.linalg.norm(w) > 0.5:
                w = w / np.linalg.norm(w) * 0.5
        assert run.output_step[r] == R
        expected = np.mean(risks) if sampling is None else risks[R - 1]
        assert run.samples[r] == pytest.approx(expected, rel=1e-9)
    if name == "full":
        assert outside  # so that the projection was at work


@pytest.mark.parametrize("name", ["without", "with"])
def test_repetitions_are_independent_bit_for_bit(name):
    assert_independent_repetitions(StochasticGradientDescent(20, 8, sampling=SAMPLINGS[name]), PROBLEM)


@pytest.mark.minutes
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize(("name", "least"), [("without", 0.9), ("with", 0.6)])
def test_calibrated_noise_keeps_the_budget_and_hardly_more(relation, name, least):
    method = StochasticGradientDescent.calibrated(
        PROBLEM, 1, "1e-6", steps=40, relation=relation, sampling=SAMPLINGS[name]
    )
    run = method.run(PROBLEM, repetitions=1)
    assert run.spent.exact_upper <= 1
    assert run.spent.upper > 0.99
    assert run.spent.lower > least  # what dominates fixed-size batches is not attained: their enclosures are wide
    (release,) = run.ledger.releases
    assert release.count == 40


def test_the_printed_noise_spends_a_twentieth():
    problem = realisable(100, 3)
    method = StochasticGradientDescent.calibrated(problem, 1, "1e-6", variant="as-printed")
    assert method.steps == math.ceil(100**2 / (3 * math.log(1e6)))
    assert float(method.noise_multiplier) == pytest.approx(math.sqrt(1000 * method.steps * math.log(1e6)), rel=1e-12)
    run = method.run(problem, repetitions=1)
    assert 0.05 < run.spent.upper < 0.07
    batch = StochasticGradientDescent.calibrated(
        problem, 1, "1e-6", steps=method.steps, variant="as-printed", sampling=Batch(10, 100, replacement=True)
    )
    assert batch.noise_multiplier * 10 == method.noise_multiplier  # the same σ on the mean


def test_the_measured_risk_stays_below_the_bound():
    problem = realisable(200, 3, "cauchy")
    method = StochasticGradientDescent.calibrated(problem)
    bound = method.bound(problem)
    run = method.run(problem, seed=2, repetitions=16)
    assert holds(run.samples, bound)
    assert run.samples.mean() > 0.01 * bound.upper


@pytest.mark.parametrize("name", ["poisson", "without", "with"])
def test_batches_keep_the_bound(name):
    method = StochasticGradientDescent(9, 100, sampling=SAMPLINGS[name])
    run = method.run(PROBLEM, repetitions=16)
    assert holds(run.samples, method.bound(PROBLEM))


def test_the_bound_in_plain_floats():
    method = StochasticGradientDescent(30, 50, "1/2")
    q = 2 / (1 + 1)  # at distance 2D = 1
    expected = 0.5 * math.sqrt(G**2 + 3 * (30 * G / 300) ** 2) / (q * math.sqrt(50))
    assert method.bound(PROBLEM).upper == pytest.approx(expected, rel=1e-9)
    assert method.bound(PROBLEM, "1/4").upper == pytest.approx(4 * expected, rel=1e-9)


@pytest.mark.seconds
def test_the_second_moment_of_a_poisson_sample_is_what_the_bound_says():
    """All records alike and at their largest gradient: E‖g‖² = G²(1 + (1-q)/(qn)). False alarm 1e-6."""
    n, q, draws = 40, Fraction(1, 4), 6000
    features = np.zeros((n, 1)) + 1.0
    problem = problems.geman_mcclure(features, np.full(n, 1 / math.sqrt(3)), 1, 1)
    streams, ledger = noise.streams(0, draws), OpenLedger()
    oracle = oracles.BatchGradientOracle(problem, Poisson(q), Fraction(1), streams, ledger)
    squares = opened(oracle(np.zeros((draws, 1))).exact)[:, 0] ** 2
    stated = float(StochasticGradientDescent(1, 1, sampling=Poisson(q)).constants(problem)[symbols.lipschitz]) ** 2
    assert abs(squares.mean() - stated) < 4.9 * squares.std() / math.sqrt(draws)
    assert squares.mean() > 1.05 * G**2


def test_more_steps_than_enough_gain_little():
    enough = StochasticGradientDescent.calibrated(PROBLEM)
    more = StochasticGradientDescent.calibrated(PROBLEM, steps=100 * enough.steps)
    assert 1.35 < enough.bound(PROBLEM).upper / more.bound(PROBLEM).upper < math.sqrt(2)


def test_unprojected_iterates_have_no_bound_of_their_own():
    method = StochasticGradientDescent(30, 50, variant="as-printed")
    refused("variant", method.bound, PROBLEM)
    assert method.bound(PROBLEM, quasar_convexity="1/2").upper > 0
    far = method.run(PROBLEM, repetitions=64).output
    near = StochasticGradientDescent(30, 50).run(PROBLEM, repetitions=64).output
    assert np.linalg.norm(near, axis=1).max() <= 1 + 1e-12 < np.linalg.norm(far, axis=1).max()


def test_what_does_not_fit_together_is_refused():
    wrong = Batch(10, 200, replacement=False)
    for call in (
        lambda: StochasticGradientDescent(1, 1, sampling=wrong).run(PROBLEM),
        lambda: StochasticGradientDescent.calibrated(PROBLEM, sampling=wrong),
    ):
        refused(r"batch\.records must be .*, not 200", call)
    refused("batch_size", Batch, 301, 300, replacement=False)
    refused("distance", StochasticGradientDescent(1, 1).run, replace(PROBLEM, radius=Fraction(1, 2)))
    refused("radius", StochasticGradientDescent(1, 1, variant="as-printed").run, replace(PROBLEM, radius=Fraction(2)))
    refused("quasar_convexity", StochasticGradientDescent(1, 1).bound, PROBLEM, quasar_convexity=2)
    flat = problems.biweight_regression(np.eye(2), [0, 0])
    refused("quasar-convexity", StochasticGradientDescent(1, 1).bound, flat)
    refused(r"steps must be .*, not 0", StochasticGradientDescent.calibrated, PROBLEM, steps=0)
