"""Theorem 2 with constants: against its own minimum, and against exact runs of a quadratic."""

import numpy as np
import pytest

from dpbounds.errors import InvalidValue
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-xu-2019/theorem-2/explicit")


@pytest.mark.parametrize("records", [100, 5_000, 1_000_000])
def test_the_tuned_bound_is_reached_at_its_steps(records):
    values = {"G": 2, "L": 3, "Delta_F": "0.7", "d": 11, "rho": "0.3"}
    best = evaluate("steps", n=records, **values).value.upper
    steps = int(np.ceil(best))
    sigma = evaluate("noise_stddev", n=records, T=steps, G=2, rho="0.3").value.upper
    at = evaluate("noisy", Delta_F="0.7", eta="1/6", L=3, T=steps, d=11, sigma=sigma)
    assert at.applies is True
    tuned = evaluate("tuned", n=records, **values).value
    assert at.value.upper <= tuned.upper * (1 + 1e-12)
    assert at.value.lower >= 0.5 * tuned.lower


def test_a_step_that_is_too_long_is_reported():
    values = {"Delta_F": 1, "L": 1, "T": 10, "d": 2, "sigma": 1}
    assert evaluate(eta="1.9", **values).applies is True
    for part in ("bound", "noisy"):
        with pytest.raises(InvalidValue, match="each step must decrease the risk"):
            _ = evaluate(part, eta="2.1", **values).value


@pytest.mark.parametrize("step", ["0.3", "1", "1.7"])
def test_a_quadratic_is_computed_exactly_and_stays_below(step):
    # F = |x|²/2 in one dimension, C = R: x_{k+1} = (1-γ)x_k - γe, so E|x_k|² is a recursion; P = ∇F + e
    gamma, sigma, steps = float(step), 0.4, 25
    square, total = 9.0, 0.0
    for _ in range(steps):
        total += square + sigma**2
        square = (1 - gamma) ** 2 * square + gamma**2 * sigma**2
    bound = evaluate("noisy", Delta_F="4.5", L=1, eta=step, T=steps, d=1, sigma="0.4")
    assert total / steps <= bound.value.upper**2
    assert total / steps >= 0.1 * bound.value.lower**2
    assert total / steps > 4.5 / (gamma * steps) + sigma**2  # without a = 1 - Lγ/2 it would not be a bound
