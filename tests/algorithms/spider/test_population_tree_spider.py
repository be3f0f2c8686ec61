"""Tree-SPIDER on fresh records: step by step, its records, its ledger, its bound."""

import math

import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms import noise
from dpbounds.algorithms.iterates import uniform_steps
from dpbounds.algorithms.spider.population_tree_spider import PopulationTreeSpider
from dpbounds.algorithms.verification.studies.population import atoms, drawn, on_trees, trees
from dpbounds.privacy.relations import Relation
from tests.algorithms.shared import holds, refused

PROBLEM = drawn(600, 0)
METHOD = PopulationTreeSpider(2, 3, 3, 40, 8, 0.05)


def plain(problem, generator):
    """The iterates, and the records of every release: by the dyadic blocks of a step, each made once."""
    z, L, G = 2.0, float(problem.smoothness), float(problem.lipschitz)
    w, walked, used, at = problem.initial_point, [], [], 0
    for _ in range(3):
        first, blocks, passed = None, {}, []
        for t in range(8):
            passed.append(w)
            walked.append(w)
            if t == 0:
                rows = np.arange(at, at + 40)
                mean = problem.batch_gradient(w[None], rows[None])[0]
                first = mean + z * G / 40 * generator.standard_normal(3)
                used.append(rows)
                at += 40
            estimate, place = first, 0
            for j in (2, 1, 0):
                if not t >> j & 1:
                    continue
                start, place = place, place + 2**j
                if (j, start) not in blocks:
                    assert place == t  # made at its own end
                    rows = np.arange(at, at + 8 * 2**j)
                    here, there = (
                        problem.batch_gradient(x[None], rows[None])[0] for x in (passed[place], passed[start])
                    )
                    reach = min(L * np.linalg.norm(passed[place] - passed[start]), 2 * G) / len(rows)
                    blocks[j, start] = here - there + z * reach * generator.standard_normal(3)
                    used.append(rows)
                    at += len(rows)
                estimate = estimate + blocks[j, start]
            w = w - 0.05 * estimate / np.linalg.norm(estimate)
    return np.array(walked), used


def test_it_is_the_tree_step_by_step_and_uses_no_record_twice():
    run = METHOD.run(PROBLEM, seed=4, repetitions=5)
    for r, generator in enumerate(noise.streams(4, 5)):
        index = int(uniform_steps((generator,), 24)[0]) - 1
        walked, used = plain(PROBLEM, generator)
        assert run.output_step[r] == index
        assert run.output[r] == pytest.approx(walked[index], abs=1e-8)
        norms = np.linalg.norm(PROBLEM.gradient(walked), axis=1)
        assert run.samples[r] == pytest.approx(norms.mean())
        every = np.concatenate(used).tolist()
        assert len(every) == len(set(every)) == METHOD.records_needed()


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_is_one_release(relation):
    problem = drawn(2000, 1)
    run = PopulationTreeSpider.calibrated(problem, 1, "1e-5", relation).run(problem, seed=0, repetitions=2)
    (release,) = run.ledger.releases
    assert release.count == 1
    assert 0.999 < run.spent.lower <= run.spent.upper <= 1


def test_the_bound_in_plain_floats():
    method, problem = on_trees(2000, 1.0)
    G, L, gap = (float(one) for one in (problem.lipschitz, problem.smoothness, problem.initial_gap))
    z, b1, b2, r = float(method.noise_multiplier), method.first_batch, method.leaf_batch, method.move_length
    m = 2**method.levels
    square = G**2 / b1 * (1 + 3 * z**2 / b1)
    square += sum(2**j * (L * r) ** 2 / b2 + 3 * (z * L * r / b2) ** 2 for j in range(method.levels)) / 2
    assert method.error_bound(problem).upper == pytest.approx(math.sqrt(square), rel=1e-9)
    expected = gap / (method.segments * m * r) + L * r / 2 + 2 * math.sqrt(square)
    assert method.bound(problem).upper == pytest.approx(expected, rel=1e-9)


def test_the_plan_is_near_the_best_there_is():
    """No other shape, drawn at random among those whose records suffice, has a bound that is much smaller."""
    method, problem = on_trees(8000, 1.0)
    best, rng = method.bound(problem).upper, np.random.default_rng(0)
    tried = 0
    while tried < 30:
        factors = np.exp(0.4 * rng.standard_normal(4))
        S, b1, b2 = (
            max(1, round(getattr(method, name) * factor))
            for name, factor in zip(("segments", "first_batch", "leaf_batch"), factors, strict=False)
        )
        levels = int(rng.integers(1, 6))
        other = evolve(
            method,
            segments=S,
            levels=levels,
            first_batch=b1,
            leaf_batch=b2,
            move_length=method.move_length * factors[3],
        )
        if other.records_needed() > 8000:
            continue
        tried += 1
        assert other.bound(problem).upper > 0.97 * best


@pytest.mark.seconds
def test_runs_stay_below_the_bound_and_a_smaller_error_bound_would_be_missed():
    method, problem = on_trees(2000, 1.0)
    found = trees(2000, 1.0, 30, 3)
    assert holds(np.array(found["mean_norm"]), method.bound(problem))
    mean = np.mean(found["mean_error"])
    assert 0.5 < mean / method.error_bound(problem).upper ** 2 < 1
    assert method.bound(problem).upper < 0.55 * float(problem.lipschitz)


def test_the_population_gradient_may_be_known():
    doubled = METHOD.run(PROBLEM, seed=0, repetitions=3, population_gradient=lambda X: 2 * PROBLEM.gradient(X))
    run = METHOD.run(PROBLEM, seed=0, repetitions=3)
    assert doubled.samples == pytest.approx(2 * run.samples)
    assert np.array_equal(doubled.output, run.output)
    assert atoms().records == 32


def test_refusals():
    small = drawn(METHOD.records_needed() - 1, 0)
    for ask in (METHOD.run, METHOD.bound):
        refused(r"at least S \(b₁ \+ J 2ᴶ b₂/2\) = 408, not 407", ask, small)
    refused("levels", PopulationTreeSpider, 1, 1, 21, 1, 1, 1.0)
