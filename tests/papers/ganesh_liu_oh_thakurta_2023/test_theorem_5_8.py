"""Theorem 5.8: what a net costs. With constants: exact risks on an interval, and what is spent."""

from math import comb

import numpy as np
import pytest
from mpmath import mpf

from dpbounds.expressions.symbols import Unit, excess_risk, lipschitz, net_radius
from dpbounds.expressions.units import scaling_defects
from tests.papers.reference_formulas import evaluated, reference_of

explicit_twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit")


def test_the_net_costs_its_radius_times_the_slope():
    assert scaling_defects(lipschitz + excess_risk, Unit(loss=1))  # as printed
    assert not scaling_defects(lipschitz * net_radius + excess_risk, Unit(loss=1))
    grid = np.linspace(0, 1, 100_001)
    for radius in (0.1, 0.01, 0.001):
        centre = 0.5 + radius  # halfway between two net points
        loss = np.abs(grid - centre)  # G = 1
        net = np.arange(0.5, -1e-9, -2 * radius).tolist() + np.arange(0.5, 1 + 1e-9, 2 * radius).tolist()
        cost = min(abs(point - centre) for point in net) - loss.min()
        assert cost == pytest.approx(radius, rel=1e-3)


@pytest.mark.parametrize("dimension", [1, 30])
def test_the_bound_with_constants_has_this_order(dimension):
    shares = []
    for size in (10**3, 10**6, 10**12):
        values = {"n": size, "d": dimension, "epsilon": 1, "G": 1, "D": 1}
        stated, proved = (
            evaluated(f"ganesh-liu-oh-thakurta-2023/{name}")(part, **values).value.lower
            for name, part in (("theorem-5.8", "rate"), ("theorem-5.8/explicit", "tuned"))
        )
        shares.append(proved / stated)
    assert 1 < min(shares) <= max(shares) < 9  # 1 + 2·4 at most where εn >= 2d


@pytest.mark.parametrize("size", [1, 10, 80])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_exact_risks_on_an_interval(size, epsilon):
    radius = 0.02
    net = np.arange(0, 1 + 1e-9, 2 * radius) - 0.5  # within 0.02 of every point; fewer than a maximal packing
    losses = np.abs(net - 0.21), -np.maximum(0, 0.3 - np.abs(net + 0.15))
    beta, share = epsilon * size / 2, 0.55
    expected = share * losses[0] + (1 - share) * losses[1]
    fine = np.linspace(-0.5, 0.5, 10_001)
    best = (share * np.abs(fine - 0.21) - (1 - share) * np.maximum(0, 0.3 - np.abs(fine + 0.15))).min()
    risk = 0.0
    for first in range(size + 1):
        mean = (first * losses[0] + (size - first) * losses[1]) / size
        weight = np.exp(-beta * mean)
        weight /= weight.sum()
        found = weight @ mean - mean.min()
        assert found <= float(
            explicit_twin("empirical", G=1, r_n=mpf(radius), D=1, epsilon=mpf(epsilon), n=size, d=1, R=mpf("0.5"))
        )
        risk += comb(size, first) * share**first * (1 - share) ** (size - first) * (weight @ expected)
    assert (
        0
        < risk - best
        <= float(explicit_twin("bound", G=1, r_n=mpf(radius), D=1, epsilon=mpf(epsilon), n=size, d=1, R=mpf("0.5")))
    )
