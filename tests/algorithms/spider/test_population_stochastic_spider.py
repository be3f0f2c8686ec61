import math

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.spider.population_stochastic_spider import PopulationStochasticSpider
from dpbounds.algorithms.verification.studies.stochastic_spider import labelled
from dpbounds.privacy.accountants.certified import epsilon as certified_epsilon
from dpbounds.privacy.relations import Relation
from tests.algorithms import shared
from tests.algorithms.shared import holds, refused


def wavy(n=4000):
    return shared.wavy(n, start=0.7, radius=2)


METHOD = PopulationStochasticSpider(2, 12, 6, 100, 200, 0.05)


def plain(method, problem, generator):
    """The iterates, and the records of every query."""
    p, M, G = problem.dimension, float(problem.smoothness), float(problem.lipschitz)
    z = float(method.noise_multiplier)
    first = iter(range(method.fresh_estimates))
    start = method.first_batch * method.fresh_estimates
    second = iter(range(method.steps))
    x, previous, estimate, drift = problem.initial_point, None, None, math.inf
    walked, used = [x], []
    for _ in range(method.steps):
        if drift >= method.drift_threshold:
            block = next(first, None)
            if block is None:
                walked.append(x)
                continue
            rows = np.arange(method.first_batch) + block * method.first_batch
            mean = problem.batch_gradient(x[None], rows[None])[0]
            estimate = mean + z * G / method.first_batch * generator.standard_normal(p)
            drift = 0.0
        else:
            rows = start + np.arange(method.second_batch) + next(second) * method.second_batch
            here, there = (problem.batch_gradient(point[None], rows[None])[0] for point in (x, previous))
            reach = min(M * np.linalg.norm(x - previous), 2 * G) / method.second_batch
            estimate = estimate + here - there + z * reach * generator.standard_normal(p)
        used.append(rows)
        previous, x = x, x - estimate / M
        drift += float((x - previous) @ (x - previous))
        walked.append(x)
    return np.array(walked), used


@pytest.mark.parametrize("problem", [wavy(), labelled(4000)], ids=["landscape", "sigmoid"])
@pytest.mark.parametrize("threshold", [1e-4, 0.02, 1e6])
def test_it_is_algorithm_1_on_fresh_batches_step_by_step(problem, threshold):
    method = PopulationStochasticSpider(2, 12, 6, 100, 200, threshold)
    run = method.run(problem, seed=4, repetitions=4)
    for r, generator in enumerate(noise.streams(4, 4)):
        points, used = plain(method, problem, generator)
        assert np.allclose(run.outputs["iterates"][r], points, rtol=0, atol=1e-7)
        every = np.concatenate(used)
        assert len(every) == len(set(every.tolist()))  # no record twice
        assert run.measured["fresh"][r] + run.measured["updates"][r] == len(used)


def test_no_record_is_used_twice_by_a_repetition(monkeypatch):
    problem, asked = wavy(), []
    real = type(problem).batch_gradient

    def watched(self, X, rows):
        asked.append((X.copy(), rows.copy()))
        return real(self, X, rows)

    monkeypatch.setattr(type(problem), "batch_gradient", watched)
    run = METHOD.run(problem, repetitions=1)
    blocks = {}
    for _, rows in asked:  # an update asks the same block at two points
        blocks.setdefault(tuple(rows[0]), 0)
        blocks[tuple(rows[0])] += 1
    every = [record for block in blocks for record in block]
    assert len(every) == len(set(every))
    assert sorted(blocks.values()).count(2) == run.measured["updates"][0]
    assert sorted(blocks.values()).count(1) == run.measured["fresh"][0]


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_is_one_query_and_equals_all_in_parallel(relation):
    problem = labelled(100_000)
    method = PopulationStochasticSpider.calibrated(problem, 1, "1e-5", relation)
    run = method.run(problem, repetitions=2)
    (release,) = run.ledger.releases
    assert release.count == 1
    assert 0.999 < run.spent.lower <= run.spent.upper <= 1
    together = certified_epsilon(method.in_parallel, "1e-5", relation)
    assert together.lower <= run.spent.upper
    assert run.spent.lower <= together.upper


def test_the_smallest_gradient_stays_below_the_bound():
    n = 30_000
    problem = labelled(n)
    method = PopulationStochasticSpider.calibrated(problem, 1, "1e-5")
    run = method.run(problem, seed=1, repetitions=8)
    bound = method.bound(problem)
    assert holds(run.samples, bound)
    assert bound.upper < 0.25  # G: it says something
    first, second = method.pools(n)
    assert first.end <= second.first
    assert second.end <= n


def test_the_population_gradient_may_be_known():
    problem = wavy(20_000)  # records differ from the mean by shifts of mean 0
    run = METHOD.run(problem, seed=0, repetitions=3, population_gradient=problem.gradient)
    again = METHOD.run(problem, seed=0, repetitions=3)
    assert np.array_equal(run.samples, again.samples)
    doubled = METHOD.run(problem, seed=0, repetitions=3, population_gradient=lambda X: 2 * problem.gradient(X))
    assert doubled.samples == pytest.approx(2 * run.samples)
    assert np.array_equal(doubled.output, run.output)  # it is measured, and nothing else is done with it


def test_the_bound_in_plain_floats():
    problem = wavy(10**6)
    method = PopulationStochasticSpider.calibrated(problem, 1, "1e-5")
    G, M, B = (float(one) for one in (problem.lipschitz, problem.smoothness, problem.initial_gap))
    z, b1, b2, kappa = float(method.noise_multiplier), method.first_batch, method.second_batch, method.drift_threshold
    tail = math.sqrt(2 * math.log(4 * method.fresh_estimates / 0.1))
    error = 2 * tail * math.sqrt(G**2 / b1 + kappa * M**2 / b2)
    error += z * math.sqrt((G / b1) ** 2 + kappa * (M / b2) ** 2) * (math.sqrt(2) + tail)
    assert method.bound(problem).upper == pytest.approx(math.sqrt(2 * M * B / method.steps + error**2), rel=1e-9)


def test_batches_must_fit():
    for ask in (METHOD.run, METHOD.bound):
        refused(r"at least b₁T₁ \+ b₂T = 3000, not 2998", ask, wavy(2998))
    refused("at most steps", PopulationStochasticSpider, 1, 2, 3, 10, 10, 1.0)
    refused(r"fresh_estimates must be .*, not 1", PopulationStochasticSpider(1, 10, 1, 10, 10, 1e-6).bound, wavy())
