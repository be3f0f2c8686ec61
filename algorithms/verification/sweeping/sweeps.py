"""Sweeps: many cells, on all cores or on a cluster, resumable at any moment, with the same numbers everywhere.

A cell's random numbers start from its own key, and each cell runs on one thread, so nothing depends on how many workers
there are or on which of them a cell runs. The process that started the sweep alone keeps results, each as it arrives;
what was not kept is run again by the next start. A run that its ledger refuses is a result as well, and kept: it would
be refused again. One of which nothing could be proven is tried again by the next start.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

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
        InvalidValue: A task does not exist, or cannot take its parameters; or workers run other code than this
            process. Whatever a task raises, besides that its run is refused or unproven, stops the sweep; what is
            finished stays in the store.
    """
    wanted = {cell.key: cell for cell in cells}
    todo = store.missing(wanted.values())
    count = positive_integer(jobs, "jobs")
    if todo:
        from joblib import Parallel, delayed

        with _cluster(scheduler):
            # A cluster is given all cells at once, because workers may join it later; processes here a few more than
            # they run, because loky fails when it has to stop with more. One at a time: of a batch nothing arrives,
            # and nothing is kept, before all of it is done.
            ahead = "2*n_jobs" if scheduler is None else "all"
            parallel = Parallel(count, return_as="generator_unordered", pre_dispatch=ahead, batch_size=1)
            results = parallel(delayed(run_same)(cell, fingerprint()) for cell in todo)
            for finished, result in enumerate(results, start=len(wanted) - len(todo) + 1):
                store.keep(result)
                if progress is not None:
                    progress(finished, len(wanted))
    return len(todo)


def run_same(cell: Cell, code: str) -> Result:
    """Run a cell, on any machine, if the code there is the one whose fingerprint is given.

    Raises:
        InvalidValue: It is not: its numbers would be kept as this code's.
    """
    if fingerprint() != code:
        advice = "install the same dpbounds, numpy and scipy on all of them, and start them again"
        where = f"{fingerprint()[:12]} at a worker on {platform.node()}"
        raise InvalidValue("code", where, f"{code[:12]}, that of the process that started the sweep", advice)
    return run(cell)


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    """Have joblib run its tasks on a Dask cluster, if one is given."""
    if scheduler is None:
        yield
        return
    if not scheduler.startswith(("tcp://", "tls://")):
        raise InvalidValue("scheduler", scheduler, "the address of a Dask scheduler, such as tcp://127.0.0.1:8786")
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InvalidValue(
            "scheduler", scheduler, "None where Dask is not installed", "pip install 'dpbounds[cluster]'"
        ) from None
    from joblib import parallel_config

    # No retries, which would repeat errors that are the same every time: a cell whose worker died is given to another
    # one without them (as often as the scheduler's "allowed-failures" says).
    with Client(scheduler, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(1)
        with parallel_config(backend="dask", client=client):
            yield
