"""The suite: which statements are checked, how, and what came out; attached to theorem ids.

A planned check names its cells (so that a sweep can run them anywhere, once) and judges what they gave. The confidence
of each check is chosen so that the whole suite raises a false alarm at most once in a hundred runs, and so that it does
not change when a check is added. That rate rests on the intervals: those of counts and quantiles are exact, those of
means and slopes are Student's, exact for normal averages and approximate otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from algorithms.verification.cells import NO_PROOF, Cell, NotMeasured, Result
from algorithms.verification.checks import Check, Verdict, lost_check, refused_check, unproven_check
from algorithms.verification.reasons import REASONS
from algorithms.verification.slopes import SlopeCheck, confidence_of
from algorithms.verification.store import Store
from algorithms.verification.sweeps import Progress, sweep
from dpbounds.errors import InvalidValue, nearest
from dpbounds.theorems.record import Mode

SUITE_ERROR = 0.01
MOST_CHECKS = 500  # among which the error is shared, whether there are so many or not


class Size(StrEnum):
    """How long a suite may take."""

    QUICK = "quick"  # minutes on two cores: every check at small size
    FULL = "full"  # overnight


Judge = Callable[[Sequence[Result], float], Check | SlopeCheck]


@dataclass(frozen=True, slots=True)
class Planned:
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
    cells: Callable[[Size], Sequence[Cell]]
    judge: Judge
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check after it was run.

    Attributes:
        planned: What was planned.
        check: What was found.
        seconds: How long its cells took.
    """

    planned: Planned
    check: Check | SlopeCheck
    seconds: float


@cache
def planned() -> tuple[Planned, ...]:
    """Every check there is."""
    from algorithms.verification.plans import (
        descents,
        examples,
        exponents,
        formulas,
        frank_wolfe,
        population,
        second_order,
        selection,
        spider,
        stochastic,
        stochastic_spider,
        warm_starts,
    )

    rooms = (
        formulas,
        descents,
        stochastic,
        frank_wolfe,
        spider,
        stochastic_spider,
        second_order,
        selection,
        warm_starts,
        examples,
        exponents,
        population,
    )
    found = tuple(each for room in rooms for each in room.PLANNED)
    names = [one.name for one in found]
    if len(set(names)) != len(names):
        raise InvalidValue("names", names, "each check under its own name")
    if len(found) > MOST_CHECKS:
        raise InvalidValue("checks", len(found), f"at most {MOST_CHECKS}, among which the error is shared")
    return found


def run_suite(
    size: Size,
    store: Store,
    *,
    theorems: Sequence[str] = (),
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> tuple[Outcome, ...]:
    """Run the checks of some statements (of all of them by default), and judge.

    Args:
        size: Quick or full.
        store: Where finished cells are kept: what is there is not run again.
        theorems: Ids; a prefix such as a paper's id selects all of its statements.
        jobs: Processes on this machine.
        scheduler: A Dask scheduler's address, instead.
        progress: Called after every cell.

    Raises:
        InvalidValue: No check belongs to one of the ids.
    """
    chosen = _chosen(theorems)
    listed = {one.name: cells_or_reason(one.cells, size) for one in chosen}
    sweep(all_cells(listed.values()), store, jobs=jobs, scheduler=scheduler, progress=progress)
    confidence = confidence_of(SUITE_ERROR, MOST_CHECKS)
    outcomes = []
    for one in chosen:
        started = time.perf_counter()
        cells, known = listed[one.name], []
        if isinstance(cells, str):
            check: Check | SlopeCheck = unproven_check(one.theorem, one.kind, [cells], 1)
        else:
            known = [result for cell in cells if (result := store.result(cell)) is not None]
            check = _judged(one, known, confidence)
        outcomes.append(Outcome(one, check, sum(each.seconds for each in known) + time.perf_counter() - started))
    return tuple(outcomes)


def cells_or_reason(cells: Callable[[Size], Sequence[Cell]], size: Size) -> list[Cell] | str:
    """What must be run; or, where planning it takes a proof that does not close, why."""
    try:
        return list(cells(size))
    except NO_PROOF as error:
        return str(error)


def all_cells(listed: Iterable[list[Cell] | str]) -> Iterator[Cell]:
    """The cells of everything that could be planned."""
    return (cell for cells in listed if not isinstance(cells, str) for cell in cells)


def _judged(one: Planned, results: Sequence[Result], confidence: float) -> Check | SlopeCheck:
    """The verdict: that of the plan, unless runs gave nothing that could be judged.

    Whatever else a task or a plan raises is an error of this program, and stops it.
    """
    refused = [each.refused for each in results if each.refused is not None]
    if refused:
        return refused_check(one.theorem, one.kind, refused, len(results))
    unproven = [each.unproven for each in results if each.unproven is not None]
    if unproven:
        return unproven_check(one.theorem, one.kind, unproven, len(results))
    try:
        return one.judge(results, confidence)
    except NO_PROOF as error:  # of what was promised
        return unproven_check(one.theorem, one.kind, [str(error)], 1)
    except NotMeasured as error:
        return lost_check(one.theorem, one.kind, Verdict.FAILS, str(error), 1)


def belongs(theorem: str, name: str) -> bool:
    """Whether a statement is the one of that id, or in the paper of that name."""
    return theorem == name or theorem.startswith(name + "/")


def _chosen(theorems: Sequence[str]) -> list[Planned]:
    found: list[Planned] = [] if theorems else list(planned())
    for name in theorems:
        here = [one for one in planned() if belongs(one.theorem, name)]
        if not here and name in REASONS:
            raise InvalidValue("id", name, f"one with a check; {name} has none: {REASONS[name]}")
        if not here:
            known = sorted({one.theorem for one in planned()})
            near = f", such as {', '.join(nearest(name, known))}" if nearest(name, known) else ""
            raise InvalidValue(
                "id", name, f"a paper or a statement with a check{near}", "`dpbounds theorems` lists all"
            )
        found += [one for one in here if one not in found]
    # what belongs to one statement stands together
    order = {one: index for index, one in reversed(list(enumerate(each.theorem for each in found)))}
    return sorted(found, key=lambda one: order[one.theorem])


def failed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those that fail."""
    return [one for one in outcomes if one.check.verdict is Verdict.FAILS]
