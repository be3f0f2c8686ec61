"""Theorem 4: its small sets."""

import math

import pytest

from tests.papers.twins import evaluated

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
