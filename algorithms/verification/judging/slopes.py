"""Exponents: whether a measured quantity falls (or grows) as fast as a theorem says.

A sweep measures a positive quantity at several sizes x, with independent repetitions at each. The exponent is the slope
of the logarithm of the means over log x, by least squares: a fixed linear form of independent log means. Each of them
has the standard error of its mean over its mean (the delta method); together they have the slope's, with Student's t at
Welch and Satterthwaite's degrees of freedom (Satterthwaite 1946) for its interval. Sizes are not weighted by their
precision: weights guessed from a few repetitions make an interval too short. A bootstrap is not used, because the level
of a check among hundreds (1e-5) lies beyond what resamples can show.

The interval is exact for means that are small normal errors away from their expectation, and approximate otherwise: how
often a suite raises a false alarm rests on that.

A theorem that bounds a quantity by C x^p promises an exponent of at most p. So the promise has one side: a quantity
that falls faster, or grows more slowly, keeps it, and one that is measured to do so ``holds``. What must not happen is
an exponent above p. Logarithms that an order hides make up to a tolerance of it. The whole interval therefore has to
lie below p + tolerance for ``holds``. Whether the rate is met as well (an exponent that is neither above nor below) has
two sides, and is a finding beside the verdict. It takes an interval within the tolerance on both sides.

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
from scipy import special

from dpbounds.algorithms.verification.judging.checks import Verdict, student_quantile, valid_share
from dpbounds.algorithms.verification.sweeping.cells import NotMeasured
from dpbounds.errors import InvalidValue

Array = NDArray[np.float64]
FEWEST_POINTS = 3
_LEAST_ERROR = 1e-12  # least error of a logarithm in double precision


class Finding(StrEnum):
    """The relation of a measured exponent to the predicted one."""

    MATCHES = "matches"
    BETTER = "better than promised"
    KEPT = "as promised or better"
    WORSE = "worse"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Slope:
    """A measured exponent.

    Attributes:
        value: The least-squares slope.
        low: Lower bound of its confidence interval.
        high: Upper bound.
        confidence: The confidence of the interval.
        points: The number of sizes in the fit.
        curvature: Curvature of log against log; negative if the slope steepens downwards.
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
class Other:
    """The result of a problem that does not count for the verdict.

    Attributes:
        problem: Its name.
        slope: The exponent there.
        regime: The dimensionless number that says whether a rate can show there, over its sizes; or empty.
    """

    problem: str
    slope: Slope
    regime: str = ""

    def __str__(self) -> str:
        return f"{self.slope.value:.2f} ({', '.join(filter(None, (self.problem, self.regime)))})"


@dataclass(frozen=True, slots=True)
class SlopeCheck:
    """A measured exponent compared with a predicted one.

    Attributes:
        theorem: Id of the statement.
        predicted: The exponent.
        slope: The fitted slope.
        finding: The relation of slope and claim.
        verdict: ``holds`` (also when better), ``fails``, ``compatible`` or ``undecided``.
        reason: Why, in one line.
        chosen: The problem it was measured on, and why that one, where it was chosen among several.
        others: The results of the other problems.
    """

    theorem: str
    predicted: float
    slope: Slope
    finding: Finding
    verdict: Verdict
    reason: str
    chosen: str = ""
    others: tuple[Other, ...] = ()


def fit(sizes: ArrayLike, samples: Sequence[ArrayLike], confidence: float = 0.99) -> Slope:
    """Fit an exponent.

    Args:
        sizes: x > 0, at least 3 distinct ones, shape (K,).
        samples: For each size its repetitions, at least 2 each, positive and finite or the run broke down.
        confidence: The confidence of the interval, in (0, 1): Student's, see above.
    """
    x, groups = _checked(sizes, samples)
    valid_share("confidence", confidence)
    logs = np.log(x) - np.log(x).mean()
    value, error, freedom = _estimated(logs / (logs**2).sum(), groups)
    half = student_quantile(freedom, confidence) * error
    curvature, bend = _bend(logs, groups)
    return Slope(value, value - half, value + half, confidence, len(groups), curvature, bend)


def _estimated(form: Array, groups: Sequence[Array]) -> tuple[float, float, float]:
    """Return a linear form of the log means: its value, standard error and degrees of freedom."""
    means = np.array([group.mean() for group in groups])
    variances = np.array([group.var(ddof=1) / len(group) for group in groups]) * (form / means) ** 2
    freedoms = np.array([len(group) - 1 for group in groups], dtype=np.float64)
    total, spread = float(variances.sum()), float((variances**2 / freedoms).sum())
    freedom = total**2 / spread if spread > 0 else float(freedoms.min())
    return float(form @ np.log(means)), math.sqrt(total), freedom


def _bend(logs: Array, groups: Sequence[Array]) -> tuple[float, float]:
    """Return the quadratic coefficient and its p-value, by the same interval."""
    if len(logs) <= FEWEST_POINTS:
        return 0.0, 1.0
    value, error, freedom = _estimated(np.linalg.pinv(np.vander(logs, 3))[0], groups)
    return value, float(2 * special.stdtr(freedom, -abs(value) / max(error, _LEAST_ERROR)))


def slope_check(
    theorem: str,
    predicted: float,
    sizes: ArrayLike,
    samples: Sequence[ArrayLike],
    *,
    confidence: float = 0.99,
    widest: float = 0.25,
    tolerance: float = 0.05,
) -> SlopeCheck:
    """Compare a measured exponent with the exponent of an upper bound.

    Args:
        theorem: Id of the statement.
        predicted: Its exponent p: measured <= C x^p.
        sizes: As for ``fit``.
        samples: As for ``fit``.
        confidence: The confidence of the interval; divide the suite's error among its checks (``confidence_of``).
        widest: An interval wider than this, of which a part lies above p + tolerance, decides nothing.
        tolerance: By how much an exponent may exceed p and still keep the promise: logarithms that an order hides are
            not flat within a finite sweep.

    Returns:
        ``holds`` where all of the interval lies below p + tolerance; an exponent above that is called so with a
        probability of (1 - confidence)/2 at most, as far as the interval is right. The finding says whether all of it
        lies within the tolerance of p (a match), or below p - tolerance (better), or neither. ``fails`` where all of
        it lies above p + tolerance. ``compatible`` where a part of it does. ``undecided`` where it is too wide for
        that, or where the points bend and too few of them are left, or they still steepen.
    """
    slope = fit(sizes, samples, confidence)
    where = f"exponent {slope.value:.3g} in [{slope.low:.3g}, {slope.high:.3g}] over {slope.points} sizes"
    if slope.bend < 1 - confidence:
        far = np.argsort(sizes)[len(samples) // 2 :]
        if len(far) < FEWEST_POINTS:
            reason = f"{where}; the points bend (p = {slope.bend:.1g}) and are too few for a far half: sweep further"
            return SlopeCheck(theorem, predicted, slope, Finding.UNCLEAR, Verdict.UNDECIDED, reason)
        steepening = slope.curvature < 0
        slope = fit(np.asarray(sizes)[far], [samples[index] for index in far], confidence)
        where = (
            f"exponent {slope.value:.3g} in [{slope.low:.3g}, {slope.high:.3g}] over the far {slope.points} sizes, as "
            "all of them bend"
        )
        if steepening and slope.low > predicted + tolerance:
            reason = f"{where}; still steepening towards {predicted:.4g}: not asymptotic yet"
            return SlopeCheck(theorem, predicted, slope, Finding.UNCLEAR, Verdict.UNDECIDED, reason)
    finding, verdict, why = _judged(slope, predicted, widest, tolerance)
    return SlopeCheck(theorem, predicted, slope, finding, verdict, f"{where}; {why}")


def exact_slope_check(
    theorem: str, predicted: float, sizes: Sequence[float], values: Sequence[float], *, tolerance: float = 0.05
) -> SlopeCheck:
    """Compare deterministic numbers with a predicted exponent, by their last local one; all of them are reported.

    Args:
        theorem: Id of the statement.
        predicted: Its exponent p.
        sizes: x > 0, rising, at least 2.
        values: Positive, one for each.
        tolerance: As for ``slope_check``.
    """
    if len(sizes) < 2 or len(sizes) != len(values):
        raise InvalidValue("sizes", len(sizes), "at least 2, with a value for each")
    logs, heights = np.log(np.asarray(sizes)), np.log(np.asarray(values))
    local = np.diff(heights) / np.diff(logs)
    last = float(local[-1])
    slope = Slope(last, last, last, 1.0, 2, 0.0, 1.0)
    finding, verdict, why = _judged(slope, predicted, math.inf, tolerance)
    told = ", ".join(f"{one:.3f}" for one in local)
    return SlopeCheck(theorem, predicted, slope, finding, verdict, f"exact; local exponents {told}; {why}")


def not_asymptotic(theorem: str, predicted: float, slope: Slope, reason: str) -> SlopeCheck:
    """Return an exponent measured outside the asymptotic regime of the theorem: undecided, for any value."""
    where = f"exponent {slope.value:.3g} in [{slope.low:.3g}, {slope.high:.3g}]"
    return SlopeCheck(theorem, predicted, slope, Finding.UNCLEAR, Verdict.UNDECIDED, f"{where}; {reason}")


def _judged(slope: Slope, predicted: float, widest: float, tolerance: float) -> tuple[Finding, Verdict, str]:
    promised, most, width = f"the promised {predicted:.4g}", predicted + tolerance, slope.high - slope.low
    if slope.low > most:
        return Finding.WORSE, Verdict.FAILS, f"above {promised}"
    if slope.high < predicted - tolerance:
        return Finding.BETTER, Verdict.HOLDS, f"below {promised}: better than promised"
    if slope.high <= most:
        if slope.low >= predicted - tolerance:
            return Finding.MATCHES, Verdict.HOLDS, f"within {tolerance:g} of {promised}"
        return Finding.KEPT, Verdict.HOLDS, f"at most {tolerance:g} above {promised}"
    more = f"an interval {width:.2g} wide that reaches {slope.high - predicted:.2g} above it: run more repetitions"
    if width > widest:
        return Finding.UNCLEAR, Verdict.UNDECIDED, f"too wide to compare with {promised}: {more}"
    return Finding.UNCLEAR, Verdict.COMPATIBLE, f"compatible with {promised}: {more}"


def confidence_of(suite_error: float, checks: int) -> float:
    """Return the confidence of each of ``checks`` checks for which all together raise a false alarm at most that often.

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
    if x.ndim != 1 or len(x) != len(groups) or len(set(x.tolist())) < FEWEST_POINTS:
        raise InvalidValue("sizes", x.shape, f"at least {FEWEST_POINTS} distinct sizes, one group of samples each")
    if any(group.ndim != 1 or len(group) < 2 for group in groups):
        raise InvalidValue("samples", [group.shape for group in groups], "at least 2 repetitions at every size")
    if not (np.isfinite(x) & (x > 0)).all():
        raise InvalidValue("sizes", "(not positive)", "positive finite sizes: logarithms are taken")
    if not all((np.isfinite(group) & (group > 0)).all() for group in groups):
        raise NotMeasured("samples", "(not positive)", "positive finite samples: logarithms are taken")
    return x, groups
