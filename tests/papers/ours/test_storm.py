"""DP-STORM: runs stay below the bound."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/storm")


@pytest.mark.parametrize("step_size", [0.1, 0.5])
def test_runs_stay_below_the_bound_which_a_quadratic_comes_near(step_size):
    # F = |w|²/2 in d dimensions from |w_0|² = 2
    rng, d, T, k, sigma, sigma_2, G, runs = np.random.default_rng(1), 4, 12, 0.3, 0.05, 0.2, 1.0, 16_000
    w = np.zeros((runs, d))
    w[:, 0] = math.sqrt(2)
    v = w + sigma * rng.standard_normal(w.shape)
    total = 0.0
    for t in range(T):
        total += float((w * w).sum(axis=1).mean())
        previous, w = w, w - step_size * v
        if t < T - 1:
            scale = sigma_2 * (k * G + (1 - k) * np.linalg.norm(w - previous, axis=1))[:, None]
            v = (1 - k) * v + w - (1 - k) * previous + scale * rng.standard_normal(w.shape)
    total += float((w * w).sum(axis=1).mean()) / step_size
    measured = math.sqrt(total / (T + 1 / step_size))
    given = {"momentum": k, "sigma": sigma, "sigma_2": sigma_2}
    bound = evaluate(d=d, T=T, L=1, G=1, Delta_F=1, eta=str(step_size), **{name: str(x) for name, x in given.items()})
    assert not bound.failing
    assert measured <= bound.value.upper
    assert measured > 0.7 * bound.value.upper
