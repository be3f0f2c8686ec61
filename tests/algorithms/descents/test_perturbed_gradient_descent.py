import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import method as frame, noise, oracles
from dpbounds.algorithms.descents.perturbed_gradient_descent import PerturbedGradientDescent
from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import holds, plain_sigmoid, refused, smooth

PROBLEM = smooth(100, 3)  # G = 1
SHAPES = ("ball", "sphere", "gaussian")


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_algorithm_1_step_by_step(shape):
    run = PerturbedGradientDescent(2, 100, 3, 9, shape, step_size=0.25).run(PROBLEM, seed=5, repetitions=3)
    for r, generator in enumerate(noise.streams(5, 3)):
        R = generator.integers(1, 9, endpoint=True)
        w = np.zeros(3)
        for t in range(1, 10):
            if t == R:
                assert run.output[r] == pytest.approx(w, abs=1e-10)
                mean = plain_sigmoid(PROBLEM, w)[1]
                assert run.samples[r] == pytest.approx(mean @ mean, rel=1e-9)
            (i,) = generator.choice(100, size=1, replace=False, shuffle=False)
            z = PROBLEM.signed_features[i]
            s = 1 / (1 + np.exp(z @ w))
            u = generator.standard_normal(3)
            u = u * 2 / (math.sqrt(5) if shape == "gaussian" else np.linalg.norm(u))
            if shape == "ball":
                u = u * generator.random() ** (1 / 3)
            w = w - 0.25 * (-s * (1 - s) * z + u)
        assert run.output_step[r] == R


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_the_ball_keeps_delta_at_every_epsilon(steps, relation):
    method = PerturbedGradientDescent.calibrated(PROBLEM, "1e-3", "1e-4", steps, relation)
    run = method.run(PROBLEM, repetitions=2)
    assert run.spent.exact_upper <= Fraction(1, 1000)
    assert run.ledger.spent("1e-4", relation) == run.spent
    if relation == "replace-one":
        for epsilon in (0, 5):
            found = accountants.delta(run.ledger.mechanism(), epsilon, relation)
            assert 0.999e-4 < found.lower <= found.upper <= 1e-4


def test_the_delta_of_the_transcript_is_that_of_the_statement():
    method = PerturbedGradientDescent(10, 100, 3, 50)
    values = {"sensitivity": 2, "radius": 10, "dimension": 3, "dataset_size": 100, "steps": 50}
    stated = theorem("tholeti-kalyani-2020/theorem-1/explicit").evaluate(**values)
    assert method.spent_delta.upper == pytest.approx(stated.value.upper, rel=1e-12)
    sphere = PerturbedGradientDescent(10, 100, 3, 50, "sphere").spent_delta
    assert sphere.upper == pytest.approx(1 - 0.99**50, rel=1e-12)
    with pytest.raises(InvalidValue, match=r"noise must be .*, not gaussian"):
        _ = PerturbedGradientDescent(10, 100, 3, 50, "gaussian").spent_delta


def test_a_smaller_radius_breaks_the_budget():
    method = PerturbedGradientDescent.calibrated(PROBLEM, 1, "1e-4", 3)
    smaller = PerturbedGradientDescent(method.radius * Fraction(999, 1000), 100, 3, 3, budget=method.budget)
    with pytest.raises(DpboundsError):  # at no ε is it private: there is nothing to enclose
        smaller.run(PROBLEM, repetitions=1)


def test_the_sphere_hides_by_sampling_alone():
    method = PerturbedGradientDescent.calibrated(PROBLEM, 1, "0.1", noise="sphere", radius=3)
    assert method.steps == 10  # 1 - 0.99^10 = 0.0956, and 0.1047 for 11
    assert method.run(PROBLEM, repetitions=2).spent.upper <= 1
    for arguments, message in (
        ({"delta": "0.001"}, "at least 1/n = 0.01"),
        ({"delta": "0.1", "steps": 11}, "steps must be .*at most 10.*, not 11"),
        ({"delta": "0.1", "relation": "add-or-remove-one"}, "nothing else is proven"),
    ):
        refused(message, PerturbedGradientDescent.calibrated, PROBLEM, noise="sphere", **arguments)


@pytest.mark.minutes
def test_gaussian_noise_of_one_step():
    method = PerturbedGradientDescent.calibrated(PROBLEM, 1, "1e-3", 1, noise="gaussian")
    run = method.run(PROBLEM, repetitions=2)
    assert 0.99 < run.spent.upper <= 1
    (release,) = run.ledger.releases
    assert float(release.noise_multiplier) == pytest.approx(float(method.radius) / math.sqrt(5), rel=1e-9)


@pytest.mark.minutes
def test_gaussian_noise_of_some_steps():
    run = PerturbedGradientDescent.calibrated(PROBLEM, 1, "1e-3", 5, noise="gaussian").run(PROBLEM, repetitions=2)
    assert 0.9 < run.spent.upper <= 1


def test_more_radius_than_planned_is_no_reason_to_stop(monkeypatch):
    class Generous(oracles.BatchGradientOracle):
        @property
        def noise_stddev(self):
            return 1.5 * super().noise_stddev

    monkeypatch.setattr(frame, "BatchGradientOracle", Generous)
    assert PerturbedGradientDescent(20, 100, 3, 5).run(PROBLEM, repetitions=1).steps == 5


def test_as_printed_the_radius_is_one_whatever_the_gradients():
    wide = smooth(100, 3, feature_bound=20)  # G = 5
    run = PerturbedGradientDescent.as_printed(wide, 4).run(wide, repetitions=50)
    assert run.parameters["radius"] == pytest.approx(1, rel=1e-12)
    assert 0.3 < run.trace["noise"].mean < 1
    assert PerturbedGradientDescent.as_printed(wide, 4).spent_delta.upper == pytest.approx(1 - 0.99**4)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_stays_below_the_bound(shape):
    method = PerturbedGradientDescent(1, 100, 3, 30, shape)
    run = method.run(PROBLEM, seed=3)
    bound = method.bound(PROBLEM)
    assert holds(run.samples, bound)
    assert run.samples.mean() > 0.01 * bound.upper


def test_the_bound_in_plain_floats():
    smoothness = 16 / (6 * math.sqrt(3))
    for shape, square in (("ball", 4 * 3 / 5), ("sphere", 4), ("gaussian", 4 * 3 / 5)):
        method = PerturbedGradientDescent(2, 100, 3, 50, shape)
        size = 1 + square
        eta = math.sqrt(2 * 0.5 / (smoothness * 50 * size))
        assert method.step_size_for(PROBLEM) == pytest.approx(eta, rel=1e-9)
        assert method.bound(PROBLEM).upper == pytest.approx(math.sqrt(2 * smoothness * 0.5 * size / 50), rel=1e-9)
        other = PerturbedGradientDescent(2, 100, 3, 50, shape, step_size=0.1).bound(PROBLEM)
        assert other.upper == pytest.approx(0.5 / (0.1 * 50) + smoothness * 0.1 / 2 * size, rel=1e-9)


def test_the_number_of_steps_that_suits_a_budget():
    assert PerturbedGradientDescent.calibrated(PROBLEM, delta="1e-6").steps == 1
    generous = PerturbedGradientDescent.calibrated(PROBLEM, delta="0.2")
    bounds = {
        steps: PerturbedGradientDescent.calibrated(PROBLEM, delta="0.2", steps=steps).bound(PROBLEM).upper
        for steps in (generous.steps // 2, generous.steps, 2 * generous.steps)
    }
    assert min(bounds, key=bounds.__getitem__) == generous.steps > 1


def test_problems_that_do_not_fit_are_refused():
    method = PerturbedGradientDescent(1, 100, 3, 2)
    for problem, message in (
        (smooth(101, 3), "problem.records must be .*, not 101"),
        (smooth(100, 4), "problem.dimension must be .*, not 4"),
    ):
        for ask in (method.run, method.bound):
            refused(message, ask, problem)
    refused("steps is missing: with Gaussian noise", PerturbedGradientDescent.calibrated, PROBLEM, noise="gaussian")
