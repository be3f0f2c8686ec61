"""One run with many canaries: p-values of hypotheses, from the number of coins that were guessed (``audits.md``, 2).

Each of m canaries has a fair coin of its own. From the output, r of the coins are guessed, v of them correctly. The
p-value of a hypothesis bounds the probability of at least v correct guesses from above, for every mechanism that the
hypothesis allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy import special, stats

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.audits.tails import PRECISION, largest_refuted, probability_of, tail_by_first
from dpbounds.privacy.notions.gaussian import gaussian_delta
from dpbounds.privacy.pairs.losses import ball

_EPSILONS = tuple(0.02 * 1.15**k for k in range(60))  # at which the (ε, δ) of a Gaussian hypothesis are tried


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
            tail = probability_of(self.correct, self.guesses, success, failure) * by_first
            more = self.canaries * ball(delta) * (1 - tail) * by_first / self.correct
            return min(Fraction(1), ball_end(tail + more, "up"))

    def planned_p_value(self, epsilon: float, delta: float) -> float:
        """Return the p-value of (ε, δ)-privacy in double precision."""
        success = float(special.expit(epsilon))
        if self.correct <= success * self.guesses:
            return 1.0
        tail = float(stats.binom.sf(self.correct - 1, self.guesses, success))
        first = float(stats.binom.logpmf(self.correct, self.guesses, success))
        if tail > 0:
            by_first = math.exp(math.log(tail) - first)
        else:  # below the smallest double: the terms decrease like powers
            by_first = 1 / (1 - math.exp(epsilon) * (self.guesses - self.correct) / (self.correct + 1))
        return min(1.0, tail + self.canaries * delta * (1 - tail) * by_first / self.correct)

    def least_epsilon(self, delta: Fraction, level: Fraction) -> Fraction:
        """Return a lower bound on ε at δ, which is too large with probability ``level`` at most."""
        about = to_float(delta, "up")
        return largest_refuted(
            lambda epsilon: self.planned_p_value(epsilon, about),
            lambda epsilon: self.p_value(epsilon, delta),
            level,
        )

    def least_mu(self, level: Fraction) -> Fraction:
        """Return a lower bound on μ of Gaussian differential privacy, which fails with probability ``level`` at most.

        μ-GDP implies (ε, δ(ε))-privacy at every ε, so that the least of their p-values is one of μ.
        """

        def planned(mu: float) -> tuple[float, float]:
            tried = ((self.planned_p_value(epsilon, _gaussian_delta(mu, epsilon)), epsilon) for epsilon in _EPSILONS)
            return min(tried)

        def proven(mu: Fraction) -> Fraction:
            epsilon = Fraction(planned(to_float(mu, "up"))[1])
            return self.p_value(epsilon, gaussian_delta(mu * mu, epsilon))

        return largest_refuted(lambda mu: planned(mu)[0], proven, level)


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of μ-Gaussian differential privacy in double precision."""
    if mu == 0:
        return 0.0
    first, second = special.log_ndtr(mu / 2 - epsilon / mu), special.log_ndtr(-mu / 2 - epsilon / mu)
    return max(0.0, float(math.exp(first) - math.exp(min(0.0, epsilon + second))))
