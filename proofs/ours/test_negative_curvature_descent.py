"""Negative curvature descent: the decreases of its two kinds of steps."""

from sympy import Rational


def test_the_decreases():
    assert (Rational(17, 24) ** 2 - Rational(1, 24) ** 2) / 2 == Rational(1, 4)
    assert Rational(1, 24) - Rational(3, 4) / 2 + Rational(1, 6) == -Rational(1, 6)
