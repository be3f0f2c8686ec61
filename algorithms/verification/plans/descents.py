"""DP-PGD against Wang & Xu 2019: what it spends, its explicit bounds at three sizes, its exponents in n."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.slopes import SlopeCheck, slope_check
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.descents import design, planned_descent
from dpbounds.expressions.enclosure import Enclosure

_TASK = "algorithms.verification.tasks.descents:projected_gradient"
_EXPLICIT = "wang-xu-2019/theorem-2/explicit"
_DIMENSION, _EPSILON = 5, 1.0
_SIZES = {Size.QUICK: (500, 1000, 2000, 4000), Size.FULL: (500, 1000, 2000, 4000, 8000, 16_000)}
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}


def _cell(size: Size, records: int) -> Cell:
    return Cell.of(_TASK, 0, records=records, dimension=_DIMENSION, epsilon=_EPSILON, repetitions=_REPETITIONS[size])


def _vector(result: Result, name: str) -> list[float]:
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def _number(result: Result, name: str) -> float:
    value = result.numbers[name]
    return value[0] if isinstance(value, list) else value


def _spent(results: Sequence[Result], confidence: float) -> Check:
    """Every run's certified ε lies within its budget: exact, so the confidence does not matter."""
    lower = min(_number(each, "spent_lower") for each in results)
    upper = max(_number(each, "spent_upper") for each in results)
    verdict = Verdict.HOLDS if upper <= _EPSILON else Verdict.FAILS if lower > _EPSILON else Verdict.UNDECIDED
    reason = f"{len(results)} ledgers spend epsilon in [{lower:.12g}, {upper:.12g}] of {_EPSILON:g}, certified"
    budget = Enclosure.exactly(Fraction(_EPSILON), "budget")
    return Check("wang-xu-2019/theorem-1", "spent", budget, Measured(upper, lower, upper), verdict, reason)


def _bounded(records: int, mapping: Literal["noisy", "exact"]) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        algorithm = planned_descent(records, _DIMENSION, _EPSILON)
        bound = algorithm.bound(design(records, _DIMENSION), mapping)
        return bound_check(_EXPLICIT, _vector(results[0], mapping), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_cell(size, records)]

    return Planned(_EXPLICIT, "bound", f"DP-PGD, {mapping} mapping, n = {records}", cells, judge)


def _slope(mapping: Literal["noisy", "exact"]) -> Planned:
    """The mean square of the mapping falls like 1/n at fixed ε and d: the square of Theorem 2's rate."""

    def judge(results: Sequence[Result], confidence: float) -> SlopeCheck:
        sizes = [Cell.from_key(each.key).parameters for each in results]
        records = [float(dict(parameters)["records"] or 0) for parameters in sizes]
        samples = [_vector(each, mapping) for each in results]
        return slope_check("wang-xu-2019/theorem-2", -1.0, records, samples, confidence=confidence)

    return Planned("wang-xu-2019/theorem-2", "slope", f"DP-PGD, {mapping} mapping against n", _sweep, judge)


def _sweep(size: Size) -> Sequence[Cell]:
    return [_cell(size, records) for records in _SIZES[size]]


_MAPPINGS: tuple[Literal["noisy", "exact"], ...] = ("noisy", "exact")

PLANNED = (
    Planned("wang-xu-2019/theorem-1", "spent", "DP-PGD, every ledger of the sweep", _sweep, _spent),
    *(_bounded(records, mapping) for records in (500, 1000, 4000) for mapping in _MAPPINGS),
    # the mapping at the true gradient stays a tenth below its bound, which says nothing about its exponent at such n
    _slope("noisy"),
)
