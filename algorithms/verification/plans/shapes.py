"""The shapes that checks have, whatever the algorithm: a budget, a bound, a closed form, an exponent.

A plan says which cells, which of their numbers and which promise; how the two are held against each other stands here.
What is promised is a function, so that listing the checks builds no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from algorithms.verification.cells import Cell, Result, number, parameter, text, vector
from algorithms.verification.checks import Check, Measured, Numerical, Verdict, bound_check
from algorithms.verification.estimates import always_check, estimate_check, formula_check, quantile_check
from algorithms.verification.slopes import SlopeCheck, fit, slope_check
from algorithms.verification.suite import Planned, Size
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.theorems.record import Mode

CellAt = Callable[[Size], Cell]
CellsAt = Callable[[Size], Sequence[Cell]]
Promise = Callable[[], Enclosure]

Quantity = str | Callable[[Result], Sequence[float]]
"""The name of a cell's numbers, one per repetition, or how to make such numbers from its result."""


def own_epsilon(result: Result) -> ExactLike:
    """The budget of a cell that has its ε among its parameters."""
    return parameter(result, "epsilon")


def spent(
    theorem: str,
    name: str,
    cells: CellsAt,
    budget: ExactLike | Callable[[Result], ExactLike],
    of: str = "spent",
) -> Planned:
    """Every ledger's certified ε lies within its budget: exact, so the confidence does not matter.

    What counts is the ledger that spends most of its budget: it fails as soon as one of them is proven to spend more
    than allowed.

    Args:
        theorem: Id of the statement that promises it.
        name: Of the check.
        cells: Whose results hold the proven ends ``spent_lower`` and ``spent_upper``, one ledger each.
        budget: ε, the same for all; or each cell's own, from its result.
        of: Begins the names of the ends, where something else than ε is spent ("delta").
    """

    def judge(results: Sequence[Result], confidence: float) -> Check:
        ledgers = [
            _Ledger(
                number(each, f"{of}_lower"),
                number(each, f"{of}_upper"),
                exact(budget(each) if callable(budget) else budget, "budget"),
            )
            for each in results
        ]
        worst = max(ledgers, key=lambda one: (one.verdict is Verdict.FAILS, one.upper / float(one.allowed)))
        most = "the ledger spends" if len(results) == 1 else f"the most that {len(results)} ledgers spend is"
        what = "epsilon" if of == "spent" else of
        ends, allowed = f"[{worst.lower:.12g}, {worst.upper:.12g}]", float(worst.allowed)
        measured = Measured(worst.upper, worst.lower, worst.upper)
        promised = Enclosure.exactly(worst.allowed, "budget")
        return Check(
            theorem, "spent", promised, measured, worst.verdict, f"{most} {what} in {ends} of {allowed:g}, certified"
        )

    return Planned(theorem, "spent", name, cells, judge)


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


def bounded(theorem: str, name: str, cell: CellAt, quantity: Quantity, bound: Promise) -> Planned:
    """The mean of what the repetitions of one cell measured stays below an explicit bound on the expectation.

    Args:
        theorem: Id of the statement that promises the bound.
        name: Of the check.
        cell: By size.
        quantity: What is bounded.
        bound: The explicit bound.
    """

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return bound_check(theorem, _samples(result, quantity), bound(), confidence)

    return Planned(theorem, "bound", name, only(cell), judge, Mode.EXPECTATION)


def quantile_bounded(
    theorem: str, name: str, cell: CellAt, quantity: Quantity, bound: Promise, failure: float
) -> Planned:
    """The (1-ω)-quantile of the same stays below a bound that holds with a probability of at least 1-ω.

    Args:
        theorem: Id of the statement that promises the bound.
        name: Of the check.
        cell: By size.
        quantity: What is bounded.
        bound: The explicit bound, evaluated at that ω.
        failure: ω.
    """

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return quantile_check(theorem, _samples(result, quantity), bound(), failure, confidence)

    return Planned(theorem, "bound", name, only(cell), judge, Mode.PROBABILITY)


def always_bounded(theorem: str, name: str, cell: CellAt, quantity: Quantity, bound: Promise) -> Planned:
    """None of the same exceeds a bound that always holds: no chance is in it, so the confidence does not matter."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return always_check(theorem, _samples(result, quantity), bound())

    return Planned(theorem, "bound", name, only(cell), judge, Mode.ALWAYS)


def rate_bounded(theorem: str, name: str, cell: CellAt, failure: Promise) -> Planned:
    """How often one cell counted (``hits`` of ``draws``) that a bound was exceeded is at most ω."""
    return _estimated(theorem, name, cell, failure, ("hits", "draws"), Mode.PROBABILITY)


def mean_bounded(theorem: str, name: str, cell: CellAt, bound: Promise) -> Planned:
    """The mean of what one cell summed (``sum``, ``squares``, ``draws``) stays below a bound on the expectation."""
    return _estimated(theorem, name, cell, bound, ("sum", "squares", "draws"), Mode.EXPECTATION)


def _estimated(theorem: str, name: str, cell: CellAt, bound: Promise, names: Sequence[str], mode: Mode) -> Planned:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return estimate_check(theorem, {each: number(result, each) for each in names}, bound(), confidence)

    return Planned(theorem, "bound", name, only(cell), judge, mode)


def formula(theorem: str, name: str, cell: CellAt, value: Callable[[], Enclosure | Numerical]) -> Planned:
    """What one cell counted or summed (see ``estimates.measured``) is what a closed form or a quadrature says."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return formula_check(theorem, result.numbers, value(), confidence)

    return Planned(theorem, "formula", name, only(cell), judge)


def slope(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, exponent: float, against: str = "records"
) -> Planned:
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
        sizes = [parameter(each, against) for each in results]
        samples = [_samples(each, quantity) for each in results]
        return slope_check(theorem, exponent, sizes, samples, confidence=confidence)

    return Planned(theorem, "slope", name, cells, judge)


def slope_where_it_shows(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, exponent: float, against: str, chosen: str
) -> Planned:
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
        sweeps: dict[str, tuple[list[float], list[Sequence[float]]]] = {}
        for each in results:
            sizes, samples = sweeps.setdefault(text(each, "problem"), ([], []))
            sizes.append(float(parameter(each, against)))
            samples.append(_samples(each, quantity))
        check = slope_check(theorem, exponent, *sweeps.pop(chosen), confidence=confidence)
        others = tuple((problem, fit(*sweep, confidence)) for problem, sweep in sweeps.items())
        why = f"{chosen}: chosen among {len(others) + 1} problems because the exponents show there"
        elsewhere = ", ".join(f"{each.value:.2f} ({problem})" for problem, each in others)
        reason = f"{check.reason}; on {why}; on the others: {elsewhere}"
        return replace(check, reason=reason, chosen=why, others=others)

    return Planned(theorem, "slope", name, cells, judge)


def computed(theorem: str, found: float, promised: Enclosure, verdict: Verdict, reason: str) -> Check:
    """The check of a number that was computed and not estimated: its interval is the number itself."""
    return Check(theorem, "formula", promised, Measured(found, found, found), verdict, reason)


def only(cell: CellAt) -> CellsAt:
    """That cell and no other."""
    return lambda size: [cell(size)]


def _samples(result: Result, quantity: Quantity) -> Sequence[float]:
    return vector(result, quantity) if isinstance(quantity, str) else quantity(result)
