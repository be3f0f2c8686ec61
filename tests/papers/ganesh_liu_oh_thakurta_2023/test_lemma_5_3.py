"""Lemma 5.3: the losses that refute it, and keep the bound with constants."""

import pytest
from mpmath import exp, mpf, quad

from tests.papers.reference_formulas import evaluated, reference_of

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
