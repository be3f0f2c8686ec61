"""Storage of finished cells: one SQLite file, one row per cell, written at once.

A row is there completely or not at all, whenever the process is killed; a sweep that is started again runs only what is
missing. Numbers are stored as JSON text with all their digits, so that they come back bit for bit. With every row
stands which code gave it (see ``fingerprint``): rows of other code stay in the file, and are not used.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import dpbounds
from dpbounds import algorithms, documents
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result
from dpbounds.documents import quoted
from dpbounds.errors import InvalidValue

_PACKAGES = (algorithms, dpbounds)  # packages with the code that computes
_MEMORY = ":memory:"
_FORMAT = 2
_APPLICATION = 0x44504256  # "DPBV": whose file it is, in its header
_HEADER, _APPLICATION_AT = 100, 68  # bytes, by SQLite's file format
_MAGIC = b"SQLite format 3\0"
_TABLES = """
create table if not exists about (name text primary key, value text not null);
create table if not exists cells (
    key text not null, code text not null, numbers text not null, seconds real not null, primary key (key, code));
create table if not exists refusals (
    key text not null, code text not null, reason text not null, seconds real not null, primary key (key, code));
create table if not exists unproven (
    key text not null, code text not null, reason text not null, seconds real not null, primary key (key, code));
create view if not exists finished as
    select key, code, numbers, seconds, null as refused from cells
    union all select key, code, '{}', seconds, reason from refusals;
"""
_NEW = "select ?1, ?2, ?3, ?4 where not exists (select 1 from finished where key = ?1 and code = ?2)"
_FINISHED = "select key, numbers, seconds, refused from finished where code = ?"


@cache
def fingerprint() -> str:
    """Return a digest of the source text of ``algorithms`` and ``dpbounds`` and of the versions of numpy and scipy.

    Any change of a file changes it, one of a comment too: it costs a run, and no judgement of what matters. Computed
    once per process, which goes on running what it has loaded.
    """
    digest = hashlib.sha256(f"numpy {np.__version__}, scipy {scipy.__version__}".encode())
    roots = [Path(str(package.__file__)).parent for package in _PACKAGES]
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            if any(path.is_relative_to(other) and other.is_relative_to(root) for other in roots if other != root):
                continue  # a package inside this one is visited separately, be it a folder or a link
            name, text = path.relative_to(root.parent).as_posix(), path.read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Row:
    """A stored cell."""

    cell: Cell
    result: Result


class Store:
    """A file of finished cells; a context manager. One that is something else, or of another version, is left as it is.

    Attributes:
        path: The file; it is made if it does not exist. ":memory:" keeps everything in memory.
        code: Whose results are kept and used; this code's by default.
    """

    def __init__(self, path: str | Path, code: str | None = None) -> None:
        self.path, self.code = str(path), fingerprint() if code is None else code
        if self.path != _MEMORY:
            _demand_own(Path(self.path))
        try:
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            # before the log is turned on, so that it is in the file itself, whenever the process is killed
            self._connection.execute(f"pragma application_id = {_APPLICATION}")
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = full")  # a row that was reported survives a power cut
            self._connection.executescript(_TABLES)
            self._connection.execute("insert or ignore into about values ('format', ?)", (str(_FORMAT),))
            (found,) = self._connection.execute("select value from about where name = 'format'").fetchone()
        except sqlite3.Error as error:
            raise InvalidValue("store", self.path, "a file of finished cells that can be written", str(error)) from None
        if found != str(_FORMAT):
            raise InvalidValue("store", self.path, f"a file of format {_FORMAT}", f"this one has {found}")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def put(self, result: Result) -> None:
        """Keep a result, at once. The first one stays: a cell's numbers do not change while the code is the same.

        One of which nothing could be proven is kept beside the finished cells, until there is another.
        """
        into, content = "insert into cells", _to_text(result.numbers)
        if result.refused is not None:
            into, content = "insert into refusals", result.refused
        elif result.unproven is not None:
            into, content = "insert or replace into unproven", result.unproven
        with self._told():
            self._connection.execute(f"{into} {_NEW}", (result.key, self.code, content, result.seconds))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise errors of the database (a full disk, a damaged file) as errors of dpbounds."""
        try:
            yield
        except sqlite3.Error as error:
            advice = f"{error}; what was finished before is kept"
            raise InvalidValue("store", self.path, "a sound file with room on its disk", advice) from None

    def _all(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        with self._told(), closing(self._connection.execute(question, values)) as cursor:
            return cursor.fetchall()

    def _read(self, key: str, numbers: str, seconds: float, refused: str | None) -> Result:
        """Return a row, or ``InvalidValue`` where it is damaged."""
        try:
            return Result(key, _from_text(numbers), float(seconds), refused)
        except (InvalidValue, AttributeError, TypeError, ValueError):
            raise self._damaged(key) from None

    def _damaged(self, key: str) -> InvalidValue:
        advice = f"the row of {quoted(key)} is damaged: delete it, or the file, and run the sweep again"
        return InvalidValue("store", self.path, "a sound file of finished cells", advice)

    @property
    def set_aside(self) -> int:
        """Return the number of finished rows of other code, which are not used."""
        ((found,),) = self._all("select count(*) from finished where code <> ?", self.code)
        return int(found)

    def keys(self) -> frozenset[str]:
        """Return the keys of all finished cells."""
        return frozenset(key for (key,) in self._all("select key from finished where code = ?", self.code))

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that are not finished, each once, in the order given."""
        done = self.keys()
        return [cell for key, cell in {cell.key: cell for cell in cells}.items() if key not in done]

    def rows(self) -> Iterator[Row]:
        """Yield every finished cell, in the order of keys."""
        for key, numbers, seconds, refused in self._all(f"{_FINISHED} order by key", self.code):
            try:
                cell = Cell.from_key(key)
            except (InvalidValue, AttributeError, KeyError, TypeError, ValueError):
                raise self._damaged(key) from None
            yield Row(cell, self._read(key, numbers, seconds, refused))

    def result(self, cell: Cell) -> Result | None:
        """Return the result of a cell (also if nothing could be proven), or None if it was not run."""
        for found in self._all(f"{_FINISHED} and key = ?", self.code, cell.key):
            return self._read(*found)
        why = "select reason, seconds from unproven where code = ? and key = ?"
        for reason, seconds in self._all(why, self.code, cell.key):
            return Result(cell.key, {}, seconds, unproven=reason)
        return None

    def to_csv(self, path: str | Path) -> int:
        """Write one line per repetition of each cell: task, seed, repetition, parameters, numbers. Returns how many.

        A refused run has one line, with the reason for its numbers.
        """
        table, names = self._flat()
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(table)
        documents.write(path, text.getvalue())
        return len(table)

    def to_parquet(self, path: str | Path) -> int:
        """Return the same as ``to_csv``, as a Parquet file; it needs pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ModuleNotFoundError:
            raise InvalidValue("parquet", path, "left out: it needs pyarrow", "pip install pyarrow") from None
        table, names = self._flat()
        columns = {name: [line.get(name) for line in table] for name in names}
        content = io.BytesIO()
        parquet.write_table(pa.table(columns), content)
        documents.write(path, content.getvalue())
        return len(table)

    def _flat(self) -> tuple[list[dict[str, object]], list[str]]:
        """Return the lines, and the names of all their columns."""
        table = []
        for row in self.rows():
            shared: dict[str, object] = {"task": row.cell.task, "seed": row.cell.seed, "repetition": 0}
            shared |= dict(row.cell.parameters)
            if row.result.refused is not None:
                shared["refused"] = row.result.refused
            numbers = row.result.numbers.items()
            for repetition in range(max((len(value) for _, value in numbers if isinstance(value, list)), default=1)):
                own = {
                    name: value[repetition] if isinstance(value, list) else value
                    for name, value in numbers
                    if not isinstance(value, list) or repetition < len(value)
                }
                table.append(shared | {"repetition": repetition} | own)
        return table, list(dict.fromkeys(name for line in table for name in line))


def _demand_own(path: Path) -> None:
    """Refuse a file that is neither empty nor of this kind, by its header alone: nothing is opened or written."""
    if not os.path.lexists(path):
        return
    header = documents.first_bytes(path, "store", _HEADER)
    own = int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") == _APPLICATION
    if header and not (header.startswith(_MAGIC) and own):
        advice = "this one is something else, or of an earlier version, and was left as it is"
        raise InvalidValue("store", path, "a file of finished cells, or a new one", advice)


def _to_text(numbers: object) -> str:
    """Return JSON with the digits that a double needs; values that are not finite are text."""
    return json.dumps(_marked(numbers), sort_keys=True, allow_nan=False)


def _marked(value: object) -> object:
    if isinstance(value, dict):
        return {name: _marked(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _from_text(text: str) -> dict[str, float | list[float]]:
    return {
        name: [float(inner) for inner in value] if isinstance(value, list) else float(value)
        for name, value in documents.parsed(text, "numbers").items()
    }
