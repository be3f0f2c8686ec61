"""Noise along the path: the inequalities of its proof that code can see."""

import math

import numpy as np
import pytest
from mpmath import expm1, mp, mpf


def test_the_price_of_a_move_is_never_more_than_its_length():
    # k² ≤ 2u(1 - e^{-2u}), with equality in the limit u -> 0 alone
    with mp.workdps(60):
        shares = []
        for exponent in np.linspace(-12, 4, 400):
            u = mpf(10) ** exponent
            k = -expm1(-u) + u * mp.exp(-u)
            shares.append(k**2 / (-2 * u * expm1(-2 * u)))
        assert max(shares) < 1 < max(shares) * (1 + mpf("1e-11"))


@pytest.mark.parametrize("restarts", [2, 7, 30])
@pytest.mark.parametrize("b", [0.3, 0.7, 0.95])
def test_the_worst_chance_of_a_restart(restarts, b):
    growth = 1 + restarts * b ** (restarts - 1) / sum(i * b ** (i - 1) for i in range(1, restarts))
    stated = (growth - b) * (1 - b**restarts) / (1 - b)
    chances = np.linspace(1e-6, 1, 200_001)
    found = sum(growth**j * chances * (1 - chances) ** (j - 1) for j in range(1, restarts + 1))
    assert found.max() == pytest.approx(stated, rel=1e-9)
    assert found.max() <= stated * (1 + 1e-12)


@pytest.mark.parametrize("dimension", [1, 4])
def test_errors_stay_inside_along_the_longest_path(dimension):
    # moves that stop near the edge, as an adversary would: P(sup |e| > a√V) with V = 1 and failure probability 0.4
    rng, clock, window, failure, runs = np.random.default_rng(3), 20.0, 0.05, 0.4, 2000
    tail = math.log(2 * (math.floor(clock / window) + 1) / failure)
    radius = math.exp(window) * math.sqrt(dimension + 2 * math.sqrt(dimension * tail) + 2 * tail)
    error, used, out = rng.standard_normal((runs, dimension)), np.zeros(runs), np.zeros(runs, dtype=bool)
    while (moving := used < clock).any():
        size = np.linalg.norm(error, axis=1)
        out |= size > radius
        u = np.where(moving, np.minimum(np.where(size > 0.8 * radius, 0.002, 0.3), clock - used), 0.0)[:, None]
        error = np.exp(-u) * error + np.sqrt(-np.expm1(-2 * u)) * rng.standard_normal(error.shape)
        used += np.where(moving, np.maximum(u[:, 0], 1e-12), 0.0)
    assert out.mean() <= failure  # seen: 0.003 and less
    assert np.abs(error.mean()) < 0.1


def test_symmetric_noise_with_half_the_variance_off_the_diagonal():
    rng, dimension, failure = np.random.default_rng(5), 6, 0.5
    above = np.triu_indices(dimension, 1)
    drawn = np.zeros((4000, dimension, dimension))
    drawn[:, above[0], above[1]] = rng.standard_normal((4000, len(above[0]))) / math.sqrt(2)
    drawn += drawn.transpose(0, 2, 1)
    drawn[:, range(dimension), range(dimension)] = rng.standard_normal((4000, dimension))
    largest = np.linalg.eigvalsh(drawn)[:, -1]
    limit = math.sqrt(2) * (math.sqrt(dimension) + math.sqrt(math.log(1 / failure)))
    assert (largest > limit).mean() <= failure
    assert largest.mean() <= math.sqrt(2 * dimension)
    assert largest.mean() > 0.7 * math.sqrt(2 * dimension)  # it tends to 1 with d


def test_a_net_of_directions_sees_a_norm():
    """The factor 1/(1 - 2s), on nets of the circle, where nothing less is enough for some matrix."""
    s, draw = 0.45, np.random.default_rng(2)
    angles = np.arange(0, math.pi, 2 * math.asin(s / 2) * 2)
    net = np.stack([np.cos(angles), np.sin(angles)])
    worst = 0.0
    for _ in range(300):
        a, b, c = draw.standard_normal(3)
        M = np.array([[a, b], [b, c]])
        seen = np.abs(np.einsum("ik,ij,jk->k", net, M, net)).max()
        worst = max(worst, np.linalg.norm(M, 2) / seen)
    assert 1.05 < worst <= 1 / (1 - 2 * s)
