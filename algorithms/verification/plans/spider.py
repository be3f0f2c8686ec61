"""DP-SPIDER and its restarts: what they spend, explicit bounds at three sizes, exponents in n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from algorithms.spider.restarted_spider import THEOREMS as RESTARTED
from algorithms.spider.spider import THEOREMS
from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.slopes import SlopeCheck, slope_check
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

_TASKS = "algorithms.verification.tasks.spider"
# so many dimensions and so large an ε that even the smallest size is past the plateau of the loss, whose flatness hides
# the exponent where noise is large
_DIMENSION, _EPSILON = 20, 4.0
_SIZES = {Size.QUICK: (250, 500, 1000, 2000), Size.FULL: (250, 500, 1000, 2000, 4000, 8000)}
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}
_RESTARTS_EPSILON = 2.0
_RESTARTS = {Size.QUICK: (4000, 32_000, 256_000), Size.FULL: (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000)}
_RESTARTS_REPETITIONS = {Size.QUICK: 64, Size.FULL: 256}

Cells = Callable[[Size], Sequence[Cell]]


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


def _vector(result: Result, name: str) -> list[float]:
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def _number(result: Result, name: str) -> float:
    return _vector(result, name)[0]


def _records(result: Result) -> int:
    return int(dict(Cell.from_key(result.key).parameters)["records"] or 0)


def _spent(theorem: str, name: str, cells: Cells, epsilon: float) -> Planned:
    """Every run's certified ε lies within its budget: exact, so the confidence does not matter."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower = min(_number(each, "spent_lower") for each in results)
        upper = max(_number(each, "spent_upper") for each in results)
        verdict = Verdict.HOLDS if upper <= epsilon else Verdict.FAILS if lower > epsilon else Verdict.UNDECIDED
        reason = f"{len(results)} ledgers spend epsilon in [{lower:.12g}, {upper:.12g}] of {epsilon:g}, certified"
        budget = Enclosure.exactly(Fraction(epsilon), "budget")
        return Check(theorem, "spent", budget, Measured(upper, lower, upper), verdict, reason)

    return Planned(theorem, "spent", name, cells, judge)


def _bounded(
    theorem: str, name: str, cell: Callable[[Size, int], Cell], records: int, what: str, bound: Callable[[], Enclosure]
) -> Planned:
    def cells(size: Size) -> Sequence[Cell]:
        return [cell(size, records)]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        return bound_check(theorem, _vector(results[0], what), bound(), confidence)

    return Planned(theorem, "bound", f"{name}, n = {records}", cells, judge)


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


def _spider_slope(results: Sequence[Result], confidence: float) -> SlopeCheck:
    """At fixed ε and d the gradient falls like n^(-2/3)."""
    sizes = [float(_records(each)) for each in results]
    samples = [_vector(each, "gradient") for each in results]
    return slope_check(THEOREMS["parameters"], -2 / 3, sizes, samples, confidence=confidence)


def _restarts_slope(results: Sequence[Result], confidence: float) -> SlopeCheck:
    """The gradient falls like √J/n, where J grows like log n: it is divided by √J, a public number."""
    sizes = [float(_records(each)) for each in results]
    samples = [[value / math.sqrt(_number(each, "stages")) for value in _vector(each, "gradient")] for each in results]
    return slope_check(RESTARTED["bound"], -1.0, sizes, samples, confidence=confidence)


PLANNED = (
    _spent(THEOREMS["spent"], "DP-SPIDER, every ledger of the sweep", _spider_sweep, _EPSILON),
    *(_spider_bound(records) for records in (500, 1000, 2000)),
    Planned(THEOREMS["parameters"], "slope", "DP-SPIDER, gradient against n", _spider_sweep, _spider_slope),
    _spent(RESTARTED["spent"], "restarted DP-SPIDER, every ledger of the sweep", _restarts_sweep, _RESTARTS_EPSILON),
    *(check(records) for records in (4000, 32_000, 256_000) for check in (_restarts_bound, _restarts_gap)),
    *(_quartic_gap(records) for records in (500, 1000, 2000)),
    Planned(
        RESTARTED["bound"], "slope", "restarted DP-SPIDER, gradient/√J against n", _restarts_sweep, _restarts_slope
    ),
)
