"""Many independent runs with and without a canary: p-values of hypotheses from two samples of scores.

Derived in ``audits.md``, section 3.

A test accuses where a score is above a threshold. A hypothesis says how large its true positive rate may be at each
false positive rate, whichever of the two cases is called positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy import special, stats

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.audits.tails import (
    PRECISION,
    at_least,
    doubled_ranks,
    largest_refuted,
    smallest_rate,
)
from dpbounds.privacy.pairs.losses import ball

Floats = NDArray[np.float64]

_CELLS = 240  # number of cells of false positive rates
_NEGLIGIBLE = 1e-4  # share of the level that is given up at either end of the cells


class Hypothesis(Protocol):
    """A kind of privacy with one number: the larger the number, the weaker the privacy."""

    def planned(self, number: float, rates: Floats) -> Floats:
        """Return the largest true positive rates at false positive rates, in double precision."""

    def allowed(self, number: Fraction, rate: Fraction) -> arb:
        """Return the largest true positive rate at a false positive rate in (0, 1), as a ball."""

    def shown(self, false_positives: Fraction, false_negatives: Fraction) -> Fraction:
        """Return the largest number that error rates of at most this exclude, rounded down; 0 if they exclude none."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """(ε, δ)-differential privacy at one δ; its number is ε."""

    delta: Fraction

    def planned(self, number: float, rates: Floats) -> Floats:
        """See ``Hypothesis``."""
        delta = float(self.delta)
        found: Floats = np.minimum(
            np.exp(number) * rates + delta, 1 - np.exp(-number) * np.maximum(0, 1 - delta - rates)
        )
        return np.minimum(1, found)

    def allowed(self, number: Fraction, rate: Fraction) -> arb:
        """Return min(1, e^ε a + δ, 1 - e^-ε (1 - δ - a)) at a."""
        if 1 - self.delta - rate <= 0:
            return arb(1)
        few = ball(number).exp() * ball(rate) + ball(self.delta)
        many = 1 - (-ball(number)).exp() * ball(1 - self.delta - rate)
        return few.min(many)

    def shown(self, false_positives: Fraction, false_negatives: Fraction) -> Fraction:
        """Return the larger of log((1 - δ - b)/a) and log((1 - δ - a)/b), rounded down."""
        found = Fraction(0)
        for small, other in ((false_positives, false_negatives), (false_negatives, false_positives)):
            rest = 1 - self.delta - other
            if rest > small > 0:
                with working(PRECISION):
                    found = max(found, ball_end(ball(rest / small).log(), "down"))
        return found


@dataclass(frozen=True, slots=True)
class GaussianPrivacy:
    """Gaussian differential privacy; its number is μ."""

    def planned(self, number: float, rates: Floats) -> Floats:
        """See ``Hypothesis``."""
        found: Floats = special.ndtr(special.ndtri(rates) + number)
        return found

    def allowed(self, number: Fraction, rate: Fraction) -> arb:
        """Return Φ(Φ^-1(a) + μ) at a."""
        return ((2 * ball(rate)).erfcinv() - ball(number) / arb(2).sqrt()).erfc() / 2

    def shown(self, false_positives: Fraction, false_negatives: Fraction) -> Fraction:
        """Return Φ^-1(1 - a) - Φ^-1(b), rounded down."""
        if not (0 < false_positives < 1 and 0 < false_negatives < 1):
            return Fraction(0)
        with working(PRECISION):
            quantiles = (2 * ball(false_positives)).erfcinv() + (2 * ball(false_negatives)).erfcinv()
            return max(Fraction(0), ball_end(arb(2).sqrt() * quantiles, "down"))


@dataclass(frozen=True, slots=True)
class RankTest:
    """A test whose threshold is the k-th largest score of one sample, counted on the other one.

    Its false positive rate A is at most beta-distributed with the parameters k and n - k + 1. With B its true positive
    rate, at least v of n' scores above the threshold are as probable as V <= B, V beta-distributed with the parameters
    v and n' - v + 1. So P(V <= h(A)) is the p-value of a hypothesis that allows at most h(a) at a.

    Attributes:
        rank: k, fixed before the runs; from 1 to n.
        sample: n, the number of scores that the threshold is one of.
        above: v, the number of scores of the other sample above the threshold.
        others: n', the number of scores of the other sample.
    """

    rank: int
    sample: int
    above: int
    others: int

    def planned_p_value(self, hypothesis: Hypothesis, number: float, level: float) -> float:
        """Return the p-value in double precision."""
        if self.above == 0:
            return 1.0
        rates = self._rates(hypothesis, number, level)
        below = special.betainc(self.rank, self.sample - self.rank + 1, rates)
        success = special.betainc(self.above, self.others - self.above + 1, hypothesis.planned(number, rates))
        return float(success[0] * below[0] + np.diff(below) @ success[1:] + (1 - below[-1]))

    def p_value(self, hypothesis: Hypothesis, number: Fraction, level: Fraction) -> Fraction:
        """Return an upper bound on the p-value: A counts as the largest rate of its cell."""
        if self.above == 0:
            return Fraction(1)
        rates = [Fraction(rate) for rate in self._rates(hypothesis, float(number), float(level))]
        with working(PRECISION):
            total, before = arb(0), arb(0)
            for rate in rates:
                checkpoint()
                below = at_least(self.rank, self.sample, ball(rate))
                total += (below - before) * at_least(self.above, self.others, hypothesis.allowed(number, rate))
                before = below
            return min(Fraction(1), ball_end(total + (1 - before), "up"))

    def _rates(self, hypothesis: Hypothesis, number: float, level: float) -> Floats:
        """Return the ends of cells of false positive rates, increasing, in (0, 1); any choice is valid."""
        little = _NEGLIGIBLE * level
        high = min(1 - 1e-12, float(stats.beta.isf(little, self.rank, self.sample - self.rank + 1)))
        floor = float(stats.beta.ppf(little, self.above, self.others - self.above + 1))
        grid = high * np.geomspace(1e-15, 1, 400)
        fewer = np.searchsorted(hypothesis.planned(number, grid), floor)
        low = float(grid[min(max(int(fewer) - 1, 0), len(grid) - 2)])
        return np.geomspace(low, high, _CELLS)


def rank_tests(included: Floats, excluded: Floats) -> list[RankTest]:
    """Return tests of ranks 1, 2, 4, ...: those of small false positive rates, then of small false negative ones."""
    found = []
    for sample, others in ((excluded, included), (-included, -excluded)):
        ordered, against = np.sort(sample), np.sort(others)
        for rank in doubled_ranks(len(sample)):
            above = len(against) - int(np.searchsorted(against, ordered[len(ordered) - rank], side="right"))
            found.append(RankTest(rank, len(sample), above, len(others)))
    return found


def largest_by_ranks(tests: Sequence[RankTest], hypothesis: Hypothesis, error: Fraction) -> tuple[Fraction, RankTest]:
    """Return the largest refuted number of a hypothesis, and the test that refutes it; all tests share the error."""
    level = error / len(tests)
    limit = to_float(level, "down")
    best, by = Fraction(0), tests[0]
    for test in tests:
        checkpoint()
        if test.planned_p_value(hypothesis, float(best), limit) > limit:
            continue
        planned, proven = partial(test.planned_p_value, hypothesis), partial(test.p_value, hypothesis)
        found = largest_refuted(partial(planned, level=limit), partial(proven, level=level), level)
        if found > best:
            best, by = found, test
    return best, by


def error_rates(included: Floats, excluded: Floats, threshold: float, error: Fraction) -> tuple[Fraction, Fraction]:
    """Return upper bounds on the false positive and the false negative rate above a threshold, which hold together."""
    false_positives, false_negatives = int((excluded > threshold).sum()), int((included <= threshold).sum())
    return (
        smallest_rate(len(excluded), false_positives, error / 2),
        smallest_rate(len(included), false_negatives, error / 2),
    )
