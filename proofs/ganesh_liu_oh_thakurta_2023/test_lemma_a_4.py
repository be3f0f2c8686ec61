"""Lemma A.4: the divergences of randomised response."""

import pytest
from mpmath import exp, log, mpf


@pytest.mark.parametrize("epsilon", [mpf("0.1"), mpf(1), mpf(5)])
def test_randomised_response_keeps_its_square_budget(epsilon):
    high, low = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))  # the worst pure mechanism
    for order in (mpf("1.01"), mpf(2), mpf(7), mpf(60)):
        divergence = log(high**order * low ** (1 - order) + low**order * high ** (1 - order)) / (order - 1)
        assert divergence <= order * epsilon**2 / 2
