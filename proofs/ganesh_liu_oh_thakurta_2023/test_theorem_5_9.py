"""Theorem 5.9 with constants: the divergence of the two hypotheses of its proof."""

from mpmath import linspace, log, mpf


def test_the_divergence_of_two_hypotheses():
    for margin in linspace(mpf("0.001"), mpf("0.25"), 50):
        low, half = mpf(1) / 2 - margin, mpf(1) / 2
        there = low * log(low / half) + (1 - low) * log((1 - low) / half)
        back = half * log(half / low) + half * log(half / (1 - low))
        assert there + back <= 16 * margin**2 / 3
