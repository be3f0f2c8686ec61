"""The suite: the statements checked, the checks, and their results; attached to theorem ids.

A planned check names its cells (so that a sweep can run them anywhere, once) and judges what they gave. The confidence
of each check is chosen so that the whole suite raises a false alarm at most once in a hundred runs, and so that it does
not change when a check is added. That rate rests on the intervals: those of counts and quantiles are exact, those of
means and slopes are Student's, exact for normal averages and approximate otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from dpbounds.algorithms.verification import catalogue
from dpbounds.algorithms.verification.attacks.every_example import checks_of
from dpbounds.algorithms.verification.judging.checks import Check, Verdict, lost_check, refused_check, unproven_check
from dpbounds.algorithms.verification.judging.planned_checks import (
    MOST_CHECKS,
    SUITE_ERROR,
    CellsAt,
    PlannedCheck,
    Size,
)
from dpbounds.algorithms.verification.judging.slopes import SlopeCheck, confidence_of
from dpbounds.algorithms.verification.sweeping.cells import NO_PROOF, Cell, NotMeasured, Result
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import Progress, sweep
from dpbounds.errors import InvalidValue, nearest

_CHEAPEST_FIRST = ("formula", "bound", "spent", "slope")


class HasCells(Protocol):
    """A planned check or experiment."""

    @property
    def cells(self) -> CellsAt:
        """Return the runs to make, by size."""


Planned = TypeVar("Planned", bound=HasCells)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check after it was run.

    Attributes:
        planned: The plan.
        check: The check.
        seconds: The time of its cells.
    """

    planned: PlannedCheck
    check: Check | SlopeCheck
    seconds: float


@cache
def planned(theorems: tuple[str, ...] | None = None) -> tuple[PlannedCheck, ...]:
    """Return all checks, or those of some statements, from the studies that hold them; names are unique."""
    names = catalogue.ALL if theorems is None else catalogue.studies_of(theorems)
    studies = {name: catalogue.study(name) for name in catalogue.ALL if name in names}
    checks = [check for name in catalogue.FAMILIES if name in studies for check in studies[name].checks]
    checks += checks_of([example for held in studies.values() for example in held.examples])
    checks += [check for name in catalogue.ACROSS if name in studies for check in studies[name].checks]
    if len(checks) > MOST_CHECKS:
        raise InvalidValue("checks", len(checks), f"at most {MOST_CHECKS}, among which the error is shared")
    return tuple(check for check in checks if theorems is None or check.theorem in theorems)


def run_suite(
    size: Size,
    store: Store,
    *,
    theorems: Sequence[str] = (),
    shortest: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> tuple[Outcome, ...]:
    """Run the checks of some statements (of all of them by default), and judge; other arguments are those of ``sweep``.

    Args:
        size: Quick or full.
        store: The store of finished cells, which are not run again.
        theorems: Ids, each with a check; a prefix such as a paper's id selects all of its statements.
        shortest: Run one check of each statement, see ``shortest_of_each``.
        jobs: Processes on this machine.
        scheduler: A Dask scheduler's address, instead.
        progress: Called after every cell.
    """
    checks = chosen(theorems)
    if shortest:
        checks = shortest_of_each(checks)
    found = swept(checks, size, store, jobs=jobs, scheduler=scheduler, progress=progress)
    return tuple(_outcome(check, results) for check, results in found)


def shortest_of_each(checks: Sequence[PlannedCheck]) -> list[PlannedCheck]:
    """Return, for each statement, the check with the fewest cells at small size, in the order of the statements.

    Of several such checks it is the one of the cheapest kind (a formula, then a bound, a ledger, an exponent), and of
    those the first. The rule reads the plan and no clock, so that the choice is the same everywhere.
    """
    found: dict[str, tuple[tuple[int, int], PlannedCheck]] = {}
    for check in checks:
        cost = len(_cells_or_reason(check, Size.QUICK)), _CHEAPEST_FIRST.index(check.kind)
        if check.theorem not in found or cost < found[check.theorem][0]:
            found[check.theorem] = cost, check
    return [check for _, check in found.values()]


def left_out(theorems: Sequence[str] = ()) -> tuple[PlannedCheck, ...]:
    """Return the checks of some statements, or of all, that ``run_suite`` leaves out in its shortest mode."""
    checks = chosen(theorems)
    kept = shortest_of_each(checks)
    return tuple(check for check in checks if check not in kept)


def _outcome(planned: PlannedCheck, results: list[Result] | str) -> Outcome:
    started = time.perf_counter()
    if isinstance(results, str):
        unproven = unproven_check(planned.theorem, planned.kind, [results], 1)
        return Outcome(planned, unproven, time.perf_counter() - started)
    check = _judged(planned, results, confidence_of(SUITE_ERROR, MOST_CHECKS))
    seconds = sum(result.seconds for result in results) + time.perf_counter() - started
    return Outcome(planned, check, seconds)


def swept(
    planned: Iterable[Planned], size: Size, store: Store, **how: Any
) -> Iterator[tuple[Planned, list[Result] | str]]:
    """Yield the plans, each with its cells' results; or the reason, if planning needs a proof that fails.

    All cells are run before the first is given; ``how`` is what ``sweep`` takes.
    """
    listed = [(one, _cells_or_reason(one, size)) for one in planned]
    sweep((cell for _, cells in listed if not isinstance(cells, str) for cell in cells), store, **how)
    for one, cells in listed:
        if isinstance(cells, str):
            yield one, cells
        else:
            yield one, [store.results[cell.key] for cell in cells]


def _cells_or_reason(planned: HasCells, size: Size) -> list[Cell] | str:
    try:
        return list(planned.cells(size))
    except NO_PROOF as error:
        return str(error)


def _judged(planned: PlannedCheck, results: Sequence[Result], confidence: float) -> Check | SlopeCheck:
    """Return the verdict: that of the plan, unless runs gave nothing that could be judged.

    Whatever else a task or a plan raises is an error of this program, and stops it.
    """
    theorem, kind = planned.theorem, planned.kind
    refused = [result.refused for result in results if result.refused is not None]
    if refused:
        return refused_check(theorem, kind, refused, len(results))
    unproven = [result.unproven for result in results if result.unproven is not None]
    if unproven:
        return unproven_check(theorem, kind, unproven, len(results))
    try:
        return planned.judge(results, confidence)
    except NO_PROOF as error:  # no proof of the claim
        return unproven_check(theorem, kind, [str(error)], 1)
    except NotMeasured as error:
        return lost_check(theorem, kind, Verdict.FAILS, str(error), 1)


def belongs(theorem: str, name: str) -> bool:
    """Return whether a statement is the one of that id, or in the paper of that name."""
    return theorem == name or theorem.startswith(name + "/")


def chosen(names: Sequence[str]) -> list[PlannedCheck]:
    """Return the checks of some statements or papers, or all; the checks of one statement are adjacent."""
    statements = sorted(catalogue.checked_statements())
    theorems: dict[str, None] = {}
    for name in names:
        here = [theorem for theorem in statements if belongs(theorem, name)]
        if not here:
            from dpbounds.algorithms.verification.judging.reasons import REASONS

            if name in REASONS:
                raise InvalidValue("id", name, f"one with a check; {name} has none: {REASONS[name]}")
            near = f", such as {', '.join(nearest(name, statements))}" if nearest(name, statements) else ""
            raise InvalidValue(
                "id", name, f"a paper or a statement with a check{near}", "`dpbounds theorems` lists all"
            )
        theorems |= dict.fromkeys(here)
    checks = planned(tuple(theorems)) if names else planned()
    if names:
        checks = tuple(dict.fromkeys(check for name in names for check in checks if belongs(check.theorem, name)))
    order = {theorem: place for place, theorem in enumerate(dict.fromkeys(check.theorem for check in checks))}
    return sorted(checks, key=lambda check: order[check.theorem])


def failed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the checks that fail."""
    return [outcome for outcome in outcomes if outcome.check.verdict is Verdict.FAILS]
