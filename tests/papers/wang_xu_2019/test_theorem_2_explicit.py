"""Theorem 2 with constants: against its own minimum, and against exact runs of a quadratic."""

import numpy as np
import pytest

from dpbounds.errors import InvalidValue
from dpbounds.theorems.registry import theorem

STATEMENT = theorem("wang-xu-2019/theorem-2/explicit")


@pytest.mark.parametrize("records", [100, 5_000, 1_000_000])
def test_the_tuned_bound_is_reached_at_its_steps(records):
    values = {"lipschitz": 2, "smoothness": 3, "initial_gap": "0.7", "dimension": 11, "rho": "0.3"}
    best = STATEMENT.evaluate("steps", dataset_size=records, **values).value.upper
    steps = int(np.ceil(best))
    sigma = STATEMENT.evaluate("noise_stddev", dataset_size=records, steps=steps, lipschitz=2, rho="0.3").value.upper
    at = STATEMENT.evaluate(
        "noisy", initial_gap="0.7", step_size="1/6", smoothness=3, steps=steps, dimension=11, noise_stddev=sigma
    )
    assert at.applies is True
    tuned = STATEMENT.evaluate("tuned", dataset_size=records, **values).value
    assert at.value.upper <= tuned.upper * (1 + 1e-12)
    assert at.value.lower >= 0.5 * tuned.lower


def test_a_step_that_is_too_long_is_reported():
    values = {"initial_gap": 1, "smoothness": 1, "steps": 10, "dimension": 2, "noise_stddev": 1}
    assert STATEMENT.evaluate(step_size="1.9", **values).applies is True
    for part in ("bound", "noisy"):
        with pytest.raises(InvalidValue, match="each step must decrease the risk"):
            STATEMENT.evaluate(part, step_size="2.1", **values)


@pytest.mark.parametrize("step", ["0.3", "1", "1.7"])
def test_a_quadratic_is_computed_exactly_and_stays_below(step):
    # F = |x|²/2 in one dimension, C = R: x_{k+1} = (1-γ)x_k - γe, so E|x_k|² is a recursion; P = ∇F + e
    gamma, sigma, steps = float(step), 0.4, 25
    square, total = 9.0, 0.0
    for _ in range(steps):
        total += square + sigma**2
        square = (1 - gamma) ** 2 * square + gamma**2 * sigma**2
    bound = STATEMENT.evaluate(
        "noisy", initial_gap="4.5", smoothness=1, step_size=step, steps=steps, dimension=1, noise_stddev="0.4"
    )
    assert total / steps <= bound.value.upper**2
    assert total / steps >= 0.1 * bound.value.lower**2
    assert total / steps > 4.5 / (gamma * steps) + sigma**2  # without a = 1 - Lγ/2 it would not be a bound
