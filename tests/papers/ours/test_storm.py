"""DP-STORM: its leading constant, and runs."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/storm")


def square(T, eta, k, share, y):
    """Of the bound where G = L = Δ = 1 and d = y n²ρ; large where a condition fails."""
    first, later = 2 * y / share, 2 * y * (T - 1) / (1 - share)  # d σ², d σ₂²
    if k > 1 or share >= 1 or T < 2 or 2 * later * (1 - k) ** 2 * eta**2 > (1 - eta) * k * (2 - k):
        return 1e9
    return (2 / eta + (first + 2 * (T - 1) * k**2 * later) / (k * (2 - k))) / (T + 1 / eta)


@pytest.mark.parametrize(("eta", "constant"), [(0.05, 2.20), (0.2, 2.27), (0.5, 2.45)])
def test_the_leading_constant(eta, constant):
    y = 1e-12
    found = math.inf
    for T in np.geomspace(0.1, 2, 60) / (eta * y ** (2 / 3)):
        for share in (1e-3, 1e-2):
            k = 2 * eta**2 * 2 * y * T / ((1 - share) * (1 - eta)) / 2 * 1.001  # what the condition asks for
            found = min(found, square(T, eta, k, share, y))
    assert math.sqrt(found) / y ** (1 / 3) == pytest.approx(constant, rel=0.01)


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


def test_more_noise_than_the_descent_pays_for_is_told():
    point = {"d": 100, "T": 50, "L": 1, "G": 1, "Delta_F": 1, "eta": "0.5", "momentum": "0.01", "sigma": "0.1"}
    assert evaluate(sigma_2="0.5", **point).failing
