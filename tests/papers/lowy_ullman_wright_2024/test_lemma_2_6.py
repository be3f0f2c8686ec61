"""Lemma 2.6: against the worst pair of algorithms, enumerated."""

from itertools import product
from math import exp

import pytest

from tests.papers.reference_formulas import evaluated


def worst(epsilon, delta):
    """Probabilities of the four answers of the (ε, δ)-DP algorithm that all others are post-processings of."""
    honest = (1 - delta) / (1 + exp(epsilon))
    return [(delta, 0), (honest * exp(epsilon), honest), (honest, honest * exp(epsilon)), (0, delta)]


def test_the_worst_two_algorithms_spend_no_more():
    evaluate = evaluated("lowy-ullman-wright-2024/lemma-2.6")
    first, second = (0.5, 0.125), (0.25, 0.0625)
    epsilon = float(evaluate("epsilon", first_epsilon=0.5, second_epsilon=0.25).value.lower)
    delta = float(evaluate("delta", first_delta=0.125, second_delta=0.0625).value.lower)

    def spent(at):
        pairs = product(worst(*first), worst(*second))
        return sum(max(p * r - exp(at) * q * s, 0) for (p, q), (r, s) in pairs)

    assert spent(epsilon) == pytest.approx(1 - (1 - 0.125) * (1 - 0.0625))  # less than the sum by the product
    assert delta - 0.125 * 0.0625 <= spent(epsilon) + 1e-12 < delta
    assert spent(0.9 * epsilon) > delta
