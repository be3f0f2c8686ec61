import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.selection.projected_langevin import ProjectedLangevin
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.shared import well


def test_step_by_step():
    problem = well(50, 2, start=0.3)
    method = ProjectedLangevin(noise_multiplier=9, steps=7, step="0.02", radius="1.5")
    run = method.run(problem, seed=2, repetitions=3)
    sigma = 9 * float(problem.lipschitz) / 50
    beta = math.sqrt(2 / 0.02) / sigma
    assert run.parameters["inverse_temperature"] == pytest.approx(beta, rel=1e-12)
    for r, generator in enumerate(noise.streams(2, 3)):
        x = np.array([0.3, 0.3])
        for _ in range(7):
            # √(2h) is the stddev of the step: the noise of the gradient answer, times hβ
            x = x - 0.02 * (beta * (x**3 - x) + 2 / 9 * x) + math.sqrt(0.04) * -generator.standard_normal(2)
            x *= min(1, 1.5 / np.linalg.norm(x))
        assert run.output[r] == pytest.approx(x, abs=1e-12)
        assert run.samples[r] == pytest.approx((x**4 / 4 - x**2 / 2).sum(), abs=1e-12)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_it_costs_what_its_releases_cost(relation):
    problem = well()
    method = ProjectedLangevin.calibrated(problem, "0.5", "1e-5", relation, steps=40)
    run = method.run(problem, repetitions=2)
    assert method.planned == Gaussian(method.noise_multiplier) ** 40
    assert 0.499 < run.ledger.spent("1e-5", relation).upper <= 0.5
    # noise on the mean gradient, times hβ, is √(2h)
    drawn = run.ledger.gaussian_releases[0].noise_stddev
    h = float(method.step)
    assert h * method.inverse_temperature(problem) * float(drawn) == pytest.approx(math.sqrt(2 * h), rel=1e-12)


def test_a_budget_buys_the_same_temperature_however_finely_time_is_cut():
    problem = well()
    betas = [ProjectedLangevin.calibrated(problem, steps=T).inverse_temperature(problem) for T in (10, 100, 1000)]
    assert betas == pytest.approx([betas[0]] * 3, rel=1e-6)
    slow = ProjectedLangevin.calibrated(problem, steps=100, time_span=36).inverse_temperature(problem)
    assert slow == pytest.approx(betas[0] / 2, rel=1e-6)  # D² = 9: four times the time, twice as warm
    chosen = ProjectedLangevin.calibrated(problem)
    product = float(chosen.step * chosen.inverse_temperature(problem) * problem.smoothness)
    assert 0.2 < product <= 0.25 * (1 + 1e-9)


def after(steps, h, pull, slope, start, size=1201):
    """The law of the chain x <- Π(x - h slope(x) - pull x + √(2h) N) after so many steps, on a grid of [-1.5, 1.5]."""
    grid = np.linspace(-1.5, 1.5, size)
    edges = np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])  # what goes beyond is projected
    moved = grid - h * slope(grid) - pull * grid
    kernel = np.diff(stats.norm.cdf((edges[None] - moved[:, None]) / math.sqrt(2 * h)), axis=1)
    law = np.zeros(len(grid))
    law[np.abs(grid - start).argmin()] = 1
    return grid, np.cumsum(law @ np.linalg.matrix_power(kernel, steps))


@pytest.mark.seconds
def test_its_law_after_some_steps_is_that_of_the_chain():
    n, h, T, beta = 200, Fraction(1, 100), 60, 10
    problem = well(n, start=0.3)
    z = math.sqrt(2 / h) * n / (beta * float(problem.lipschitz))
    method = ProjectedLangevin(noise_multiplier=z, steps=T, step=h, radius="1.5")
    assert method.inverse_temperature(problem) == pytest.approx(beta)
    x = method.run(problem, seed=1, repetitions=3000).output[:, 0]

    def distance(factor, pull=1 / 9):
        grid, law = after(T, float(h), float(h) * pull, lambda x: factor * beta * (x**3 - x), 0.3)
        return stats.kstest(x, lambda t: np.interp(t, grid, law)).statistic

    allowed = math.sqrt(math.log(2 / 1e-6) / (2 * 3000))  # Dvoretzky, Kiefer, Wolfowitz & Massart at 1e-6
    assert distance(1) <= allowed
    # and the test has power: half of the drift, twice the drift, none at all, a strong pull
    assert min(distance(1 / 2), distance(2), distance(0), distance(1, pull=10)) > 1.2 * allowed


def test_what_is_refused():
    with pytest.raises(InvalidValue, match="radius"):
        ProjectedLangevin(1, 1, 1, radius=2).run(well())
    with pytest.raises(InvalidValue, match="time_span"):
        ProjectedLangevin.calibrated(well(), time_span=0)
    lasso = problems.sigmoid_loss([[1.0]], [1], l1="0.1", radius=1)
    with pytest.raises(InvalidValue, match="l1"):
        ProjectedLangevin(1, 1, 1, radius=1).run(lasso)
