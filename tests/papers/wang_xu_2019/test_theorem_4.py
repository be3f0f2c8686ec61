"""Theorem 4: its small sets. With constants: against exact runs on a segment."""

import math

import pytest

from tests.papers.reference_formulas import evaluated

explicit = evaluated("wang-xu-2019/theorem-4/explicit")
evaluate = evaluated("wang-xu-2019/theorem-4")


def gap_over_rate(r, records, epsilon=1.0, delta=1e-5, constant=11.66):
    """The exact expected gap on [-r, r] for F = a x with a = σ/2, at the printed noise, steps and step size."""
    values = {"R_C": r, "w_C": r * math.sqrt(2 / math.pi), "delta": delta, "n": records, "epsilon": epsilon}
    steps = math.ceil(evaluate("steps", **values).value.upper)
    gamma = evaluate("step_fraction", **values).value.upper
    sigma = math.sqrt(constant * steps * math.log(1 / delta)) / (records * epsilon)
    slope = sigma / 2
    drift = -r * math.erf(slope / sigma / math.sqrt(2))  # E v_t = -r P(a + e > 0) + r P(a + e < 0)
    assert gamma <= 1
    # E x_t = drift + (1-γ)^(t-1) (r - drift) from x₁ = r; the gap is slope (x + r)
    decay = -math.expm1(steps * math.log1p(-gamma)) / (gamma * steps) if gamma < 1 else 1 / steps
    gap = slope * (r + drift + decay * (r - drift))
    return gap / evaluate("rate", **values).value.upper


@pytest.mark.parametrize("records", [10**6, 10**8])
def test_small_sets_have_a_larger_gap_than_printed(records):
    ratios = {r: gap_over_rate(r, records) for r in (1.0, 0.1, 0.01)}
    assert ratios[0.1] / ratios[1.0] == pytest.approx(10, rel=0.35)
    assert ratios[0.01] / ratios[0.1] == pytest.approx(10, rel=0.35)
    assert ratios[0.01] > 50  # however many records there are


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
    bound = explicit(L="1e-9", D=2, T=steps, step_fraction=fraction, **values)
    assert 0.1 * bound.value.upper < total / steps <= bound.value.upper


def test_the_best_step_gives_the_tuned_bound():
    values = {"D": 2, "L": 1, "Delta_F": 1, "rho": "0.1", "G": 1, "w_C": 3}
    records = {"n": 100_000}
    steps = math.ceil(explicit("steps", **values, **records).value.upper)
    gamma = explicit("step_fraction", Delta_F=1, L=1, D=2, T=steps).value.upper
    sigma = explicit("noise_stddev", G=1, n=100_000, T=steps, rho="0.1").value.upper
    bound = explicit(Delta_F=1, L=1, D=2, T=steps, step_fraction=gamma, sigma=sigma, w_C=3)
    tuned_bound = explicit("tuned", **values, **records)
    assert tuned_bound.applies is True
    assert bound.value.lower <= tuned_bound.value.upper
    assert bound.value.lower > 0.9 * tuned_bound.value.upper
