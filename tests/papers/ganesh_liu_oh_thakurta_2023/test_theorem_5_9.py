"""Theorem 5.9 with constants: the best possible choice for the hypotheses of its proof."""

import numpy as np
import pytest
from mpmath import log, mpf, sqrt
from scipy.stats import binom

from tests.papers.reference_formulas import reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit")


def risk_of_the_best_choice(coins, flips):
    """The coin with the fewest heads (ties at random) is best against a uniform place of the better coin."""
    margin = min(0.25, float(sqrt(3 * log(coins) / (64 * flips))))
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
    assert risk_of_the_best_choice(coins, flips) >= float(twin("bound", N=mpf(coins), n=mpf(flips)))
