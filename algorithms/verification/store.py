"""Where finished cells are kept: one SQLite file, one row per cell, written at once.

A row is there completely or not at all, whenever the process is killed; a sweep that is started again runs only what is
missing. Numbers are stored as JSON text with all their digits, so that they come back bit for bit.
"""

from __future__ import annotations

import csv
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from algorithms.verification.cells import Cell, Result
from dpbounds.errors import InvalidValue

_FORMAT = 1
_TABLES = """
create table if not exists about (name text primary key, value text not null);
create table if not exists cells (key text primary key, numbers text not null, seconds real not null);
create table if not exists refusals (key text primary key, reason text not null, seconds real not null);
create table if not exists unproven (key text primary key, reason text not null, seconds real not null);
create view if not exists finished as
    select key, numbers, seconds, null as refused from cells
    union all select key, '{}', seconds, reason from refusals;
"""
_PUT_NUMBERS = "insert into cells select ?, ?, ? where not exists (select 1 from finished where key = ?)"
_PUT_REFUSAL = "insert into refusals select ?, ?, ? where not exists (select 1 from finished where key = ?)"
_PUT_UNPROVEN = "insert or replace into unproven select ?, ?, ? where not exists (select 1 from finished where key = ?)"


@dataclass(frozen=True, slots=True)
class Row:
    """A stored cell."""

    cell: Cell
    result: Result


class Store:
    """A file of finished cells; a context manager.

    Args:
        path: The file; it is made if it does not exist. ":memory:" keeps everything in memory.

    Raises:
        InvalidValue: The file is something else, or of another version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = full")  # a row that was reported survives a power cut
            self._connection.executescript(_TABLES)
            self._connection.execute("insert or ignore into about values ('format', ?)", (str(_FORMAT),))
            (found,) = self._connection.execute("select value from about where name = 'format'").fetchone()
        except sqlite3.DatabaseError as error:
            raise InvalidValue("store", self.path, "a file of finished cells that can be written", str(error)) from None
        if found != str(_FORMAT):
            raise InvalidValue("store", self.path, f"a file of format {_FORMAT}", f"this one has {found}")

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def put(self, result: Result) -> None:
        """Keep a result, at once. The first one stays: a cell's numbers do not change.

        One of which nothing could be proven is kept beside the finished cells, until there is another.
        """
        statement, content = _PUT_NUMBERS, _to_text(result.numbers)
        if result.refused is not None:
            statement, content = _PUT_REFUSAL, result.refused
        elif result.unproven is not None:
            statement, content = _PUT_UNPROVEN, result.unproven
        self._connection.execute(statement, (result.key, content, result.seconds, result.key))

    def keys(self) -> frozenset[str]:
        """The keys of all finished cells."""
        return frozenset(key for (key,) in self._connection.execute("select key from finished"))

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those that are not finished, each once, in the order given."""
        done = self.keys()
        return [cell for key, cell in {cell.key: cell for cell in cells}.items() if key not in done]

    def rows(self) -> Iterator[Row]:
        """Every finished cell, in the order of keys."""
        with closing(self._connection.execute("select * from finished order by key")) as cursor:
            for key, numbers, seconds, refused in cursor:
                yield Row(Cell.from_key(key), Result(key, _from_text(numbers), seconds, refused))

    def result(self, cell: Cell) -> Result | None:
        """What a cell gave (also where nothing could be proven of it), or None if it was not run."""
        found = self._connection.execute("select * from finished where key = ?", (cell.key,)).fetchone()
        if found is not None:
            return Result(found[0], _from_text(found[1]), found[2], found[3])
        found = self._connection.execute("select * from unproven where key = ?", (cell.key,)).fetchone()
        return None if found is None else Result(found[0], {}, found[2], unproven=found[1])

    def to_csv(self, path: str | Path) -> int:
        """Write one line per repetition of each cell: task, seed, repetition, parameters, numbers. Returns how many.

        A refused run has one line, with the reason for its numbers.
        """
        table = list(self._flat())
        names = list(dict.fromkeys(name for line in table for name in line))
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(table)
        return len(table)

    def to_parquet(self, path: str | Path) -> int:
        """The same as ``to_csv``, as a Parquet file.

        Raises:
            InvalidValue: pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ModuleNotFoundError:
            raise InvalidValue("parquet", path, "left out: it needs pyarrow", "pip install pyarrow") from None
        table = list(self._flat())
        names = list(dict.fromkeys(name for line in table for name in line))
        columns = {name: [line.get(name) for line in table] for name in names}
        parquet.write_table(pa.table(columns), path)
        return len(table)

    def _flat(self) -> Iterator[dict[str, object]]:
        for row in self.rows():
            vectors = [value for value in row.result.numbers.values() if isinstance(value, list)]
            repetitions = max((len(value) for value in vectors), default=1)
            for repetition in range(repetitions):
                line: dict[str, object] = {"task": row.cell.task, "seed": row.cell.seed, "repetition": repetition}
                line.update(row.cell.parameters)
                if row.result.refused is not None:
                    line["refused"] = row.result.refused
                for name, value in row.result.numbers.items():
                    if not isinstance(value, list):
                        line[name] = value
                    elif repetition < len(value):
                        line[name] = value[repetition]
                yield line


def _to_text(numbers: object) -> str:
    """JSON with the digits that a double needs; what is not finite is text."""
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
        for name, value in json.loads(text).items()
    }
