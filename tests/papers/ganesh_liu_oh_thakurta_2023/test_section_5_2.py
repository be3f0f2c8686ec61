"""The exponential mechanism on a set: a second time from the text, and the loss of a tilted interval."""

import pytest
from mpmath import expm1, log, mpf

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/section-5.2")

TWINS = {
    "rate": lambda diameter, lipschitz, dimension, dataset_size, epsilon: (
        diameter * lipschitz * (dimension / (dataset_size * epsilon))
    ),
    "printed_temperature": lambda epsilon, dataset_size, lipschitz, diameter: (
        epsilon * dataset_size / lipschitz / diameter
    ),
    "inverse_temperature": lambda epsilon, dataset_size, lipschitz, diameter: (
        epsilon * (dataset_size / 2) / lipschitz / diameter
    ),
}


def largest_loss(temperature, size):
    """K = [0, 1], n - 1 losses +x, and one that is replaced, +x by -x: log of the ratio of the densities at 1."""
    tilts = temperature, temperature * (size - 2) / size
    masses = [-expm1(-tilt) / tilt for tilt in tilts]
    return abs(-tilts[0] + tilts[1] - log(masses[0] / masses[1]))


def test_a_tilted_interval_spends_twice_epsilon():
    epsilon, size = mpf("0.5"), 10**4
    printed = TWINS["printed_temperature"](epsilon, size, 1, 1)
    assert largest_loss(printed, size) > mpf("1.99") * epsilon
    halved = TWINS["inverse_temperature"](epsilon, size, 1, 1)
    assert mpf("0.99") * epsilon < largest_loss(halved, size) <= epsilon


@pytest.mark.parametrize(("relation", "kept"), [("replace-one", False), ("add-or-remove-one", True)])
def test_what_is_spent(relation, kept):
    values = {"epsilon": "0.5", "n": 100, "lipschitz": 2, "diameter": 3}
    found = spending(STATEMENT, values, relation)
    if kept:
        assert found.kept is True
    else:
        assert found.kept is not True
        assert found.spent.upper == pytest.approx(1.0)
