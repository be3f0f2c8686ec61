import math
from fractions import Fraction

import attrs
import numpy as np
import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms import noise
from dpbounds.algorithms.descents.langevin_dynamics import LangevinDynamics, pl_constant_of
from dpbounds.algorithms.problems.landscapes import WAVY, landscape
from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies.descents import CHECKS, local_pl
from dpbounds.algorithms.verification.sweeping.cells import Result
from dpbounds.errors import InvalidValue
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import BOWL, holds, plain_sigmoid, refused, smooth

PROBLEM = smooth(p=3)


@pytest.mark.parametrize("output", ["last", "random"])
def test_it_is_algorithm_1_step_by_step(output):
    problem = smooth(n=200, p=3)
    method = LangevinDynamics(40, 7, inverse_temperature=50, regulariser="0.1", output=output)
    run = method.run(problem, seed=5, repetitions=3)
    sigma = 40 / 200  # G = 1
    eta = 2 / (50 * sigma**2)
    assert run.step_size == pytest.approx(eta, rel=1e-14)
    for r, generator in enumerate(noise.streams(5, 3)):
        j = generator.integers(1, 7, endpoint=True) if output == "random" else 7
        w, values = np.zeros(3), []
        for k in range(1, 8):
            value, gradient = plain_sigmoid(problem, w)
            values.append(value + 0.05 * w @ w)
            w = w - eta * (gradient + 0.1 * w) - math.sqrt(2 * eta / 50) * generator.standard_normal(3)
            if k == j:
                assert run.output[r] == pytest.approx(w, abs=1e-11)
                assert run.samples[r] == pytest.approx(plain_sigmoid(problem, w)[0] + 0.05 * w @ w, rel=1e-11)
        assert run.output_step[r] == j
        assert run.trace.objective.per_repetition[r] == pytest.approx(np.mean(values), rel=1e-11)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_on_a_quadratic_the_law_is_known_and_the_bound_is_nearly_attained():
    """w_T is normal with mean (1-η)^T w₀ and variance η²σ² Σ (1-η)^2k: the bound is that and q^T C for L = μ."""
    problem = landscape(BOWL, 400, [1.0, -0.5, 0.25], radius=40)
    method = LangevinDynamics(2, 12, inverse_temperature=200)
    run = method.run(problem, seed=2, repetitions=2000)
    eta, sigma = run.step_size, 2 * float(problem.lipschitz) / 400
    assert 0 < eta < 1
    mean = (1 - eta) ** 12 * problem.initial_point
    variance = (eta * sigma) ** 2 * sum((1 - eta) ** (2 * k) for k in range(12))
    total = (((run.output - mean) ** 2) / variance).sum()
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 6000)  # a false alarm with 1e-6
    assert low < total < high
    expected = (mean @ mean + 3 * variance) / 2
    dropped = (1 - eta) ** 24 * 3 * (eta * sigma) ** 2 / (1 - (1 - eta) ** 2) / 2  # the bound leaves out -q^T C
    assert method.bound(problem).upper == pytest.approx(expected + dropped, rel=1e-8)
    means = [
        LangevinDynamics(2, k, inverse_temperature=200).bound(problem).upper for k in range(1, 13)
    ]  # each with T = k
    averaged = LangevinDynamics(2, 12, inverse_temperature=200, output="random").bound(problem)
    assert averaged.upper == pytest.approx(np.mean(means), rel=1e-12)


def test_the_time_is_at_least_that_of_the_closed_form():
    """The certified noise is below that of zCDP, so the diffusion runs for longer than theorem-1/explicit says."""
    method = LangevinDynamics.calibrated(PROBLEM, 1, "1e-5", steps=10, inverse_temperature=100)
    closed = theorem("wang-chen-xu-2019/theorem-1/explicit").evaluate(
        "diffusion_time", dataset_size=300, epsilon=1, delta="1e-5", inverse_temperature=100, lipschitz=1
    )
    ratio = 10 * method.step_size_for(PROBLEM) / closed.value.upper
    assert 1 < ratio < 5


def test_the_printed_step_doubles_the_variance():
    repaired, printed = (
        LangevinDynamics.calibrated(PROBLEM, steps=10, inverse_temperature=100, variant=variant)
        for variant in ("repaired", "as-printed")
    )
    ratio = printed.noise_multiplier**2 / repaired.noise_multiplier**2
    assert 2 <= ratio < 2 * (1 + 1e-10)
    assert repaired.step_size_for(PROBLEM) / printed.step_size_for(PROBLEM) == pytest.approx(2, rel=1e-10)
    run = printed.run(PROBLEM, repetitions=1)
    assert run.spent.upper < 0.75  # the ledger says what was drawn, which is more than the budget asks for


@pytest.mark.seconds
@pytest.mark.parametrize("output", ["last", "random"])
def test_the_excess_risk_stays_below_the_bound(output):
    problem = landscape(WAVY, 4000, [0.3, 0.3], radius=2)
    method = LangevinDynamics.calibrated(problem, 8, 1e-5, output=output)
    assert method.step_size_for(problem) <= 1 / 16
    run = method.run(problem, seed=3)
    bound = method.bound(problem)
    assert holds(run.samples, bound)
    assert run.samples.mean() > 1e-4 * bound.upper


def test_a_strong_regulariser_gives_the_constant():
    assert pl_constant_of(PROBLEM, 2) == 2 - PROBLEM.smoothness
    method = LangevinDynamics.calibrated(PROBLEM, 4, 1e-5, regulariser=2)
    run = method.run(PROBLEM, seed=3)
    least = LangevinDynamics("1e-3", 300, 10**12, regulariser=2).run(PROBLEM, repetitions=1).samples[0]
    bound = method.bound(PROBLEM)
    assert holds(run.samples - least, bound)
    assert 0.1 < (run.samples - least).mean() / bound.upper < 1


def test_what_is_not_known_is_asked_for():
    for arguments, message in (
        ({}, "a PL constant of the regularised risk"),
        ({"regulariser": "0.1"}, "a PL constant of the regularised risk"),
        ({"pl_constant": 0}, "pl_constant must be .*, not 0"),
        ({"inverse_temperature": 1, "variant": "printed"}, "variant"),
    ):
        refused(message, LangevinDynamics.calibrated, PROBLEM, **arguments)
    with pytest.raises(InvalidValue, match=r"step_size must be .*use more steps"):
        LangevinDynamics.calibrated(PROBLEM, steps=1, inverse_temperature=1).bound(PROBLEM, pl_constant=1)
    with pytest.raises(InvalidValue, match="it is not a PL constant"):
        LangevinDynamics.calibrated(PROBLEM, inverse_temperature=1).bound(PROBLEM, pl_constant=10)


@pytest.mark.seconds
def test_whoever_publishes_the_last_iterate_alone_spends_less():
    problem = smooth(n=1000, p=3)  # L = 8 sqrt(3)/9
    langevin = LangevinDynamics(100, 2000, inverse_temperature=20_000, regulariser=4)
    alone = langevin.last_iterate(problem)
    eta = langevin.step_size_for(problem)
    assert float(alone.stretch) == pytest.approx(1 - eta * (4 - 8 * math.sqrt(3) / 9), rel=1e-12)
    assert alone.stretch >= 1 - Fraction(eta) * 4 + Fraction(eta) * Fraction(15396, 10_000)
    every, last = (dp.epsilon(each, "1e-6", "replace-one") for each in (langevin.planned, alone))
    assert last.upper < every.lower / 4
    longer = dp.epsilon(attrs.evolve(langevin, steps=10**6).last_iterate(problem), "1e-6", "replace-one")
    assert longer.upper < 1.01 * last.upper
    run = langevin.run(problem, seed=1, repetitions=1)
    assert run.ledger.spent("1e-6", "replace-one").upper == pytest.approx(every.upper, rel=1e-9)
    flat = LangevinDynamics(100, 50, inverse_temperature=20_000, regulariser="0.1")
    assert dp.epsilon(flat.last_iterate(problem), "1e-6", "replace-one") == dp.epsilon(
        flat.planned, "1e-6", "replace-one"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output": "random"}, "output must be last"),
        ({"noise": "secure"}, "noise must be gaussian"),
        ({"inverse_temperature": 100}, "between 0 and 1"),
    ],
)
def test_what_last_iterates_are_not_known_of_is_refused(change, said):
    given = {"noise_multiplier": 100, "steps": 50, "inverse_temperature": 20_000, "regulariser": 4, **change}
    with pytest.raises(InvalidValue, match=said):
        LangevinDynamics(**given).last_iterate(smooth(n=1000, p=3))


def test_smoothness_in_a_ball_says_nothing_of_walks_that_leave_it():
    with pytest.raises(InvalidValue, match="holds in all of space"):
        LangevinDynamics(2, 12, inverse_temperature=200).last_iterate(
            landscape(BOWL, 400, [1.0, -0.5, 0.25], radius=40)
        )


@pytest.mark.parametrize(("worse", "verdict"), [(1, Verdict.HOLDS), (100, Verdict.FAILS)])
def test_where_pl_is_local_walks_are_held_against_the_bound(worse, verdict):
    planned = next(one for one in CHECKS if one.name == "noisy descent in one well, n = 4000")
    (cell,) = planned.cells(Size.QUICK)
    method, problem = local_pl.posed(4000, 2.0)
    excess = worse * (method.run(problem, seed=1, repetitions=64).samples + 0.25)
    assert planned.judge([Result(cell, {"excess": excess.tolist()}, 0.0)], 0.9999).verdict is verdict
