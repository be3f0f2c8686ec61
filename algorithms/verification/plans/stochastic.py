"""Stochastic gradient descent against Lowy, Ullman & Wright 2024: what it spends, explicit bounds, an exponent in n."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result
from algorithms.verification.checks import Check, Measured, Verdict, bound_check
from algorithms.verification.estimates import estimate_check
from algorithms.verification.slopes import SlopeCheck, slope_check
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks import stochastic as tasks
from dpbounds.expressions.enclosure import Enclosure

_TASKS = "algorithms.verification.tasks.stochastic"
_SPENT = "lowy-ullman-wright-2024/algorithm-3"
_EXPLICIT = "lowy-ullman-wright-2024/proposition-d.1/explicit"
_SELECTED = "lowy-ullman-wright-2024/proposition-5.2/explicit"
_DIMENSION, _EPSILON, _FAILURE = 5, 1.0, 0.25
_SIZES = {Size.QUICK: (100, 200, 400), Size.FULL: (100, 200, 400, 800, 1600)}
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}
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


def _vector(result: Result, name: str) -> list[float]:
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def _spent(results: Sequence[Result], confidence: float) -> Check:
    lower = min(_vector(each, "spent_lower")[0] for each in results)
    upper = max(_vector(each, "spent_upper")[0] for each in results)
    verdict = Verdict.HOLDS if upper <= _EPSILON else Verdict.FAILS if lower > _EPSILON else Verdict.UNDECIDED
    reason = f"{len(results)} ledgers spend epsilon in [{lower:.12g}, {upper:.12g}] of {_EPSILON:g}, certified"
    budget = Enclosure.exactly(Fraction(_EPSILON), "budget")
    return Check(_SPENT, "spent", budget, Measured(upper, lower, upper), verdict, reason)


def _ledgers(size: Size) -> Sequence[Cell]:
    return [_cell(size, 200), _cell(size, 400), _cell(size, 500, "poisson"), _selection(size, 200)]


def _bounded(records: int, sampling: str, loss: str) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        algorithm = tasks.planned_stochastic(records, _DIMENSION, _EPSILON, sampling, loss)
        bound = algorithm.bound(tasks.realisable(records, _DIMENSION, loss))
        return bound_check(_EXPLICIT, _vector(results[0], "excess"), bound, confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_cell(size, records, sampling, loss)]

    return Planned(_EXPLICIT, "bound", f"DP-SGD, {sampling} batch, {loss}, n = {records}", cells, judge)


def _selection(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:selected",
        0,
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        failure_probability=_FAILURE,
        repetitions=_DRAWS[size],
    )


def _exceeded(records: int) -> Planned:
    """The selected output exceeds its bound with a probability of at most ζ."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        return estimate_check(_SELECTED, results[0].numbers, Enclosure.exactly(Fraction(_FAILURE)), confidence)

    def cells(size: Size) -> Sequence[Cell]:
        return [_selection(size, records)]

    return Planned(_SELECTED, "bound", f"selected DP-SGD, how often above the bound, n = {records}", cells, judge)


def _slope(results: Sequence[Result], confidence: float) -> SlopeCheck:
    """The excess risk falls like 1/n at fixed ε and p."""
    records = [float(dict(Cell.from_key(each.key).parameters)["records"] or 0) for each in results]
    samples = [_vector(each, "excess") for each in results]
    return slope_check("lowy-ullman-wright-2024/proposition-5.2", -1.0, records, samples, confidence=confidence)


def _sweep(size: Size) -> Sequence[Cell]:
    return [_cell(size, records) for records in _SIZES[size]]


PLANNED: tuple[Planned, ...] = (
    Planned(_SPENT, "spent", "DP-SGD, ledgers of full and Poisson batches, and of a selection", _ledgers, _spent),
    *(_bounded(records, "full", "geman-mcclure") for records in (100, 200, 400)),
    _bounded(400, "full", "cauchy"),
    _bounded(500, "poisson", "geman-mcclure"),
    *(_exceeded(records) for records in (100, 200, 400)),
    Planned("lowy-ullman-wright-2024/proposition-5.2", "slope", "DP-SGD, excess risk against n", _sweep, _slope),
)
