"""Lemma 4 with constant 1: balls stay below it, and a segment nearly attains it."""

from mpmath import gamma, mpf, sqrt


def test_the_l2_ball_is_below_and_a_segment_attains_it_nearly():
    for d in (1, 2, 5, 50):
        width = sqrt(2) * gamma(mpf(d + 1) / 2) / gamma(mpf(d) / 2)
        assert d <= width**2 + 1  # E |b|² = d
