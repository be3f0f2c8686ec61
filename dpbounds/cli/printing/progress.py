"""Progress of long work: a bar with the time left on a terminal, or calls of a listener."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from threading import Event, Thread

import click

_PATIENCE = 2.0  # seconds until the line is shown

Progress = Callable[[int, int], None]
_listener: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Callable[[str, int, int], None]) -> Iterator[None]:
    """Report progress to a function, in place of a terminal: the work, the amount done, and the total."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def waiting_line(time_limit: Fraction | None) -> Iterator[None]:
    """Show how long a search has run, where standard error is a terminal and it takes more than two seconds.

    Args:
        time_limit: In seconds, as it was given; without one the line says that there is the option.
    """
    if _listener.get() is not None or not sys.stderr.isatty():
        yield
        return
    advice = "; --time-limit S prints the best proven value after S seconds" if time_limit is None else ""
    done = Event()
    thread = Thread(target=_show, args=(done, advice), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(done: Event, advice: str) -> None:
    """Write the line anew every second, and erase it at the end; nothing of it touches the computation."""
    started = time.monotonic()
    if done.wait(_PATIENCE):
        return
    while True:
        click.echo(f"\r\033[Kcomputing, {time.monotonic() - started:.0f} s{advice}", err=True, nl=False)
        if done.wait(1):
            break
    click.echo("\r\033[K", err=True, nl=False)


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Progress | None]:
    """Yield a function of (finished, all), or None if progress is not shown."""
    listener = _listener.get()
    if listener is not None:
        yield partial(listener, what)
    elif not shown or not sys.stderr.isatty():
        yield None
    elif find_spec("rich") is None:
        yield lambda done, total: click.echo(f"\r{what}: {done} of {total} ", err=True, nl=done == total)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
