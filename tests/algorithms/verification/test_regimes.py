"""Where a rate can show: sizes below are left out, and a sweep that never gets there decides nothing."""

import math

import numpy as np
import pytest
from scipy import optimize

from dpbounds.algorithms import Spider
from dpbounds.algorithms.method import stddev_of_gradients
from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.regimes import Regime, depth, time_constants, way
from dpbounds.algorithms.verification.judging.slopes import exact_slope_check
from dpbounds.algorithms.verification.studies import descents, frank_wolfe, selection, spider, stochastic
from dpbounds.algorithms.verification.studies.quadratics import moments, quadratic_of
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result
from tests.algorithms.shared import refused

SIZES = (1, 2, 4, 8, 16, 32)


def results(exponents, task="math:pow"):
    """Numbers that fall with one exponent up to 4 and with another from there on."""
    before, after = exponents
    means = {n: n**before if n <= 4 else 4.0**before * (n / 4) ** after for n in SIZES}
    cells = {n: Cell.of(task, 0, records=n) for n in SIZES}
    return [Result(cells[n], {"gap": [means[n] * x for x in (0.999, 1.0, 1.001)]}, 0.0) for n in SIZES]


def judged(exponents, least):
    regime = Regime("x", least, lambda result: 2.0 * result.parameters["records"])
    return kinds.slope("x/y", "slope", lambda size: [], "gap", -1.0, regime=regime).judge(results(exponents), 0.99)


@pytest.mark.parametrize(
    ("exponents", "least", "verdict"),
    [
        ((-0.5, -1.0), 8, Verdict.HOLDS),  # only where it can show: from n = 4 on
        ((-0.5, -1.0), 16, Verdict.HOLDS),
        ((-0.5, -1.0), 33, Verdict.UNDECIDED),  # one size is left
        ((-1.0, -0.5), 8, Verdict.FAILS),  # right by accident where it cannot show, and wrong where it must
        ((-1.0, -1.0), 100, Verdict.UNDECIDED),
        ((-0.5, -0.5), 100, Verdict.UNDECIDED),
    ],
)
def test_an_exponent_is_judged_where_it_can_show(exponents, least, verdict):
    check = judged(exponents, least)
    assert check.verdict is verdict
    assert "x from 2 to 64" in check.reason
    assert ("not asymptotic yet" in check.reason) == (verdict is Verdict.UNDECIDED)
    assert (f"below {least} are left out" in check.reason) == (verdict is not Verdict.UNDECIDED)


def cell(task, **parameters):
    return Result(Cell.of(task, 0, **parameters), {}, 0.0)


def test_the_numbers_are_what_they_say():
    pgd = cell(descents.projected_gradient, records=400, dimension=3, epsilon=1.0, repetitions=2)
    algorithm, problem = descents.projected_gradient.posed(400, 3, 1.0)
    x = problem.initial_point[None]
    for _ in range(1000):
        x = problem.proximal_step(x, problem.gradient(x), 5.0)
    h = np.linalg.eigvalsh(problem.hessian(x)[0])[-1]
    value = algorithm.step_size_for(problem) * h * algorithm.steps
    assert time_constants().value(pgd) == pytest.approx(value, rel=0.01)
    quick = {"epsilon": 1.0, "repetitions": 2}
    # what starts at w is multiplied by 1 - γh in a step, whatever the mirror's norm
    pmd = cell(descents.mirror_descent, records=200, dimension=3, shape="l2", **quick)
    other, smoother = descents.mirror_descent.posed(200, 3, 1.0, "l2")
    moved = other.mirror.step(np.zeros((1, 3)), np.ones((1, 3)), other.step_size_for(smoother))
    assert time_constants().value(pmd) / other.steps == pytest.approx(
        -moved[0, 0] * curvature(other, smoother), rel=0.01
    )
    fw = cell(frank_wolfe.gaussian, records=400, dimension=3, **quick)
    algorithm, problem = frank_wolfe.gaussian.posed(400, 3, 1.0)
    assert way().value(fw) == pytest.approx(algorithm.step_fraction_for(problem) * algorithm.steps)
    net = cell(selection.net_choice, records=100, dimension=1, variant="proven", **quick)
    algorithm, problem = selection.net_choice.posed(100, 1, 1.0, "proven")
    assert depth().value(net) == pytest.approx(float(algorithm.inverse_temperature(problem)) / 4, rel=1e-6)
    gibbs = cell(selection.gibbs_sample, records=100, dimension=1, **quick)
    assert depth().value(gibbs) == pytest.approx(depth().value(net), rel=0.1)
    restarts = cell(spider.restarts, records=4000, epsilon=2.0, repetitions=2)
    algorithm, problem = spider.restarts.posed(4000, 2.0)
    assert time_constants().value(restarts) == pytest.approx(algorithm.stages[-1].steps * 8 / 16, rel=1e-6)  # η = 1/16
    assert (
        time_constants().value(
            cell(stochastic.stochastic, records=100, dimension=3, sampling="full", loss="cauchy", **quick)
        )
        > 0
    )


def curvature(algorithm, problem):
    project, x = algorithm.mirror.constraint.project, problem.initial_point[None]
    for _ in range(1000):
        x = project(x - 5.0 * problem.gradient(x))
    return np.linalg.eigvalsh(problem.hessian(x)[0])[-1]


def test_exact_numbers_are_judged_by_their_last_exponent():
    def values(*exponents):
        return np.cumprod([1.0, *(2.0**each for each in exponents)])

    check = exact_slope_check("x/y", -0.5, (1, 2, 4, 8), values(-0.1, -0.3, -0.48))
    assert (check.verdict, check.slope.value) == (Verdict.HOLDS, pytest.approx(-0.48))
    assert "local exponents -0.100, -0.300, -0.480" in check.reason
    assert exact_slope_check("x/y", -0.5, (1, 2, 4), values(-0.5, -0.4)).verdict is Verdict.FAILS
    refused("sizes", exact_slope_check, "x/y", -0.5, (1,), (1.0,))


# --- DP-SPIDER on quadratics


def brute(spider, problem):
    """The same moments, one step after the other, one coordinate after the other."""
    h, eta, T, q = problem.spectrum, spider.step_size_for(problem), spider.steps, spider.anchor_period
    s1 = float(stddev_of_gradients(problem, spider.anchor_multiplier))
    s2 = float(spider.difference_noise_stddev(problem))
    state = [np.array([[w * w, 0.0], [0.0, 0.0]]) for w in problem.start]  # second moments of (w, e)
    gradient = error = 0.0
    for t in range(T):
        if t % q == 0:
            state = [np.diag([each[0, 0], s1**2]) for each in state]
        else:
            moved = sum(np.array([k, 1]) @ each @ np.array([k, 1]) for k, each in zip(h, state, strict=True))
            maps = [np.array([[1 - eta * k, -eta], [0, 1]]) for k in h]
            state = [
                m @ each @ m.T + np.diag([0, (s2 * eta) ** 2 * moved]) for m, each in zip(maps, state, strict=True)
            ]
        gradient += sum(k**2 * each[0, 0] for k, each in zip(h, state, strict=True)) / T
        error += sum(each[1, 1] for each in state) / T
        if t % q == q - 1:
            maps = [np.array([[1 - eta * k, -eta], [0, 0]]) for k in h]
            state = [m @ each @ m.T for m, each in zip(maps, state, strict=True)]
    return gradient, error


@pytest.mark.parametrize(("steps", "period"), [(1, 1), (7, 7), (23, 5), (20, 5), (12, 1)])
def test_the_moments_are_those_of_every_step(steps, period):
    problem = quadratic_of(spider.regression(60, 3))
    algorithm = Spider.calibrated(problem, 1, "1e-5", steps=steps, anchor_period=period)
    found = moments(algorithm, problem)
    assert (found.gradient, found.error) == pytest.approx(brute(algorithm, problem), rel=1e-12)


def test_the_moments_are_those_of_runs():
    problem = quadratic_of(spider.regression(150, 4))
    algorithm = Spider.calibrated(problem, 4, "1e-5", steps=40, anchor_period=8)
    run, found = algorithm.run(problem, seed=5, repetitions=256), moments(algorithm, problem)
    for name, value in (("squared_gradient", found.gradient), ("noise", found.error)):
        samples = run.trace[name].per_repetition
        assert samples.mean() == pytest.approx(value, abs=4 * samples.std(ddof=1) / 16)
        assert samples.std(ddof=1) / 16 < 0.05 * value
    assert found.gradient <= algorithm.bound(problem).upper ** 2


def test_the_quadratic_has_the_spectrum_and_the_gap_of_the_problem():
    model = spider.regression(60, 3)
    problem = quadratic_of(model)
    low = optimize.minimize(lambda w: float(model.objective(w[None])[0]), np.zeros(3), tol=1e-12)
    assert problem.objective(problem.start[None])[0] == pytest.approx(model.objective(np.zeros((1, 3)))[0] - low.fun)
    assert problem.spectrum == pytest.approx(np.linalg.eigvalsh(model.hessian(low.x[None])[0]), rel=1e-3)
    assert problem.hessian(np.zeros((2, 3))).shape == (2, 3, 3)
    assert np.allclose(problem.hessian(np.zeros((1, 3)))[0].diagonal(), problem.spectrum)
    assert np.array_equal(problem.batch_gradient(np.ones((1, 3)), [[0]]), problem.gradient(np.ones((1, 3))))
    assert (problem.lipschitz, problem.smoothness) == (model.lipschitz, model.smoothness)


@pytest.mark.seconds
def test_the_rate_of_the_gradient_shows_where_phases_are_long():
    """Local exponents: flat while a phase is shorter than a time constant, and -2/3 far beyond."""
    numbers = {n: spider.on_a_quadratic(n, 20, 4.0, 0) for n in (4000, 8000, 128_000, 256_000)}

    def local(name, n):
        return math.log2(numbers[2 * n][name] / numbers[n][name])

    assert numbers[8000]["η h q"] < 2
    assert numbers[128_000]["η h q"] > 8
    assert local("gradient", 4000) > -0.57
    assert local("gradient", 128_000) < -0.64
    assert local("error", 4000) < -0.63
    assert local("error", 128_000) == pytest.approx(-2 / 3, abs=0.02)
    assert all(each["of_bound"] < 1 for each in numbers.values())
