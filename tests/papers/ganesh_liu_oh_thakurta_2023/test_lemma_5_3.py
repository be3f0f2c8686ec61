"""Lemma 5.3: the losses that refute it. With constants: wells in several dimensions, and how sharp it is."""

import numpy as np
import pytest
from mpmath import exp, expm1, gammainc, ln, mpf, quad

from tests.papers.reference_formulas import evaluated, reference_of

explicit_twin = reference_of("ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit")
twin = reference_of("ganesh-liu-oh-thakurta-2023/lemma-5.3")

STRENGTH = mpf("1e-6")  # λ; G = D = 1


def excess_on_a_cone(dimension, beta):
    """F = |x| on a thin cone of length 1 with its apex at 0: the exact regularised risk, by its radius."""

    def mean(function):
        def density(r):
            return r ** (dimension - 1) * exp(-beta * (r + STRENGTH * r * r / 2))

        return quad(lambda r: function(r) * density(r), [0, 1]) / quad(density, [0, 1])

    return mean(lambda r: r + STRENGTH * r * r / 2)


@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
def test_thin_cones_exceed_the_printed_bound(dimension):
    beta = mpf(2 * dimension) if dimension > 1 else mpf("1.5")
    excess = excess_on_a_cone(dimension, beta)
    assert excess > twin("printed", d=dimension, beta=beta, G=1, D=1) * mpf("1.2") > 0
    right = evaluated("ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit")(
        d=dimension, beta=str(beta), G=1, D=1, regularisation="1e-6"
    )
    assert excess <= right.value.upper


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
        assert excess <= float(explicit_twin("bound", G=1, regularisation=strength, D=1, beta=beta, d=1))


def test_the_one_is_sharp_in_high_dimension():
    dimension, ratio = mpf(4000), mpf(3)
    beta = dimension * ratio
    excess = gammainc(dimension + 1, 0, beta) / gammainc(dimension, 0, beta) / beta
    share = excess / explicit_twin("bound", G=mpf(1), regularisation=mpf(0), D=mpf(1), beta=beta, d=dimension)
    assert 0.4 < share <= 1  # the conical loss alone
    assert excess * beta / dimension == pytest.approx(1, abs=0.01)
