"""A lower bound on ε that may be looked at after every run: wealth won by betting against privacy.

**The bet.** Before each run a fair coin, independent of all else, says on which of two neighbouring datasets P and Q
the run is made. What was released is turned into a number x. By guessing the coin from x, one bets on "P" on some
values of x and on "Q" on others. With s = e^ε/(1 + e^ε) and r(x) the gambler's own probability of P, a bet on P
multiplies the wealth by r/s if the coin says P and by (1 - r)/(1 - s) if it says Q (r >= s; on Q likewise); where
nothing is bet, by 1. With a(x) = r/s - 1 where P is bet on, else 0, and b(x) = (1 - r)/s - 1 where Q is, that is

    1 + a - e^ε b on runs on P,    1 + b - e^ε a on runs on Q.

**Why it is fair.** (ε, δ)-privacy says E_P f <= e^ε E_Q f + δ for all 0 <= f <= 1, and the same with P and Q changed.
Hence E_P a - e^ε E_Q a <= δ sup a (take f = a/sup a), and so for b, and the mean of the factor is at most 1 + c, c = δ
(sup a + sup b)/2. The wealth, multiplied by 1 - c in every run, too, is a supermartingale: (1 + c)(1 - c) <= 1, and r
may depend on all earlier runs, and on ε. By Ville's inequality it ever reaches 1/α with probability at most α. If it
does, the hypothesis that ε is enough is refuted, *whenever* one looks or stops. A mechanism that keeps ε keeps every
larger one: so the bound is the end of the refuted ε below the first that is not, and exceeds the truth with probability
at most α, although many are tested. Nothing is assumed of the mechanism but that its runs are independent of each other
and of the coins; scores may be anything, also likelihood ratios of a model that is wrong.

**Gaussian releases.** Of a mechanism with Gaussian trade-off curve more is known: if it is μ-Gaussian private, then no
guess of the coin is right with a probability above Φ(μ/2), which is (1 + TV)/2. A bet on being right then refutes small
μ, and ε(δ) of the curve follows (Dong, Roth & Su 2022): a bound for every δ, also for those far below 1/runs (Nasr et
al. 2023). It rests on the ledger: only where this holds nothing but full-batch Gaussian releases.

Wealth may be divided among gamblers, as the mean of supermartingales is one: every score that could distinguish the
datasets has a share.

Source: Ville 1939; Waudby-Smith & Ramdas 2024 for bets as confidence sequences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.verification.attacks.audits import Audit, gaussian_epsilon, gaussian_mu, valid_delta
from dpbounds.algorithms.verification.judging.checks import valid_share
from dpbounds.errors import InvalidValue

LIKELIHOOD = "likelihood ratio"
NOTHING_ASSUMED = "independent runs"
GAUSSIAN_ASSUMED = "Gaussian trade-off curve, by the ledger"

Sides = NDArray[np.bool_]

_LOSSES = np.concatenate([-np.geomspace(1e3, 3.05, 40), np.linspace(-3, 3, 241), np.geomspace(3.05, 1e3, 40)])
_QUANTILES = 48  # quantiles of a score without a scale of its own: candidates for a threshold
_FRACTIONS = (1.0, 0.6, 0.35, 0.2, 0.1)  # sizes of a bet: where δ counts, smaller ones lose less to it
_LEAST_GAIN = 2.0  # nats that a bet must have won on earlier runs, or would have
_SHARE_OF_LIKELIHOOD = 0.9
_SHARE_OF_GAUSSIAN = 0.75  # share of the error, where both bounds are computed
_FINEST, _LARGEST = 200, 64.0


@cache
def _grid(scale: float) -> Array:
    """Return the ε (or μ) that are tested: fine up to twice the scale, then 3 % apart."""
    fine = np.linspace(0, 2 * scale, _FINEST + 1)
    coarse = np.geomspace(2 * scale, _LARGEST, 1 + max(1, math.ceil(math.log(_LARGEST / (2 * scale)) / 0.03)))
    return np.concatenate([fine, coarse[1:]])


class Histogram:
    """The values of a score on either side so far: counts between fixed edges."""

    def __init__(self, edges: Array) -> None:
        self.edges = edges
        self.counts = np.zeros((2, len(edges) + 1))

    def of(self, values: Array, second: Sides) -> Array:
        """Return counts of new values, shape (2, bins): on the first dataset, on the second."""
        bins, size = np.searchsorted(self.edges, values, side="left"), len(self.edges) + 1
        return np.stack([np.bincount(bins[side], minlength=size) for side in (~second, second)]).astype(np.float64)


def _thresholds(values: Array) -> Array:
    """Return edges for a score of unknown scale from its first values: all of them, or quantiles with fine tails."""
    distinct = np.unique(values)
    if len(distinct) > _QUANTILES:
        tail = np.geomspace(1 / len(values), 0.5, _QUANTILES // 2)
        distinct = np.unique(np.quantile(values, np.concatenate([tail, 1 - tail])))
    return distinct


def _tail_bets(counts: Array, tested: Array, delta: float) -> Array:
    """Return R in every bin, shape (grid, bins), of the best bets on the two tails; NaN without a bet.

    Args:
        counts: Counts of earlier runs, shape (2, bins).
        tested: Every ε, shape (grid,).
        delta: δ.
    """
    shares, rest = special.expit(tested), special.expit(-tested)
    runs = counts.sum()
    below = np.cumsum(counts, axis=1)[:, :-1]
    above = counts.sum(axis=1)[:, None] - below
    chosen = np.full((len(shares), counts.shape[1]), np.nan)
    bins = np.arange(counts.shape[1])
    each = np.arange(len(shares))
    won = []
    for p, q in (below, above):
        right = (np.maximum(p, q) + 0.5) / (p + q + 1)  # probability of the side that is more frequent there
        best, best_chance, best_at = np.zeros(len(shares)), np.zeros(len(shares)), np.zeros(len(shares), dtype=int)
        for fraction in _FRACTIONS if delta > 1e-3 else _FRACTIONS[:1]:
            chance = shares[:, None] + fraction * (right - shares[:, None])
            lost = runs * np.log1p(-delta * np.maximum(chance / shares[:, None] - 1, 0) / 2)
            odds, other = chance / shares[:, None], (1 - chance) / rest[:, None]
            gain = np.maximum(p, q) * np.log(odds) + np.minimum(p, q) * np.log(other) + lost
            gain = np.where(chance > shares[:, None], gain, 0.0)
            at = gain.argmax(axis=1)
            better = gain[each, at] > best
            best = np.where(better, gain[each, at], best)
            best_chance = np.where(
                better, np.where(p[at] >= q[at], chance[each, at], 1 - chance[each, at]), best_chance
            )
            best_at = np.where(better, at, best_at)
        won.append((best, best_chance, best_at))
    (low, low_chance, low_at), (high, high_chance, high_at) = won
    crossing = low_at > high_at  # both tails hold a bin: the better one keeps all of it
    low_on = (low > _LEAST_GAIN) & ~(crossing & (high > low))
    high_on = (high > _LEAST_GAIN) & ~(crossing & (low >= high))
    chosen = np.where(low_on[:, None] & (bins <= low_at[:, None]), low_chance[:, None], chosen)
    return np.where(high_on[:, None] & (bins > high_at[:, None]), high_chance[:, None], chosen)


def _calibrated(histogram: Histogram) -> Array:
    """Return the probability of P in every bin of log Q/P, by logistic regression on earlier runs.

    Its prior is that the ratio is right, so that the first runs need none before them.
    """
    inner = (histogram.edges[1:] + histogram.edges[:-1]) / 2
    centres = np.clip(np.concatenate([histogram.edges[:1], inner, histogram.edges[-1:]]), -30, 30)
    design = np.stack([np.ones_like(centres), centres])
    runs, second = histogram.counts.sum(axis=0), histogram.counts[1]
    known = np.array([0.0, 1.0])  # intercept and slope of a right one
    weights, precision = known.copy(), np.diag([100.0, 10.0])
    for _ in range(25):
        chance = special.expit(weights @ design)
        slope = design @ (second - runs * chance) - precision @ (weights - known)
        curvature = (design * (runs * chance * (1 - chance))) @ design.T + precision
        step = np.linalg.solve(curvature, slope)
        weights += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    rare = 0.5 / (1 + runs.sum())
    chances: Array = np.clip(special.expit(-(weights @ design)), rare, 1 - rare)
    return chances


def _won(bets: Array, counts: Array, tested: Array, delta: float) -> Array:
    """Return the log wealth gained on new runs by the bets (r or NaN, shape (grid, bins)); see the module."""
    s, rest = special.expit(tested)[:, None], special.expit(-tested)[:, None]
    on_first, on_second = bets > s, bets < rest  # NaN is neither
    with np.errstate(invalid="ignore", divide="ignore"):
        first = np.where(on_first, np.log(bets / s), np.where(on_second, np.log(bets / rest), 0.0))
        second = np.where(on_first, np.log((1 - bets) / rest), np.where(on_second, np.log((1 - bets) / s), 0.0))
    gains = np.where(on_first, bets / s - 1, 0.0).max(axis=1), np.where(on_second, (1 - bets) / s - 1, 0.0).max(axis=1)
    fee = counts.sum() * np.log1p(-delta * (gains[0] + gains[1]) / 2)
    return np.asarray(first @ counts[0] + second @ counts[1] + fee)


@dataclass(slots=True, eq=False)
class _Gambler:
    """A share of the wealth, and how it is bet: by a score, on its tails or by its calibrated value."""

    score: str
    calibrated: bool
    share: float
    wealth: Array  # logarithms, one per hypothesis
    histogram: Histogram | None = None


class Wealth:
    """Gamblers on several scores of the same runs, or of runs on several pairs, against one family of hypotheses.

    Attributes:
        tested: The ε (or μ), ascending.
    """

    def __init__(self, tested: Array, error: float, shares: Mapping[str, float]) -> None:
        self.tested = tested
        self._needed = -math.log(error)
        self._gamblers = [
            _Gambler(score, calibrated, part * share, np.zeros(len(tested)))
            for score, share in shares.items()
            for calibrated, part in (((True, 0.8), (False, 0.2)) if _is_ratio(score) else ((False, 1.0),))
        ]
        self._reached = np.full(len(tested), -math.inf)

    def add(self, scores: Mapping[str, Array], second: Sides, *, bet: bool) -> None:
        """Bet on new runs with the histogram of earlier ones, unless they are for learning only; then learn."""
        for gambler in self._gamblers:
            if gambler.score in scores:
                self._play(gambler, scores[gambler.score], second, bet)
        shares = np.array([[gambler.share] for gambler in self._gamblers])
        total = special.logsumexp(np.array([gambler.wealth for gambler in self._gamblers]), axis=0, b=shares)
        self._reached = np.maximum(self._reached, total)

    def _play(self, gambler: _Gambler, values: Array, second: Sides, bet: bool) -> None:
        if gambler.histogram is None:
            bet = bet and gambler.calibrated
            gambler.histogram = Histogram(_LOSSES if gambler.calibrated else _thresholds(values))
        counts = gambler.histogram.of(values, second)
        if bet:
            gambler.wealth += self._winnings(gambler.calibrated, gambler.histogram, counts)
        gambler.histogram.counts += counts

    def _winnings(self, calibrated: bool, histogram: Histogram, counts: Array) -> Array:
        raise NotImplementedError

    @property
    def refuted(self) -> float:
        """The end of the refuted values below the first that is not; 0 where the first is not."""
        standing = np.flatnonzero(self._reached < self._needed)
        end = len(self.tested) if len(standing) == 0 else int(standing[0])
        return float(self.tested[end - 1]) if end else 0.0

    def ratios(self) -> Histogram | None:
        """Return the histogram of likelihood ratios, if there is one."""
        return next((one.histogram for one in self._gamblers if one.calibrated and one.score == LIKELIHOOD), None)

    @property
    def best_score(self) -> str:
        """The score whose gamblers are the richest against the first hypothesis that stands."""
        standing = np.flatnonzero(self._reached < self._needed)
        at = len(self.tested) - 1 if len(standing) == 0 else max(int(standing[0]) - 1, 0)
        return max(self._gamblers, key=lambda gambler: gambler.wealth[at] + math.log(gambler.share)).score


def _is_ratio(score: str) -> bool:
    return score.endswith(LIKELIHOOD)


class AgainstPrivacy(Wealth):
    """Bets against (ε, δ)-privacy, without assumptions."""

    def __init__(self, scale: float, delta: float, error: float, shares: Mapping[str, float]) -> None:
        super().__init__(_grid(scale), error, shares)
        self._delta = delta

    def _winnings(self, calibrated: bool, histogram: Histogram, counts: Array) -> Array:
        if calibrated:
            bets = np.broadcast_to(_calibrated(histogram), (len(self.tested), counts.shape[1]))
        else:
            bets = _tail_bets(histogram.counts, self.tested, self._delta)
        return _won(bets, counts, self.tested, self._delta)


class AgainstGaussian(Wealth):
    """Bets against μ-Gaussian privacy: how often a guess by a threshold is right."""

    def __init__(self, scale: float, error: float, shares: Mapping[str, float]) -> None:
        super().__init__(_grid(scale), error, shares)
        self._most = special.ndtr(self.tested / 2)

    def _winnings(self, calibrated: bool, histogram: Histogram, counts: Array) -> Array:
        # calibrated: guess by the sign of the ratio, how often that is right by the ratio itself, which is more exact
        runs = histogram.counts.sum()
        if calibrated:
            on_first = histogram.edges.searchsorted(0.0, side="left") >= np.arange(counts.shape[1])
            if runs == 0:
                return np.zeros(len(self.tested))
            chances = _calibrated(histogram)
            expected = float((np.maximum(chances, 1 - chances) * histogram.counts.sum(axis=0)).sum()) / runs
        else:
            correct = _correct(histogram.counts)
            best = np.unravel_index(int(correct.argmax()), correct.shape)
            on_first = (np.arange(counts.shape[1]) <= best[1]) == (best[0] == 0)
            expected = float(correct[best] + 0.5) / (runs + 1)
        right = float(counts[0, on_first].sum() + counts[1, ~on_first].sum())
        wrong = counts.sum() - right
        bet = expected > self._most
        with np.errstate(divide="ignore", invalid="ignore"):
            won = right * np.log(expected / self._most) + wrong * np.log((1 - expected) / (1 - self._most))
        return np.where(bet, won, 0.0)


def _correct(counts: Array) -> Array:
    """Return the number of correct guesses, by direction (P below the threshold, or above) and threshold."""
    below = np.cumsum(counts, axis=1)[:, :-1]
    above = counts.sum(axis=1)[:, None] - below
    return np.stack([below[0] + above[1], above[0] + below[1]])


class SequentialAudit:
    """Lower bounds on ε from a sequence of runs, valid at any stopping time.

    Args:
        scores: Share of the wealth by name of the score; the sum is at most 1. A name that ends in "likelihood ratio"
            is of logarithms of ratios, second dataset to first. A score may be missing from some of the runs.
        delta: δ in [0, 1).
        confidence: In (0, 1).
        certified: The expected value of the bound, for the grid of hypotheses; positive and finite.
        gaussian: Whether the ledger says that all releases are Gaussian: most of the error
            then goes to the bound that takes its word.
    """

    def __init__(
        self,
        scores: Mapping[str, float],
        delta: float = 0.0,
        confidence: float = 0.95,
        *,
        certified: float = 1.0,
        gaussian: bool = False,
    ) -> None:
        valid_delta(delta)
        valid_share("confidence", confidence)
        if not scores or not math.isclose(min(1.0, sum(scores.values())), sum(scores.values())):
            raise InvalidValue("scores", dict(scores), "shares of at most 1 in all, at least one")
        if gaussian:
            valid_share("delta", delta)
        scale = min(max(certified, 0.01), _LARGEST / 4)
        error = 1 - confidence
        to_gaussian = _SHARE_OF_GAUSSIAN * error if gaussian else 0.0
        self.delta, self.confidence = delta, confidence
        self._privacy = AgainstPrivacy(scale, delta, error - to_gaussian, scores)
        self._gaussian = AgainstGaussian(gaussian_mu(scale, delta), to_gaussian, scores) if gaussian else None

    def add(self, scores: Mapping[str, Array], second: Sides, *, bet: bool = True) -> None:
        """Take new runs: scores by name, shape (runs,), and on which dataset each run was, by independent fair coins.

        Without a bet they are to learn from only.
        """
        for name, values in scores.items():
            if values.shape != second.shape or not np.isfinite(values).all():
                raise InvalidValue(name, values.shape, f"finite scores of shape {second.shape}, one per run")
        self._privacy.add(scores, second, bet=bet)
        if self._gaussian is not None:
            self._gaussian.add(scores, second, bet=bet)

    @property
    def unassuming(self) -> Audit:
        """The bound without assumptions."""
        return Audit(self._privacy.refuted, self.delta, self.confidence, NOTHING_ASSUMED)

    @property
    def audit(self) -> Audit:
        """The larger bound, and its assumption."""
        found = self.unassuming
        if self._gaussian is not None:
            epsilon = gaussian_epsilon(self._gaussian.refuted, self.delta)
            if epsilon > found.epsilon:
                return Audit(epsilon, self.delta, self.confidence, GAUSSIAN_ASSUMED)
        return found

    @property
    def reach(self) -> float:
        """About the ε at δ of the very pair that was run most, by its likelihood ratios; NaN where there are none.

        An estimate, no bound: what more runs of this attack could show. Where it is below the certified ε, that is an
        upper bound which these two datasets do not attain.
        """
        histogram = self._privacy.ratios()
        if histogram is None:
            return math.nan
        losses = special.logit(_calibrated(histogram))  # log odds of the first dataset against the second
        shares = histogram.counts / histogram.counts.sum(axis=1, keepdims=True)
        if self._gaussian is not None:
            return gaussian_epsilon(math.sqrt(max(0.0, float((shares[0] - shares[1]) @ losses))), self.delta)
        tested = self._privacy.tested[:, None]
        excess = [np.maximum(-np.expm1(tested - sign * losses), 0) @ shares[i] for i, sign in enumerate((1, -1))]
        return float(self._privacy.tested[np.maximum(*excess) > self.delta].max(initial=0.0))

    @property
    def attack(self) -> str:
        """The score that found most."""
        gaussian = self._gaussian is not None and self.audit.method == GAUSSIAN_ASSUMED
        return (self._gaussian if gaussian and self._gaussian is not None else self._privacy).best_score


def divided(scores: Mapping[str, object]) -> dict[str, float]:
    """Return shares of the wealth: most of it for likelihood ratios, which are best if nothing is broken."""
    ratios = [name for name in scores if _is_ratio(name)]
    others = [name for name in scores if not _is_ratio(name)]
    to_ratios = (_SHARE_OF_LIKELIHOOD if others else 1.0) if ratios else 0.0
    shares = {name: to_ratios / len(ratios) for name in ratios}
    return shares | {name: (1 - to_ratios) / len(others) for name in others}
