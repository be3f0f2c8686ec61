"""The kinds of planned checks, whatever the algorithm: a budget, a bound, a closed form, an exponent.

A study says which cells, which of their numbers and which promise; how the two are held against each other stands here.
What is promised is a function of a cell's result, so that listing the checks builds no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import product

from dpbounds.algorithms.verification.judging.checks import Check, Measured, Numerical, Verdict, bound_check
from dpbounds.algorithms.verification.judging.estimates import (
    always_check,
    estimate_check,
    formula_check,
    quantile_check,
)
from dpbounds.algorithms.verification.judging.slopes import SlopeCheck, fit, slope_check
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, Task, Value, number, parameter, text, vector
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.theorems.record import Mode

SUITE_ERROR = 0.01
MOST_CHECKS = 500  # among which the error is shared, whether there are so many or not


class Size(StrEnum):
    """How long a suite may take."""

    QUICK = "quick"  # minutes on two cores: every check at small size
    FULL = "full"  # overnight


CellsAt = Callable[[Size], Sequence[Cell]]
Judge = Callable[[Sequence[Result], float], Check | SlopeCheck]
Promise = Callable[[Result], Enclosure]

Quantity = str | Callable[[Result], Sequence[float]]
"""The name of a cell's numbers, one per repetition, or how to make such numbers from its result."""


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check before it is run.

    Attributes:
        theorem: Id of the statement.
        kind: "spent", "bound", "slope" or "formula".
        name: Its own name; unique.
        cells: What must be run, by size.
        judge: From the cells' results, in their order, and a confidence, to a verdict. None of them was refused or
            without proof.
        mode: In which sense a bound is held: of a mean, of a quantile, of every run; None for other kinds. A test holds
            it against the statement's own.
    """

    theorem: str
    kind: str
    name: str
    cells: CellsAt
    judge: Judge
    mode: Mode | None = None


Values = Value | tuple[Value, ...]


def by_size(quick: Values, full: Values) -> Mapping[Size, Values]:
    """A parameter, or the values that a sweep gives it, by size."""
    return {Size.QUICK: quick, Size.FULL: full}


def cells(task: Task, **parameters: Values | Mapping[Size, Values]) -> CellsAt:
    """Cells of a task at every combination of its parameters: a tuple is swept, and either may depend on the size.

    >>> import math
    >>> [cell.parameters for cell in cells(math.pow, x=(1, 2), y=by_size(3, 30))(Size.QUICK)]
    [(('x', 1), ('y', 3)), (('x', 2), ('y', 3))]
    """

    def at(size: Size) -> list[Cell]:
        given = [values[size] if isinstance(values, Mapping) else values for values in parameters.values()]
        axes = [values if isinstance(values, tuple) else (values,) for values in given]
        return [Cell.of(task, 0, **dict(zip(parameters, values, strict=True))) for values in product(*axes)]

    return at


def together(*groups: CellsAt) -> CellsAt:
    """The cells of several, one after the other."""
    return lambda size: [cell for group in groups for cell in group(size)]


def spent(theorem: str, name: str, cells: CellsAt, budget: ExactLike | None = None, of: str = "spent") -> PlannedCheck:
    """Every ledger's certified ε lies within its budget: exact, so the confidence does not matter.

    What counts is the ledger that spends most of its budget: it fails as soon as one of them is proven to spend more
    than allowed.

    Args:
        theorem: Id of the statement that promises it.
        name: Of the check.
        cells: Whose results hold the proven ends ``spent_lower`` and ``spent_upper``, one ledger each.
        budget: ε, the same for all; None: each cell's own parameter ``epsilon``.
        of: Begins the names of the ends, where something else than ε is spent ("delta").
    """

    def judge(results: Sequence[Result], confidence: float) -> Check:
        ledgers = [
            _Ledger(
                number(result, f"{of}_lower"),
                number(result, f"{of}_upper"),
                exact(parameter(result, "epsilon") if budget is None else budget, "budget"),
            )
            for result in results
        ]
        worst = max(ledgers, key=lambda ledger: (ledger.verdict is Verdict.FAILS, ledger.upper / float(ledger.allowed)))
        most = "the ledger spends" if len(results) == 1 else f"the most that {len(results)} ledgers spend is"
        what = "epsilon" if of == "spent" else of
        reason = f"{most} {what} in [{worst.lower:.12g}, {worst.upper:.12g}] of {float(worst.allowed):g}, certified"
        measured = Measured(worst.upper, worst.lower, worst.upper)
        return Check(theorem, "spent", Enclosure.exactly(worst.allowed, "budget"), measured, worst.verdict, reason)

    return PlannedCheck(theorem, "spent", name, cells, judge)


@dataclass(frozen=True, slots=True)
class _Ledger:
    """The proven ends of what one run spent, and what it was allowed to."""

    lower: float
    upper: float
    allowed: Fraction

    @property
    def verdict(self) -> Verdict:
        if self.upper <= self.allowed:
            return Verdict.HOLDS
        return Verdict.FAILS if self.lower > self.allowed else Verdict.UNDECIDED


def bounded(theorem: str, name: str, cells: CellsAt, quantity: Quantity, bound: Promise) -> tuple[PlannedCheck, ...]:
    """The mean of what the repetitions of a cell measured stays below an explicit bound on the expectation.

    Args:
        theorem: Id of the statement that promises the bound.
        name: Of the check; parameters of the cell may stand in braces, and there is a check for each cell then.
        cells: One, or some that the name tells apart.
        quantity: What is bounded.
        bound: The explicit bound.
    """

    def held(result: Result, confidence: float) -> Check:
        return bound_check(theorem, _samples(result, quantity), bound(result), confidence)

    return _for_each(theorem, "bound", name, cells, held, Mode.EXPECTATION)


def quantile_bounded(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, bound: Promise, failure: float
) -> tuple[PlannedCheck, ...]:
    """The (1-ω)-quantile of the same stays below a bound, evaluated at ω = ``failure``, that holds as often."""

    def held(result: Result, confidence: float) -> Check:
        return quantile_check(theorem, _samples(result, quantity), bound(result), failure, confidence)

    return _for_each(theorem, "bound", name, cells, held, Mode.PROBABILITY)


def always_bounded(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, bound: Promise
) -> tuple[PlannedCheck, ...]:
    """None of the same exceeds a bound that always holds: no chance is in it, so the confidence does not matter."""

    def held(result: Result, confidence: float) -> Check:
        return always_check(theorem, _samples(result, quantity), bound(result))

    return _for_each(theorem, "bound", name, cells, held, Mode.ALWAYS)


def rate_bounded(theorem: str, name: str, cells: CellsAt, failure: Promise) -> tuple[PlannedCheck, ...]:
    """How often a cell counted (``hits`` of ``draws``) that a bound was exceeded is at most ω."""
    return _estimated(theorem, name, cells, failure, ("hits", "draws"), Mode.PROBABILITY)


def mean_bounded(theorem: str, name: str, cells: CellsAt, bound: Promise) -> tuple[PlannedCheck, ...]:
    """The mean of what a cell summed (``sum``, ``squares``, ``draws``) stays below a bound on the expectation."""
    return _estimated(theorem, name, cells, bound, ("sum", "squares", "draws"), Mode.EXPECTATION)


def _estimated(
    theorem: str, name: str, cells: CellsAt, bound: Promise, counts: Sequence[str], mode: Mode
) -> tuple[PlannedCheck, ...]:
    def held(result: Result, confidence: float) -> Check:
        return estimate_check(theorem, {count: number(result, count) for count in counts}, bound(result), confidence)

    return _for_each(theorem, "bound", name, cells, held, mode)


def formula(
    theorem: str, name: str, cells: CellsAt, value: Callable[[Result], Enclosure | Numerical]
) -> tuple[PlannedCheck, ...]:
    """What a cell counted or summed (see ``estimates.measured``) is what a closed form or a quadrature says."""

    def held(result: Result, confidence: float) -> Check:
        return formula_check(theorem, result.numbers, value(result), confidence)

    return _for_each(theorem, "formula", name, cells, held)


def _for_each(
    theorem: str, kind: str, name: str, cells: CellsAt, held: Callable[[Result, float], Check], mode: Mode | None = None
) -> tuple[PlannedCheck, ...]:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return held(result, confidence)

    if "{" not in name:
        return (PlannedCheck(theorem, kind, name, cells, judge, mode),)
    return tuple(
        PlannedCheck(theorem, kind, name.format(**dict(cell.parameters)), partial(_nth, cells, place), judge, mode)
        for place, cell in enumerate(cells(Size.QUICK))
    )


def _nth(cells: CellsAt, place: int, size: Size) -> Sequence[Cell]:
    return [cells(size)[place]]


def in_turn(*groups: Sequence[PlannedCheck]) -> tuple[PlannedCheck, ...]:
    """The first check of each group, then the second of each, and so on."""
    return tuple(check for row in zip(*groups, strict=True) for check in row)


def slope(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, exponent: float, against: str = "records"
) -> PlannedCheck:
    """What is measured over a sweep falls (or grows) as fast as promised, or better.

    Args:
        theorem: Id of the statement that promises the exponent.
        name: Of the check.
        cells: The sweep: at least 3 sizes.
        quantity: Positive, at least 2 repetitions a cell.
        exponent: Promised.
        against: Which parameter of the cells is the size.
    """

    def judge(results: Sequence[Result], confidence: float) -> SlopeCheck:
        return slope_check(theorem, exponent, *_sweep(results, quantity, against), confidence=confidence)

    return PlannedCheck(theorem, "slope", name, cells, judge)


def slope_where_it_shows(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, exponent: float, against: str, chosen: str
) -> PlannedCheck:
    """The same on a problem that was chosen among several because the exponent shows there; the others are told.

    A match then says that the rate is met somewhere; the verdict rests on the chosen problem alone.

    Args:
        theorem: Id of the statement that promises the exponent.
        name: Of the check.
        cells: Sweeps over all problems, each with its parameter ``problem``.
        quantity: Positive, at least 2 repetitions a cell.
        exponent: Promised.
        against: Which parameter of the cells is the size.
        chosen: The problem on which the exponent is held against the promise.
    """

    def judge(results: Sequence[Result], confidence: float) -> SlopeCheck:
        by_problem: dict[str, list[Result]] = {}
        for result in results:
            by_problem.setdefault(text(result, "problem"), []).append(result)
        sweeps = {problem: _sweep(sweep, quantity, against) for problem, sweep in by_problem.items()}
        check = slope_check(theorem, exponent, *sweeps.pop(chosen), confidence=confidence)
        others = tuple((problem, fit(*sweep, confidence)) for problem, sweep in sweeps.items())
        why = f"{chosen}: chosen among {len(others) + 1} problems because the exponents show there"
        elsewhere = ", ".join(f"{slope.value:.2f} ({problem})" for problem, slope in others)
        reason = f"{check.reason}; on {why}; on the others: {elsewhere}"
        return replace(check, reason=reason, chosen=why, others=others)

    return PlannedCheck(theorem, "slope", name, cells, judge)


def computed(theorem: str, value: float, promised: Enclosure, verdict: Verdict, reason: str) -> Check:
    """The check of a number that was computed and not estimated: its interval is the number itself."""
    return Check(theorem, "formula", promised, Measured(value, value, value), verdict, reason)


def _sweep(results: Sequence[Result], quantity: Quantity, against: str) -> tuple[list[float], list[Sequence[float]]]:
    """Sizes, and the repetitions at each of them."""
    return [parameter(result, against) for result in results], [_samples(result, quantity) for result in results]


def _samples(result: Result, quantity: Quantity) -> Sequence[float]:
    return vector(result, quantity) if isinstance(quantity, str) else quantity(result)
