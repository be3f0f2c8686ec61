"""Theorem D.1: Gaussians, for which everything is in closed form."""

import pytest
from mpmath import log, mp, mpf, sqrt


def shifted(mean, spread, constant, order):
    """R_q of N(mean, spread) from N(0, constant)."""
    if order == 1:
        return (spread / constant - 1 - log(spread / constant) + mean**2 / constant) / 2
    mixed = order * constant + (1 - order) * spread
    shape = log(mixed) - (1 - order) * log(spread) - order * log(constant)
    return order * mean**2 / (2 * mixed) - shape / (2 * (order - 1))


@pytest.mark.parametrize("order", [mpf(1), mpf("1.5"), mpf(3)])
@pytest.mark.parametrize("spread", [mpf("0.2"), mpf(1), mpf("1.3")])
def test_gaussians(order, spread):
    constant, step, mean = mpf(1), mpf("0.7"), mpf("1.4")
    start = shifted(mean, spread, constant, order)
    for count in range(1, 6):
        share = constant / (constant + step)  # x given y is N(share y, share step)
        mean, spread = share * mean, share**2 * (spread + step) + share * step
        bound = start * (1 + step / constant) ** (-2 * count / order)
        here = shifted(mean, spread, constant, order)
        assert here <= bound * (1 + mpf(10) ** -12)
        if order == 1 and spread == 1:
            assert mp.almosteq(here, bound)
    assert sqrt(here) > 0
