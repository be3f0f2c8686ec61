"""Second order: what is spent, how often a guarantee fails at the records it asks for, gradient norms, noise norms."""

from __future__ import annotations

from algorithms.verification.cells import Cell, Value
from algorithms.verification.plans.shapes import CellAt, bounded, only, rate_bounded, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.second_order import FAILURE, planned_descent, regression
from dpbounds.expressions.enclosure import Enclosure

_TASKS = "algorithms.verification.tasks.second_order"
_EPSILON = 1.0
_DIMENSION = 5
_DESCENT_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}
# Without a failure, this many runs put the upper end of a 1 - 1e-5 interval below FAILURE.
_REPETITIONS = {Size.QUICK: 64, Size.FULL: 256}
_DRAWS = {Size.QUICK: 10_000, Size.FULL: 200_000}


def _runs(task: str, **parameters: Value) -> CellAt:
    def cell(size: Size) -> Cell:
        return Cell.of(f"{_TASKS}:{task}", 0, epsilon=_EPSILON, repetitions=_REPETITIONS[size], **parameters)

    return cell


def _descent(records: int) -> CellAt:
    def cell(size: Size) -> Cell:
        repetitions = _DESCENT_REPETITIONS[size]
        parameters: dict[str, Value] = {"records": records, "dimension": _DIMENSION, "epsilon": _EPSILON}
        return Cell.of(f"{_TASKS}:gradient_descent", 0, repetitions=repetitions, **parameters)

    return cell


def _ledger(theorem: str, name: str, cell: CellAt) -> Planned:
    return spent(theorem, f"{name}, ledger", only(cell), _EPSILON)


def _guaranteed(theorem: str, name: str, cell: CellAt) -> Planned:
    """Failures among independent runs at the smallest n of the guarantee; Clopper and Pearson's interval."""
    return rate_bounded(theorem, name, cell, lambda: Enclosure.exactly(FAILURE))


def _gradient_norm(records: int) -> Planned:
    def bound() -> Enclosure:
        return planned_descent(records, _DIMENSION, _EPSILON).bound(regression(records, _DIMENSION))

    name = f"DP-GD, squared gradient norm, n = {records}"
    return bounded("wang-chen-xu-2019/algorithm-4/explicit", name, _descent(records), "exact", bound)


def _operator_norm(dimension: int) -> Planned:
    failure = 0.2

    def cell(size: Size) -> Cell:
        return Cell.of(f"{_TASKS}:operator_norm", dimension=dimension, failure=failure, draws=_DRAWS[size])

    name = f"operator norm of symmetric noise, d = {dimension}"
    return rate_bounded("wang-chen-xu-2019/theorem-8/explicit", name, cell, lambda: Enclosure.exactly(failure))


# √(ρ_H α) < 1 with ρ_H = 9: the start, a saddle point of curvature -1, is not good enough.
_ALPHAS = ("1/10", "1/14", "1/20")
_IN_A_SET = (("1/2", "1"), ("1/2", "5/4"), ("1", "3/4"))


def _nc(alpha: str) -> CellAt:
    return _runs("negative_curvature", stationarity=alpha)


def _selection(alpha: str) -> CellAt:
    return _runs("selection", stationarity=alpha, steps=150)


def _constrained(gap: str, curvature: str) -> CellAt:
    return _runs("constrained", dimension=1, radius="6/5", gap_tolerance=gap, curvature_tolerance=curvature)


PLANNED = (
    _ledger("wang-chen-xu-2019/theorem-7", "DP-GD", _descent(500)),
    *(_gradient_norm(records) for records in (500, 1000, 2000)),
    _ledger("wang-chen-xu-2019/algorithm-5", "SOSP selection", _selection("1/10")),
    *(
        _guaranteed("wang-chen-xu-2019/theorem-8/explicit", f"SOSP selection fails, α = {alpha}", _selection(alpha))
        for alpha in _ALPHAS
    ),
    *(_operator_norm(dimension) for dimension in (2, 10)),
    _ledger("wang-chen-xu-2019/theorem-9", "DP-GD-SO", _constrained(*_IN_A_SET[0])),
    *(
        _guaranteed(
            "wang-chen-xu-2019/theorem-9/explicit", f"DP-GD-SO fails, a = {gap}, b = {bend}", _constrained(gap, bend)
        )
        for gap, bend in _IN_A_SET
    ),
    _ledger("dpbounds/negative-curvature-descent", "DP-NC", _nc("1/10")),
    *(_guaranteed("dpbounds/negative-curvature-descent", f"DP-NC fails, α = {alpha}", _nc(alpha)) for alpha in _ALPHAS),
)
