"""Records of a CSV file whose columns are declared: numbers with public ranges, and categories with public values.

Nothing is read off the records: neither a range, nor which categories occur. A column that is not declared is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.problems.datasets import Range, column_of_numbers, read_ranges, read_table
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.errors import MISSING, InvalidValue

_SHOWN = 5  # names in a message
DECLARATION = "the declaration"  # how an error about columns begins


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """Records with declared columns.

    Attributes:
        features: One column for a number, and one of 0 and 1 for each value of a category; shape (n, p).
        names: Their names, such as "age" and "city=Leeds".
        ranges: The public range of each, or None where ranges are to be chosen privately.
        labels: The texts of the label column.
        label: Its name.
        categorical: How many of the columns stand for a value of a category.
    """

    features: Array
    names: tuple[str, ...]
    ranges: tuple[Range, ...] | None
    labels: tuple[str, ...]
    label: str
    categorical: int

    def numbers(self) -> Array:
        """Return the labels as finite numbers, or raise ``InvalidValue``."""
        return column_of_numbers(self.labels, self.label)


def read_declared(
    path: str | Path,
    categories: Mapping[str, Sequence[str]],
    ranges: str | Path | None,
    label: str | None = None,
    left_out: Collection[str] = (),
) -> Declared:
    """Read a CSV file, plain or gzip-compressed, whose first line names the columns.

    Args:
        path: The file.
        categories: The values of each column that is a category. An entry that is none of them counts as no category:
            all of its columns are 0.
        ranges: A CSV file with the columns feature, lower, upper: a public range for each number. None: there are no
            ranges, and they have to be chosen privately.
        label: The label column; None for the last one.
        left_out: Columns that are not used.

    Raises:
        InvalidValue: A file cannot be read, a column is not declared, is declared twice or does not exist, or an entry
            of a number is not a finite number.
    """
    header, rows = read_table(path, "path")
    target = header[-1] if label is None else label
    for what, names in (("label", [target]), ("category", categories), ("column to leave out", left_out)):
        for name in names:
            if name not in header:
                raise InvalidValue(what, repr(name), f"one of the columns {', '.join(header)}")
    others = [name for name in header if name != target and name not in left_out]
    if not others:
        raise InvalidValue("columns of the file", ", ".join(header), "at least one feature beside the label")
    for name in [target, *left_out]:
        if name in categories:
            raise InvalidValue("category", repr(name), "a feature", "it is the label, or left out")
    for name, values in categories.items():
        if len(set(values)) < len(values) or not values:
            raise InvalidValue(f"values of the category {name!r}", ", ".join(values), "one or more, each once")
    numbers = [name for name in others if name not in categories]
    known = {} if ranges is None else read_ranges(ranges, numbers)
    undeclared = [name for name in numbers if ranges is not None and name not in known]
    if undeclared:
        raise InvalidValue(
            _declaration_of(undeclared),
            MISSING,
            "give a range in the file of ranges, the values of a category, or leave the column out",
            "ranges and values that are read off the records would be published",
        )
    columns = {
        name: [entry.strip() for entry in column] for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }
    tried = {name: _numbers(columns[name], name) for name in numbers}
    read = {name: entries for name, entries in tried.items() if entries is not None}
    if strange := [name for name in numbers if name not in read]:
        raise InvalidValue(
            f"{_declaration_of(strange)}, with entries that are not finite numbers,",
            MISSING,
            "give the values of a category (if they were read off the records, they would be published), leave the "
            "column out, or fill empty entries with a constant (a mean would be published)",
        )
    found: list[tuple[str, Array, Range]] = []
    for name in others:
        if name in categories:
            found += [(f"{name}={value}", _is(columns[name], value), (0.0, 1.0)) for value in categories[name]]
        else:
            found.append((name, read[name], known.get(name, (0.0, 1.0))))
    names, features, public = zip(*found, strict=True)
    return Declared(
        np.column_stack(features),
        names,
        None if ranges is None else public,
        tuple(columns[target]),
        target,
        categorical=sum(map(len, categories.values())),
    )


def _numbers(column: Sequence[str], name: str) -> Array | None:
    """Return the numbers of a column, or None where an entry is not a finite number."""
    try:
        return column_of_numbers(column, name)
    except InvalidValue:
        return None


def _declaration_of(names: Sequence[str]) -> str:
    return f"{DECLARATION} of {', '.join(map(repr, names[:_SHOWN]))}"


def _is(column: Sequence[str], value: str) -> Array:
    found: NDArray[np.bool_] = np.array([entry == value for entry in column], dtype=bool)
    return found.astype(np.float64)
