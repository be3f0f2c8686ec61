"""The announced rates: the exponent for generalised linear models, derived."""

import pytest
import sympy

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("lowy-ullman-wright-2024/section-1")


def test_the_exponent_for_generalised_linear_models():
    x = sympy.Symbol("x")  # k = (εn)^x, and the rate (εn)^{-x/2}
    third = sympy.Rational(1, 3)
    new = sympy.solve(sympy.Eq(2 * third * x - 1, -x / 2), x)[0]  # k^{2/3}/(εn) = k^{-1/2}
    old = sympy.solve(sympy.Eq(third * x - 2 * third, -x / 2), x)[0]  # k^{1/3}/(εn)^{2/3} = k^{-1/2}
    assert (new, old) == (sympy.Rational(6, 7), sympy.Rational(4, 5))
    assert (new / 2, old / 2) == (sympy.Rational(3, 7), sympy.Rational(2, 5))
    assert sympy.Rational(2, 7) < old / 2 < new / 2


@pytest.mark.parametrize("rank", [1, 10, 1000, 10**6])
def test_it_improves_at_every_rank(rank):
    n = 10_000
    new = STATEMENT.evaluate("generalised-linear", rank=rank, epsilon=1, n=n).value.upper
    old = theorem("lowy-ullman-wright-2024/appendix-a").evaluate("arora-glm", rank=rank, epsilon=1, n=n).value.lower
    assert new < old
    assert new >= 1 / n**0.5


def test_it_agrees_with_the_corollary():
    values = {"d": 30, "n": 10_000, "epsilon": 1, "delta": "1e-5"}
    combined = theorem("lowy-ullman-wright-2024/corollary-4.3").evaluate("combined", **values).value
    assert STATEMENT.evaluate("non-convex", **values).value.overlaps(combined)
