"""The announced rates: the exponent for generalised linear models, derived."""

import sympy


def test_the_exponent_for_generalised_linear_models():
    x = sympy.Symbol("x")  # k = (εn)^x, and the rate (εn)^{-x/2}
    third = sympy.Rational(1, 3)
    new = sympy.solve(sympy.Eq(2 * third * x - 1, -x / 2), x)[0]  # k^{2/3}/(εn) = k^{-1/2}
    old = sympy.solve(sympy.Eq(third * x - 2 * third, -x / 2), x)[0]  # k^{1/3}/(εn)^{2/3} = k^{-1/2}
    assert (new, old) == (sympy.Rational(6, 7), sympy.Rational(4, 5))
    assert (new / 2, old / 2) == (sympy.Rational(3, 7), sympy.Rational(2, 5))
    assert sympy.Rational(2, 7) < old / 2 < new / 2
