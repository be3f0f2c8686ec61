"""DP-SPIDER and its restarts: what they spend, explicit bounds at three sizes, exponents in n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from algorithms.planning import multiplier_of_one
from algorithms.spider.restarted_spider import THEOREMS as RESTARTED
from algorithms.spider.spider import THEOREMS, enclosed
from algorithms.verification.cells import Cell, Result, number, vector
from algorithms.verification.plans.shapes import Promise, bounded, slope, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.spider import (
    planned_quartic,
    planned_restarts,
    planned_spider,
    quartic,
    regression,
    wavy,
)
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.registry import theorem

_TASKS = "algorithms.verification.tasks.spider"
# so many dimensions and so large an ε that even the smallest size is past the plateau of the loss, whose flatness hides
# the exponent where noise is large
_DIMENSION, _EPSILON = 20, 4.0
_SIZES = {Size.QUICK: (250, 500, 1000, 2000), Size.FULL: (250, 500, 1000, 2000, 4000, 8000)}
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}
_RESTARTS_EPSILON = 2.0
_RESTARTS = {Size.QUICK: (4000, 32_000, 256_000), Size.FULL: (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000)}
_RESTARTS_REPETITIONS = {Size.QUICK: 64, Size.FULL: 256}


def _spider(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:spider",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        repetitions=_REPETITIONS[size],
    )


def _restarts(size: Size, records: int) -> Cell:
    repetitions = _RESTARTS_REPETITIONS[size]
    return Cell.of(f"{_TASKS}:restarts", 0, records=records, epsilon=_RESTARTS_EPSILON, repetitions=repetitions)


def _quartic(size: Size, records: int) -> Cell:
    repetitions = _RESTARTS_REPETITIONS[size]
    return Cell.of(
        f"{_TASKS}:restarts_of_quartic", 0, records=records, epsilon=_RESTARTS_EPSILON, repetitions=repetitions
    )


def _spider_sweep(size: Size) -> Sequence[Cell]:
    return [_spider(size, records) for records in _SIZES[size]]


def _restarts_sweep(size: Size) -> Sequence[Cell]:
    return [_restarts(size, records) for records in _RESTARTS[size]]


def _bounded(
    theorem: str, name: str, cell: Callable[[Size, int], Cell], records: int, quantity: str, bound: Promise
) -> Planned:
    return bounded(theorem, f"{name}, n = {records}", lambda size: cell(size, records), quantity, bound)


def _spider_bound(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_spider(records, _DIMENSION, _EPSILON).bound(regression(records, _DIMENSION))

    return _bounded(THEOREMS["bound"], "DP-SPIDER, gradient", _spider, records, "gradient", bound)


def _restarts_bound(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_restarts(records, _RESTARTS_EPSILON).closed_form(wavy(records))

    return _bounded(RESTARTED["bound"], "restarted DP-SPIDER, gradient", _restarts, records, "gradient", bound)


def _restarts_gap(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_restarts(records, _RESTARTS_EPSILON).excess_bound(wavy(records))

    return _bounded(RESTARTED["bound"], "restarted DP-SPIDER, gap", _restarts, records, "objective", bound)


def _quartic_gap(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_quartic(records, _RESTARTS_EPSILON).excess_bound(quartic(records))

    name = "restarted DP-SPIDER, gap of |w|⁴ (KL, k = 4/3)"
    return _bounded(RESTARTED["stage"], name, _quartic, records, "objective", bound)


def _closed_form(records: int) -> Planned:
    """The closed form with constants, at the ρ that the budget allows a single Gaussian release."""

    def bound() -> Enclosure:
        problem = regression(records, _DIMENSION)
        budget = planned_spider(records, _DIMENSION, _EPSILON).budget
        assert budget is not None
        return (
            theorem(THEOREMS["parameters"])
            .evaluate(
                None,
                dataset_size=records,
                dimension=_DIMENSION,
                rho=2 / multiplier_of_one(budget) ** 2,
                lipschitz=enclosed(problem.lipschitz, "lipschitz"),
                smoothness=enclosed(problem.smoothness, "smoothness"),
                initial_gap=enclosed(problem.initial_gap, "initial_gap"),
            )
            .value
        )

    return _bounded(THEOREMS["parameters"], "DP-SPIDER, gradient, closed form", _spider, records, "gradient", bound)


def _over_root_stages(result: Result) -> list[float]:
    """The gradient falls like √J/n, where J grows like log n: it is divided by √J, a public number."""
    root = math.sqrt(number(result, "stages"))
    return [value / root for value in vector(result, "gradient")]


PLANNED: tuple[Planned, ...] = (
    spent(THEOREMS["spent"], "DP-SPIDER, every ledger of the sweep", _spider_sweep, _EPSILON),
    *(_spider_bound(records) for records in (500, 1000, 2000)),
    *(_closed_form(records) for records in (500, 1000, 2000)),
    # at fixed ε and d
    slope(THEOREMS["parameters"], "DP-SPIDER, gradient against n", _spider_sweep, "gradient", -2 / 3),
    spent(RESTARTED["spent"], "restarted DP-SPIDER, every ledger of the sweep", _restarts_sweep, _RESTARTS_EPSILON),
    *(check(records) for records in (4000, 32_000, 256_000) for check in (_restarts_bound, _restarts_gap)),
    *(_quartic_gap(records) for records in (500, 1000, 2000)),
    slope(
        RESTARTED["bound"],
        "restarted DP-SPIDER, gradient/√J against n",
        _restarts_sweep,
        _over_root_stages,
        -1.0,
    ),
)
