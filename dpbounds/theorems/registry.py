"""Permanent ids: from an id, or a file of one's own, to the statement."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shlex
import traceback
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from dpbounds.errors import InvalidValue, demand, nearest, shown
from dpbounds.theorems.index import INDEX, Entry, file_of, indexed, listing, module_of, modules, order
from dpbounds.theorems.record import Metric, Theorem
from dpbounds.theorems.references import id_of


def theorem(name: str) -> Theorem:
    """Return the statement with that id, or with the name that tables show; or the one in a file ``*.py``.

    Raises:
        InvalidValue: There is none; the message names similar ids.

    >>> theorem("wang-xu-2019/theorem-2").number
    'Theorem 2'
    >>> theorem("Wang & Xu 2019, Theorem 2").id
    'wang-xu-2019/theorem-2'
    """
    demand("id", name, str)
    if name.endswith(".py"):
        return from_file(Path(name))
    name = id_of(name)
    module = module_of(name)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
            raise  # the statement is there; something that it imports is not
        if any(entry.id == name for entry in indexed()):
            advice = f"{file_of(name)} is missing: restore it, or run `python -m dpbounds.theorems` to write the index"
            raise InvalidValue("id", name, "a statement whose file exists", advice) from None
        near = nearest(name, [entry.id for entry in listing()])
        allowed = f"an id such as {', '.join(near)}" if near else "an id that `dpbounds theorems` lists"
        advice = f"`dpbounds theorems --search {shlex.quote(name)}` lists those that name it" if _is_named(name) else ""
        own = "or a path to a file of your own that ends in .py"
        raise InvalidValue("id", name, allowed, advice or own) from None
    return _statement_in(found, name)


def _is_named(word: str) -> bool:
    """Return whether a statement of the library has a word in its id, number or title."""
    return any(word.lower() in f"{entry.id} {entry.number} {entry.title}".lower() for entry in listing())


class _Reader(SourceFileLoader):
    """Leaves no compiled file beside a person's own."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write nothing."""


def from_file(path: Path) -> Theorem:
    """The statement in a Python file outside the library. The file is executed: read it first if it is not yours.

    Raises:
        InvalidValue: There is no such file, it cannot be read, it ends with an error (the message says in which line),
            or there is no ``THEOREM`` in it.
    """
    if not path.is_file() or path.suffix != ".py":
        raise InvalidValue("file", path, "an existing Python file, *.py, with a record named THEOREM")
    specification = importlib.util.spec_from_file_location(path.stem, path, loader=_Reader(path.stem, str(path)))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    except OSError as error:
        if error.filename != specification.origin:
            raise _broken(path, error) from error
        raise InvalidValue("file", path, "a file that can be read", error.strerror or "") from None
    except (Exception, SystemExit) as error:  # whatever a stranger's program raises is an error of that file
        raise _broken(path, error) from error
    return _statement_in(module, str(path))


def own_statements(files: Iterable[str | Path]) -> tuple[Theorem, ...]:
    """Return the statements in several files outside the library, to be used with the library's.

    Raises:
        InvalidValue: One cannot be read, or its id is one of the library's or another file's.
    """
    taken = {entry.id for entry in listing()}
    found = []
    for file in files:
        statement = from_file(Path(file))
        if statement.id in taken:
            raise InvalidValue("file", file, "a statement with an id of its own", f"{statement.id} exists already")
        taken.add(statement.id)
        found.append(statement)
    return tuple(found)


def _broken(path: Path, error: BaseException) -> InvalidValue:
    """Return the error of a file, with its line."""
    file = str(path.absolute())
    if isinstance(error, SyntaxError) and error.filename == file:
        lines, told = [error.lineno], f"{type(error).__name__}: {error.msg}"
    else:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        told = shown(error)
    at = f"line {lines[-1]}: " if lines else ""
    return InvalidValue("file", path, "a Python file that runs without an error", f"{at}{told}")


def _statement_in(module: Any, name: str) -> Theorem:
    found = getattr(module, "THEOREM", None)
    if not isinstance(found, Theorem):
        raise InvalidValue("statement", name, "a module with a record named THEOREM")
    return found


@cache
def library() -> tuple[Theorem, ...]:
    """Every statement (this imports all of them)."""
    return tuple(_statement_in(importlib.import_module(name), name) for name in modules())


@cache
def on_metrics(*metrics: Metric) -> tuple[Theorem, ...]:
    """Return the library's statements on some quantities, in the order of :func:`library`; it imports only these.

    The index says which they are.
    """
    names = {module_of(entry.id) for entry in listing() if entry.metric in metrics}
    return tuple(_statement_in(importlib.import_module(name), name) for name in modules() if name in names)


def write_index() -> None:
    """Write ``index.json`` from the files."""
    from dpbounds import documents

    documents.write(INDEX, index_text())


def index_text() -> str:
    """Return the text of ``index.json``."""
    entries = sorted((Entry.of(one) for one in library()), key=order)
    return json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=0, sort_keys=True) + "\n"
