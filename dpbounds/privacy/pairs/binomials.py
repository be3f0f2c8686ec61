"""Binomial probabilities as balls."""

from __future__ import annotations

from flint import arb


def binomial(trials: int, hits: int, success: arb, failure: arb | None = None) -> arb:
    """Return P(X = hits) of a binomial X, at the working precision.

    Args:
        trials: The number of trials, at least 0.
        hits: From 0 to ``trials``.
        success: The probability of a hit, greater than 0 and less than 1.
        failure: The probability of none, where it is known more closely than as 1 - ``success``.

    >>> binomial(3, 2, arb(1) / 4).overlaps(arb(9) / 64)
    True
    """
    ways = arb(trials + 1).lgamma() - arb(hits + 1).lgamma() - arb(trials - hits + 1).lgamma()
    misses = (-success).log1p() if failure is None else failure.log()
    return (ways + hits * success.log() + (trials - hits) * misses).exp()
