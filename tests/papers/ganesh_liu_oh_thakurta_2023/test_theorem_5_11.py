"""Theorem 5.11: the paper's own upper bound that refutes its first term."""

from fractions import Fraction
from itertools import pairwise

import pytest
from mpmath import ln, mpf

from tests.papers.twins import evaluated, twin_of

twin = twin_of("ganesh-liu-oh-thakurta-2023/theorem-5.11")


def upper(size, dimension):
    """Theorem 5.8 with constants on the unit ball, at its printed radius and ε = 1: pure, so for every δ."""
    explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit")
    found = explicit(n=size, d=dimension, epsilon=1, G=1, D=2, R=1, r_n=Fraction(2 * dimension, size))
    assert found.applies is True
    return mpf(found.value.upper)


def test_the_first_term_exceeds_the_upper_bound_of_the_paper():
    at_a_million = twin("printed", d=1000, delta=mpf(2) ** -1000, epsilon=1, n=10**6)  # δ = 2^{-√n}
    assert float(at_a_million) == pytest.approx(0.693, abs=1e-3)
    assert float(upper(10**6, 1000)) == pytest.approx(0.147, abs=1e-3)
    # whatever the constant in Ω is, it fails: d = ln²(n), δ = 2^{-n^{3/4}}, along which the term tends to 0
    ratios, terms = [], []
    for power in (8, 12, 16, 24, 32):
        size = 10**power
        dimension = int(ln(size) ** 2)
        terms.append(dimension * mpf(size) ** mpf("0.75") * ln(2) / size)
        ratios.append(terms[-1] / upper(size, dimension))
    assert all(later > 2 * earlier for earlier, later in pairwise(ratios))
    assert ratios[-1] > 10**5
    assert terms[-1] < terms[0]
    assert terms[-1] < 1e-4


def test_it_exceeds_the_largest_possible_risk():
    size = 10**8
    dimension = int(ln(size) ** 2)
    level = mpf(size) / 100 * ln(2)  # δ = 2^{-n/100}
    assert dimension * level / size > 2  # GD on the unit ball


def test_the_second_term_stays_below():
    for size, dimension in ((10**4, 5), (10**6, 1000), (10**9, 10**5)):
        assert twin("sampling", d=dimension, n=size) / 128 < upper(size, dimension)
