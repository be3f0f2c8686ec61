"""Theorem 4 with constants: against exact runs on a segment."""

import math

import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("wang-xu-2019/theorem-4/explicit")


@pytest.mark.parametrize("fraction", ["0.05", "0.5", "1"])
def test_a_linear_loss_on_a_segment_stays_below(fraction):
    # F = a x on [-1, 1], no curvature: E x_t is a recursion, and the gap is a (x + 1)
    sigma, slope, steps, gamma = 0.8, 0.3, 40, float(fraction)
    drift = -math.erf(slope / sigma / math.sqrt(2))
    mean, total = 1.0, 0.0
    for _ in range(steps):
        total += slope * (mean + 1)
        mean = (1 - gamma) * mean + gamma * drift
    values = {"Delta_F": 2 * slope, "sigma": sigma, "w_C": math.sqrt(2 / math.pi)}
    bound = evaluate(L="1e-9", D=2, T=steps, step_fraction=fraction, **values)
    assert 0.1 * bound.value.upper < total / steps <= bound.value.upper


def test_the_best_step_gives_the_tuned_bound():
    values = {"D": 2, "L": 1, "Delta_F": 1, "rho": "0.1", "G": 1, "w_C": 3}
    records = {"n": 100_000}
    steps = math.ceil(evaluate("steps", **values, **records).value.upper)
    gamma = evaluate("step_fraction", Delta_F=1, L=1, D=2, T=steps).value.upper
    sigma = evaluate("noise_stddev", G=1, n=100_000, T=steps, rho="0.1").value.upper
    bound = evaluate(Delta_F=1, L=1, D=2, T=steps, step_fraction=gamma, sigma=sigma, w_C=3)
    tuned_bound = evaluate("tuned", **values, **records)
    assert tuned_bound.applies is True
    assert bound.value.lower <= tuned_bound.value.upper
    assert bound.value.lower > 0.9 * tuned_bound.value.upper
