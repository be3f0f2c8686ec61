"""Poisson samples: the moments of a sampled sum by enumeration, and the best momentum of DP-STORM."""

import itertools
import math
from fractions import Fraction

import pytest


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(9, 10)])
def test_a_sampled_sum_has_the_moments_of_the_proof(rate):
    """All samples of four records on a sphere, without noise: mean and mean square of the error are exact."""
    records = [(Fraction(3, 5), Fraction(4, 5)), (Fraction(-1), Fraction(0)), (Fraction(0), Fraction(1)),
               (Fraction(5, 13), Fraction(-12, 13))]  # fmt: skip
    truth = [sum(each) / 4 for each in zip(*records, strict=True)]
    mean, square = [Fraction(0), Fraction(0)], Fraction(0)
    for drawn in itertools.product((0, 1), repeat=4):
        chance = math.prod(rate if one else 1 - rate for one in drawn)
        found = [sum(one * each[i] for one, each in zip(drawn, records, strict=True)) / (4 * rate) for i in range(2)]
        mean = [total + chance * each for total, each in zip(mean, found, strict=True)]
        square += chance * sum((each - true) ** 2 for each, true in zip(found, truth, strict=True))
    assert mean == truth
    assert square == (1 - rate) / (4 * rate)


def test_the_best_k_is_the_minimum_of_the_errors():
    first, later = 0.01, 0.3  # A and B of storm.md
    k = 2 * first / (first + math.sqrt(first**2 + 4 * first * later))
    errors = [(first + later * each**2) / (each * (2 - each)) for each in (k * 0.99, k, k * 1.01)]
    assert min(errors) == errors[1]
