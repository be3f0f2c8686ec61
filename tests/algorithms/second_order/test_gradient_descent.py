import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent, best_steps
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.studies.second_order import double_well
from tests.algorithms.shared import plain_sigmoid, refused, smooth

PROBLEM = smooth(feature_bound=2)


def test_it_is_algorithm_4_step_by_step():
    run = GradientDescent(3, 6).run(PROBLEM, seed=5, repetitions=3)
    eta, sigma = 1 / float(PROBLEM.smoothness), 3 * float(PROBLEM.lipschitz) / 300
    for r, generator in enumerate(noise.streams(5, 3)):
        w, squares = np.zeros(4), []
        for t in range(6):
            assert run.outputs["iterates"][r, t] == pytest.approx(w, abs=1e-12)
            gradient = plain_sigmoid(PROBLEM, w)[1]
            squares.append(gradient @ gradient)
            w = w - eta * (gradient + sigma * generator.standard_normal(4))
        assert run.output[r] == pytest.approx(w, abs=1e-12)
        assert run.samples[r] == pytest.approx(np.mean(squares), rel=1e-10)


def test_the_bound_is_the_records_and_can_be_broken():
    method, (sigma, L, G) = GradientDescent(5, 40), (5, float(PROBLEM.smoothness), float(PROBLEM.lipschitz))
    bound = method.bound(PROBLEM)
    assert bound.upper == pytest.approx(2 * L * 0.5 / 40 + 4 * (sigma * G / 300) ** 2, rel=1e-9)
    assert bound_check("x", method.run(PROBLEM).samples + bound.upper, bound).verdict is Verdict.FAILS


def test_best_steps_are_near_the_best():
    problem = smooth(2000, feature_bound=2)
    method = GradientDescent.calibrated(problem)
    bounds = [
        GradientDescent.calibrated(problem, steps=steps).bound(problem).upper
        for steps in (method.steps, method.steps // 2, 2 * method.steps)
    ]
    assert bounds[0] < min(bounds[1:])
    assert best_steps(smooth(2, feature_bound=2), method.noise_multiplier, 1.0) == 1


def test_noise_leaves_a_saddle_point_unless_there_is_none_to_speak_of():
    # Theorem 7's number of steps does not depend on n: with n large enough, the walk is at the saddle still
    found = {}
    for records in (10**5, 10**17):
        problem = double_well(records)
        method = GradientDescent.calibrated(problem, steps=83)
        last = method.run(problem, repetitions=16).output
        found[records] = problem.hessian(last)[:, [0, 1], [0, 1]].min(axis=1)
    assert (found[10**5] > 0).all()
    assert (found[10**17] < -0.9).all()


def test_too_long_a_step_has_no_bound_and_a_walk_that_leaves_the_ball_is_refused():
    refused("step_size", GradientDescent(1, 5, 1e3).bound, PROBLEM)
    refused("outside the ball", GradientDescent(100, 50).run, double_well(10))
