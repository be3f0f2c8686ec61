"""Gradient norms of DP-GD with constants: a second time, and against exact runs of a quadratic."""

import pytest
from mpmath import sqrt

from dpbounds.errors import InvalidValue
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def bound(initial_gap, step_size, steps, smoothness, dimension, noise_stddev):
    a = 1 - smoothness * step_size / 2
    return sqrt(initial_gap / (step_size * steps * a) + (1 - a) / a * dimension * noise_stddev**2)


def step_size(dataset_size, lipschitz, initial_gap, rho, smoothness, dimension, steps):
    return sqrt(initial_gap * rho / smoothness / dimension) * dataset_size / lipschitz / steps


def tuned(dataset_size, lipschitz, initial_gap, rho, smoothness, dimension, steps):
    eta = step_size(dataset_size, lipschitz, initial_gap, rho, smoothness, dimension, steps)
    sigma = sqrt(2 * steps / rho) * lipschitz / dataset_size
    return bound(initial_gap, eta, steps, smoothness, dimension, sigma)


TWINS = {
    "bound": bound,
    "printed_step": lambda initial_gap, steps, smoothness, dimension, noise_stddev: bound(
        initial_gap, 1 / smoothness, steps, smoothness, dimension, noise_stddev
    ),
    "tuned": tuned,
    "step_size": step_size,
    "noise_stddev": lambda lipschitz, steps, rho, dataset_size: sqrt(2 * steps / rho) / dataset_size * lipschitz,
}

STATEMENT = theorem("wang-chen-xu-2019/algorithm-4/explicit")


@pytest.mark.parametrize("step", ["0.1", "1", "1.8"])
def test_a_quadratic_is_computed_exactly_and_stays_below(step):
    # F = w²/2: E w² is a recursion, ∇F = w
    eta, sigma, steps = float(step), 0.3, 40
    square, total = 4.0, 0.0
    for _ in range(steps):
        total += square
        square = (1 - eta) ** 2 * square + eta**2 * sigma**2
    found = STATEMENT.evaluate(
        initial_gap=2, step_size=step, steps=steps, smoothness=1, dimension=1, noise_stddev="0.3"
    )
    assert found.applies is True
    assert 0.3 * found.value.upper < (total / steps) ** 0.5 <= found.value.upper


def test_the_tuned_bound_does_not_depend_on_many_steps():
    values = {"lipschitz": 1, "initial_gap": 1, "rho": "0.1", "smoothness": 1, "dimension": 10, "n": 10_000}
    few, many = (STATEMENT.evaluate("tuned", steps=steps, **values) for steps in (2_000, 10**6))
    assert few.applies is True
    assert many.value.upper < few.value.upper < 1.25 * many.value.upper
    with pytest.raises(InvalidValue):  # steps so long that the risk need not fall: no value at all
        STATEMENT.evaluate("tuned", steps=300, **values)


def test_the_budget_is_kept():
    assert spending(STATEMENT, {"rho": "0.2", "steps": 30}).spent.upper == pytest.approx(0.2)
