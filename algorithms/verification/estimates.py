"""Monte Carlo estimates against closed forms and explicit bounds.

A proportion has Clopper and Pearson's interval, which is exact; a mean of many bounded or light-tailed draws has the
normal one. A formula holds where the interval contains it; a bound where the interval's lower end does not exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from scipy import stats

from algorithms.verification.audits import largest_rate
from algorithms.verification.cells import NotMeasured
from algorithms.verification.checks import Check, Measured, Verdict
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure

Numbers = Mapping[str, float | list[float]]
_COUNTED = ("hits", "sum", "squares", "draws")


def measured(numbers: Numbers, confidence: float) -> Measured:
    """The interval of a proportion (``hits`` of ``draws``) or a mean (``sum``, ``squares``, ``draws``).

    Raises:
        InvalidValue: The numbers are neither.
        NotMeasured: They are not finite.
    """
    if not 0 < confidence < 1:
        raise InvalidValue("confidence", confidence, "a number greater than 0 and less than 1")
    plain = {name: value for name, value in numbers.items() if not isinstance(value, list)}
    for name, value in plain.items():
        if name in _COUNTED and not math.isfinite(value):
            raise NotMeasured(name, value, "a finite number", "the run broke down: nothing was measured")
    draws = int(plain.get("draws", 0))
    if draws < 2:
        raise InvalidValue("draws", draws, "at least 2")
    if "hits" in plain:
        hits = int(plain["hits"])
        each = (1 + confidence) / 2
        low = 1 - largest_rate(draws - hits, draws, each)
        return Measured(hits / draws, low, largest_rate(hits, draws, each))
    if not {"sum", "squares"} <= set(plain):
        raise InvalidValue("numbers", ", ".join(numbers), "hits and draws, or sum, squares and draws")
    mean = plain["sum"] / draws
    variance = max(0.0, plain["squares"] / draws - mean**2) * draws / (draws - 1)
    half = float(stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(variance / draws)
    return Measured(mean, mean - half, mean + half)


def formula_check(theorem: str, numbers: Numbers, predicted: Enclosure, confidence: float = 0.999) -> Check:
    """Hold a Monte Carlo estimate against a closed form.

    Args:
        theorem: Id of the statement.
        numbers: What a task counted.
        predicted: The closed form's proven value.
        confidence: Of the interval.

    Returns:
        ``holds`` where the interval contains the value, ``fails`` where it does not. ``undecided`` where the interval
        is wider than the value itself: it would contain almost anything.
    """
    found = measured(numbers, confidence)
    contains = found.low <= predicted.exact_upper and predicted.exact_lower <= found.high
    interval = f"measured {found.mean:.5g}, {100 * confidence:.5g} % interval [{found.low:.5g}, {found.high:.5g}]"
    if contains and found.high - found.low > max(abs(predicted.upper), 1e-300):
        reason = f"{interval} is wider than the value {predicted.upper:.5g}: draw more"
        return Check(theorem, "formula", predicted, found, Verdict.UNDECIDED, reason)
    verdict = Verdict.HOLDS if contains else Verdict.FAILS
    return Check(
        theorem, "formula", predicted, found, verdict, f"{interval} {_contains(contains)} {predicted.upper:.5g}"
    )


def estimate_check(theorem: str, numbers: Numbers, bound: Enclosure, confidence: float = 0.999) -> Check:
    """Hold a Monte Carlo estimate against an upper bound.

    Returns:
        ``holds`` where the interval's upper end is at most the bound, ``fails`` where its lower end is above it,
        ``undecided`` where the bound lies within.
    """
    found = measured(numbers, confidence)
    interval = f"measured {found.mean:.5g}, {100 * confidence:.5g} % interval [{found.low:.5g}, {found.high:.5g}]"
    if found.high <= bound.exact_lower:
        share = found.mean / bound.upper if bound.upper > 0 else math.nan
        return Check(theorem, "bound", bound, found, Verdict.HOLDS, f"{interval}, {share:.3g} of the bound")
    if found.low > bound.exact_upper:
        return Check(theorem, "bound", bound, found, Verdict.FAILS, f"{interval} lies above {bound.upper:.5g}")
    return Check(theorem, "bound", bound, found, Verdict.UNDECIDED, f"{interval} contains {bound.upper:.5g}: draw more")


def _contains(found: bool) -> str:
    return "contains" if found else "misses"
