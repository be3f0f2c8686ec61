from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms import BatchStorm, Storm, noise
from dpbounds.algorithms.iterates import uniform_steps
from dpbounds.algorithms.verification.studies.spider import regression
from dpbounds.privacy.mechanisms import Composed, Gaussian, PoissonSampled
from tests.algorithms.shared import holds, refused

PROBLEM = regression(400, 3)
N, L, G = 400, float(PROBLEM.smoothness), float(PROBLEM.lipschitz)


def test_it_is_the_algorithm_step_by_step():
    T, k, rate = 6, 0.25, 0.125
    method = BatchStorm(3, 2, T, rate, Fraction(1, 4), 0.1)
    run = method.run(PROBLEM, seed=3, repetitions=12)
    for r, generator in enumerate(noise.streams(3, 12)):
        R = int(uniform_steps((generator,), T)[0]) - 1
        R = T if generator.random() < 1 / (1 + 0.1 * L * T) else R
        w = PROBLEM.initial_point[None]
        v = PROBLEM.gradient(w) + 6 * G / N * generator.standard_normal(3)
        kept = w
        for t in range(T):
            kept = w if t == R else kept
            before, w = w, w - 0.1 * v
            if t < T - 1:
                rows = np.flatnonzero(generator.random(N) < rate)[None]
                total = (PROBLEM.batch_gradient(w, rows) - (1 - k) * PROBLEM.batch_gradient(before, rows)) * rows.size
                reach = k * G + (1 - k) * min(L * np.linalg.norm(w - before), 2 * G)
                v = (1 - k) * v + (total + 3 * reach * generator.standard_normal(3)) / (rate * N)
        kept = w if R == T else kept
        assert run.output_step[r] == R
        assert run.output[r] == pytest.approx(kept[0], abs=1e-8)
    assert method.planned == Composed(((Gaussian(6), 1), (PoissonSampled(Gaussian(3), "1/8"), T - 1)))
    run.ledger.check_plan(method.planned)


def test_the_bound_is_that_of_its_formula_and_runs_stay_below():
    problem = regression(4000, 3)
    method = BatchStorm(3, 5, 50, "1/8", Fraction(1, 4), 0.3, 1)
    nu = (1 - 0.125) / 500 + 3 * (3 / 500) ** 2
    errors = (3 * (15 / 4000) ** 2 + 2 * 49 * nu / 16) / (0.25 * 1.75)
    plain = (2 / 0.3 + G**2 * errors) / (50 + 1 / (L * 0.3))
    bound, samples = method.bound(problem), method.run(problem, seed=1, repetitions=16).samples
    assert bound.upper == pytest.approx(min(plain, G**2), rel=1e-9)
    assert holds(samples, bound)
    assert samples.mean() > 0.01 * bound.upper


@pytest.mark.seconds
def test_a_tenth_of_the_gradients_is_enough():
    problem = regression(4000, 5)
    whole = Storm.calibrated(problem, 2, "1e-5")
    few = BatchStorm.calibrated(problem, 2, "1e-5", steps=10 * whole.steps, sample_rate="1/100")
    assert few.bound(problem).upper < whole.bound(problem).upper
    for name, value in (("step_size", few.step_size), ("first_ratio", few.first_ratio)):
        for factor in ("2/3", "3/2"):
            given = {name: value * float(Fraction(factor)) if name == "step_size" else value * Fraction(factor)}
            other = BatchStorm.calibrated(problem, 2, "1e-5", steps=few.steps, sample_rate="1/100", **given)
            assert other.bound(problem).upper > few.bound(problem).upper * (1 - 1e-6)


def test_one_step_has_no_samples_and_refusals():
    method = BatchStorm.calibrated(PROBLEM, steps=30)
    one = BatchStorm.calibrated(PROBLEM, steps=1)
    assert one.planned == Gaussian(one.noise_multiplier * one.first_ratio)
    refused("step_size", evolve(method, step_size=10.0).bound, PROBLEM)
    refused("step_size", evolve(method, momentum="1/100000").bound, PROBLEM)
    refused("momentum", lambda: evolve(method, momentum=2))
    refused("sample_rate", lambda: evolve(method, sample_rate=0))
