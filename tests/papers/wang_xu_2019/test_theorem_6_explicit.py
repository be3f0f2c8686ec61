"""Theorem 6 with constants: a second time, and the Gibbs distribution exactly."""

import numpy as np
import pytest
from mpmath import log, mpf, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def balance(l1_diameter, smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, l1_norm_bound, candidates):
    a = l1_diameter * sqrt(2 * smoothness_l1 * initial_gap)
    b = sqrt(2) * lipschitz_l1 * l1_norm_bound * log(candidates) / (dataset_size * sqrt(rho))
    return a, b


def best_steps(l1_diameter, smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, l1_norm_bound, candidates):
    a, b = balance(l1_diameter, smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, l1_norm_bound, candidates)
    return a / b


def tuned(l1_diameter, smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, l1_norm_bound, candidates):
    a, b = balance(l1_diameter, smoothness_l1, initial_gap, dataset_size, rho, lipschitz_l1, l1_norm_bound, candidates)
    return sqrt(a * b) + b * sqrt(a / b + 1)


def bound(
    initial_gap,
    step_fraction,
    steps,
    smoothness_l1,
    l1_diameter,
    lipschitz_l1,
    l1_norm_bound,
    dataset_size,
    step_epsilon,
    candidates,
):
    selection = 2 * (2 * lipschitz_l1 * l1_norm_bound / dataset_size) / step_epsilon * log(candidates)
    return initial_gap / (step_fraction * steps) + smoothness_l1 * step_fraction * l1_diameter**2 / 2 + selection


TWINS = {
    "bound": bound,
    "tuned": tuned,
    "step_epsilon": lambda rho, steps: sqrt(8 * rho / steps),
    "step_fraction": lambda initial_gap, smoothness_l1, l1_diameter, steps: min(
        mpf(1), sqrt(2 * initial_gap / (smoothness_l1 * l1_diameter**2 * steps))
    ),
    "steps": best_steps,
}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_mean_score_of_the_gibbs_choice(epsilon):
    generator = np.random.default_rng(1)
    for spread in (0.1, 1.0, 30.0):
        scores = spread * generator.random(64)
        weights = np.exp(epsilon * (scores - scores.max()) / 2)  # sensitivity 1
        lost = scores.max() - (weights * scores).sum() / weights.sum()
        assert lost <= 2 / epsilon * np.log(64)


def test_the_budget_is_kept():
    found = spending(theorem("wang-xu-2019/theorem-6/explicit"), {"rho": "0.05", "steps": 100})
    assert found.kept is True
    assert found.spent.upper == pytest.approx(0.05)
