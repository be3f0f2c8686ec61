"""Theorem 3.4, a second time from the text, and as Lemma 3.3 with another gap."""

import sympy
from mpmath import cbrt, ln, mpf, sqrt

from dpbounds.expressions.symbols import excess_risk, initial_gap
from dpbounds.papers.lowy_ullman_wright_2024 import lemma_3_3, theorem_3_4


def printed(lipschitz, smoothness, excess_risk, dimension, delta, epsilon, dataset_size, hessian_lipschitz):
    a = sqrt(dimension * ln(1 / delta)) / (epsilon * dataset_size)
    third = smoothness ** (mpf(7) / 6) * lipschitz ** (mpf(1) / 6) * excess_risk ** (mpf(1) / 6) * cbrt(a)
    return (
        lipschitz * a
        + cbrt(lipschitz * smoothness * excess_risk) * cbrt(a * a)
        + third / (dataset_size * sqrt(hessian_lipschitz))
    )


def rate(lipschitz, smoothness, excess_risk, dimension, delta, epsilon, dataset_size, hessian_lipschitz):
    a = sqrt(dimension * ln(1 / delta)) / (epsilon * dataset_size)
    s = cbrt(lipschitz * smoothness * excess_risk * a**2)
    return lipschitz * a + s + a * smoothness / sqrt(dimension) * sqrt(s / hessian_lipschitz)


TWINS = {"rate": rate, "printed": printed}


def test_it_is_the_lemma_with_the_warm_gap():
    for mine, source in ((theorem_3_4.rate, lemma_3_3.rate), (theorem_3_4.printed, lemma_3_3.printed())):
        warm, cold = mine, source.subs(initial_gap, excess_risk)
        assert sympy.simplify(sympy.powdenest(sympy.expand_power_base(warm - cold, force=True), force=True)) == 0
    assert theorem_3_4.rate != theorem_3_4.printed
