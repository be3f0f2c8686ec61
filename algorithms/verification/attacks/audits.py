"""Empirical lower bounds on ε: what a distinguishing experiment proves about a mechanism, at a stated confidence.

An attack runs a mechanism many times on two neighbouring data sets and guesses from the output which one it was. With
false positive rate α and false negative rate β, (ε, δ)-DP under that relation demands

    1 - β <= e^ε α + δ   and   1 - α <= e^ε β + δ     (Kairouz, Oh & Viswanath 2015, Theorem 2.1),

so rates that are too good refute small ε. The rates are known up to confidence intervals (Clopper & Pearson 1934, exact
for counts), and the rule that guesses must not have been chosen on the runs that are counted.

A lower bound says something about the mechanism that ran, not about the worst case: a weak attack finds little. Random
numbers and binomial quantiles are computed in double precision; the bounds are statistical, not certified.

Throughout, ``delta`` is δ in [0, 1) and ``confidence``, in (0, 1), that of the statement; scores are finite, one for
each independent run, and ``gaussian`` says that the mechanism is known to have a Gaussian trade-off curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from dpbounds.algorithms.verification.judging.checks import valid_share
from dpbounds.algorithms.verification.judging.estimates import largest_rate
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rates:
    """Errors of an attack, counted on runs that had no part in choosing it.

    Attributes:
        false_positives: How often the attack named the second data set although it was the first.
        negatives: Runs on the first data set.
        false_negatives: How often it named the first although it was the second.
        positives: Runs on the second data set.
    """

    false_positives: int
    negatives: int
    false_negatives: int
    positives: int

    def __post_init__(self) -> None:
        for errors, runs in ((self.false_positives, self.negatives), (self.false_negatives, self.positives)):
            if not 0 <= errors <= runs or runs < 1:
                raise InvalidValue("rates", (errors, runs), "errors between 0 and the number of runs, at least 1 run")


@dataclass(frozen=True, slots=True)
class Audit:
    """A lower bound on ε.

    Attributes:
        epsilon: At this confidence the mechanism is not (ε', δ)-DP for any ε' below it; 0 if nothing was found.
        delta: δ.
        confidence: Of the statement.
        rates: What was counted; None for an audit in one run.
        method: By which argument.
    """

    epsilon: float
    delta: float
    confidence: float
    rates: Rates | None
    method: str

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon:.4g} at delta = {self.delta:g}, {self.confidence:.4g} confidence ({self.method})"
        )


def from_rates(rates: Rates, delta: float = 0.0, confidence: float = 0.95) -> Audit:
    """The smallest ε that is not refuted, by Clopper-Pearson bounds on both error rates.

    Each rate has half of the error probability, so both bounds hold at the stated confidence.
    """
    _valid_delta(delta)
    alpha, beta = _largest_errors(rates, confidence)
    epsilon = max(_least_epsilon(alpha, beta, delta), _least_epsilon(beta, alpha, delta))
    return Audit(epsilon, delta, confidence, rates, "two error rates, Clopper-Pearson")


def _largest_errors(rates: Rates, confidence: float) -> tuple[float, float]:
    """Upper ends of both error rates, each with half of the error probability."""
    valid_share("confidence", confidence)
    one_sided = (1 + confidence) / 2
    alpha = largest_rate(rates.false_positives, rates.negatives, one_sided)
    return alpha, largest_rate(rates.false_negatives, rates.positives, one_sided)


def _least_epsilon(alpha: float, beta: float, delta: float) -> float:
    """From 1 - β <= e^ε α + δ."""
    power = 1 - beta - delta
    return max(0.0, math.log(power / alpha)) if power > 0 else 0.0


def from_gaussian_trade_off(rates: Rates, delta: float, confidence: float = 0.95) -> Audit:
    """A tighter bound for mechanisms whose trade-off curve is Gaussian: from rates to μ, from μ to ε.

    For the pair N(0, 1) and N(μ, 1) every test has Φ⁻¹(1 - α) - Φ⁻¹(β) <= μ (Dong, Roth & Su 2022), so the rates bound
    μ from below, and with it ε(δ) of μ-Gaussian DP. One pair of error rates then speaks for every δ, also for those far
    below 1/runs (Nasr et al. 2023). It audits the *noise* of a mechanism that is known to be Gaussian; it refutes
    (ε, δ)-DP, δ > 0, only of such mechanisms.
    """
    valid_share("delta", delta)
    alpha, beta = _largest_errors(rates, confidence)
    mu = max(0.0, float(stats.norm.isf(alpha) - stats.norm.ppf(beta)))
    return Audit(gaussian_epsilon(mu, delta), delta, confidence, rates, "Gaussian trade-off curve")


def gaussian_epsilon(mu: float, delta: float) -> float:
    """ε(δ) of the pair N(0, 1), N(μ, 1), in double precision: δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ).

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


def by_threshold(
    first: ArrayLike, second: ArrayLike, delta: float = 0.0, confidence: float = 0.95, *, gaussian: bool = False
) -> Audit:
    """Audit by a score: the attack names the second data set where the score is above a threshold.

    The threshold is the best one on the first half of the runs (at least 2 on either data set), in the better of the
    two directions, score and minus the score; the errors are counted on the other half, so the choice does not spoil
    the confidence.
    """
    scores = [_finite("first", first), _finite("second", second)]
    if any(len(runs) < 2 for runs in scores):
        raise InvalidValue("runs", [len(runs) for runs in scores], "at least 2 of each")
    (tune_first, count_first), (tune_second, count_second) = (np.array_split(runs, 2) for runs in scores)
    threshold, sign = _best_threshold(tune_first, tune_second, delta, gaussian)
    counted = sign * count_first, sign * count_second
    return at_threshold(*counted, threshold, delta, confidence, gaussian=gaussian)


def at_threshold(
    first: ArrayLike,
    second: ArrayLike,
    threshold: float,
    delta: float = 0.0,
    confidence: float = 0.95,
    *,
    gaussian: bool = False,
) -> Audit:
    """Audit by a score, larger ones speaking for the second data set, whose threshold was fixed before the runs.

    All of them are counted.
    """
    a, b = _finite("first", first), _finite("second", second)
    rates = Rates(int((a > threshold).sum()), len(a), int((b <= threshold).sum()), len(b))
    return from_gaussian_trade_off(rates, delta, confidence) if gaussian else from_rates(rates, delta, confidence)


def _best_threshold(first: Array, second: Array, delta: float, gaussian: bool) -> tuple[float, float]:
    """The threshold and direction whose bound is largest on these runs, with the slack that counting will cost."""
    best = (-math.inf, 0.0, 1.0)
    for sign in (1.0, -1.0):
        a, b = np.sort(sign * first), np.sort(sign * second)
        candidates = np.unique(np.concatenate([a, b]))
        if len(candidates) > _CANDIDATES:
            # tails matter most: every extreme score, and a thinned-out middle
            edge = _CANDIDATES // 4
            middle = candidates[edge:-edge][:: max(1, (len(candidates) - 2 * edge) // (2 * edge))]
            candidates = np.concatenate([candidates[:edge], middle, candidates[-edge:]])
        positives = len(a) - np.searchsorted(a, candidates, side="right")
        negatives = np.searchsorted(b, candidates, side="right")
        alpha = stats.beta.ppf(0.975, positives + 1, np.maximum(len(a) - positives, 1e-9))
        beta = stats.beta.ppf(0.975, negatives + 1, np.maximum(len(b) - negatives, 1e-9))
        if gaussian:
            value = stats.norm.isf(alpha) - stats.norm.ppf(beta)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                value = np.maximum(
                    np.log(np.maximum(1 - beta - delta, 0) / alpha), np.log(np.maximum(1 - alpha - delta, 0) / beta)
                )
        value = np.where(np.isfinite(value), value, -math.inf)
        index = int(np.argmax(value))
        if value[index] > best[0]:
            best = (float(value[index]), float(candidates[index]), sign)
    return best[1], best[2]


_CANDIDATES = 4000


def in_one_run(canaries: int, guesses: int, correct: int, delta: float = 0.0, confidence: float = 0.95) -> Audit:
    """Audit with many canaries in a single run.

    Each of ``canaries`` records is included or left out by its own fair coin. From the output the attack guesses the
    coins of ``guesses`` of them (and abstains on the others). If the mechanism is (ε, δ)-DP under add-or-remove-one,
    then the number of correct guesses is stochastically at most Binomial(guesses, e^ε/(1 + e^ε)) plus a term in δ:

        P(correct >= v) <= f(v) + 2 canaries δ max_i [f(v - i) - f(v)]/i,   f(v) = P(Binomial >= v),

    so an ε for which this is below 1 - confidence is refuted.

    Source: Steinke, Nasr & Jagielski 2023, Theorem 5.2 and its corollary.
    """
    if not 0 <= correct <= guesses <= canaries or canaries < 1:
        raise InvalidValue(
            "guesses", (canaries, guesses, correct), "0 <= correct <= guesses <= canaries, canaries >= 1"
        )
    _valid_delta(delta)
    valid_share("confidence", confidence)
    method = "one run with many canaries"

    def refuted(epsilon: float) -> bool:
        return _refuted(epsilon, canaries, guesses, correct, delta, 1 - confidence)

    if guesses == 0 or not refuted(0.0):
        return Audit(0.0, delta, confidence, None, method)
    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
    while high - low > 1e-9 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return Audit(low, delta, confidence, None, method)


def _refuted(epsilon: float, canaries: int, guesses: int, correct: int, delta: float, error: float) -> bool:
    share = 1 / (1 + math.exp(-epsilon))
    tail = float(stats.binom.sf(correct - 1, guesses, share))
    if delta == 0 or correct == 0:
        return tail < error
    below = np.arange(1, correct + 1)
    gains = np.cumsum(stats.binom.pmf(correct - below, guesses, share)) / below
    return tail + 2 * canaries * delta * float(gains.max()) < error


def _finite(name: str, values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidValue(name, array.shape, "a vector of finite scores, one per run")
    return array


def enough_runs(runs: int) -> int:
    """So many runs on both data sets together, at least 8."""
    count = positive_integer(runs, "runs")
    if count < 8:
        raise InvalidValue("runs", runs, "a whole number at least 8")
    return count


def _valid_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise InvalidValue("delta", delta, "at least 0 and less than 1")
