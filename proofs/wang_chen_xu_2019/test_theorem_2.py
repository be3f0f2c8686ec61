"""Theorem 2: the limit of its discretisation term bounds the mixing term."""

from mpmath import exp, ln, mpf


def test_the_limit_bounds_the_mixing_term():
    # e^a exp(-x e^-a) <= e^(2a)/x: the limit for many steps, with twice the κ
    for beta, records in ((3, 50), (10, 10**4), (30, 10**9)):
        time = (records / mpf(3)) ** 2 / ln(mpf(10) ** 5)  # n²ε²/ln(1/δ) at ε = 1/3
        large = exp(mpf(beta) / 2)  # e^(κβ) at κ = 1/2
        first = large * exp(-time / beta / large)
        second = exp(mpf(beta)) * beta / time
        assert first <= second
