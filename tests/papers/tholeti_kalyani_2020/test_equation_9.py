"""Equation (9), term by term from the text, and the reason that is given for the growth with d."""

from fractions import Fraction
from itertools import pairwise

import pytest
from mpmath import mpf

from tests.papers.reference_formulas import Point, evaluated
from tests.papers.tholeti_kalyani_2020.reference_formulas import equation_9_kth

evaluate = evaluated("tholeti-kalyani-2020/equation-9")
GENERAL = evaluated("tholeti-kalyani-2020/equation-6")


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_the_polynomials_are_equation_6(dimension):
    values = {"Delta_g": "0.7", "r_u": "0.8"}
    polynomial = evaluate(f"dimension-{dimension}", **values).value
    assert polynomial.overlaps(GENERAL(d=dimension, **values).value)


@pytest.mark.parametrize("dimension", [1, 2, 7, 40])  # even ones, too
def test_two_more_dimensions_add_the_increment(dimension):
    values = {"Delta_g": "0.7", "r_u": "0.8"}
    low, high = (GENERAL(d=d, digits=30, **values).value for d in (dimension, dimension + 2))
    gain = evaluate("increment", d=dimension, **values).value
    assert gain.lower > 0
    assert high.lower - low.lower == pytest.approx(gain.lower, rel=1e-9)


def test_the_value_of_a_uniform_law_on_an_interval():
    assert evaluate("dimension-1", Delta_g="0.6", r_u=1).value.lower == pytest.approx(0.3)


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
    half = [equation_9_kth(Point({"distance": mpf(1), "radius": mpf(1)}), k) for k in range(6)]
    assert all(term > 0 for term in half)  # which is why those of (9) do
    assert grows(sums(half))
