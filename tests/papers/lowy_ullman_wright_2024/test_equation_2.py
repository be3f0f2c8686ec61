"""Equation (2): it follows from the repaired Lemma 4.2, and where it says something."""

import pytest
import sympy
from mpmath import findroot, ln, mpf, sqrt

from dpbounds.expressions.symbols import dataset_size, diameter, dimension, epsilon, lipschitz
from dpbounds.papers.lowy_ullman_wright_2024 import equation_2, lemma_4_2, tail_exponent
from tests.papers.reference_formulas import evaluated


def test_it_follows_from_the_lemma():
    ell = sympy.Symbol("ell", nonnegative=True)
    half = lemma_4_2.bound.subs(epsilon, epsilon / 2).subs(tail_exponent, equation_2.tail)
    room = (equation_2.bound - half) * epsilon * dataset_size / (lipschitz * diameter)
    room = room.subs(dataset_size, sympy.sqrt(dimension) * sympy.exp(ell) / epsilon)
    left = 12 * dimension * ell - 8 * ell + 4 * dimension * sympy.log(dimension) - 4 * dimension + 8 * sympy.log(2)
    assert sympy.simplify(sympy.expand_log(sympy.expand(sympy.simplify(room - left)), force=True)) == 0
    assert [float(left.subs({dimension: d, ell: 0})) > 0 for d in (1, 2, 3)] == [True] * 3
    assert all(left.subs(dimension, d).diff(ell) > 0 for d in (1, 2, 3))  # and 4 d ln d >= 4 d from d = 3 on


@pytest.mark.parametrize(("dimension", "ratio"), [(1, 89), (5, 111), (100, 146)])
def test_where_it_is_below_the_trivial_bound(dimension, ratio):
    edge = findroot(lambda x: 20 / x * ln(x * sqrt(mpf(dimension))) - 1, ratio)
    assert float(edge) == pytest.approx(ratio, abs=1)
    evaluate = evaluated("lowy-ullman-wright-2024/equation-2")
    for size, informative in ((int(edge * dimension) - 3, False), (int(edge * dimension) + 3, True)):
        found = evaluate("bound", G=1, D=1, epsilon=1, n=size, d=dimension)
        assert found.applies is True
        assert (found.value.upper < 1) is informative
