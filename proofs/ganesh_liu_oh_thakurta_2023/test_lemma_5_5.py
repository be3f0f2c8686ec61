"""Lemma 5.5: distributions of bounded range attain the hyperbolic tangent of its proof."""

from mpmath import e, mp, mpf, tanh


def test_bounded_range_laws_attain_the_tangent():
    span = mpf("0.8")  # p / q is e^{-η/2} or e^{η/2}
    low, high = e ** (-span / 2), e ** (span / 2)
    share = (1 - low) / (high - low)
    assert mp.almosteq(share * (high - 1), tanh(span / 4))
