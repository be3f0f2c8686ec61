"""The exponential mechanism on a set: the loss of a tilted interval."""

import pytest
from mpmath import expm1, log, mpf

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.twins import twin_of

twin = twin_of("ganesh-liu-oh-thakurta-2023/section-5.2")

STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/section-5.2")


def largest_loss(temperature, size):
    """K = [0, 1], n - 1 losses +x, and one that is replaced, +x by -x: log of the ratio of the densities at 1."""
    tilts = temperature, temperature * (size - 2) / size
    masses = [-expm1(-tilt) / tilt for tilt in tilts]
    return abs(-tilts[0] + tilts[1] - log(masses[0] / masses[1]))


def test_a_tilted_interval_spends_twice_epsilon():
    epsilon, size = mpf("0.5"), 10**4
    printed = twin("printed_temperature", epsilon=epsilon, n=size, G=1, D=1)
    assert largest_loss(printed, size) > mpf("1.99") * epsilon
    halved = twin("inverse_temperature", epsilon=epsilon, n=size, G=1, D=1)
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
