"""Sums over draws: slope and curvature that bound the error of a Newton step."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath


def binomial(rate: Fraction, slots: int) -> list[Fraction]:
    return [comb(slots, k) * rate**k * (1 - rate) ** (slots - k) for k in range(slots + 1)]


def test_the_error_of_a_newton_step() -> None:
    """f = log G: slope at least s, second derivative between 0 and (s n)²/4."""
    slots, s = 12, mpmath.mpf(3) / 4
    masses = [mpmath.mpf(m.numerator) / m.denominator for m in binomial(Fraction(1, 10), slots)[1:]]

    def f(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(sum(m * mpmath.exp(k * s * x - (k * s) ** 2 / 2) for k, m in enumerate(masses, start=1)))

    for x in (-20, -3, 0, 1, 2, 5, 9, 20):
        assert mpmath.diff(f, x) >= s * (1 - mpmath.mpf("1e-9"))
        assert -1e-6 <= mpmath.diff(f, x, 2) <= (s * slots) ** 2 / 4
