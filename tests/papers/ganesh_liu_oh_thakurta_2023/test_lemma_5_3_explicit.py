"""Lemma 5.3 with the right constant: wells in several dimensions, and how sharp it is."""

import numpy as np
import pytest
from mpmath import gammainc, mpf

from tests.papers.twins import twin_of

twin = twin_of("ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit")


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
        assert excess <= float(twin("bound", G=1, regularisation=strength, D=1, beta=beta, d=1))


def test_the_one_is_sharp_in_high_dimension():
    dimension, ratio = mpf(4000), mpf(3)
    beta = dimension * ratio
    excess = gammainc(dimension + 1, 0, beta) / gammainc(dimension, 0, beta) / beta
    share = excess / twin("bound", G=mpf(1), regularisation=mpf(0), D=mpf(1), beta=beta, d=dimension)
    assert 0.4 < share <= 1  # the conical loss alone
    assert excess * beta / dimension == pytest.approx(1, abs=0.01)
