"""Checks: what was measured or spent, held against what was promised. Never a silent pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.verification.sweeping.cells import NotMeasured
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure


class Verdict(StrEnum):
    """What a check found."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured mean with its confidence interval (or, for privacy, the proven ends with the upper one as mean)."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Numerical:
    """What a check is held against where nothing is proven: a number in double precision, from a quadrature, say.

    Attributes:
        value: Finite.
        allowance: For its error, on either side; an estimate, not a bound. At least 0.
    """

    value: float
    allowance: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and 0 <= self.allowance < math.inf):
            raise InvalidValue("numerical", (self.value, self.allowance), "a finite value and an allowance at least 0")

    @property
    def lower(self) -> float:
        """Value minus allowance."""
        return self.value - self.allowance

    @property
    def upper(self) -> float:
        """Value plus allowance."""
        return self.value + self.allowance


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison.

    Attributes:
        theorem: Id of the statement.
        kind: "spent", "bound" or "formula" ("slope" where its runs gave nothing to fit).
        predicted: What was promised: proven ends, unless it is said to be numerical.
        measured: What was found.
        verdict: ``holds``, ``fails`` or ``undecided``.
        reason: Why, in one line.
    """

    theorem: str
    kind: str
    predicted: Enclosure | Numerical
    measured: Measured
    verdict: Verdict
    reason: str

    def as_json(self) -> dict[str, object]:
        """The check as plain data for ``json.dumps``; an end that is not finite is written as text."""
        ends = (self.measured.mean, self.measured.low, self.measured.high)
        return {
            "theorem": self.theorem,
            "kind": self.kind,
            "predicted": {"lower": _plain(self.predicted.lower), "upper": _plain(self.predicted.upper)},
            "measured": dict(zip(("mean", "low", "high"), map(_plain, ends), strict=True)),
            "verdict": str(self.verdict),
            "reason": self.reason,
        }

    def __str__(self) -> str:
        return f"{self.verdict}: {self.kind} of {self.theorem}: {self.reason}"


def mean_interval(repetitions: ArrayLike, confidence: float = 0.95) -> Measured:
    """The mean of independent repetitions and Student's t interval; from a single one, the whole line.

    Raises:
        InvalidValue: The samples are not a non-empty vector of finite numbers, or the confidence is not in (0, 1).
    """
    samples = finite_samples(repetitions)
    valid_share("confidence", confidence)
    mean = float(samples.mean())
    if len(samples) < 2:
        return Measured(mean, -math.inf, math.inf)
    half = float(stats.t.ppf((1 + confidence) / 2, len(samples) - 1) * samples.std(ddof=1) / math.sqrt(len(samples)))
    return Measured(mean, mean - half, mean + half)


def bound_check(theorem: str, repetitions: ArrayLike, bound: Enclosure, confidence: float = 0.99) -> Check:
    """Hold the mean of independent repetitions against an upper bound on the expectation.

    The interval is Student's t over the repetitions, at the given two-sided confidence. It is exact for normal data and
    approximate otherwise; averages over many steps are close to normal.

    Args:
        theorem: Id of the statement that promises the bound.
        repetitions: One independent sample per repetition, shape (R,), finite.
        bound: The explicit bound.
        confidence: In (0, 1).

    Returns:
        ``holds`` where the upper end of the interval is at most the bound, ``fails`` where the lower end is above it,
        otherwise ``undecided``. Also undecided with a single repetition.

    Raises:
        InvalidValue: The samples are not a non-empty vector of finite numbers, or the confidence is not in (0, 1).
    """
    samples = finite_samples(repetitions)
    measured = mean_interval(samples, confidence)
    if len(samples) < 2:
        return Check(theorem, "bound", bound, measured, Verdict.UNDECIDED, "one repetition gives no interval: run more")
    ends = f"[{measured.low:.4g}, {measured.high:.4g}]"
    interval = f"measured {measured.mean:.4g}, {100 * confidence:.5g} % interval {ends}"
    below, more = share_of(measured, bound), f"run more repetitions than {len(samples)}"
    return held_below(theorem, measured, bound, interval, below, f"the bound {bound}", more)


def held_below(
    theorem: str, measured: Measured, bound: Enclosure, interval: str, below: str, named: str, more: str
) -> Check:
    """Hold an interval against an upper bound, each end on the safe side.

    Args:
        theorem: Id of the statement that promises the bound.
        measured: The interval.
        bound: The bound.
        interval: The interval in words, which begin the reason.
        below: What the reason says where all of it is below.
        named: The bound in words.
        more: What would decide an interval that contains the bound.
    """
    if measured.high <= bound.exact_lower:
        return Check(theorem, "bound", bound, measured, Verdict.HOLDS, f"{interval}, {below}")
    if measured.low > bound.exact_upper:
        return Check(theorem, "bound", bound, measured, Verdict.FAILS, f"{interval} lies above {named}")
    return Check(theorem, "bound", bound, measured, Verdict.UNDECIDED, f"{interval} contains {named}: {more}")


def share_of(measured: Measured, bound: Enclosure) -> str:
    """How much of a bound a measured mean is, in words."""
    return f"{measured.mean / bound.upper if bound.upper > 0 else math.nan:.3g} of the bound"


def spent_check(theorem: str, ledger: Ledger, budget: PrivacyBudget) -> Check:
    """Hold the certified ε of a ledger against its budget.

    Returns:
        ``holds`` where the enclosure of the ε that was spent lies within the budget, ``fails`` where it lies above, and
        ``undecided`` where it contains it.

    Raises:
        UnsupportedMechanism: The ledger holds a release without a proven analysis.
    """
    spent = ledger.spent(budget.delta, budget.relation)
    within = spent.at_most(budget.epsilon)
    verdict = {True: Verdict.HOLDS, False: Verdict.FAILS, None: Verdict.UNDECIDED}[within]
    word = {True: "within", False: "more than", None: "not decided against"}[within]
    measured = Measured(spent.upper, spent.lower, spent.upper)
    reason = f"the ledger spends epsilon in {spent}, {word} {budget}"
    return Check(theorem, "spent", Enclosure.exactly(budget.epsilon, "budget"), measured, verdict, reason)


def refused_check(theorem: str, kind: str, refused: Sequence[str], runs: int) -> Check:
    r"""The check of runs some of which their ledgers refused: it fails, whatever the others measured.

    A right run is never refused (but once in 1e12), and what a refused one would have measured has no value.

    Args:
        theorem: Id of the statement.
        kind: Of the check that these runs were for.
        refused: Why, one for each refused run; at least 1.
        runs: How many there were.

    Returns:
        ``fails``; predicted and measured are the number of refused runs.

    >>> refused_check("x/y", "bound", ["too little noise\n5 x Gaussian"], 4).reason
    'the ledger refuses 1 of 4 runs: too little noise'
    """
    if not 1 <= len(refused) <= runs:
        raise InvalidValue("refused", len(refused), f"at least 1 and at most {runs} runs")
    reason = f"the ledger refuses {len(refused)} of {runs} runs: {refused[0].splitlines()[0]}"
    return lost_check(theorem, kind, Verdict.FAILS, reason, len(refused))


def unproven_check(theorem: str, kind: str, unproven: Sequence[str], runs: int) -> Check:
    """The check of runs about some of which nothing could be proven: undecided, as what they hide may be anything.

    Args:
        theorem: Id of the statement.
        kind: Of the check that these runs were for.
        unproven: Why, one for each such run; at least 1.
        runs: How many there were.

    >>> unproven_check("x/y", "bound", ["the tail did not close"], 4).reason
    'nothing is proven of 1 of 4 runs: the tail did not close'
    """
    if not 1 <= len(unproven) <= runs:
        raise InvalidValue("unproven", len(unproven), f"at least 1 and at most {runs} runs")
    reason = f"nothing is proven of {len(unproven)} of {runs} runs: {unproven[0].splitlines()[0]}"
    return lost_check(theorem, kind, Verdict.UNDECIDED, reason, len(unproven))


def lost_check(theorem: str, kind: str, verdict: Verdict, reason: str, lost: int) -> Check:
    """A verdict without a measurement: predicted are 0 lost runs, measured is how many there were."""
    count = float(lost)
    return Check(theorem, kind, Enclosure.exactly(0, "lost runs"), Measured(count, count, count), verdict, reason)


def noise_check(
    theorem: str,
    squared_norms: ArrayLike,
    *,
    dimension: int,
    steps: int,
    ledger: Ledger,
    confidence: float = 0.999999,
) -> Check:
    """Hold the noise that was really added against the noise that the ledger says was added.

    A ledger can only be right about what it was told. With R repetitions of T steps of p-dimensional noise N(0, σ² I),
    the sum of all squares is σ² times a chi-square variable with R T p degrees of freedom, which gives an exact
    interval for E‖e‖² = pσ².

    Args:
        theorem: Id of the statement whose noise it is.
        squared_norms: Mean over the steps of ‖e‖², one per repetition, shape (R,).
        dimension: p.
        steps: T.
        ledger: Must hold releases of one kind only.
        confidence: Of the interval; high by default, because a right run should practically never fail.

    Returns:
        ``holds`` where the interval contains the ledger's pσ², otherwise ``fails``.

    Raises:
        InvalidValue: The samples are not finite, or the ledger holds several noise levels.
    """
    samples = finite_samples(squared_norms)
    valid_share("confidence", confidence)
    levels = {release.noise_stddev for release in ledger.gaussian_releases}
    if len(levels) != 1:
        raise InvalidValue("ledger", f"{len(levels)} noise levels", "releases of a single noise level")
    predicted = Enclosure.exactly(Fraction(dimension) * levels.pop() ** 2)
    freedom = len(samples) * steps * dimension
    total = float(samples.sum()) * steps
    tail = (1 - confidence) / 2
    low = total / float(stats.chi2.isf(tail, freedom)) * dimension
    high = total / float(stats.chi2.ppf(tail, freedom)) * dimension
    measured = Measured(float(samples.mean()), low, high)
    contains = low <= predicted.exact_upper and predicted.exact_lower <= high
    interval = f"E‖e‖² measured {measured.mean:.6g}, {100 * confidence:.5g} % interval [{low:.6g}, {high:.6g}]"
    reason = f"{interval} {'contains' if contains else 'misses'} the ledger's {predicted.upper:.6g}"
    return Check(theorem, "formula", predicted, measured, Verdict.HOLDS if contains else Verdict.FAILS, reason)


def sensitivity_check(theorem: str, problem: Problem, points: ArrayLike, ledger: Ledger) -> Check:
    """Hold the per-record bound in a ledger of mean gradients against how far records move the mean at given points.

    A ledger whose per-record bound is too small makes every accountant wrong. Records of this data set at some points
    give a lower bound on the right one, so this check can find such an error but never prove that there is none.

    Args:
        theorem: Id of the statement whose sensitivity it is.
        problem: Supplies the records.
        points: Where to look, shape (R, p): the start and the outputs, say.
        ledger: Releases of mean gradients.

    Returns:
        ``fails`` where a record moves the mean by more than the ledger's bound (and 1e-9 of it, for round-off),
        otherwise ``holds``.

    Raises:
        InvalidValue: The ledger is empty, or the points have the wrong shape.
    """
    if not ledger.releases:
        raise InvalidValue("ledger", "empty", "at least one release")
    claimed = Enclosure.exactly(min(release.per_record_bound for release in ledger.gaussian_releases), "ledger")
    largest = float(problem.per_record_gradient_norms(points).max()) / problem.records
    measured = Measured(largest, largest, largest)
    within = Fraction(largest) <= claimed.exact_lower * (1 + Fraction(1, 10**9))
    reason = f"one record moves the mean gradient by {largest:.6g}, the ledger allows for {claimed.upper:.6g}"
    return Check(theorem, "bound", claimed, measured, Verdict.HOLDS if within else Verdict.FAILS, reason)


def finite_samples(values: ArrayLike) -> NDArray[np.float64]:
    """Independent samples as a vector, shape (R,).

    Raises:
        InvalidValue: They are no vector, or none are there.
        NotMeasured: One of them is not finite.
    """
    samples = np.asarray(values, dtype=np.float64)
    if samples.ndim != 1 or len(samples) == 0:
        raise InvalidValue("repetitions.shape", samples.shape, "(R,) with R >= 1")
    if not np.isfinite(samples).all():
        raise NotMeasured("repetitions", "not finite", "finite numbers", "the run broke down: nothing was measured")
    return samples


def valid_share(name: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1.

    Raises:
        InvalidValue: It is not.
    """
    if not 0 < value < 1:
        raise InvalidValue(name, value, "greater than 0 and less than 1")


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
