"""Theorem 5.8: what a net costs, and the order of the bound with constants."""

import numpy as np
import pytest

from dpbounds.expressions.symbols import Unit, excess_risk, lipschitz, net_radius
from dpbounds.expressions.units import scaling_defects
from tests.papers.reference_formulas import evaluated


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
