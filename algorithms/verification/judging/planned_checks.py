"""The kinds of planned checks, for any algorithm: a budget, a bound, a closed form, an exponent.

A study names the cells, their numbers and the claim; this module compares them. The claim is a function of a cell's
result, so that listing the checks builds no bound; by default it is ``bound`` of the algorithm that ran.

Throughout, ``theorem`` is the id of the statement that promises, ``name`` the check's own, which may contain parameters
of a cell in braces: there is then a check for each cell. A quantity is the name of a cell's numbers, one per
repetition, or makes such numbers from its result.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import product

from dpbounds.algorithms.verification.judging.checks import Check, Measured, Numerical, Verdict, bound_check
from dpbounds.algorithms.verification.judging.estimates import (
    always_check,
    estimate_check,
    formula_check,
    quantile_check,
)
from dpbounds.algorithms.verification.judging.regimes import Regime
from dpbounds.algorithms.verification.judging.slopes import (
    FEWEST_POINTS,
    Other,
    Slope,
    SlopeCheck,
    exact_slope_check,
    fit,
    not_asymptotic,
    slope_check,
)
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, Task, Value, number, parameter, vector
from dpbounds.algorithms.verification.sweeping.trials import bound_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.theorems.record import Mode

SUITE_ERROR = 0.01
MOST_CHECKS = 500  # number of checks among which the error is shared, even if there are fewer


class Size(StrEnum):
    """The size of a suite, by time."""

    QUICK = "quick"  # minutes on two cores: every check at small size
    FULL = "full"  # overnight


CellsAt = Callable[[Size], Sequence[Cell]]
Judge = Callable[[Sequence[Result], float], Check | SlopeCheck]
Promise = Callable[[Result], Enclosure]
OWN_BOUND: Promise = bound_of()

Quantity = str | Callable[[Result], Sequence[float]]


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check before it is run.

    Attributes:
        theorem: Id of the statement.
        kind: "spent", "bound", "slope" or "formula".
        name: Its own name; unique.
        cells: The cells to run, by size.
        judge: From the cells' results, in their order, and a confidence, to a verdict. None of them was refused or
            without proof.
        mode: The sense of a bound: of a mean, of a quantile, of every run; None for other kinds. A test compares it
            with the statement's own.
    """

    theorem: str
    kind: str
    name: str
    cells: CellsAt
    judge: Judge
    mode: Mode | None = None


Values = Value | tuple[Value, ...]


def by_size(quick: Values, full: Values) -> Mapping[Size, Values]:
    """Return a parameter, or the values that a sweep gives it, by size."""
    return {Size.QUICK: quick, Size.FULL: full}


def cells(task: Task, **parameters: Values | Mapping[Size, Values]) -> CellsAt:
    """Return cells of a task at every combination of its parameters; a tuple is swept, and may depend on the size.

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
    """Return the cells of several, one after the other."""
    return lambda size: [cell for group in groups for cell in group(size)]


def spent(theorem: str, name: str, cells: CellsAt, budget: ExactLike | None = None, of: str = "spent") -> PlannedCheck:
    """Check that every ledger's certified ε is within its budget: exact, so the confidence does not matter.

    What counts is the ledger that spends most of its budget: it fails as soon as one of them is proven to spend more
    than allowed.

    Args:
        theorem: Id of the statement that promises it.
        name: The name of the check.
        cells: Whose results hold the proven ends ``spent_lower`` and ``spent_upper``, one ledger each.
        budget: ε, the same for all; None: each cell's own parameter ``epsilon``.
        of: Begins the names of the ends, where something else than ε is spent ("delta").
    """

    def judge(results: Sequence[Result], confidence: float) -> Check:
        ledgers = [
            (
                number(result, f"{of}_lower"),
                number(result, f"{of}_upper"),
                exact(parameter(result, "epsilon") if budget is None else budget, "budget"),
            )
            for result in results
        ]
        lower, upper, allowed = max(ledgers, key=lambda ledger: (ledger[0] > ledger[2], ledger[1] / float(ledger[2])))
        verdict = Verdict.HOLDS if upper <= allowed else Verdict.FAILS if lower > allowed else Verdict.UNDECIDED
        most = "the ledger spends" if len(results) == 1 else f"the most that {len(results)} ledgers spend is"
        what = "epsilon" if of == "spent" else of
        ends = Enclosure(Fraction(lower), Fraction(upper) if math.isfinite(upper) else upper)
        reason = f"{most} {what} in {ends:.12g} of {float(allowed):g}, certified"
        measured = Measured(upper, lower, upper)
        return Check(theorem, "spent", Enclosure.exactly(allowed, "budget"), measured, verdict, reason)

    return PlannedCheck(theorem, "spent", name, cells, judge)


Checks = tuple[PlannedCheck, ...]


def bounded(theorem: str, name: str, cells: CellsAt, quantity: Quantity, bound: Promise = OWN_BOUND) -> Checks:
    """Check that the mean of a cell's values stays below an explicit bound on the expectation."""

    def held(result: Result, confidence: float) -> Check:
        return bound_check(theorem, _samples(result, quantity), bound(result), confidence)

    return _for_each(theorem, "bound", name, cells, held, Mode.EXPECTATION)


def quantile_bounded(
    theorem: str, name: str, cells: CellsAt, quantity: Quantity, failure: float | Fraction, bound: Promise | None = None
) -> Checks:
    """Check that their (1-ω)-quantile stays below a bound of that probability, by default that at ``failure``."""
    promise = bound or bound_of(failure)

    def held(result: Result, confidence: float) -> Check:
        return quantile_check(theorem, _samples(result, quantity), promise(result), float(failure), confidence)

    return _for_each(theorem, "bound", name, cells, held, Mode.PROBABILITY)


def always_bounded(theorem: str, name: str, cells: CellsAt, quantity: Quantity, bound: Promise) -> Checks:
    """Check that no value exceeds a bound that always holds: it is deterministic, so the confidence does not matter."""

    def held(result: Result, confidence: float) -> Check:
        return always_check(theorem, _samples(result, quantity), bound(result))

    return _for_each(theorem, "bound", name, cells, held, Mode.ALWAYS)


def rate_bounded(theorem: str, name: str, cells: CellsAt, failure: Promise) -> Checks:
    """Check that the rate at which a bound is exceeded (``hits`` of ``draws`` in a cell) is at most ω."""
    return _estimated(theorem, name, cells, failure, ("hits", "draws"), Mode.PROBABILITY)


def mean_bounded(theorem: str, name: str, cells: CellsAt, bound: Promise) -> Checks:
    """Check that the mean of a cell's sums (``sum``, ``squares``, ``draws``) is below a bound on the expectation."""
    return _estimated(theorem, name, cells, bound, ("sum", "squares", "draws"), Mode.EXPECTATION)


def _estimated(theorem: str, name: str, cells: CellsAt, bound: Promise, counts: Sequence[str], mode: Mode) -> Checks:
    def held(result: Result, confidence: float) -> Check:
        return estimate_check(theorem, {count: number(result, count) for count in counts}, bound(result), confidence)

    return _for_each(theorem, "bound", name, cells, held, mode)


def formula(theorem: str, name: str, cells: CellsAt, value: Callable[[Result], Enclosure | Numerical]) -> Checks:
    """Check that a cell's count or sum (see ``estimates.measured``) agrees with a closed form or a quadrature."""

    def held(result: Result, confidence: float) -> Check:
        return formula_check(theorem, result.numbers, value(result), confidence)

    return _for_each(theorem, "formula", name, cells, held)


def _for_each(
    theorem: str, kind: str, name: str, cells: CellsAt, held: Callable[[Result, float], Check], mode: Mode | None = None
) -> Checks:
    def judge(results: Sequence[Result], confidence: float) -> Check:
        (result,) = results
        return held(result, confidence)

    def alone(place: int) -> CellsAt:
        return lambda size: [cells(size)[place]]

    if "{" not in name:
        return (PlannedCheck(theorem, kind, name, cells, judge, mode),)
    return tuple(
        PlannedCheck(theorem, kind, name.format(**dict(cell.parameters)), alone(place), judge, mode)
        for place, cell in enumerate(cells(Size.QUICK))
    )


def in_turn(*groups: Sequence[PlannedCheck]) -> Checks:
    """Return the first check of each group, then the second of each, and so on."""
    return tuple(check for row in zip(*groups, strict=True) for check in row)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The results of one problem, at increasing sizes."""

    results: list[Result] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    samples: list[Sequence[float]] = field(default_factory=list)

    def fitted(self, confidence: float) -> Slope:
        return fit(self.sizes, self.samples, confidence)


def slope(
    theorem: str,
    name: str,
    cells: CellsAt,
    quantity: Quantity,
    exponent: float,
    against: str = "records",
    chosen: str = "",
    among: str = "{problem}",
    regime: Regime | None = None,
) -> PlannedCheck:
    """Check that the quantity decreases (or increases) over a sweep at the claimed rate, or a better one.

    Args:
        theorem: Id of the statement that promises the exponent.
        name: The name of the check.
        cells: The sweep: at least 3 sizes.
        quantity: Positive, at least 2 repetitions a cell.
        exponent: Promised.
        against: The parameter of the cells that is the size.
        chosen: The problem that was chosen among several because the exponent can be observed there. A match then shows
            that the rate is met somewhere; the verdict uses the chosen problem alone, and the exponents of the others
            are reported.
        among: The name of a problem, with the cells' parameters in braces.
        regime: The sizes at which the exponent can be observed: others are left out, and with fewer than 3 it is
            undecided.
    """

    def judge(results: Sequence[Result], confidence: float) -> SlopeCheck:
        sweeps: dict[str, _Sweep] = defaultdict(_Sweep)
        for result in results:
            sweep = sweeps[among.format(**result.parameters) if chosen else ""]
            sweep.results.append(result)
            sweep.sizes.append(parameter(result, against))
            sweep.samples.append(_samples(result, quantity))
        check = _within(theorem, exponent, sweeps.pop(chosen), regime, confidence)
        if not chosen:
            return check
        others = tuple(
            Other(problem, sweep.fitted(confidence), _ends(regime, sweep)) for problem, sweep in sweeps.items()
        )
        why = f"{chosen}: chosen among {len(others) + 1} problems because the exponents show there"
        reason = f"{check.reason}; on {why}; on the others: {', '.join(map(str, others))}"
        return replace(check, reason=reason, chosen=why, others=others)

    return PlannedCheck(theorem, "slope", name, cells, judge)


def _within(theorem: str, exponent: float, sweep: _Sweep, regime: Regime | None, confidence: float) -> SlopeCheck:
    """Return the check on the sizes at which the exponent can show."""
    if regime is None:
        return slope_check(theorem, exponent, sweep.sizes, sweep.samples, confidence=confidence)
    values = [regime.value(result) for result in sweep.results]
    kept = [place for place, value in enumerate(values) if value >= regime.least]
    told = f"{regime.name} from {min(values):.3g} to {max(values):.3g}"
    if len(kept) < FEWEST_POINTS:
        reason = f"{told}, and only {len(kept)} sizes with {regime.least:g} or more: not asymptotic yet, sweep further"
        return not_asymptotic(theorem, exponent, sweep.fitted(confidence), reason)
    sizes, samples = [sweep.sizes[place] for place in kept], [sweep.samples[place] for place in kept]
    check = slope_check(theorem, exponent, sizes, samples, confidence=confidence)
    left = (
        f", of which {len(values) - len(kept)} below {regime.least:g} are left out" if len(kept) < len(values) else ""
    )
    return replace(check, reason=f"{check.reason}; {told}{left}")


def _ends(regime: Regime | None, sweep: _Sweep) -> str:
    if regime is None:
        return ""
    ends = sorted(regime.value(sweep.results[place]) for place in (0, -1))
    return f"{regime.name} {ends[0]:.2g} to {ends[1]:.2g}"


def exact_slope(
    theorem: str,
    name: str,
    cells: CellsAt,
    quantity: str,
    exponent: float,
    regime: tuple[str, float],
    beside: tuple[str, CellsAt, str],
    against: str = "records",
    chosen: str = "",
) -> PlannedCheck:
    """Return the check of an exponent of deterministic numbers, by the last of their local exponents.

    Args:
        theorem: Id of the statement that promises the exponent.
        name: The name of the check.
        cells: The sweep, at increasing sizes; a number ``of_bound`` of each is reported.
        quantity: Name of a number of each.
        exponent: Promised.
        regime: Name of a number of each, and from which value on an exponent is judged; undecided below.
        beside: The measurements of runs, in words, with their cells and quantity: no verdict depends on them.
        against: The parameter of the cells that is the size.
        chosen: The computed quantity, and the reason for it, in words.
    """
    word, runs, measured = beside
    letters, least = regime

    def judge(results: Sequence[Result], confidence: float) -> SlopeCheck:
        own = [result for result in results if result.task == results[0].task]
        rest = results[len(own) :]
        sizes = [parameter(one, against) for one in own]
        check = exact_slope_check(theorem, exponent, sizes, [number(one, quantity) for one in own])
        reached = [number(one, letters) for one in own]
        share = number(own[-1], "of_bound")
        told = f"{letters} from {reached[0]:.3g} to {reached[-1]:.3g}; {share:.3g} of the bound in the end"
        if min(reached[-2:]) < least:
            check = not_asymptotic(theorem, exponent, check.slope, f"{told}, below {least:g}: not asymptotic yet")
        slope = fit([parameter(one, against) for one in rest], [_samples(one, measured) for one in rest], confidence)
        other = Other(word, slope, f"{letters} below {least:g}")
        return replace(check, reason=f"{check.reason}; {told}; {other}", chosen=chosen, others=(other,))

    return PlannedCheck(theorem, "slope", name, together(cells, runs), judge)


def computed(theorem: str, value: float, promised: Enclosure, verdict: Verdict, reason: str) -> Check:
    """Return the check of a number that was computed and not estimated: its interval is the number itself."""
    return Check(theorem, "formula", promised, Measured(value, value, value), verdict, reason)


def _samples(result: Result, quantity: Quantity) -> Sequence[float]:
    return vector(result, quantity) if isinstance(quantity, str) else quantity(result)
