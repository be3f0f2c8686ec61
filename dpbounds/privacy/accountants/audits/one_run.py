"""One run with many canaries: p-values of hypotheses, from the number of coins that were guessed (``audits.md``, 2).

Each of m canaries has a fair coin of its own. From the output, r of the coins are guessed, v of them correctly. The
p-value of a hypothesis bounds the probability of at least v correct guesses from above, for every mechanism that the
hypothesis allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.audits.tails import PRECISION, largest_refuted, tail_by_first
from dpbounds.privacy.notions.gaussian import gaussian_delta
from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.losses import ball

Floats = NDArray[np.float64]

_EPSILONS: Floats = np.geomspace(0.02, 80, 120)  # values of ε at which the δ of a Gaussian hypothesis is tried


@dataclass(frozen=True, slots=True)
class Guesses:
    """The result of guessing coins of canaries.

    Attributes:
        canaries: m, the number of coins; at least 1.
        guesses: r, the number of guesses, fixed before the run; from 0 to m.
        correct: v, the number of correct ones; from 0 to r.
    """

    canaries: int
    guesses: int
    correct: int

    def p_value(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Return an upper bound on the p-value of (ε, δ)-privacy: f + m δ f (1 - f)/(v P(X = v)), f = P(X >= v).

        X is binomial with r trials of probability e^ε/(1 + e^ε). Up to the mean of X the bound is 1.
        """
        if self.correct == 0:
            return Fraction(1)
        with working(PRECISION):
            odds = ball(epsilon).exp()
            success, failure = odds / (1 + odds), 1 / (1 + odds)
            if not success * self.guesses < self.correct:
                return Fraction(1)
            by_first = tail_by_first(self.correct, self.guesses, odds)
            tail = binomial(self.guesses, self.correct, success, failure) * by_first
            more = self.canaries * ball(delta) * (1 - tail) * by_first / self.correct
            return min(Fraction(1), ball_end(tail + more, "up"))

    def planned_p_values(self, epsilons: Floats, deltas: Floats) -> Floats:
        """Return p-values of (ε, δ)-privacy at several ε in double precision."""
        success, v, r = special.expit(epsilons), self.correct, self.guesses
        if v == 0:
            return np.ones_like(epsilons)
        tails, firsts = stats.binom.sf(v - 1, r, success), stats.binom.logpmf(v, r, success)
        with np.errstate(all="ignore"):
            by_first = np.where(  # where the tail is below the smallest double, the terms decrease like powers
                tails > 0, np.exp(np.log(tails) - firsts), 1 / (1 - np.exp(epsilons) * (r - v) / (v + 1))
            )
            found: Floats = np.minimum(1, tails + self.canaries * deltas * (1 - tails) * by_first / v)
        return np.where(v <= success * r, 1.0, found)

    def least_epsilon(self, delta: Fraction, level: Fraction) -> Fraction:
        """Return a lower bound on ε at δ, which is too large with probability ``level`` at most."""
        about = np.array([to_float(delta, "up")])
        return largest_refuted(
            lambda epsilon: float(self.planned_p_values(np.array([epsilon]), about)[0]),
            lambda epsilon: self.p_value(epsilon, delta),
            level,
        )

    def least_mu(self, level: Fraction) -> Fraction:
        """Return a lower bound on μ of Gaussian differential privacy, which fails with probability ``level`` at most.

        μ-GDP implies (ε, δ(ε))-privacy at every ε, so that the least of their p-values is one of μ.
        """

        def planned(mu: float) -> Floats:
            return self.planned_p_values(_EPSILONS, _gaussian_deltas(mu))

        def proven(mu: Fraction) -> Fraction:
            epsilon = Fraction(float(_EPSILONS[planned(to_float(mu, "up")).argmin()]))
            return self.p_value(epsilon, gaussian_delta(mu * mu, epsilon))

        return largest_refuted(lambda mu: float(planned(mu).min()), proven, level)


def _gaussian_deltas(mu: float) -> Floats:
    """Return δ(ε) of μ-Gaussian differential privacy at the ε that are tried, in double precision."""
    if mu == 0:
        return np.zeros_like(_EPSILONS)
    firsts, seconds = special.ndtr(mu / 2 - _EPSILONS / mu), special.log_ndtr(-mu / 2 - _EPSILONS / mu)
    found: Floats = np.maximum(0, firsts - np.exp(np.minimum(0, _EPSILONS + seconds)))
    return found
