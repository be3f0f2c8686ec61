"""Theorem 5.6 with constants: exact risks on cones and on an interval, and its simple form."""

from math import comb

import numpy as np
import pytest
from mpmath import exp, ln, mpf, quad, sqrt, tanh


def level(share):
    """3/2 + ln(1 + √x)."""
    return mpf(3) / 2 + ln(1 + sqrt(share))


def empirical(dimension, beta):
    """The excess empirical risk with constants, for G = D = 1: (3/2 + ln(1 + x))/x with x = β/d."""
    share = beta / dimension
    return (mpf(3) / 2 + ln(1 + share)) / share


@pytest.mark.parametrize("beta", [0.05, 1.0, 10.0, 200.0])
@pytest.mark.parametrize("dimension", [1, 2, 7])
@pytest.mark.parametrize("sign", [1, -1])
def test_cones(beta, dimension, sign):
    beta, strength = mpf(beta), dimension / mpf(beta)  # G = D = 1, apex at the origin

    def density(r):
        return r ** (dimension - 1) * exp(-beta * (sign * r + strength * r * r / 2))

    ends = [0, 0.01, 0.1, 0.5, 0.9, 0.99, 1]
    mean = quad(lambda r: r * density(r), ends) / quad(density, ends)
    excess = mean if sign == 1 else 1 - mean
    assert 0 < excess <= empirical(dimension, beta)


@pytest.mark.parametrize("beta", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("size", [1, 4, 12])
def test_the_population_risk_of_two_kinds_of_records(beta, size):
    grid = np.linspace(-0.5, 0.5, 4001)
    losses = np.abs(grid - 0.3), -np.maximum(0, 0.4 - np.abs(grid + 0.2))  # G = 1, not convex
    share = 0.45
    population_risk = share * losses[0] + (1 - share) * losses[1]
    total = 0.0
    for first in range(size + 1):
        chance = comb(size, first) * share**first * (1 - share) ** (size - first)
        risk = (first * losses[0] + (size - first) * losses[1]) / size
        weight = np.exp(-beta * (risk + 1 / beta / 2 * grid**2))  # μ = d/(D²β)
        total += chance * (weight @ population_risk) / weight.sum()
    assert 0 < total - population_risk.min() <= float(empirical(1, mpf(beta)) + tanh(mpf(beta) / (2 * size)))


def test_the_simple_form_is_an_upper_bound():
    for size in (1, 10, 10**4, 10**9):
        for dimension in (1, 7, 1000):
            for epsilon in (mpf("0.001"), mpf("0.1"), mpf(3), mpf(50)):
                private, free = epsilon * size / 2, sqrt(dimension * size * level(mpf(size) / dimension))
                beta = min(private, free)
                tuned = empirical(dimension, beta) + tanh(beta / (2 * size))
                simple = empirical(dimension, private) + mpf("1.7") * free / size
                assert tuned <= simple * (1 + mpf(10) ** -12)
