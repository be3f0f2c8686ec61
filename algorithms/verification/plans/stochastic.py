"""Stochastic gradient descent against Lowy, Ullman & Wright 2024: what it spends, explicit bounds, an exponent in n."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell
from algorithms.verification.plans.shapes import bounded, quantile_bounded, slope, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks import stochastic as tasks
from dpbounds.expressions.enclosure import Enclosure

_TASKS = "algorithms.verification.tasks.stochastic"
_SPENT = "lowy-ullman-wright-2024/algorithm-3"
_EXPLICIT = "lowy-ullman-wright-2024/proposition-d.1/explicit"
_SELECTED = "lowy-ullman-wright-2024/proposition-5.2/explicit"
_DIMENSION, _EPSILON = 5, 1.0
_RUNS = 3  # enough for a failure probability of 1/4
_FAILURE = Fraction(1, 4)
_SIZES = {Size.QUICK: (100, 200, 400, 800), Size.FULL: (100, 200, 400, 800, 1600)}
_REPETITIONS = {Size.QUICK: 32, Size.FULL: 64}
_DRAWS = {Size.QUICK: 64, Size.FULL: 1000}


def _cell(size: Size, records: int, sampling: str = "full", loss: str = "geman-mcclure") -> Cell:
    return Cell.of(
        f"{_TASKS}:stochastic",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        sampling=sampling,
        loss=loss,
        repetitions=_REPETITIONS[size],
    )


def _ledgers(size: Size) -> Sequence[Cell]:
    return [_cell(size, 200), _cell(size, 400), _cell(size, 500, "poisson"), _selection(size, 250)]


def _bounded(records: int, sampling: str, loss: str) -> Planned:
    def bound() -> Enclosure:
        algorithm = tasks.planned_stochastic(records, _DIMENSION, _EPSILON, sampling, loss)
        return algorithm.bound(tasks.realisable(records, _DIMENSION, loss))

    name = f"DP-SGD, {sampling} batch, {loss}, n = {records}"
    return bounded(_EXPLICIT, name, lambda size: _cell(size, records, sampling, loss), "excess", bound)


def _selection(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:selected",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        runs=_RUNS,
        repetitions=_DRAWS[size],
    )


def _selected(records: int) -> Planned:
    """The selected output exceeds its bound with a probability of at most ζ: its (1-ζ)-quantile is at most that."""

    def bound() -> Enclosure:
        algorithm, problem = tasks.planned_selected(records, _DIMENSION, tasks.budget_of(_EPSILON), _RUNS)
        return algorithm.bound(problem, _FAILURE)

    name = f"selected DP-SGD, quantile of the excess risk, n = {records}"
    cell, failure = (lambda size: _selection(size, records)), float(_FAILURE)
    return quantile_bounded(_SELECTED, name, cell, "excess", bound, failure)


def _sweep(size: Size) -> Sequence[Cell]:
    return [_cell(size, records) for records in _SIZES[size]]


PLANNED: tuple[Planned, ...] = (
    spent(_SPENT, "DP-SGD, ledgers of full and Poisson batches, and of a selection", _ledgers, _EPSILON),
    *(_bounded(records, "full", "geman-mcclure") for records in (100, 200, 400)),
    _bounded(400, "full", "cauchy"),
    _bounded(500, "poisson", "geman-mcclure"),
    # below these sizes the bound exceeds the largest loss there is
    *(_selected(records) for records in (250, 300, 400)),
    # at fixed ε and p
    slope("lowy-ullman-wright-2024/proposition-5.2", "DP-SGD, excess risk against n", _sweep, "excess", -1.0),
)
