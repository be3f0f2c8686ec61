"""Sweeps: many cells, on all cores or on a cluster, resumable at any moment, with the same numbers everywhere.

A cell's random numbers start from its own key, and each cell runs on one thread, so nothing depends on how many workers
there are or on which of them a cell runs. The process that started the sweep alone writes the store, each result as it
arrives; what was not written is run again by the next start. A run that its ledger refuses is a result as well, and
written: it would be refused again. One of which nothing could be proven is written as well, but tried again by the
next start.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator

from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, run
from dpbounds.algorithms.verification.sweeping.store import Store, fingerprint
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer

Progress = Callable[[int, int], None]


def sweep(
    cells: Iterable[Cell],
    store: Store,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Run every cell that is not in the store yet.

    Args:
        cells: The cells to complete.
        store: The store of finished cells.
        jobs: Processes on this machine.
        scheduler: ``tcp://host:port`` of a Dask scheduler, instead of processes on this machine.
        progress: Called with (finished, all) after every cell.

    Returns:
        How many cells were run now.

    Raises:
        InvalidValue: A task does not exist, or cannot take its parameters; or a cluster's workers run other code than
            this process. Whatever a task raises, besides that its run is refused or unproven, stops the sweep; what is
            finished stays in the store.
    """
    wanted = list({cell.key: cell for cell in cells}.values())
    todo = store.missing(wanted)
    finished = len(wanted) - len(todo)
    count = positive_integer(jobs, "jobs")
    results = _on_a_cluster(todo, scheduler) if scheduler is not None else _here(todo, count)
    for number, result in enumerate(results, start=1):
        store.put(result)
        if progress is not None:
            progress(finished + number, len(wanted))
    return len(todo)


def run_same(cell: Cell, code: str) -> Result:
    """Run a cell, on any machine, if the code there is the one whose fingerprint is given.

    Raises:
        InvalidValue: It is not: its numbers would be stored as this code's.
    """
    if fingerprint() != code:
        advice = "install the same dpbounds, numpy and scipy on all of them, and start them again"
        where = f"{fingerprint()[:12]} at a worker on {platform.node()}"
        raise InvalidValue("code", where, f"{code[:12]}, that of the process that started the sweep", advice)
    return run(cell)


def _here(cells: list[Cell], jobs: int) -> Iterator[Result]:
    if jobs == 1 or len(cells) <= 1:
        yield from map(run, cells)
        return
    try:
        from joblib import Parallel, delayed
    except ModuleNotFoundError:
        raise InvalidValue("jobs", jobs, "1, unless joblib is there", "pip install 'dpbounds[verify]'") from None
    # one at a time: of a batch nothing arrives, and nothing is stored, before all of it is done
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
    yield from parallel(delayed(run)(cell) for cell in cells)


def _on_a_cluster(cells: list[Cell], scheduler: str) -> Iterator[Result]:
    if not scheduler.startswith(("tcp://", "tls://")):
        raise InvalidValue("scheduler", scheduler, "the address of a Dask scheduler, such as tcp://127.0.0.1:8786")
    try:
        from distributed import Client, as_completed
    except ModuleNotFoundError:
        raise InvalidValue(
            "scheduler", scheduler, "left out: it needs Dask", "pip install 'dpbounds[cluster]'"
        ) from None
    if not cells:
        return
    with Client(scheduler, set_as_default=False) as client, client.as_current():  # type: ignore[no-untyped-call]
        # pure=False: the store, not the scheduler's memory, decides what is run. No retries, which would repeat errors
        # that are the same every time: a cell whose worker died is given to another one without them (as often as
        # the scheduler's "allowed-failures" says).
        futures = client.map(run_same, cells, code=fingerprint(), pure=False)
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
            future.release()
