import math
from fractions import Fraction

import numpy as np
import pytest
import threadpoolctl

from dpbounds import algorithms
from dpbounds.algorithms import (
    Ledger,
    PrivacyBudget,
    ProjectedGradientDescent,
    method as frame,
    noise,
    oracles,
    problems,
)
from dpbounds.algorithms.descents.projected_gradient_descent import best_steps
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.verification import Verdict, sensitivity_check, spent_check
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.shared import holds, plain_sigmoid, refused


def synthetic(n=2000, p=10, seed=0, **options):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, p)) / math.sqrt(p)
    margins = features @ rng.standard_normal(p)
    labels = np.where(margins + 0.3 * rng.standard_normal(n) > 0, 1, -1)
    return problems.sigmoid_loss(features, labels, **options)


PROBLEM = synthetic()


def test_it_is_algorithm_1_step_by_step():
    problem = synthetic(n=200, p=4, l1="0.02", radius="0.6")
    method = ProjectedGradientDescent(noise_multiplier=3, steps=7)
    run = method.run(problem, seed=5, repetitions=3)
    gamma = 1 / (2 * float(problem.smoothness))
    sigma = 3 * float(problem.lipschitz) / 200

    def step(v):
        shrunk = np.sign(v) * np.maximum(np.abs(v) - gamma * 0.02, 0)
        return shrunk * min(1, 0.6 / np.linalg.norm(shrunk)) if shrunk.any() else shrunk

    for r, generator in enumerate(noise.streams(5, 3)):
        R = generator.integers(1, 7, endpoint=True)
        x, squares, exact_squares, values = np.zeros(4), [], [], []
        for k in range(1, 8):
            if k == R:
                assert run.output[r] == pytest.approx(x, abs=1e-13)
            value, gradient = plain_sigmoid(problem, x)
            following = step(x - gamma * (gradient + sigma * generator.standard_normal(4)))
            exact_squares.append(((x - step(x - gamma * gradient)) ** 2).sum() / gamma**2)
            squares.append(((x - following) ** 2).sum() / gamma**2)
            values.append(value + 0.02 * np.abs(x).sum())
            x = following
        assert run.output_step[r] == R
        assert run.trace.noisy.per_repetition[r] == pytest.approx(np.mean(squares), rel=1e-11)
        assert run.trace.exact.per_repetition[r] == pytest.approx(np.mean(exact_squares), rel=1e-11)
        assert run.trace.objective.per_repetition[r] == pytest.approx(np.mean(values), rel=1e-12)


def test_the_number_of_threads_does_not_matter():
    method = ProjectedGradientDescent(noise_multiplier=20, steps=5)
    problem = synthetic(n=4000, p=40)
    outputs = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(limits=threads, user_api="blas"):
            outputs.append(method.run(problem, seed=0, repetitions=20).output)
    assert (outputs[0] == outputs[1]).all()


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), (8, "1e-3")])
def test_calibrated_noise_keeps_the_budget_and_hardly_more(epsilon, delta):
    method = ProjectedGradientDescent.calibrated(PROBLEM, epsilon, delta)
    run = method.run(PROBLEM, repetitions=1)
    assert run.spent.exact_upper <= Fraction(epsilon)
    assert run.spent.lower > float(epsilon) * (1 - 1e-6)
    assert run.ledger.spent(delta) == run.spent
    assert spent_check("x", run.ledger, run.budget).verdict is Verdict.HOLDS
    (release,) = run.ledger.releases
    assert release.count == method.steps
    assert release.per_record_bound == Fraction(1, 4) / 2000
    assert release.noise_multiplier >= method.noise_multiplier


def test_calibrated_noise_leaves_no_tie_for_the_accountant():
    single = calibrate(Gaussian, 1, "1e-6", "replace-one").value
    for T in (1, 4, 7, 10**6):
        multiplier = ProjectedGradientDescent.calibrated(PROBLEM, 1, "1e-6", steps=T).noise_multiplier
        assert (1 + Fraction(1, 2**40)) ** 2 < multiplier**2 / (single**2 * T) < (1 + Fraction(1, 2**37)) ** 2


def test_found_half_the_noise_handed_to_the_generator(monkeypatch):
    real = noise.gaussian

    def halved(*args, noise_stddev, **rest):
        return real(*args, noise_stddev=noise_stddev / 2, **rest)

    monkeypatch.setattr(noise, "gaussian", halved)
    with pytest.raises(BudgetExceeded, match="less noise was added"):
        ProjectedGradientDescent(noise_multiplier=20, steps=5).run(PROBLEM)
    monkeypatch.setattr(OpenLedger, "added", lambda *_: None)  # with that gone, the plan finds it
    with pytest.raises(BudgetExceeded, match="less noise was drawn"):
        ProjectedGradientDescent(noise_multiplier=20, steps=5).run(PROBLEM)
    monkeypatch.setattr(Ledger, "check_plan", lambda *_: None)  # the accountant finds it on its own, too
    with pytest.raises(BudgetExceeded, match="spends epsilon"):
        ProjectedGradientDescent.calibrated(PROBLEM).run(PROBLEM)


def test_found_one_per_cent_of_noise_missing_after_it_was_written_down(monkeypatch):
    # a million numbers tell; missed with probability below 1e-9, and a right run is refused with 1e-12
    small, method = synthetic(n=20, p=320), ProjectedGradientDescent(20, 100)
    method.run(small, repetitions=32)
    real = noise.gaussian
    monkeypatch.setattr(noise, "gaussian", lambda *args, **rest: 0.99 * real(*args, **rest))
    with pytest.raises(BudgetExceeded, match=r"have 0\.9.* less noise was added"):
        method.run(small, repetitions=32)


def test_found_a_forgotten_lipschitz_constant_in_noise_and_ledger(monkeypatch):
    rows = np.array([[8.0, 0.0], [0.0, 8.0]] * 50)
    wide = problems.sigmoid_loss(rows, np.ones(100), feature_bound=8)

    class Forgetful(oracles.GradientOracle):
        @property
        def per_record_bound(self):
            return Fraction(1, self.problem.records)

    method = ProjectedGradientDescent(noise_multiplier=20, steps=3)
    points = wide.initial_point[None]
    assert sensitivity_check("x", wide, points, method.run(wide).ledger).verdict is Verdict.HOLDS
    pen = OpenLedger()
    Forgetful(wide, Fraction(20), noise.streams(0, 1), pen)(points)
    assert sensitivity_check("x", wide, points, pen.close()).verdict is Verdict.FAILS
    monkeypatch.setattr(frame, "GradientOracle", Forgetful)
    with pytest.raises(BudgetExceeded, match=r"has 0\.5 of the noise"):
        method.run(wide)


def test_found_the_forgotten_factor_two_of_replace_one():
    cheap = ProjectedGradientDescent.calibrated(PROBLEM, relation="add-or-remove-one")
    claimed = PrivacyBudget.of(1, "1e-6", "replace-one")
    with pytest.raises(BudgetExceeded):
        ProjectedGradientDescent(cheap.noise_multiplier, cheap.steps, budget=claimed).run(PROBLEM)


def test_bound_value_in_plain_floats():
    method = ProjectedGradientDescent(noise_multiplier=30, steps=50)
    L, sigma, p = 1 / (6 * math.sqrt(3)), 30 * 0.25 / 2000, 10
    noisy = 8 * L * 0.5 / (3 * 50) + 4 / 3 * p * sigma**2
    assert method.bound(PROBLEM).upper == pytest.approx(noisy, rel=1e-12)
    exact = (math.sqrt(noisy) + sigma * math.sqrt(p)) ** 2
    assert method.bound(PROBLEM, "exact").upper == pytest.approx(exact, rel=1e-12)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({"n": 1000, "p": 5}, None),
        ({"n": 4000, "p": 40, "l1": 0}, None),
        ({"n": 1000, "p": 5, "radius": "0.3"}, None),
        ({"n": 2000, "p": 10, "l1": "0.01"}, 15.0),
        ({"n": 500, "p": 3, "feature_bound": 3}, None),
        ({"n": 500, "p": 3, "feature_bound": "0.2"}, None),
    ],
    ids=["plain", "no regulariser", "ball", "long step", "wide", "narrow"],
)
def test_measured_mappings_stay_below_the_bound_without_making_it_vacuous(options, step):
    problem = synthetic(**options)
    method = ProjectedGradientDescent.calibrated(problem, 4, 1e-5, step_size=step)
    run = method.run(problem, seed=3)
    for mapping, series in (("noisy", run.trace.noisy), ("exact", run.trace.exact)):
        bound = method.bound(problem, mapping)
        assert holds(series.per_repetition, bound)
        assert 0.001 < series.mean / bound.upper < 1


@pytest.mark.parametrize("multiplier", [1, 20, 500, 10**5])
def test_best_steps_minimise_the_bound(multiplier):
    gamma = 5.0
    found = best_steps(PROBLEM, Fraction(multiplier), gamma)

    def bound(T):
        variance = (multiplier * Fraction(1, 8000)) ** 2 * T
        return Fraction(1, 2) / (5 * T) + 10 * variance

    assert found >= 1
    assert all(bound(found) <= bound(T) for T in (found + 1, found - 1, 2 * found, found // 2) if T >= 1)


def test_a_long_step_may_run_but_gets_no_bound():
    method = ProjectedGradientDescent(20, 3, step_size=100.0)
    assert method.run(PROBLEM, repetitions=1).output.shape == (1, 10)
    refused(r"step_size must be .*less than 2/L = 20\.78", method.bound, PROBLEM)
    refused("mapping", ProjectedGradientDescent(20, 3).bound, PROBLEM, "both")
    refused("step_size", ProjectedGradientDescent.calibrated, PROBLEM, step_size=100.0)


def test_public_names_resolve():
    assert set(algorithms.__all__) <= set(dir(algorithms))
    for name in algorithms.__all__:
        assert getattr(algorithms, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = algorithms.nothing
