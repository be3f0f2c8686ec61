"""How far long work is: a bar with the time left where standard error is a terminal, or whoever listens is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec

import click

Progress = Callable[[int, int], None]
_listener: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Callable[[str, int, int], None]) -> Iterator[None]:
    """Tell a function what is done, how much of it and of how much, in place of a terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Progress | None]:
    """Yield a function of (finished, all), or None where nobody would see it."""
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
