"""Measured exponents: right on power laws, calibrated, and suspicious of curves."""

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms.verification.judging.checks import Verdict
from dpbounds.algorithms.verification.judging.slopes import Finding, confidence_of, fit, slope_check
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


@pytest.mark.seconds
@pytest.mark.parametrize(("repetitions", "spreads"), [
    (16, 0.2),
    (64, 0.5),
    (8, 0.05),
    (16, np.array([0.02, 0.1, 0.02, 0.3, 0.1, 0.2])),  # one or two sizes have all of the error
])  # fmt: skip
def test_the_interval_covers(repetitions, spreads):
    """4000 sweeps at 99 %: as many of the intervals miss, but for what chance and Student's approximation allow."""
    draw, missed, sweeps = np.random.default_rng(6), 0, 4000
    for _ in range(sweeps):
        spread = np.broadcast_to(spreads, SIZES.shape)[:, None]
        noise = np.exp(spread * draw.normal(size=(len(SIZES), repetitions)) - spread**2 / 2)
        slope = fit(SIZES, list(3 * SIZES[:, None] ** -0.5 * noise), confidence=0.99)
        missed += not slope.low <= -0.5 <= slope.high
    assert stats.binom.ppf(1e-6, sweeps, 0.007) <= missed <= stats.binom.isf(1e-6, sweeps, 0.013)


def test_the_interval_by_hand():
    """One noisy size among three: its t interval with R - 1 degrees of freedom, times its weight in the slope."""
    noisy = np.array([1.0, 1.1, 0.95, 1.02])
    slope = fit([1, 2, 4], [[1.0, 1.0], [1.0, 1.0], noisy], confidence=0.99)
    weight = 1 / (2 * np.log(2))
    assert slope.value == pytest.approx(weight * np.log(noisy.mean()))
    error = weight * stats.sem(noisy) / noisy.mean()
    assert slope.high - slope.value == pytest.approx(stats.t.ppf(0.995, 3) * error)
    assert slope.value - slope.low == pytest.approx(stats.t.ppf(0.995, 3) * error)


def test_equal_samples_have_no_width():
    slope = fit([1, 2, 4, 8], [[1.0 / n] * 3 for n in (1, 2, 4, 8)])
    assert slope.low == slope.value == slope.high == pytest.approx(-1)
    assert slope.bend > 0.1


@pytest.mark.parametrize(("true", "promised", "finding", "verdict"), [
    (-0.5, -0.5, Finding.MATCHES, Verdict.HOLDS),
    (-0.9, -0.5, Finding.BETTER, Verdict.HOLDS),
    (-0.2, -0.5, Finding.WORSE, Verdict.FAILS),
    (-2 / 3, -2 / 3, Finding.MATCHES, Verdict.HOLDS),
    (-2 / 3, -1.0, Finding.WORSE, Verdict.FAILS),
])  # fmt: skip
def test_verdicts(true, promised, finding, verdict):
    check = slope_check("cited/x/theorem-1", promised, SIZES, power_law(true, 1, repetitions=32, spread=0.1))
    assert (check.finding, check.verdict) == (finding, verdict)
    assert f"{promised:.4g}" in check.reason


def test_too_wide_is_undecided():
    check = slope_check("cited/x/theorem-1", -0.5, SIZES, power_law(-0.5, 2, repetitions=3, spread=1.5))
    assert check.verdict is Verdict.UNDECIDED
    assert "run more repetitions" in check.reason


def test_a_curve_is_no_slope():
    # one is -0.2 here and -0.9 at the far end, the other goes the wrong way
    steepening, flattening = (
        power_law(exponent, 3, repetitions=40, spread=0.05, bend=bend) for exponent, bend in ((-0.2, -0.1), (-1.0, 0.1))
    )
    assert fit(SIZES, steepening).bend < 1e-6
    for sizes, samples, verdict, said in (
        (SIZES, steepening, Verdict.UNDECIDED, "not asymptotic yet"),
        (SIZES, flattening, Verdict.FAILS, "far 3 sizes"),
        (SIZES[:4], flattening[:4], Verdict.UNDECIDED, "sweep further"),
    ):
        check = slope_check("cited/x/theorem-1", -1.0, sizes, samples)
        assert (check.verdict, check.finding is Finding.UNCLEAR) == (verdict, verdict is Verdict.UNDECIDED)
        assert said in check.reason


def test_a_bend_is_no_false_alarm():
    """Straight lines are called bent no more often than the level says."""
    values = [fit(SIZES, power_law(-0.5, seed, spread=0.05)).bend for seed in range(300)]
    assert sum(value < 0.01 for value in values) <= stats.binom.isf(1e-6, 300, 0.01)


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
