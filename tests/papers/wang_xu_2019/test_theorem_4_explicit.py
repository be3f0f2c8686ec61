"""Theorem 4 with constants: against exact runs on a segment."""

import math

import pytest

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("wang-xu-2019/theorem-4/explicit")


@pytest.mark.parametrize("fraction", ["0.05", "0.5", "1"])
def test_a_linear_loss_on_a_segment_stays_below(fraction):
    # F = a x on [-1, 1], no curvature: E x_t is a recursion, and the gap is a (x + 1)
    sigma, slope, steps, gamma = 0.8, 0.3, 40, float(fraction)
    drift = -math.erf(slope / sigma / math.sqrt(2))
    mean, total = 1.0, 0.0
    for _ in range(steps):
        total += slope * (mean + 1)
        mean = (1 - gamma) * mean + gamma * drift
    values = {"initial_gap": 2 * slope, "noise_stddev": sigma, "gaussian_width": math.sqrt(2 / math.pi)}
    bound = STATEMENT.evaluate(smoothness="1e-9", diameter=2, steps=steps, step_fraction=fraction, **values)
    assert 0.1 * bound.value.upper < total / steps <= bound.value.upper


def test_the_best_step_gives_the_tuned_bound():
    values = {"diameter": 2, "smoothness": 1, "initial_gap": 1, "rho": "0.1", "lipschitz": 1, "gaussian_width": 3}
    records = {"n": 100_000}
    steps = math.ceil(STATEMENT.evaluate("steps", **values, **records).value.upper)
    gamma = STATEMENT.evaluate("step_fraction", initial_gap=1, smoothness=1, diameter=2, steps=steps).value.upper
    sigma = STATEMENT.evaluate("noise_stddev", lipschitz=1, n=100_000, steps=steps, rho="0.1").value.upper
    bound = STATEMENT.evaluate(
        initial_gap=1, smoothness=1, diameter=2, steps=steps, step_fraction=gamma, noise_stddev=sigma, gaussian_width=3
    )
    tuned_bound = STATEMENT.evaluate("tuned", **values, **records)
    assert tuned_bound.applies is True
    assert bound.value.lower <= tuned_bound.value.upper
    assert bound.value.lower > 0.9 * tuned_bound.value.upper
