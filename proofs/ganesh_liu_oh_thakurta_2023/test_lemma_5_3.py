"""Lemma 5.3 with constants: losses on an interval, and how sharp it is."""

import numpy as np
import pytest
from mpmath import exp, expm1, gammainc, ln, mpf, quad

STRENGTH = mpf("1e-6")  # λ; G = D = 1


def bound(strength, beta, dimension):
    """The lemma with constants, for G = D = 1: the slope times (1 + ln x)/x, and times 1 for x <= 1."""
    slope = 1 + strength
    warmth = beta * slope / dimension
    return slope * (1 if warmth <= 1 else (1 + ln(warmth)) / warmth)


def excess_on_a_cone(dimension, beta):
    """F = |x| on a thin cone of length 1 with its apex at 0: the exact regularised risk, by its radius."""

    def mean(function):
        def density(r):
            return r ** (dimension - 1) * exp(-beta * (r + STRENGTH * r * r / 2))

        return quad(lambda r: function(r) * density(r), [0, 1]) / quad(density, [0, 1])

    return mean(lambda r: r + STRENGTH * r * r / 2)


def test_the_linear_loss_in_closed_form():
    beta = mpf("1.5")
    exact = 1 / beta - 1 / expm1(beta)  # mean of exp(-βx) on [0, 1]
    assert float(exact * beta) == pytest.approx(0.5692, abs=1e-4)
    assert float(excess_on_a_cone(1, beta) * beta) == pytest.approx(0.5692, abs=1e-4)
    assert float(ln(beta)) == pytest.approx(0.4055, abs=1e-4)


@pytest.mark.parametrize("beta", [0.3, 2.0, 20.0, 300.0])
@pytest.mark.parametrize("strength", [0.0, 1.0, 20.0])
def test_random_losses_on_an_interval(beta, strength):
    generator = np.random.default_rng(4)
    grid = np.linspace(-0.3, 0.7, 20001)  # D = 1
    for _ in range(6):
        slopes = np.repeat(generator.choice([-1.0, 1.0], size=20), 1000)  # G = 1
        loss = np.concatenate([[0], np.cumsum(slopes)]) / 20000 + strength / 2 * grid**2
        weight = np.exp(-beta * (loss - loss.min()))
        excess = (weight * (loss - loss.min())).sum() / weight.sum()
        assert excess <= float(bound(mpf(strength), mpf(beta), 1))


def test_the_one_is_sharp_in_high_dimension():
    dimension, ratio = mpf(4000), mpf(3)
    beta = dimension * ratio
    excess = gammainc(dimension + 1, 0, beta) / gammainc(dimension, 0, beta) / beta
    share = excess / bound(mpf(0), beta, dimension)
    assert 0.4 < share <= 1  # the conical loss alone
    assert excess * beta / dimension == pytest.approx(1, abs=0.01)
