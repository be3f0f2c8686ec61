"""Equation (9): the reason that is given for the growth with d."""

from fractions import Fraction
from itertools import pairwise

from mpmath import factorial, mpf, rf


def sums(terms):
    return [sum(terms[: k + 1]) for k in range(len(terms))]


def grows(numbers):
    return all(first < second for first, second in pairwise(numbers))


def test_falling_factors_neither_imply_nor_are_needed():
    rest = Fraction(3, 4)
    falling = [rest**k for k in range(6)]
    assert grows(falling[::-1])
    signed = [(-1) ** k * factor for k, factor in enumerate(falling)]
    assert not grows(sums(signed))  # the same factors, on terms of both signs
    rising = [1 / factor for factor in falling]
    assert grows(sums(rising))  # growing factors, on positive terms: the sums grow all the same
    half = [rf(mpf(1) / 2, k) * (mpf(3) / 4) ** k / factorial(k) / 2 for k in range(6)]  # at half the diameter
    assert all(term > 0 for term in half)  # which is why those of (9) do
    assert grows(sums(half))
