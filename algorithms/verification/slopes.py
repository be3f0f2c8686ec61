"""Exponents: does what was measured fall (or grow) as fast as a theorem says?

A sweep measures a positive quantity at several sizes x, with independent repetitions at each. The exponent is the slope
of the logarithm of the means over log x, by least squares weighted with the precision of each mean; its confidence
interval is by the bootstrap over repetitions (Efron & Tibshirani 1993, bias-corrected percentiles). Theorems bound from
above, so a measured exponent below the predicted one is better than promised, not a contradiction.

An exponent is a statement about large x. Where the points bend significantly, no single slope describes them: the
verdict is then reached on the far half of the sweep. It is left undecided where that is still steepening.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from algorithms.verification.cells import NotMeasured
from algorithms.verification.checks import Verdict
from dpbounds.errors import InvalidValue

Array = NDArray[np.float64]
_RESAMPLES = 2000
_FEWEST_POINTS = 3


class Finding(StrEnum):
    """How a measured exponent relates to the predicted one."""

    MATCHES = "matches"
    BETTER = "better than promised"
    WORSE = "worse"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Slope:
    """A measured exponent.

    Attributes:
        value: The weighted least-squares slope.
        low: Lower end of its confidence interval.
        high: Upper end.
        confidence: Of the interval.
        points: How many sizes took part.
        curvature: Of log against log; negative where the slope steepens downwards.
        bend: Its two-sided p-value: small where no single slope fits.
    """

    value: float
    low: float
    high: float
    confidence: float
    points: int
    curvature: float
    bend: float


@dataclass(frozen=True, slots=True)
class SlopeCheck:
    """A measured exponent held against a predicted one.

    Attributes:
        theorem: Id of the statement.
        predicted: The exponent.
        slope: What was measured.
        finding: How they relate.
        verdict: ``holds`` (also when better), ``fails`` or ``undecided``.
        reason: Why, in one line.
    """

    theorem: str
    predicted: float
    slope: Slope
    finding: Finding
    verdict: Verdict
    reason: str


def fit(sizes: ArrayLike, samples: Sequence[ArrayLike], confidence: float = 0.99, seed: int = 0) -> Slope:
    """Fit an exponent.

    Args:
        sizes: x > 0, at least 3 distinct ones, shape (K,).
        samples: For each size its repetitions, positive, at least 2 each.
        confidence: Of the interval, in (0, 1).
        seed: Of the bootstrap: the same samples give the same interval.

    Raises:
        InvalidValue: Too few sizes or repetitions, or something that is not positive and finite.
    """
    x, groups = _checked(sizes, samples)
    if not 0 < confidence < 1:
        raise InvalidValue("confidence", confidence, "a number greater than 0 and less than 1")
    means = np.array([group.mean() for group in groups])
    errors = np.array([group.std(ddof=1) / math.sqrt(len(group)) / group.mean() for group in groups])
    floor = max(float(errors.max()) * 1e-3, 1e-12)
    weights = 1 / np.maximum(errors, floor) ** 2
    logs = np.log(x)
    direction = _direction(logs, weights)
    value = float(direction @ np.log(means))
    draw = np.random.default_rng(seed)
    resampled = np.empty((_RESAMPLES, len(groups)))
    for column, group in enumerate(groups):
        chosen = draw.integers(0, len(group), size=(_RESAMPLES, len(group)))
        resampled[:, column] = group[chosen].mean(axis=1)
    replicas = np.log(resampled) @ direction
    # few repetitions make the bootstrap too narrow by sqrt((R - 1)/R), and by the t quantile
    fewest = min(len(group) for group in groups)
    factor = stats.t.ppf((1 + confidence) / 2, fewest - 1) / stats.norm.ppf((1 + confidence) / 2)
    factor *= math.sqrt(fewest / (fewest - 1))
    low, high = _corrected(replicas, value, confidence)
    curvature, bend = _bend(logs, np.log(means), errors, fewest)
    return Slope(
        value,
        float(value - factor * (value - low)),
        float(value + factor * (high - value)),
        confidence,
        len(groups),
        curvature,
        bend,
    )


def _direction(logs: Array, weights: Array) -> Array:
    """The weighted least-squares slope as a linear form of the values."""
    across = logs - np.average(logs, weights=weights)
    direction: Array = weights * across / (weights * across**2).sum()
    return direction


def _corrected(replicas: Array, value: float, confidence: float) -> tuple[float, float]:
    """Bias-corrected percentile interval; at least it contains the value."""
    share = float(np.clip((replicas < value).mean(), 1 / len(replicas), 1 - 1 / len(replicas)))
    shift = 2 * stats.norm.ppf(share)
    tail = stats.norm.ppf((1 + confidence) / 2)
    low, high = np.quantile(replicas, stats.norm.cdf([shift - tail, shift + tail]))
    return min(float(low), value), max(float(high), value)


def _bend(logs: Array, values: Array, errors: Array, fewest: int) -> tuple[float, float]:
    """The quadratic coefficient and its p-value, with the errors of the means as known scales."""
    if len(logs) <= _FEWEST_POINTS:
        return 0.0, 1.0
    scaled = np.vander(logs - logs.mean(), 3) / np.maximum(errors, 1e-12)[:, None]
    covariance = np.linalg.inv(scaled.T @ scaled)
    coefficients = covariance @ scaled.T @ (values / np.maximum(errors, 1e-12))
    score = abs(coefficients[0]) / math.sqrt(covariance[0, 0])
    return float(coefficients[0]), float(2 * stats.t.sf(score, max(fewest - 1, 1)))


def slope_check(
    theorem: str,
    predicted: float,
    sizes: ArrayLike,
    samples: Sequence[ArrayLike],
    *,
    confidence: float = 0.99,
    widest: float = 0.25,
    tolerance: float = 0.05,
    seed: int = 0,
) -> SlopeCheck:
    """Hold a measured exponent against the exponent of an upper bound.

    Args:
        theorem: Id of the statement.
        predicted: Its exponent p: measured <= C x^p.
        sizes: x, shape (K,), at least 3.
        samples: Repetitions at each size.
        confidence: Of the interval; divide the suite's error among its checks (``confidence_of``).
        widest: An interval wider than this decides nothing.
        tolerance: By how much an exponent may exceed p and still match: logarithms that an order hides are not flat
            within a finite sweep.
        seed: Of the bootstrap.

    Returns:
        ``holds`` where the interval reaches down to p + tolerance (a match), or lies below p - tolerance (better than
        promised); ``fails`` where it lies above p + tolerance; ``undecided`` where it is too wide, or where the points
        bend and too few of them are left, or they still steepen.
    """
    slope = fit(sizes, samples, confidence, seed)
    where = f"exponent {slope.value:.3g} in [{slope.low:.3g}, {slope.high:.3g}] over {slope.points} sizes"
    if slope.bend < 1 - confidence:
        far = _far_half(sizes, samples)
        if far is None:
            reason = f"{where}; the points bend (p = {slope.bend:.1g}) and are too few for a far half: sweep further"
            return SlopeCheck(theorem, predicted, slope, Finding.UNCLEAR, Verdict.UNDECIDED, reason)
        steepening = slope.curvature < 0
        slope = fit(*far, confidence, seed)
        where = (
            f"exponent {slope.value:.3g} in [{slope.low:.3g}, {slope.high:.3g}] over the far {slope.points} sizes, as "
            "all of them bend"
        )
        if steepening and slope.low > predicted + tolerance:
            reason = f"{where}; still steepening towards {predicted:.4g}: not asymptotic yet"
            return SlopeCheck(theorem, predicted, slope, Finding.UNCLEAR, Verdict.UNDECIDED, reason)
    finding, verdict, why = _judged(slope, predicted, widest, tolerance)
    return SlopeCheck(theorem, predicted, slope, finding, verdict, f"{where}; {why}")


def _judged(slope: Slope, predicted: float, widest: float, tolerance: float) -> tuple[Finding, Verdict, str]:
    if slope.low > predicted + tolerance:
        return Finding.WORSE, Verdict.FAILS, f"above the promised {predicted:.4g}"
    if slope.high < predicted - tolerance:
        return Finding.BETTER, Verdict.HOLDS, f"below the promised {predicted:.4g}: better than promised"
    if slope.high - slope.low > widest:
        return Finding.UNCLEAR, Verdict.UNDECIDED, f"too wide to hold against {predicted:.4g}: run more repetitions"
    return Finding.MATCHES, Verdict.HOLDS, f"compatible with the promised {predicted:.4g}"


def _far_half(sizes: ArrayLike, samples: Sequence[ArrayLike]) -> tuple[Array, list[ArrayLike]] | None:
    x = np.asarray(sizes, dtype=np.float64)
    order = np.argsort(x)[len(x) // 2 :]
    return None if len(order) < _FEWEST_POINTS else (x[order], [samples[index] for index in order])


def confidence_of(suite_error: float, checks: int) -> float:
    """The confidence of each of so many checks for which all of them together raise a false alarm at most that often.

    Bonferroni: 1 - suite_error/checks.

    >>> confidence_of(0.01, 50)
    0.9998
    """
    if not 0 < suite_error < 1 or checks < 1:
        raise InvalidValue("suite_error, checks", (suite_error, checks), "a share in (0, 1) and at least one check")
    return 1 - suite_error / checks


def _checked(sizes: ArrayLike, samples: Sequence[ArrayLike]) -> tuple[Array, list[Array]]:
    x = np.asarray(sizes, dtype=np.float64)
    groups = [np.asarray(group, dtype=np.float64) for group in samples]
    if x.ndim != 1 or len(x) != len(groups) or len(set(x.tolist())) < _FEWEST_POINTS:
        raise InvalidValue("sizes", x.shape, f"at least {_FEWEST_POINTS} distinct sizes, one group of samples each")
    if any(group.ndim != 1 or len(group) < 2 for group in groups):
        raise InvalidValue("samples", [group.shape for group in groups], "at least 2 repetitions at every size")
    if not (np.isfinite(x) & (x > 0)).all():
        raise InvalidValue("sizes", "(not positive)", "positive finite sizes: logarithms are taken")
    if not all((np.isfinite(group) & (group > 0)).all() for group in groups):
        raise NotMeasured("samples", "(not positive)", "positive finite samples: logarithms are taken")
    return x, groups
