"""Corollary E.4: the three places where its print differs."""

import pytest
import sympy

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter as size,
    dimension,
    epsilon,
    excess_risk,
    lipschitz,
    smoothness,
)
from dpbounds.expressions.units import scaling_defects
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_e_4, lemma_e_3, theorem_e_2

SIXTH, FOURTEENTH = sympy.Rational(1, 6), sympy.Rational(1, 14)


def agree(left, right):
    symbols = sorted((left - right).free_symbols, key=str)
    for shift in range(3):
        point = {s: sympy.Rational(2 + (5 * k + 3 * shift) % 13, 3) for k, s in enumerate(symbols)}
        point |= {s: sympy.Rational(1, 20 + shift) for s in symbols if s.name == "delta"}
        if abs(sympy.N((left / right - 1).subs(point), 30)) > sympy.Float("1e-20"):
            return False
    return True


def test_it_follows_from_theorem_e_2():
    derived = theorem_e_2.rate.subs(excess_risk, lemma_e_3.rate)
    assert agree(derived, corollary_e_4.rate)


def test_the_first_term_lost_a_summand():
    printed = (lipschitz**2 * smoothness * size * dimension / (epsilon * dataset_size**2)) ** sympy.Rational(1, 3)
    from_the_theorem = (lipschitz * smoothness * lemma_e_3.rate / dataset_size) ** sympy.Rational(1, 3)
    assert agree(from_the_theorem, corollary_e_4.sampling)
    assert not agree(from_the_theorem, printed)
    # the difference is in the power of n: -1/2 against -2/3 at fixed d and ε
    fixed = {lipschitz: 1, smoothness: 1, size: 1, dimension: 4, epsilon: 1}
    quotient = (from_the_theorem / printed).subs(fixed)
    assert sympy.limit(quotient, dataset_size, sympy.oo) == sympy.oo
    order = sympy.limit(quotient / dataset_size**SIXTH, dataset_size, sympy.oo)
    assert 0 < order < sympy.oo


@pytest.mark.parametrize(("place", "repaired"), [("first", False), ("second", False), ("both", True)])
def test_the_third_term_does_not_scale_as_printed(place, repaired):
    z = corollary_e_4.closeness
    outer = (
        corollary_e_4.resolution
        * smoothness
        / sympy.sqrt(next(s for s in corollary_e_4.rate.free_symbols if s.name == "hessian_lipschitz"))
    )
    right_first = (lipschitz * smoothness / dataset_size) ** SIXTH * (lipschitz * size * z) ** SIXTH
    right_second = (
        corollary_e_4.noise_level ** (3 * FOURTEENTH)
        * (lipschitz * smoothness**3) ** FOURTEENTH
        * (lipschitz * size * z) ** (3 * FOURTEENTH)
    )
    printed_first = right_first / (lipschitz * size * z) ** SIXTH * (lipschitz * size * z)
    printed_second = (
        right_second / (lipschitz * smoothness**3) ** FOURTEENTH * (lipschitz * smoothness**3) ** (sympy.Rational(1, 4))
    )
    term = outer * {"first": printed_first, "second": printed_second, "both": right_first + right_second}[place]
    assert (scaling_defects(term, Unit(1, -1)) == ()) is repaired
    assert agree(outer * (right_first + right_second), corollary_e_4.hessian)
