"""Warm starts and random projections: what they spend, a bound at three sizes."""

from __future__ import annotations

from collections.abc import Sequence

from algorithms.verification.cells import Cell
from algorithms.verification.plans.shapes import bounded, only, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.stochastic import realisable
from algorithms.verification.tasks.warm_starts import planned_after_descent, planned_warm, regression
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


def _sweep(size: Size) -> Sequence[Cell]:
    return [_warm(size, records) for records in _RECORDS]


def _bounded(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_warm(records, _DIMENSION, _EPSILON, _COVERING).bound(regression(records, _DIMENSION))

    name = f"SPIDER behind a net, n = {records}"
    return bounded(THEOREMS["bound"], name, lambda size: _warm(size, records), "gradient_norm", bound)


def _after_descent(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:after_descent",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        repetitions=_REPETITIONS[size],
    )


def _bounded_after_descent(records: int) -> tuple[Planned, Planned]:
    """ψ of the start, and the gradient behind it."""

    def risk() -> Enclosure:
        method = planned_after_descent(records, _DIMENSION, _EPSILON)
        return method.start.bound(realisable(records, _DIMENSION))

    def bound() -> Enclosure:
        return planned_after_descent(records, _DIMENSION, _EPSILON).bound(realisable(records, _DIMENSION))

    name, theorem = f"SPIDER behind DP-SGD, n = {records}", THEOREMS["quasar-convex"]
    return (
        bounded(theorem, f"{name}: the start", lambda size: _after_descent(size, records), "start_objective", risk),
        bounded(theorem, name, lambda size: _after_descent(size, records), "gradient_norm", bound),
    )


PLANNED: tuple[Planned, ...] = (
    spent(THEOREMS["algorithm"], "exponential mechanism, then SPIDER: every ledger", _sweep, _EPSILON),
    *(_bounded(records) for records in _RECORDS),
    *(each for records in _RECORDS for each in _bounded_after_descent(records)),
    # what the lemma says without constants of the gradient is a rate; what it says with them is that Φ costs nothing
    spent(PROJECTION["algorithm"], "SPIDER in a random projection, k = 30: ledger", only(_projected), _EPSILON),
)
