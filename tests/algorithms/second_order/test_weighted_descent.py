import attrs
import numpy as np
import pytest

from dpbounds.algorithms import WeightedDescent, explain, noise
from dpbounds.algorithms.problems.landscapes import landscape
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.ladders.lines import Due
from tests.algorithms.shared import BOWL, plain_sigmoid, refused, smooth

PROBLEM = smooth(feature_bound=2)
L, G = float(PROBLEM.smoothness), float(PROBLEM.lipschitz)


@pytest.mark.parametrize("step_size", [None, 0.3])
def test_it_is_the_pseudo_code_step_by_step(step_size):
    T, z = 5, 30
    run = WeightedDescent(z, T, step_size).run(PROBLEM, seed=5, repetitions=6)
    eta = 1 / L if step_size is None else step_size
    each, last = eta * (1 - L * eta / 2), 1 / (2 * L)
    for r, generator in enumerate(noise.streams(5, 6)):
        index = generator.integers(0, T)
        index = T if generator.random() < last / (T * each + last) else index
        w, points, squares = np.zeros(4), [], []
        for _ in range(T + 1):
            gradient = plain_sigmoid(PROBLEM, w)[1]
            points.append(w)
            squares.append(gradient @ gradient)
            if len(points) <= T:
                w = w - eta * (gradient + z * G / 300 * generator.standard_normal(4))
        assert run.output_step[r] == index
        assert run.output[r] == pytest.approx(points[index], abs=1e-12)
        weights = np.array([*[each] * T, last])
        assert run.samples[r] == pytest.approx(weights @ squares / weights.sum(), rel=1e-10)


@pytest.mark.seconds
def test_the_output_is_drawn_by_the_weights():
    T, eta = 3, 0.2 / L
    index = WeightedDescent(30, T, eta).run(PROBLEM, seed=1, repetitions=4000).output_step
    weights = np.array([*[eta * (1 - L * eta / 2)] * T, 1 / (2 * L)])
    chances = weights / weights.sum()
    share = np.bincount(index, minlength=T + 1) / 4000
    assert np.abs(share - chances).max() < 5 * np.sqrt(0.25 / 4000)
    assert chances[-1] > 2 * chances[0]  # a uniform draw would not pass


def test_the_bound_is_the_records_and_can_be_broken():
    method, eta, T = WeightedDescent(5, 40, 0.5), 0.5, 40
    moment = 4 * (5 * G / 300) ** 2
    plain = (0.5 + T * L * eta**2 * moment / 2) / (T * eta * (1 - L * eta / 2) + 1 / (2 * L))
    bound = method.bound(PROBLEM)
    assert bound.upper == pytest.approx(plain, rel=1e-9)
    assert bound_check("x", method.run(PROBLEM).samples + bound.upper, bound).verdict is Verdict.FAILS


@pytest.mark.seconds
def test_on_a_bowl_the_bound_is_attained():
    problem = landscape(BOWL, 2000, [0.6, 0.3], 4)
    method = WeightedDescent.calibrated(problem, 1, "1e-5", steps=12, step_size=0.25)
    run = method.run(problem, seed=2, repetitions=1000)
    error = run.samples.std() / len(run.samples) ** 0.5
    assert abs(run.samples.mean() - method.bound(problem).upper) < 5 * error
    found = explain(method, problem, run)
    assert not found.broken
    more = attrs.evolve(method, noise_multiplier=2 * method.noise_multiplier, budget=None)
    assert {line.due for line in explain(method, problem, more.run(problem, seed=2)).broken} == {Due.NOISE}


def test_too_long_a_step_has_no_bound_and_no_run():
    method = WeightedDescent(10, 5, 2 / L)
    refused("step_size", method.bound, PROBLEM)
    refused("step_size", method.run, PROBLEM)
