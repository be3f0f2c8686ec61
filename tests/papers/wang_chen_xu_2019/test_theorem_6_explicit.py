"""Theorem 6 with constants: a second time, and the l1 geometry of its sampling error."""

import numpy as np
import pytest
from mpmath import ln, mpf, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def inner(initial_gap, step_fraction, steps, smoothness_l1, lipschitz_l1, dataset_size, step_epsilon, dimension):
    vertices = 2 * dimension
    sampling = 8 * (smoothness_l1 + lipschitz_l1) * sqrt(2 * ln(vertices)) / sqrt(dataset_size)
    selection = 2 * (2 * lipschitz_l1 / dataset_size) / step_epsilon * ln(vertices)
    return initial_gap / step_fraction / steps + 2 * smoothness_l1 * step_fraction + selection + sampling


def risk(
    initial_gap,
    step_fraction,
    steps,
    smoothness_l1,
    lipschitz_l1,
    dataset_size,
    step_epsilon,
    dimension,
    link_constant,
    link_slope,
):
    rest = (initial_gap, step_fraction, steps, smoothness_l1, lipschitz_l1, dataset_size, step_epsilon, dimension)
    return link_constant / (2 * link_slope) * inner(*rest)


def robust(
    initial_gap,
    step_fraction,
    steps,
    smoothness_l1,
    lipschitz_l1,
    dataset_size,
    step_epsilon,
    dimension,
    influence_constant,
    restoring_slope,
):
    rest = (initial_gap, step_fraction, steps, smoothness_l1, lipschitz_l1, dataset_size, step_epsilon, dimension)
    return influence_constant / (2 * restoring_slope) * inner(*rest)


def balance(smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, dimension):
    a = sqrt(8 * smoothness_l1 * initial_gap)
    return a, sqrt(2 / rho) * lipschitz_l1 * ln(2 * dimension) / dataset_size


def tuned(smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, dimension, link_constant, link_slope):
    a, b = balance(smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, dimension)
    sampling = 8 * (smoothness_l1 + lipschitz_l1) * sqrt(2 * ln(2 * dimension) / dataset_size)
    return link_constant / (2 * link_slope) * (sqrt(a * b) + b * sqrt(a / b + 1) + sampling)


def best_steps(smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, dimension):
    a, b = balance(smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, dimension)
    return a / b


TWINS = {
    "bound": risk,
    "robust-regression": robust,
    "tuned": tuned,
    "step_epsilon": lambda rho, steps: sqrt(8) * sqrt(rho / steps),
    "step_fraction": lambda initial_gap, smoothness_l1, steps: min(
        mpf(1), sqrt(initial_gap / (2 * smoothness_l1 * steps))
    ),
    "steps": best_steps,
}

STATEMENT = theorem("wang-chen-xu-2019/theorem-6/explicit")


@pytest.mark.parametrize(("records", "dimension"), [(40, 3), (40, 400), (900, 400)])
def test_random_signs_in_the_largest_coordinate(records, dimension):
    generator = np.random.default_rng(records + dimension)
    features = generator.choice([-1.0, 1.0], size=(records, dimension))
    signs = generator.choice([-1.0, 1.0], size=(300, records))
    largest = np.abs(signs @ features).max(axis=1)
    bound = np.sqrt(2 * records * np.log(2 * dimension))
    assert 0.5 * bound < largest.mean() <= bound


def test_the_budget_is_kept():
    found = spending(STATEMENT, {"rho": "0.05", "steps": 100})
    assert found.kept is True
    assert found.spent.upper == pytest.approx(0.05)
