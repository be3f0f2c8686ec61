import math
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms import Spider, Storm, noise
from dpbounds.algorithms.iterates import uniform_steps
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import GradientDifferenceOracle
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.spider import regression
from dpbounds.errors import InvalidValue
from tests.algorithms.shared import refused

PROBLEM = regression(400, 3)


def test_it_is_the_algorithm_step_by_step():
    method = Storm(8, 30, 12, Fraction(1, 4), 0.1)
    run = method.run(PROBLEM, seed=3, repetitions=40)
    n, k, L, G = 400, 0.25, float(PROBLEM.smoothness), float(PROBLEM.lipschitz)
    for r, generator in enumerate(noise.streams(3, 40)):
        R = int(uniform_steps((generator,), 12)[0]) - 1
        R = 12 if generator.random() < 1 / (1 + 0.1 * L * 12) else R
        w = previous = PROBLEM.initial_point
        v, kept = None, None
        for t in range(12):
            if t == R:
                kept = w
            here = PROBLEM.gradient(w[None])[0]
            if v is None:
                v = here + 8 * G / n * generator.standard_normal(3)
            else:
                before = PROBLEM.gradient(previous[None])[0]
                reach = k * G + (1 - k) * min(L * np.linalg.norm(w - previous), 2 * G)
                v = (1 - k) * v + here - (1 - k) * before + 30 * reach / n * generator.standard_normal(3)
            previous, w = w, w - 0.1 * v
        kept = w if R == 12 else kept
        assert run.output_step[r] == R
        assert run.output[r] == pytest.approx(kept, abs=1e-8)
    assert 0 < (run.output_step == 12).sum() < 40
    assert [release.count for release in run.ledger.releases] == [1, 11]


@pytest.mark.seconds
def test_the_budget_is_kept_and_used_and_the_bound_is_below_that_of_spider():
    problem = regression(2000, 5)
    method = Storm.calibrated(problem)
    run = method.run(problem, seed=1, repetitions=4)
    assert 1 - 1e-6 < run.spent.lower <= run.spent.exact_upper <= 1
    bound = math.sqrt(method.bound(problem).upper)
    assert math.sqrt(run.samples.mean()) < bound < 0.85 * Spider.calibrated(problem).bound(problem).upper


def test_few_steps_have_longer_ones():
    few, one = (Storm.calibrated(PROBLEM, steps=steps) for steps in (30, 1))
    assert few.steps == 30
    assert few.bound(PROBLEM).upper < one.bound(PROBLEM).upper
    assert one.planned == Storm(one.first_multiplier, 5, 1, 1, 0.1).planned  # no differences


def test_refusals():
    method = Storm.calibrated(PROBLEM, steps=30)
    refused("step_size", evolve(method, step_size=10.0).bound, PROBLEM)
    refused("step_size", evolve(method, momentum="1/1000").bound, PROBLEM)
    refused("momentum", lambda: evolve(method, momentum=2))
    refused("kept", lambda: GradientDifferenceOracle(PROBLEM, Fraction(1), (), OpenLedger(), kept=Fraction(3, 2)))
    with pytest.raises(InvalidValue, match="steps"):
        Storm.calibrated(PROBLEM, steps=0)


def test_what_is_kept_of_a_difference_counts():
    generators = noise.streams(0, 300)
    oracle = GradientDifferenceOracle(PROBLEM, Fraction(5), generators, OpenLedger(), kept=Fraction(3, 5))
    x = np.zeros((300, 3))
    y = x + 0.05
    answer = oracle(y, x)
    G, L = float(PROBLEM.lipschitz), float(PROBLEM.smoothness)
    reach = 0.4 * G + 0.6 * min(L * 0.05 * math.sqrt(3), 2 * G)
    assert opened(answer.exact) == pytest.approx(PROBLEM.gradient(y) - 0.6 * PROBLEM.gradient(x))
    assert answer.noise_stddev == pytest.approx(5 * reach / 400)
    assert np.std((answer.noisy - opened(answer.exact)) / answer.noise_stddev[:, None]) == pytest.approx(1, rel=0.1)
    assert oracle(x, x).noise_stddev == pytest.approx(5 * 0.4 * G / 400)  # a part is new where nothing moved, too
