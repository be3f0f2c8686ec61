"""Checks: measured or spent values, compared with guaranteed ones. Never a silent pass.

Throughout, ``theorem`` is the id of the statement that promises, ``repetitions`` holds one independent sample each,
shape (R,), and ``confidence`` in (0, 1) is that of the two-sided interval. What is not a vector of samples or not in
(0, 1) is refused as ``InvalidValue``, samples that are not finite as ``NotMeasured``: the run broke down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.verification.sweeping.cells import NotMeasured
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import formatted_float
from dpbounds.expressions.json_numbers import outward

_WIDEST_OF_NOISE = 0.5  # relative to the variance in a ledger: a wider interval decides nothing


class Verdict(StrEnum):
    """The result of a check.

    A measurement is an interval, and no verdict rests on its middle alone.

    Attributes:
        HOLDS: The whole interval keeps the promise.
        FAILS: None of it does.
        COMPATIBLE: The data agree with the promise and do not show it: an exponent whose interval reaches beyond the
            tolerance, an attack that finds less than is certified.
        UNDECIDED: The data do not decide: an interval that contains the bound, too few runs, sizes where the promise
            does not show yet, no proof.
    """

    HOLDS = "holds"
    FAILS = "fails"
    COMPATIBLE = "compatible"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured mean with its confidence interval (or, for privacy, the proven ends with the upper one as mean)."""

    mean: float
    low: float
    high: float

    def as_json(self) -> dict[str, float | str]:
        """Return the three for JSON, the ends of the interval outwards as decimals, too; non-finite values are text."""
        mean = outward(self.mean, "up") if self.mean == self.high else self.mean
        ends = {"mean": mean, "low": outward(self.low, "down"), "high": outward(self.high, "up")}
        return {name: _plain(value) for name, value in ends.items()}


@dataclass(frozen=True, slots=True)
class Numerical:
    """A number in double precision, such as a quadrature, with which a check compares if nothing is proven.

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
        predicted: The claim: a certified interval, unless it is marked as numerical.
        measured: The measurement.
        verdict: See ``Verdict``.
        reason: Why, in one line.
    """

    theorem: str
    kind: str
    predicted: Enclosure | Numerical
    measured: Measured
    verdict: Verdict
    reason: str

    def as_json(self) -> dict[str, object]:
        """Return the check as plain data for ``json.dumps``; an end that is not finite is written as text."""
        return {
            "theorem": self.theorem,
            "kind": self.kind,
            "predicted": ends_as_json(self.predicted),
            "measured": self.measured.as_json(),
            "verdict": str(self.verdict),
            "reason": self.reason,
        }

    def __str__(self) -> str:
        return f"{self.verdict}: {self.kind} of {self.theorem}: {self.reason}"


def student_quantile(freedom: float, confidence: float) -> float:
    """Return t with P(|T| <= t) = confidence for Student's T; an interval has t standard errors on each side."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def mean_interval(repetitions: ArrayLike, confidence: float = 0.95) -> Measured:
    """Return the mean of independent repetitions and Student's t interval; from a single one, the whole line."""
    samples = finite_samples(repetitions)
    valid_share("confidence", confidence)
    mean = float(samples.mean())
    if len(samples) < 2:
        return Measured(mean, -math.inf, math.inf)
    half = student_quantile(len(samples) - 1, confidence) * float(samples.std(ddof=1)) / math.sqrt(len(samples))
    return Measured(mean, mean - half, mean + half)


def bound_check(theorem: str, repetitions: ArrayLike, bound: Enclosure, confidence: float = 0.99) -> Check:
    """Hold the mean of independent repetitions against an upper bound on the expectation.

    Student's t interval is exact for normal data and approximate otherwise; averages over many steps are close to it.

    Returns:
        ``holds`` where the upper bound of the interval is at most the bound, ``fails`` where the lower bound is above
        it, otherwise ``undecided``. Also undecided with a single repetition.
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
    """Compare an interval with an upper bound, each end on the safe side; the last four are words for the reason.

    Args:
        theorem: Id of the statement.
        measured: The interval.
        bound: The bound.
        interval: The interval in words, with which the reason begins.
        below: The text if the whole interval is below.
        named: The bound in words.
        more: What would decide an interval that contains the bound.
    """
    if measured.high <= bound.exact_lower:
        return Check(theorem, "bound", bound, measured, Verdict.HOLDS, f"{interval}, {below}")
    if measured.low > bound.exact_upper:
        return Check(theorem, "bound", bound, measured, Verdict.FAILS, f"{interval} lies above {named}")
    return Check(theorem, "bound", bound, measured, Verdict.UNDECIDED, f"{interval} contains {named}: {more}")


def share_of(measured: Measured, bound: Enclosure) -> str:
    """Describe a measured mean as a part of a bound."""
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
    verdict, word = {
        True: (Verdict.HOLDS, "within"),
        False: (Verdict.FAILS, "more than"),
        None: (Verdict.UNDECIDED, "not decided against"),
    }[spent.at_most(budget.epsilon)]
    measured = Measured(spent.upper, spent.lower, spent.upper)
    reason = f"the ledger spends epsilon in {spent}, {word} {budget}"
    return Check(theorem, "spent", Enclosure.exactly(budget.epsilon, "budget"), measured, verdict, reason)


def refused_check(theorem: str, kind: str, refused: Sequence[str], runs: int) -> Check:
    r"""Return a failed check for runs that their ledgers refused, for any results of the others.

    A right run is never refused (but once in 1e12), and what a refused one would have measured has no value.

    >>> refused_check("x/y", "bound", ["too little noise\n5 x Gaussian"], 4).reason
    'the ledger refuses 1 of 4 runs: too little noise'
    """
    return _of_runs(theorem, kind, Verdict.FAILS, "the ledger refuses", refused, runs)


def unproven_check(theorem: str, kind: str, unproven: Sequence[str], runs: int) -> Check:
    """Return an undecided check if some runs are unproven, as these may have any value.

    >>> unproven_check("x/y", "bound", ["the tail did not close"], 4).reason
    'nothing is proven of 1 of 4 runs: the tail did not close'
    """
    return _of_runs(theorem, kind, Verdict.UNDECIDED, "nothing is proven of", unproven, runs)


def _of_runs(theorem: str, kind: str, verdict: Verdict, found: str, reasons: Sequence[str], runs: int) -> Check:
    if not 1 <= len(reasons) <= runs:
        raise InvalidValue("runs", runs, f"at least the {len(reasons)} (1 or more) with a reason")
    reason = f"{found} {len(reasons)} of {runs} runs: {reasons[0].splitlines()[0]}"
    return lost_check(theorem, kind, verdict, reason, len(reasons))


def lost_check(theorem: str, kind: str, verdict: Verdict, reason: str, lost: int) -> Check:
    """Return a verdict without a measurement: predicted are 0 lost runs, measured is how many there were."""
    count = float(lost)
    return Check(theorem, kind, Enclosure.exactly(0, "lost runs"), Measured(count, count, count), verdict, reason)


def noise_check(
    theorem: str, squared_norms: ArrayLike, *, dimension: int, steps: int, ledger: Ledger, confidence: float = 0.999999
) -> Check:
    """Compare the noise that was added with the noise in the ledger.

    With R repetitions of T steps of d-dimensional noise N(0, σ² I), the sum of all squares is σ² times a chi-square
    variable with R T d degrees of freedom, which gives an exact interval for E‖e‖² = dσ².

    Args:
        theorem: Id of the theorem that prescribes the noise.
        squared_norms: Mean over the steps of ‖e‖², one per repetition, shape (R,).
        dimension: d.
        steps: T.
        ledger: Must hold releases of one noise level only, or ``InvalidValue`` is raised.
        confidence: High by default, because a right run should practically never fail.

    Returns:
        ``holds`` where the interval contains the ledger's dσ², ``fails`` where it does not. ``undecided`` where the
        interval is wider than half of dσ²: it would contain the noise of half the standard deviation, too.
    """
    samples = finite_samples(squared_norms)
    valid_share("confidence", confidence)
    levels = {release.noise_stddev for release in ledger.gaussian_releases}
    if len(levels) != 1:
        raise InvalidValue("ledger", f"{len(levels)} noise levels", "releases of a single noise level")
    predicted = Enclosure.exactly(Fraction(dimension) * levels.pop() ** 2)
    freedom, total = len(samples) * steps * dimension, float(samples.sum()) * steps
    tail = (1 - confidence) / 2
    low = total / float(special.chdtri(freedom, tail)) * dimension
    high = total / (2 * float(special.gammaincinv(freedom / 2, tail))) * dimension
    measured = Measured(float(samples.mean()), low, high)
    contains = low <= predicted.exact_upper and predicted.exact_lower <= high
    interval = f"E‖e‖² measured {measured.mean:.6g}, {100 * confidence:.5g} % interval [{low:.6g}, {high:.6g}]"
    ledgers = f"the ledger's {formatted_upper(predicted, '.6g')}"
    if contains and high - low > _WIDEST_OF_NOISE * predicted.upper:
        reason = f"{interval} is wider than {_WIDEST_OF_NOISE:.0%} of {ledgers}: run more"
        return Check(theorem, "formula", predicted, measured, Verdict.UNDECIDED, reason)
    reason = f"{interval} {'contains' if contains else 'misses'} {ledgers}"
    return Check(theorem, "formula", predicted, measured, Verdict.HOLDS if contains else Verdict.FAILS, reason)


def sensitivity_check(theorem: str, problem: Problem, points: ArrayLike, ledger: Ledger) -> Check:
    """Hold the per-record bound in a ledger of mean gradients against how far records move the mean at given points.

    A ledger whose per-record bound is too small makes every accountant wrong. Records of this dataset at some points
    give a lower bound on the right one, so this check can find such an error but never prove that there is none.

    Args:
        theorem: Id of the statement whose sensitivity it is.
        problem: Supplies the records.
        points: The points to try, shape (R, d): the start and the outputs, for example.
        ledger: Releases of mean gradients, at least 1.

    Returns:
        ``fails`` where a record moves the mean by more than the ledger's bound (and 1e-9 of it, for round-off),
        otherwise ``holds``.
    """
    if not ledger.releases:
        raise InvalidValue("ledger", "empty", "at least one release")
    claimed = Enclosure.exactly(min(release.per_record_bound for release in ledger.gaussian_releases), "ledger")
    largest = float(problem.per_record_gradient_norms(points).max()) / problem.records
    measured = Measured(largest, largest, largest)
    within = Fraction(largest) <= claimed.exact_lower * (1 + Fraction(1, 10**9))
    allowed = formatted_upper(claimed, ".6g")
    reason = f"one record moves the mean gradient by {largest:.6g}, the ledger allows for {allowed}"
    return Check(theorem, "bound", claimed, measured, Verdict.HOLDS if within else Verdict.FAILS, reason)


def finite_samples(values: ArrayLike) -> NDArray[np.float64]:
    """Return independent samples as a vector, shape (R,), R >= 1; the module lists those that are refused."""
    samples = np.asarray(values, dtype=np.float64)
    if samples.ndim != 1 or len(samples) == 0:
        raise InvalidValue("repetitions.shape", samples.shape, "(R,) with R >= 1")
    if not np.isfinite(samples).all():
        raise NotMeasured("repetitions", "not finite", "finite numbers", "the run broke down: nothing was measured")
    return samples


def valid_share(name: str, value: float) -> None:
    """Refuse numbers that are not strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InvalidValue(name, value, "greater than 0 and less than 1")


def formatted_upper(predicted: Enclosure | Numerical, specification: str) -> str:
    """Return the upper bound in a format such as ".4g", as Python writes it; a proven one is rounded up."""
    if isinstance(predicted, Numerical):
        return format(predicted.upper, specification)
    return formatted_float(predicted.exact_upper, specification, "up")


def ends_as_json(predicted: Enclosure | Numerical) -> dict[str, float | str]:
    """Return both bounds for JSON, proven ones rounded outwards; values that are not finite are text."""
    if isinstance(predicted, Numerical):
        return {"lower": predicted.lower, "upper": predicted.upper}
    return {
        "lower": _plain(outward(predicted.exact_lower, "down")),
        "upper": _plain(outward(predicted.exact_upper, "up")),
    }


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
