"""Empirical lower bounds on ε from distinguishing experiments, at a stated confidence.

An attack runs a mechanism on two neighbouring datasets and guesses from what is released which one it was: many times
(``betting``), or once, with many records at stake. A lower bound says something about the mechanism that ran, not about
the worst case: a weak attack finds little. Random numbers and logarithms are computed in double precision; the bounds
are statistical, not certified.

Throughout, ``delta`` is δ in [0, 1) and ``confidence``, in (0, 1), that of the statement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy import optimize, stats

from dpbounds.algorithms.verification.judging.checks import valid_share
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer, to_float
from dpbounds.privacy.accountants.audits.one_run import Guesses


@dataclass(frozen=True, slots=True)
class Audit:
    """A lower bound on ε.

    Attributes:
        epsilon: At this confidence the mechanism is not (ε', δ)-DP for any ε' below it; 0 if nothing was found.
        delta: δ.
        confidence: The confidence of the bound.
        method: By which argument, or under which assumption.
    """

    epsilon: float
    delta: float
    confidence: float
    method: str

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon:.4g} at delta = {self.delta:g}, {self.confidence:.4g} confidence ({self.method})"
        )


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return ε(δ) of the pair N(0, 1), N(μ, 1), in doubles: δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ).

    Source: Balle & Wang 2018, Theorem 8.
    """
    if mu <= 0 or 2 * stats.norm.cdf(mu / 2) - 1 <= delta:
        return 0.0

    def excess(epsilon: float) -> float:
        first, second = stats.norm.logcdf(mu / 2 - epsilon / mu), stats.norm.logcdf(-mu / 2 - epsilon / mu)
        return math.exp(first) - math.exp(epsilon + second) - delta

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high, xtol=1e-12))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the μ whose pair has this ε(δ), in double precision; ε and δ are greater than 0."""
    high = 1.0
    while gaussian_epsilon(high, delta) < epsilon:
        high *= 2
    return float(optimize.brentq(lambda mu: gaussian_epsilon(mu, delta) - epsilon, 0.0, high, xtol=1e-12))


def in_one_run(canaries: int, guesses: int, correct: int, delta: float = 0.0, confidence: float = 0.95) -> Audit:
    """Audit with many canaries in a single run (``privacy/accountants/audits.md``, section 2).

    Each of ``canaries`` records is included or left out by its own fair coin. From the output the attack guesses the
    coins of ``guesses`` of them (and abstains on the others).

    Source: Steinke, Nasr & Jagielski 2023; with a smaller term in δ.
    """
    if not 0 <= correct <= guesses <= canaries or canaries < 1:
        raise InvalidValue(
            "guesses", (canaries, guesses, correct), "0 <= correct <= guesses <= canaries, canaries >= 1"
        )
    valid_delta(delta)
    valid_share("confidence", confidence)
    found = Guesses(canaries, guesses, correct).least_epsilon(Fraction(delta), 1 - Fraction(confidence))
    return Audit(to_float(found, "down"), delta, confidence, "one run with many canaries")


def enough_runs(runs: int) -> int:
    """Return the number of runs on both datasets together, at least 8."""
    count = positive_integer(runs, "runs")
    if count < 8:
        raise InvalidValue("runs", runs, "a whole number at least 8")
    return count


def valid_delta(delta: float) -> None:
    """Raise ``InvalidValue`` unless δ is in [0, 1)."""
    if not 0 <= delta < 1:
        raise InvalidValue("delta", delta, "at least 0 and less than 1")
