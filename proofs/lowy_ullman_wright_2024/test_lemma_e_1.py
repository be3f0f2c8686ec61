"""Lemma E.1: its middle term never dominates at constants of order one."""

from mpmath import cbrt, ln, mpf, sqrt


def test_the_middle_term_never_dominates_at_constants_of_order_one():
    # L/√ρ_H h √s <= (L²h²/ρ_H + s)/2: at most the others where L²h <= G ρ_H
    for n in (100, 10**6):
        for epsilon in (mpf("0.1"), mpf(2)):
            level = sqrt(5 * ln(100)) / (epsilon * n)
            s = 1 / cbrt(n) + level ** (mpf(3) / 7)
            h = 1 / (n * epsilon) + 1 / sqrt(mpf(n))
            assert h <= 1
            assert h * sqrt(s) <= (s + h) / 2
