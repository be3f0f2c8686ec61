"""Negative curvature descent: runs at the smallest number of records."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/negative-curvature-descent")


@pytest.mark.parametrize("seed", range(5))
def test_runs_end_at_a_local_minimum(seed):
    # F = Σ cos w_i from its maximum 0, where the gradient vanishes: L = ρ_H = 1, G = √d
    generator = np.random.default_rng(seed)
    dimension, alpha = 3, 0.1
    limit = int(evaluate("steps", Delta_F=6, L=1, rho_H=1, alpha="0.1").value.upper)
    most = int(evaluate("searches", Delta_F=6, rho_H=1, alpha="0.1").value.upper)
    values = {"rho": "0.1", "T": limit, "searches": most}
    records = math.ceil(evaluate(G="1.7321", L=1, rho_H=1, d=dimension, alpha="0.1", zeta="0.05", **values).value.upper)
    first = evaluate("noise_stddev", G="1.7321", n=records, **values).value.upper
    second = evaluate("hessian_noise_stddev", L=1, d=dimension, n=records, **values).value.upper
    w, used, turned, asked = np.zeros(dimension), 0, 0, 0
    while True:
        used += 1
        g = -np.sin(w) + first * generator.normal(size=dimension)
        if np.linalg.norm(g) > 0.75 * alpha:
            w = w - g
            continue
        noise = second * generator.normal(size=(dimension, dimension))
        even = np.triu(noise, 1) / math.sqrt(2)
        asked += 1
        values_of, vectors = np.linalg.eigh(np.diag(-np.cos(w) + np.diag(noise)) + even + even.T)
        if values_of[0] < -7 / 8 * alpha**0.5:
            turned += 1
            u = alpha**0.5 * vectors[:, 0]
            w = w + (u if g @ u <= 0 else -u)
            continue
        break
    assert used <= limit
    assert asked <= most
    assert turned >= 1
    assert np.linalg.norm(np.sin(w)) <= alpha
    assert (-np.cos(w)).min() >= -(alpha**0.5)


def test_fewer_records_than_theorem_8_in_small_alpha():
    values = {"G": 1, "L": 1, "rho_H": 1, "rho": "0.1", "zeta": "0.1"}
    counts = []
    for dimension in (10**4, 10**6):
        steps, searches = (
            evaluate(part, Delta_F=1, L=1, rho_H=1, alpha="1e-8").value.upper for part in ("steps", "searches")
        )
        found = evaluate(d=dimension, alpha="1e-8", T=int(steps), searches=int(searches), **values)
        counts.append(found.value.upper)
    assert counts[1] / counts[0] < 20  # √d, not d, where α is small
