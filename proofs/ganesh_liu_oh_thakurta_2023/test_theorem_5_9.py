"""Theorem 5.9 with constants: the divergence of the two hypotheses of its proof, and the best choice between them."""

import numpy as np
import pytest
from mpmath import linspace, log, mpf
from scipy.stats import binom


def test_the_divergence_of_two_hypotheses():
    for margin in linspace(mpf("0.001"), mpf("0.25"), 50):
        low, half = mpf(1) / 2 - margin, mpf(1) / 2
        there = low * log(low / half) + (1 - low) * log((1 - low) / half)
        back = half * log(half / low) + half * log(half / (1 - low))
        assert there + back <= 16 * margin**2 / 3


def margin_of(coins, flips):
    """By how much one coin is better; half of it is the bound."""
    return min(0.25, np.sqrt(3 * np.log(coins) / (64 * flips)))


def risk_of_the_best_choice(coins, flips):
    """The coin with the fewest heads (ties at random) is best against a uniform place of the better coin."""
    margin = margin_of(coins, flips)
    counts = np.arange(flips + 1)
    better = binom.pmf(counts, flips, 0.5 - margin)
    equal, above = binom.pmf(counts, flips, 0.5), binom.sf(counts, flips, 0.5)
    others = np.arange(coins)  # how many of the k - 1 others tie
    ties = binom.pmf(others[None, :], coins - 1, (equal / (equal + above + 1e-300))[:, None])
    success = better * (equal + above) ** (coins - 1) * (ties / (others + 1)).sum(axis=1)
    return margin * (1 - success.sum())


@pytest.mark.parametrize("coins", [16, 100, 1000])
@pytest.mark.parametrize("flips", [1, 20, 200, 1000])
def test_no_choice_does_better(coins, flips):
    assert risk_of_the_best_choice(coins, flips) >= margin_of(coins, flips) / 2
