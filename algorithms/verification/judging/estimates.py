"""Monte Carlo estimates against closed forms and explicit bounds.

A proportion and a quantile have exact intervals (Clopper and Pearson's, order statistics); a mean has Student's, which
is exact for normal draws and close for many bounded or light-tailed ones. A formula holds where the interval contains
it; a bound where all of the interval is below. Arguments are those of ``checks``; ``numbers`` are what a task counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy import special

from dpbounds.algorithms.verification.judging.checks import (
    Check,
    Measured,
    Numerical,
    Verdict,
    finite_samples,
    formatted_upper,
    held_below,
    share_of,
    student_quantile,
    valid_share,
)
from dpbounds.algorithms.verification.sweeping.cells import NotMeasured
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure

Numbers = Mapping[str, float | list[float]]
_WIDEST = 0.15  # relative to the value: an interval wider than this decides nothing about a formula
_COUNTED = ("hits", "sum", "squares", "draws")


def largest_rate(errors: int, runs: int, confidence: float) -> float:
    """Return the upper bound of Clopper and Pearson's interval: the largest rate that is not refuted by so few errors.

    Of ``runs`` >= 1; the confidence, in (0, 1), is one-sided.

    >>> round(largest_rate(0, 100, 0.95), 4)  # the rule of three, exactly 1 - 0.05^(1/100)
    0.0295
    """
    valid_share("confidence", confidence)
    if errors == runs:
        return 1.0
    return float(special.betaincinv(errors + 1, runs - errors, confidence))


def measured(numbers: Numbers, confidence: float) -> Measured:
    """Return the interval of a proportion (``hits`` of ``draws``) or a mean (``sum``, ``squares``, ``draws``).

    Numbers that are neither are refused; if not finite, as ``NotMeasured``.
    """
    valid_share("confidence", confidence)
    plain = {name: value for name, value in numbers.items() if not isinstance(value, list)}
    for name, value in plain.items():
        if name in _COUNTED and not math.isfinite(value):
            raise NotMeasured(name, value, "a finite number", "the run broke down: nothing was measured")
    draws = int(plain.get("draws", 0))
    if draws < 2:
        raise InvalidValue("draws", draws, "at least 2")
    if "hits" in plain:
        hits = int(plain["hits"])
        one_sided = (1 + confidence) / 2
        low = 1 - largest_rate(draws - hits, draws, one_sided)
        return Measured(hits / draws, low, largest_rate(hits, draws, one_sided))
    if not {"sum", "squares"} <= set(plain):
        raise InvalidValue("numbers", ", ".join(numbers), "hits and draws, or sum, squares and draws")
    mean = plain["sum"] / draws
    variance = max(0.0, plain["squares"] / draws - mean**2) * draws / (draws - 1)
    half = student_quantile(draws - 1, confidence) * math.sqrt(variance / draws)
    return Measured(mean, mean - half, mean + half)


def formula_check(theorem: str, numbers: Numbers, predicted: Enclosure | Numerical, confidence: float = 0.999) -> Check:
    """Compare a Monte Carlo estimate with a closed form, or with a value that is numerical only.

    Returns:
        ``holds`` where the interval contains the value, ``fails`` where it does not. ``undecided`` where the interval
        is wider than 15 % of the value: it would contain values with a large error.
    """
    estimate = measured(numbers, confidence)
    if isinstance(predicted, Numerical):
        contains = estimate.low <= predicted.upper and predicted.lower <= estimate.high
        value = f"{predicted.upper:.5g} (numerical, not proven)"
    else:
        contains = estimate.low <= predicted.exact_upper and predicted.exact_lower <= estimate.high
        value = formatted_upper(predicted, ".5g")
    interval = _in_words(estimate, confidence)
    if contains and estimate.high - estimate.low > max(_WIDEST * abs(predicted.upper), 1e-300):
        reason = f"{interval} is wider than {_WIDEST:.0%} of the value {value}: draw more"
        return Check(theorem, "formula", predicted, estimate, Verdict.UNDECIDED, reason)
    verdict, word = (Verdict.HOLDS, "contains") if contains else (Verdict.FAILS, "misses")
    return Check(theorem, "formula", predicted, estimate, verdict, f"{interval} {word} {value}")


def _in_words(estimate: Measured, confidence: float) -> str:
    ends = f"[{estimate.low:.5g}, {estimate.high:.5g}]"
    return f"measured {estimate.mean:.5g}, {100 * confidence:.5g} % interval {ends}"


def estimate_check(theorem: str, numbers: Numbers, bound: Enclosure, confidence: float = 0.999) -> Check:
    """Hold a Monte Carlo estimate against an upper bound.

    Returns:
        ``holds`` where the interval's upper bound is at most the bound, ``fails`` where its lower bound is above it,
        ``undecided`` where the bound lies within.
    """
    mean = measured(numbers, confidence)
    interval = _in_words(mean, confidence)
    return held_below(theorem, mean, bound, interval, share_of(mean, bound), formatted_upper(bound, ".5g"), "draw more")


def quantile_check(
    theorem: str, repetitions: Sequence[float], bound: Enclosure, failure: float, confidence: float = 0.999
) -> Check:
    """Compare the (1-ω)-quantile of independent repetitions with a bound that holds with probability 1-ω.

    By order statistics, which is exact whatever the distribution: the i-th smallest of N samples lies above the
    quantile unless i or more of them are below it, each of which happens with probability 1-ω; so a binomial variable's
    quantiles say which order statistics enclose it. ω in (0, 1) is ``failure``, at which the bound was evaluated.

    Returns:
        ``holds`` where the quantile's interval lies below the bound, ``fails`` where it lies above, else ``undecided``.
        To hold takes R >= ln((1 - confidence)/2)/ln(1 - ω).
    """
    valid_share("failure", failure)
    valid_share("confidence", confidence)
    ordered, tail = sorted(finite_samples(repetitions).tolist()), (1 - confidence) / 2
    count = len(ordered)
    from scipy import stats  # takes longer to import than most checks take

    below, above = (int(stats.binom.ppf(p, count, 1 - failure)) for p in (tail, 1 - tail))
    low = ordered[below - 1] if below else -math.inf
    high = ordered[above] if above < count else math.inf
    quantile = Measured(ordered[math.ceil(count * (1 - failure)) - 1], low, high)
    interval = f"quantile {quantile.mean:.4g}, {100 * confidence:.5g} % interval [{low:.4g}, {high:.4g}]"
    named, more = formatted_upper(bound, ".4g"), f"run more repetitions than {count}"
    return held_below(theorem, quantile, bound, interval, f"below {named}", named, more)


def always_check(theorem: str, repetitions: Sequence[float], bound: Enclosure) -> Check:
    """Compare every repetition with a bound for all of them: a single one above it refutes the bound.

    Returns:
        ``fails`` where some sample lies above the bound, ``holds`` where all are at most its lower bound; ``undecided``
        where one falls between the proven ends of the bound.
    """
    samples = finite_samples(repetitions)
    largest, exceeded = float(samples.max()), int((samples > bound.upper).sum())
    measured = Measured(float(samples.mean()), float(samples.min()), largest)
    most = f"the largest of {len(samples)} is {largest:.5g}"
    if largest > bound.exact_upper:
        reason = f"{most}, above {formatted_upper(bound, '.5g')}, which {exceeded} exceed and none may"
        return Check(theorem, "bound", bound, measured, Verdict.FAILS, reason)
    verdict = Verdict.HOLDS if largest <= bound.exact_lower else Verdict.UNDECIDED
    reason = f"{most}, at most {formatted_upper(bound, '.5g')}, as every run must be"
    return Check(theorem, "bound", bound, measured, verdict, reason)
