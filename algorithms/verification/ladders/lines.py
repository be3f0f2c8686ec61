"""A proof as a ladder of numbers: the first was measured, the last is the bound, and no line is a step down.

A rung is what stands between two signs of inequality. It is computed from means over the repetitions of a run; every
such mean is taken R + 1 times, over all of them and without each. Whatever is computed from them has the standard error
of the jackknife (Efron and Stein 1981).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.verification.judging.checks import Verdict, finite_samples, student_quantile

Array = NDArray[np.float64]
Relation = Literal["<=", "=", ">="]
_ROUNDING = 1e-9  # relative: far above what sums of doubles lose
_WIDEST = 0.15  # relative: an interval wider than this does not show an equality


class Due(StrEnum):
    """The cause of the factor between two lines."""

    STEP = "step"  # a descent lemma has the curvature of the worst direction for every step
    CURVATURE = "public curvature"
    GROWTH = "growth"  # a PL or quasar-convexity constant
    NOISE = "noise"
    DESCENT = "descent"  # the walk did not reach the minimum
    START = "public start"
    JENSEN = "Jensen"
    TRIANGLE = "triangle"
    GRADIENTS = "public gradients"
    SET = "size of the set"
    CHOICE = "choice"
    TRIVIAL = "no theorem"  # what holds without one is less
    FORMULA = "formula"


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """A number of the proof.

    Attributes:
        values: Over all repetitions and without each, shape (R + 1,), or one number.
        claim: Why it is at least the rung before.
        due: The cause of the factor from there; None for the first.
        relation: Relation of the rung before to this one: at most; equal, in expectation; or at least, if the trivial
            bound is smaller.
    """

    values: Array
    claim: str = "measured"
    due: Due | None = None
    relation: Relation = "<="


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a proof, measured.

    Attributes:
        claim: The justification.
        due: The cause of its loss.
        left: The expression of the line before.
        right: The expression that replaces it.
        relation: Relation of the left side to the right one: "<=", "=" (in expectation) or ">=".
        error: Standard error of right - left; NaN with a single repetition.
        verdict: ``holds`` where the interval of right - left is on the side of the relation (of an equality: where it
            contains 0, and is narrower than 15 % of either side), ``fails`` where it is on the other side, else
            ``compatible``. ``undecided`` with a single repetition, which has no interval.
    """

    claim: str
    due: Due
    left: float
    right: float
    relation: Relation
    error: float
    verdict: Verdict

    @property
    def factor(self) -> float:
        """The loss of the line: right over left."""
        return self.right / self.left if self.left > 0 else math.nan


def jackknifed(samples: ArrayLike) -> Array:
    """Return the mean of independent samples, and the means without each, shape (R + 1,); NaN without any sample.

    >>> jackknifed([1.0, 2.0, 6.0]).tolist()
    [3.0, 4.0, 3.5, 1.5]
    """
    values = finite_samples(samples)
    without = (values.sum() - values) / (len(values) - 1) if len(values) > 1 else [math.nan]
    return np.concatenate([[values.mean()], without])


def constant(value: float) -> Array:
    """Return a number that no repetition changes."""
    return np.array([value])


def lines(rungs: Sequence[Rung], confidence: float) -> tuple[Line, ...]:
    """Return the lines between rungs, which together reject a true line with probability 1 - confidence at most."""
    each = 1 - (1 - confidence) / max(1, len(rungs) - 1)
    return tuple(_line(low, high, each) for low, high in pairwise(rungs))


def _line(low: Rung, high: Rung, confidence: float) -> Line:
    assert high.due is not None
    steps = high.values - low.values
    left, right, step, repetitions = float(low.values[0]), float(high.values[0]), float(steps[0]), len(steps) - 1
    error = 0.0
    if repetitions:
        without = steps[1:]
        error = math.sqrt((repetitions - 1) / repetitions * float(((without - without.mean()) ** 2).sum()))
    scale = max(abs(left), abs(right))
    half = student_quantile(repetitions - 1, confidence) * error if error > 0 else error
    verdict = Verdict.UNDECIDED if math.isnan(error) else _judged(high.relation, step, half, scale)
    return Line(high.claim, high.due, left, right, high.relation, error, verdict)


def _judged(relation: Relation, step: float, half: float, scale: float) -> Verdict:
    """Return the verdict on right - left, which lies within ``half`` of ``step``; sides of that scale are rounded."""
    rounding = _ROUNDING * scale
    if relation == "=":
        if abs(step) > half + rounding:
            return Verdict.FAILS
        return Verdict.HOLDS if 2 * half <= _WIDEST * scale else Verdict.COMPATIBLE
    gain = step if relation == "<=" else -step
    if gain + half < -rounding:
        return Verdict.FAILS
    return Verdict.HOLDS if gain - half >= -rounding else Verdict.COMPATIBLE
