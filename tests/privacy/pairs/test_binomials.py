"""Binomial probabilities against exact rational numbers."""

import math
from fractions import Fraction

import pytest
from flint import arb, fmpq

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.binomials import binomial


@pytest.mark.parametrize("success", [Fraction(1, 2), Fraction(1, 10**12), 1 - Fraction(1, 10**12)])
@pytest.mark.parametrize(("trials", "hits"), [(0, 0), (1, 0), (7, 7), (40, 3), (300, 299)])
def test_they_are_the_rational_numbers(success: Fraction, trials: int, hits: int) -> None:
    exact = math.comb(trials, hits) * success**hits * (1 - success) ** (trials - hits)
    with working(200):
        p, r = (arb(fmpq(each.numerator, each.denominator)) for each in (success, 1 - success))
        for found in (binomial(trials, hits, p), binomial(trials, hits, p, r)):
            value = arb(fmpq(exact.numerator, exact.denominator))
            assert found.overlaps(value)
            assert abs(found - value).upper() <= value * arb(2) ** -120


def test_a_failure_that_is_known_better_is_used() -> None:
    """1 - p is 0 at this precision, and the probability of no miss but one is not."""
    with working(53):
        tiny = arb(2) ** -100
        assert binomial(1, 0, arb(1) - tiny, tiny).overlaps(tiny)
        assert binomial(1, 0, arb(1) - tiny, tiny) > 0
