"""How far long work is, on standard error: a bar with the time left where there is a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import click

Progress = Callable[[int, int], None]


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Progress | None]:
    """Yield a function of (finished, all), or None where nobody would see it."""
    if not shown or not sys.stderr.isatty():
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
