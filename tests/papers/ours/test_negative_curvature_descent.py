"""Negative curvature descent: its arithmetic, and runs at the smallest number of records."""

import math

import numpy as np
import pytest
from sympy import Rational

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("dpbounds/negative-curvature-descent")


def test_the_decreases():
    assert (Rational(17, 24) ** 2 - Rational(1, 24) ** 2) / 2 == Rational(1, 4)
    assert Rational(1, 24) - Rational(3, 4) / 2 + Rational(1, 6) == -Rational(1, 6)


@pytest.mark.parametrize("seed", range(5))
def test_runs_end_at_a_local_minimum(seed):
    # F = Σ cos w_i from its maximum 0, where the gradient vanishes: L = ρ_H = 1, G = √d
    generator = np.random.default_rng(seed)
    dimension, alpha = 3, 0.1
    limit = int(
        STATEMENT.evaluate("steps", initial_gap=6, smoothness=1, hessian_lipschitz=1, stationarity="0.1").value.upper
    )
    values = {"rho": "0.1", "steps": limit}
    records = math.ceil(
        STATEMENT.evaluate(
            lipschitz="1.7321",
            smoothness=1,
            hessian_lipschitz=1,
            d=dimension,
            stationarity="0.1",
            failure_probability="0.05",
            **values,
        ).value.upper
    )
    first = STATEMENT.evaluate("noise_stddev", lipschitz="1.7321", n=records, **values).value.upper
    second = STATEMENT.evaluate("hessian_noise_stddev", smoothness=1, d=dimension, n=records, **values).value.upper
    w, used, turned = np.zeros(dimension), 0, 0
    while True:
        used += 1
        g = -np.sin(w) + first * generator.normal(size=dimension)
        if np.linalg.norm(g) > 0.75 * alpha:
            w = w - g
            continue
        noise = second * np.triu(generator.normal(size=(dimension, dimension)))
        values_of, vectors = np.linalg.eigh(np.diag(-np.cos(w)) + noise + np.triu(noise, 1).T)
        if values_of[0] < -7 / 8 * alpha**0.5:
            turned += 1
            u = alpha**0.5 * vectors[:, 0]
            w = w + (u if g @ u <= 0 else -u)
            continue
        break
    assert used <= limit
    assert turned >= 1
    assert np.linalg.norm(np.sin(w)) <= alpha
    assert (-np.cos(w)).min() >= -(alpha**0.5)


def test_fewer_records_than_theorem_8_in_small_alpha():
    values = {"lipschitz": 1, "smoothness": 1, "hessian_lipschitz": 1, "rho": "0.1", "failure_probability": "0.1"}
    counts = []
    for dimension in (10**4, 10**6):
        steps = STATEMENT.evaluate("steps", initial_gap=1, smoothness=1, hessian_lipschitz=1, stationarity="1e-8")
        found = STATEMENT.evaluate(d=dimension, stationarity="1e-8", steps=int(steps.value.upper), **values)
        counts.append(found.value.upper)
    assert counts[1] / counts[0] < 20  # √d, not d, where α is small
