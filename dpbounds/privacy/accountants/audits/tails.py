"""Tails of binomial distributions as balls, and the search for the largest hypothesis that is refuted."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.losses import ball

PRECISION = 128
_NEGLIGIBLE_BITS = 90  # a term smaller than the sum by that many bits may be the last one
_STEPS_DOWN = (0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2)  # relative: from what floats find to what balls prove
_LARGEST = 1e4  # no finite number of runs refutes more


def tail_by_first(first: int, count: int, odds: arb) -> arb:
    """Return P(X >= first) / P(X = first) of a binomial X with ``count`` trials and these odds of success.

    ``first`` is at least 1, and not below the mean, so that the terms decrease.
    """
    term = total = arb(1)
    negligible = arb(2) ** -_NEGLIGIBLE_BITS
    for k in range(first, count):
        ratio = odds * (count - k) / (k + 1)
        term = term * ratio
        total += term
        if ratio < 1 and term < negligible * total:  # all later ratios are smaller
            return total + arb(0).union(term * ratio / (1 - ratio))
    return total


def at_least(first: int, count: int, success: arb) -> arb:
    """Return P(X >= first) of a binomial X with ``count`` trials.

    It is P(B <= success) of a beta-distributed B with the parameters first and count - first + 1, too.
    """
    if first <= 0 or success >= 1:
        return arb(1)
    if first > count or success <= 0:
        return arb(0)
    failure = 1 - success
    if not (success > 0 and failure > 0):  # the ball contains 0 or 1
        return arb(0).union(arb(1))
    if count * success < first:
        return binomial(count, first, success, failure) * tail_by_first(first, count, success / failure)
    least = count - first + 1  # failures that prevent it
    return 1 - binomial(count, least, failure, success) * tail_by_first(least, count, failure / success)


def largest_refuted(
    p_value: Callable[[float], float], proven: Callable[[Fraction], Fraction], level: Fraction
) -> Fraction:
    """Return a number at least 0 whose hypothesis is proven to be refuted; 0 if none is.

    Args:
        p_value: About the p-value of the hypothesis with this number, in double precision: a plan.
        proven: An upper bound on the p-value.
        level: A hypothesis is refuted if its p-value is at most this.
    """
    limit = to_float(level, "down")
    if p_value(0.0) > limit:
        return Fraction(0)
    low, high = 0.0, 1.0
    while p_value(high) <= limit and high < _LARGEST:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) <= limit else (low, middle)
    for step in _STEPS_DOWN:
        checkpoint()
        candidate = Fraction(low * (1 - step))
        if candidate > 0 and proven(candidate) <= level:
            return candidate
    return Fraction(0)


def smallest_rate(count: int, seen: int, level: Fraction) -> Fraction:
    """Return an upper bound on the probability of an event that was seen ``seen`` times in ``count`` trials.

    It fails with probability ``level`` at most (Clopper & Pearson 1934), rounded up.
    """
    from scipy import stats

    if seen >= count:
        return Fraction(1)
    planned = float(stats.beta.isf(to_float(level, "down"), seen + 1, count - seen))
    for step in _STEPS_DOWN:
        rate = Fraction(min(1.0, planned * (1 + step)))
        with working(PRECISION):
            if rate == 1 or ball_end(at_least(count - seen, count, 1 - ball(rate)), "up") <= level:
                return rate
    return Fraction(1)


def doubled_ranks(count: int) -> list[int]:
    """Return 1, 2, 4, ... up to a count."""
    return [1 << k for k in range(math.floor(math.log2(count)) + 1)]
