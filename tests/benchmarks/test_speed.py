"""Side by side with dp_accounting's PLD accountant in one run: proven here, unproven there.

    pytest tests/benchmarks -m slow -s

prints the medians and their ratio. Nothing is asserted about time; that both find the same number is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import dp_accounting
import pytest
from dp_accounting import pld

import dpbounds as dp

RUNS = 7


def _median(call: Callable[[], float]) -> tuple[float, float]:
    call()
    times = []
    value = 0.0
    for _ in range(RUNS):
        start = time.perf_counter()
        value = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), value


def _side_by_side(title: str, ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    ours_seconds, ours_value = _median(ours)
    theirs_seconds, theirs_value = _median(theirs)
    print(
        f"\n{title}: dpbounds {1e3 * ours_seconds:.1f} ms (proven), dp_accounting {1e3 * theirs_seconds:.1f} ms, "
        f"ratio {ours_seconds / theirs_seconds:.3f}; values {ours_value:.10g}, {theirs_value:.10g}"
    )
    return ours_value, theirs_value


def _pld_epsilon(q: float, z: float, steps: int, delta: float) -> float:
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(z)), steps)
    return float(accountant.get_epsilon(delta))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("q", "z", "steps", "delta"), [(0.01, 1.0, 10_000, 1e-6), (0.1, 1.0, 10_000, 1e-5), (0.001, 0.7, 100_000, 1e-6)]
)
def test_epsilon(q: float, z: float, steps: int, delta: float) -> None:
    mechanism = dp.PoissonSampled(dp.Gaussian(z), q) ** steps
    ours, theirs = _side_by_side(
        f"epsilon, q={q}, z={z}, T={steps}, delta={delta}",
        lambda: dp.epsilon(mechanism, delta).upper,
        lambda: _pld_epsilon(q, z, steps, delta),
    )
    assert abs(ours / theirs - 1) < 0.02


@pytest.mark.slow
def test_calibration() -> None:
    def theirs() -> float:
        return float(
            dp_accounting.calibrate_dp_mechanism(
                pld.PLDAccountant,
                lambda z: dp_accounting.SelfComposedDpEvent(
                    dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(z)), 10_000
                ),
                1.0,
                1e-6,
            )
        )

    ours_value, theirs_value = _side_by_side(
        "noise for epsilon=1, delta=1e-6, q=0.01, T=10000",
        lambda: dp.get_noise_multiplier(target_epsilon=1, target_delta=1e-6, sample_rate=0.01, steps=10_000),
        theirs,
    )
    assert abs(ours_value / theirs_value - 1) < 0.01
