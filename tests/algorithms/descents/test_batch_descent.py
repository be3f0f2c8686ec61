import numpy as np
import pytest

from dpbounds.algorithms import BatchDescent, WeightedDescent, noise
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from tests.algorithms.shared import holds, refused, smooth

PROBLEM = smooth(feature_bound=2)
L, G, N = float(PROBLEM.smoothness), float(PROBLEM.lipschitz), 300


def test_it_is_the_pseudo_code_step_by_step():
    T, z, rate, eta = 5, 2, 0.25, 0.3
    method = BatchDescent(z, T, rate, eta)
    run = method.run(PROBLEM, seed=5, repetitions=6)
    each, last = eta * (1 - L * eta / 2), 1 / (2 * L)
    for r, generator in enumerate(noise.streams(5, 6)):
        index = generator.integers(0, T)
        index = T if generator.random() < last / (T * each + last) else index
        w, points = np.zeros((1, 4)), []
        for _ in range(T):
            points.append(w[0])
            rows = np.flatnonzero(generator.random(N) < rate)
            total = PROBLEM.batch_gradient(w, rows[None])[0] * len(rows)
            w = w - eta * (total + z * G * generator.standard_normal(4)) / (rate * N)
        points.append(w[0])
        assert run.output_step[r] == index
        assert run.output[r] == pytest.approx(points[index], abs=1e-12)
        slope = PROBLEM.gradient(run.output[r : r + 1])[0]
        assert run.samples[r] == pytest.approx(slope @ slope, rel=1e-10)
    assert method.planned == PoissonSampled(Gaussian(z), "1/4") ** T
    run.ledger.check_plan(method.planned)


def test_the_bound_is_the_records_and_can_be_broken():
    method, eta, T, z, rate = BatchDescent(3, 40, 0.25, 0.1), 0.1, 40, 3, 0.25
    moment = G**2 * ((1 - rate) / (rate * N) + 4 * (z / (rate * N)) ** 2)
    plain = (0.5 + T * L * eta**2 * moment / 2) / (T * eta * (1 - L * eta / 2) + 1 / (2 * L))
    bound = method.bound(PROBLEM)
    assert bound.upper == pytest.approx(min(plain, G**2), rel=1e-9)
    samples = method.run(PROBLEM, seed=1).samples
    assert holds(samples, bound)
    assert samples.mean() > 0.01 * bound.upper
    assert not holds(samples + bound.upper, bound)


@pytest.mark.seconds
def test_its_step_is_the_best_and_samples_cost_less_than_all_records():
    problem = smooth(2000)
    method = BatchDescent.calibrated(problem, 1, "1e-5", steps=400, sample_rate="1/20")
    found = method.bound(problem).upper
    for factor in (0.8, 1.25):
        step = factor * method.step_size
        other = BatchDescent.calibrated(problem, 1, "1e-5", steps=400, sample_rate="1/20", step_size=step)
        assert other.bound(problem).upper > found
    # 20 passes over all records, as many gradients
    assert found < 0.7 * WeightedDescent.calibrated(problem, 1, "1e-5", steps=20).bound(problem).upper


def test_refusals():
    refused("step_size", BatchDescent(10, 5, 1, 2 / L).bound, PROBLEM)
    refused("sample_rate", lambda: BatchDescent(10, 5, 2, 0.1))
