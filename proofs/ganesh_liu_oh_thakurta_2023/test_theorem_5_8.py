"""Theorem 5.8: the size of packings of a disc, and exact risks on an interval."""

from math import comb

import numpy as np
import pytest


@pytest.mark.parametrize("radius", [0.5, 0.2])
def test_packings_of_a_disc_are_smaller(radius):
    generator = np.random.default_rng(7)
    points = generator.uniform(-1, 1, size=(6000, 2))
    points = points[(points**2).sum(axis=1) <= 1]
    packing = points[:1]
    for point in points:
        if ((packing - point) ** 2).sum(axis=1).min() > radius**2:
            packing = np.vstack([packing, point])
    assert 0.2 * (1 + 2 / radius) ** 2 < len(packing) <= (1 + 2 / radius) ** 2


@pytest.mark.parametrize("size", [1, 10, 80])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_exact_risks_on_an_interval(size, epsilon):
    radius = 0.02
    net = np.arange(0, 1 + 1e-9, 2 * radius) - 0.5  # within 0.02 of every point; fewer than a maximal packing
    losses = np.abs(net - 0.21), -np.maximum(0, 0.3 - np.abs(net + 0.15))
    beta, share = epsilon * size / 2, 0.55
    log_size = np.log((radius + 1) / radius)  # of a packing of the ball of radius 1/2
    empirical = log_size / beta + radius
    expected = share * losses[0] + (1 - share) * losses[1]
    fine = np.linspace(-0.5, 0.5, 10_001)
    best = (share * np.abs(fine - 0.21) - (1 - share) * np.maximum(0, 0.3 - np.abs(fine + 0.15))).min()
    risk = 0.0
    for first in range(size + 1):
        mean = (first * losses[0] + (size - first) * losses[1]) / size
        weight = np.exp(-beta * mean)
        weight /= weight.sum()
        found = weight @ mean - mean.min()
        assert found <= empirical
        risk += comb(size, first) * share**first * (1 - share) ** (size - first) * (weight @ expected)
    assert 0 < risk - best <= empirical + np.sqrt(2 * log_size / size) / 2
