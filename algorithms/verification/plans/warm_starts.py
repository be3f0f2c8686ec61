"""Warm starts and random projections: what they spend, a bound at three sizes, what a projection keeps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.warm_starts import planned_warm, regression
from algorithms.warm_starts.random_projection import THEOREMS as PROJECTION
from algorithms.warm_starts.warm_started_spider import THEOREMS
from dpbounds.expressions.enclosure import Enclosure

_TASKS = "algorithms.verification.tasks.warm_starts"
_EPSILON, _DIMENSION, _COVERING = 2.0, 2, "1/10"
_RECORDS = (300, 600, 1200)
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}


def _warm(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:warm",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        covering_radius=_COVERING,
        repetitions=_REPETITIONS[size],
    )


def _projected(size: Size) -> Cell:
    return Cell.of(
        f"{_TASKS}:projected",
        0,
        records=300,
        dimension=60,
        rank=3,
        projected_dimension=30,
        epsilon=_EPSILON,
        repetitions=_REPETITIONS[size],
    )


def _vector(result: Result, name: str) -> list[float]:
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def _spent(theorem: str) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower = min(_vector(each, "spent_lower")[0] for each in results)
        upper = max(_vector(each, "spent_upper")[0] for each in results)
        verdict = Verdict.HOLDS if upper <= _EPSILON else Verdict.FAILS if lower > _EPSILON else Verdict.UNDECIDED
        reason = f"{len(results)} ledgers spend epsilon in [{lower:.9g}, {upper:.9g}] of {_EPSILON:g}, certified"
        budget = Enclosure.exactly(Fraction(_EPSILON), "budget")
        return Check(theorem, "spent", budget, Measured(upper, lower, upper), verdict, reason)

    def cells(size: Size) -> Sequence[Cell]:
        return [_warm(size, records) for records in _RECORDS]

    return Planned(theorem, "spent", "exponential mechanism, then SPIDER: every ledger", cells, judge)


def _bounded(records: int) -> Planned:
    theorem = THEOREMS["bound"]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        bound = planned_warm(records, _DIMENSION, _EPSILON, _COVERING).bound(regression(records, _DIMENSION))
        return bound_check(theorem, _vector(results[0], "gradient_norm"), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_warm(size, records)]

    return Planned(theorem, "bound", f"SPIDER behind a net, n = {records}", cells, judge)


def _ratio() -> Planned:
    theorem = PROJECTION["algorithm"]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        # on the row space a random matrix of ten times its rank keeps lengths within a factor of 2
        return bound_check(theorem, _vector(results[0], "ratio"), Enclosure.exactly(2), confidence)

    return Planned(
        theorem, "bound", "‖∇F(Φᵀu)‖ over ‖Φ∇F(Φᵀu)‖, rank 3, k = 30", lambda size: [_projected(size)], judge
    )


PLANNED: tuple[Planned, ...] = (
    _spent(THEOREMS["algorithm"]),
    *(_bounded(records) for records in _RECORDS),
    _ratio(),
)
