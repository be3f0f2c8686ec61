import math

import numpy as np
import pytest

from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent, best_steps
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.errors import InvalidValue
from dpbounds.papers.wang_chen_xu_2019 import algorithm_4_explicit


def regression(n=300, p=4, **options):
    rng = np.random.default_rng(3)
    features = rng.standard_normal((n, p))
    return problems.sigmoid_loss(features, np.where(features[:, 0] > 0, 1, -1), l1=0, feature_bound=2, **options)


PROBLEM = regression()


def test_it_is_algorithm_4_step_by_step():
    run = GradientDescent(3, 6).run(PROBLEM, seed=5, repetitions=3)
    eta, sigma = 1 / float(PROBLEM.smoothness), 3 * float(PROBLEM.lipschitz) / 300
    for r, generator in enumerate(noise.streams(5, 3)):
        w, squares = np.zeros(4), []
        for t in range(6):
            assert run.outputs["iterates"][r, t] == pytest.approx(w, abs=1e-12)
            s = 1 / (1 + np.exp(PROBLEM.signed_features @ w))
            gradient = -(PROBLEM.signed_features * (s * (1 - s))[:, None]).mean(axis=0)
            squares.append(gradient @ gradient)
            w = w - eta * (gradient + sigma * generator.standard_normal(4))
        assert run.output[r] == pytest.approx(w, abs=1e-12)
        assert run.samples[r] == pytest.approx(np.mean(squares), rel=1e-10)


def test_the_bound_is_the_records_and_can_be_broken():
    method, (sigma, L, G) = GradientDescent(5, 40), (5, float(PROBLEM.smoothness), float(PROBLEM.lipschitz))
    bound = method.bound(PROBLEM)
    assert bound.upper == pytest.approx(2 * L * 0.5 / 40 + 4 * (sigma * G / 300) ** 2, rel=1e-9)
    assert algorithm_4_explicit.THEOREM.id == "wang-chen-xu-2019/algorithm-4/explicit"
    assert bound_check("x", method.run(PROBLEM).samples + bound.upper, bound).verdict is Verdict.FAILS


def test_best_steps_are_near_the_best():
    problem = regression(2000)
    method = GradientDescent.calibrated(problem)
    bounds = [
        GradientDescent.calibrated(problem, steps=steps).bound(problem).upper
        for steps in (method.steps, method.steps // 2, 2 * method.steps)
    ]
    assert bounds[0] < min(bounds[1:])
    assert best_steps(regression(2), method.noise_multiplier, 1.0) == 1


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


@pytest.mark.parametrize(
    ("match", "attempt"),
    [
        ("noise_multiplier", lambda: GradientDescent(0, 5)),
        ("steps", lambda: GradientDescent(1, 0)),
        ("step_size", lambda: GradientDescent(1, 1, math.nan)),
        ("noise", lambda: GradientDescent(1, 1, noise="none")),
        ("step_size", lambda: GradientDescent(1, 5, 1e3).bound(PROBLEM)),
        ("l1", lambda: GradientDescent(1, 5).run(problems.sigmoid_loss([[1.0]], [1]))),
        ("radius", lambda: GradientDescent(1, 5).run(regression(radius=1))),
        ("repetitions", lambda: GradientDescent(1, 5).run(PROBLEM, repetitions=0)),
        ("outside the ball", lambda: GradientDescent(100, 50).run(double_well(10))),
    ],
)
def test_bad_input_is_refused(match, attempt):
    with pytest.raises(InvalidValue, match=match):
        attempt()
