"""Measured exponents: right on power laws, calibrated, and suspicious of curves."""

import numpy as np
import pytest
from scipy import stats

from algorithms.verification.checks import Verdict
from algorithms.verification.slopes import Finding, confidence_of, fit, slope_check
from dpbounds.errors import InvalidValue

SIZES = np.array([100, 200, 400, 800, 1600, 3200], dtype=float)


def power_law(exponent, seed, repetitions=16, spread=0.2, constant=3.0, bend=0.0):
    draw = np.random.default_rng(seed)
    logs = np.log(SIZES / SIZES[0])
    means = constant * np.exp(exponent * logs + bend * logs**2)
    return [mean * np.exp(spread * draw.normal(size=repetitions)) for mean in means]


@pytest.mark.parametrize("exponent", [-1.0, -2 / 3, 0.5])
def test_an_exact_power_law(exponent):
    samples = [np.full(3, 2 * size**exponent) * np.array([0.999, 1, 1.001]) for size in SIZES]
    slope = fit(SIZES, samples)
    assert slope.value == pytest.approx(exponent, abs=1e-3)
    assert slope.low <= exponent <= slope.high
    assert slope.high - slope.low < 0.01


def test_the_interval_covers():
    """200 sweeps at 95 %: fewer than the binomial's 1e-6 quantile may miss."""
    missed = sum(
        not (slope.low <= -0.5 <= slope.high)
        for slope in (fit(SIZES, power_law(-0.5, seed), confidence=0.95) for seed in range(200))
    )
    assert missed <= stats.binom.isf(1e-6, 200, 0.05)


@pytest.mark.parametrize(("true", "finding", "verdict"), [
    (-0.5, Finding.MATCHES, Verdict.HOLDS),
    (-0.9, Finding.BETTER, Verdict.HOLDS),
    (-0.2, Finding.WORSE, Verdict.FAILS),
])  # fmt: skip
def test_verdicts(true, finding, verdict):
    check = slope_check("cited/x/theorem-1", -0.5, SIZES, power_law(true, 1))
    assert (check.finding, check.verdict) == (finding, verdict)
    assert "-0.5" in check.reason


def test_too_wide_is_undecided():
    check = slope_check("cited/x/theorem-1", -0.5, SIZES, power_law(-0.5, 2, repetitions=3, spread=1.5))
    assert check.verdict is Verdict.UNDECIDED
    assert "run more repetitions" in check.reason


def test_a_curve_is_no_slope():
    steepening = power_law(-0.2, 3, repetitions=40, spread=0.05, bend=-0.1)  # -0.2 here, -0.9 at the far end
    assert fit(SIZES, steepening).bend < 1e-6
    check = slope_check("cited/x/theorem-1", -1.0, SIZES, steepening)
    assert (check.verdict, check.finding) == (Verdict.UNDECIDED, Finding.UNCLEAR)
    assert "not asymptotic yet" in check.reason
    flattening = power_law(-1.0, 3, repetitions=40, spread=0.05, bend=0.1)  # it goes the wrong way
    check = slope_check("cited/x/theorem-1", -1.0, SIZES, flattening)
    assert check.verdict is Verdict.FAILS
    assert "far 3 sizes" in check.reason
    few = slope_check("cited/x/theorem-1", -1.0, SIZES[:4], flattening[:4])
    assert few.verdict is Verdict.UNDECIDED
    assert "sweep further" in few.reason


def test_a_bend_is_no_false_alarm():
    """Straight lines are called bent no more often than the level says."""
    values = [fit(SIZES, power_law(-0.5, seed, spread=0.05)).bend for seed in range(300)]
    assert sum(value < 0.01 for value in values) <= stats.binom.isf(1e-6, 300, 0.01)


def test_the_same_samples_give_the_same_interval():
    samples = power_law(-0.5, 4)
    assert fit(SIZES, samples) == fit(SIZES, samples)


def test_a_planted_wrong_exponent_is_caught():
    samples = power_law(-2 / 3, 5, repetitions=32, spread=0.1)
    assert slope_check("t/a", -2 / 3, SIZES, samples).verdict is Verdict.HOLDS
    assert slope_check("t/a", -1.0, SIZES, samples).verdict is Verdict.FAILS


def test_the_error_of_a_suite():
    assert confidence_of(0.01, 40) == pytest.approx(0.99975)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fit([1, 2], [[1, 2], [1, 2]]),
        lambda: fit([1, 2, 3], [[1, 2], [1, 2], [1]]),
        lambda: fit([1, 2, 3], [[1, 2], [1, 2], [0, 1]]),
        lambda: fit([1, 2, 3], [[1, 2], [1, 2], [np.nan, 1]]),
        lambda: fit([1, 2, 3], [[1, 2], [1, 2], [1, 2]], confidence=1),
        lambda: confidence_of(0, 3),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()
