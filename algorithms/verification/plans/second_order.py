"""Second order: what is spent, how often a guarantee fails at the records it asks for, gradient norms, noise norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result, Value
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.estimates import estimate_check
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

Cells = Callable[[Size], Sequence[Cell]]


def _runs(task: str, **parameters: Value) -> Cells:
    def cells(size: Size) -> Sequence[Cell]:
        return [Cell.of(f"{_TASKS}:{task}", 0, epsilon=_EPSILON, repetitions=_REPETITIONS[size], **parameters)]

    return cells


def _descent(records: int) -> Cells:
    def cells(size: Size) -> Sequence[Cell]:
        repetitions = _DESCENT_REPETITIONS[size]
        parameters: dict[str, Value] = {"records": records, "dimension": _DIMENSION, "epsilon": _EPSILON}
        return [Cell.of(f"{_TASKS}:gradient_descent", 0, repetitions=repetitions, **parameters)]

    return cells


def _number(result: Result, name: str) -> float:
    value = result.numbers[name]
    return value[0] if isinstance(value, list) else value


def _spent(theorem: str, name: str, cells: Cells) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        lower = min(_number(each, "spent_lower") for each in results)
        upper = max(_number(each, "spent_upper") for each in results)
        verdict = Verdict.HOLDS if upper <= _EPSILON else Verdict.FAILS if lower > _EPSILON else Verdict.UNDECIDED
        reason = f"{len(results)} ledgers spend epsilon in [{lower:.12g}, {upper:.12g}] of {_EPSILON:g}, certified"
        budget = Enclosure.exactly(Fraction(_EPSILON), "budget")
        return Check(theorem, "spent", budget, Measured(upper, lower, upper), verdict, reason)

    return Planned(theorem, "spent", name, cells, judge)


def _guaranteed(theorem: str, name: str, cells: Cells) -> Planned:
    """Failures among independent runs at the smallest n of the guarantee; Clopper and Pearson's interval."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return estimate_check(theorem, result.numbers, Enclosure.exactly(FAILURE), confidence)

    return Planned(theorem, "bound", name, cells, judge)


def _gradient_norm(records: int) -> Planned:
    theorem = "wang-chen-xu-2019/algorithm-4/explicit"

    def judge(results: Sequence[Result], confidence: float) -> Check:
        samples = results[0].numbers["exact"]
        bound = planned_descent(records, _DIMENSION, _EPSILON).bound(regression(records, _DIMENSION))
        return bound_check(theorem, samples, bound, confidence)

    return Planned(theorem, "bound", f"DP-GD, squared gradient norm, n = {records}", _descent(records), judge)


def _operator_norm(dimension: int) -> Planned:
    theorem, failure = "wang-chen-xu-2019/theorem-8/explicit", 0.2

    def cells(size: Size) -> Sequence[Cell]:
        return [Cell.of(f"{_TASKS}:operator_norm", 0, dimension=dimension, failure=failure, draws=_DRAWS[size])]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return estimate_check(theorem, result.numbers, Enclosure.exactly(Fraction(failure)), confidence)

    return Planned(theorem, "bound", f"operator norm of symmetric noise, d = {dimension}", cells, judge)


# √(ρ_H α) < 1 with ρ_H = 9: the start, a saddle point of curvature -1, is not good enough.
_ALPHAS = ("1/10", "1/14", "1/20")
_IN_A_SET = (("1/2", "1"), ("1/2", "5/4"), ("1", "3/4"))


def _nc(alpha: str) -> Cells:
    return _runs("negative_curvature", stationarity=alpha)


def _selection(alpha: str) -> Cells:
    return _runs("selection", stationarity=alpha, steps=150)


def _constrained(gap: str, curvature: str) -> Cells:
    return _runs("constrained", dimension=1, radius="6/5", gap_tolerance=gap, curvature_tolerance=curvature)


PLANNED = (
    _spent("wang-chen-xu-2019/theorem-7", "DP-GD, ledger", _descent(500)),
    *(_gradient_norm(records) for records in (500, 1000, 2000)),
    _spent("wang-chen-xu-2019/algorithm-5", "SOSP selection, ledger", _selection("1/10")),
    *(
        _guaranteed("wang-chen-xu-2019/theorem-8/explicit", f"SOSP selection fails, α = {alpha}", _selection(alpha))
        for alpha in _ALPHAS
    ),
    *(_operator_norm(dimension) for dimension in (2, 10)),
    _spent("wang-chen-xu-2019/theorem-9", "DP-GD-SO, ledger", _constrained(*_IN_A_SET[0])),
    *(
        _guaranteed(
            "wang-chen-xu-2019/theorem-9/explicit", f"DP-GD-SO fails, a = {gap}, b = {bend}", _constrained(gap, bend)
        )
        for gap, bend in _IN_A_SET
    ),
    _spent("dpbounds/negative-curvature-descent", "DP-NC, ledger", _nc("1/10")),
    *(_guaranteed("dpbounds/negative-curvature-descent", f"DP-NC fails, α = {alpha}", _nc(alpha)) for alpha in _ALPHAS),
)
