"""Datasets, prepared by rules that do not look at the data: public ranges, then per-record clipping.

Standardising by the data's own mean and spread would be a release of its own, outside every ledger. Here a feature is
centred and scaled by a *public* range, and the length of a record is limited one record at a time. The ``notes`` of the
returned record describe the preprocessing.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpbounds import documents, limits
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike

Range = tuple[float, float]
_MOST_CLASSES = 10  # classes that an error names


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Records ready for a problem.

    Attributes:
        name: The name of the dataset.
        features: Shape (n, p), read-only; every row's l2 norm is at most ``feature_bound``, exactly.
        labels: -1 or +1, shape (n,), read-only.
        feature_names: One per column.
        feature_bound: The public bound that every record was clipped to.
        positive: The meaning of label +1.
        notes: The preprocessing, and the assumptions on what is public.
    """

    name: str
    features: Array = field(repr=False)
    labels: Array = field(repr=False)
    feature_names: tuple[str, ...]
    feature_bound: Fraction
    positive: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        records, dimension = self.features.shape
        head = f"{self.name}: {records} records, {dimension} features, +1 means {self.positive}"
        return "\n".join((head, *(f"  {note}" for note in self.notes)))


# Smallest and largest value of each feature as printed in the documentation of the dataset, in the table "Summary
# Statistics" (UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic), as bundled with scikit-learn).
_BREAST_CANCER_RANGES: dict[str, Range] = {
    "mean radius": (6.981, 28.11),
    "mean texture": (9.71, 39.28),
    "mean perimeter": (43.79, 188.5),
    "mean area": (143.5, 2501.0),
    "mean smoothness": (0.053, 0.163),
    "mean compactness": (0.019, 0.345),
    "mean concavity": (0.0, 0.427),
    "mean concave points": (0.0, 0.201),
    "mean symmetry": (0.106, 0.304),
    "mean fractal dimension": (0.05, 0.097),
    "radius error": (0.112, 2.873),
    "texture error": (0.36, 4.885),
    "perimeter error": (0.757, 21.98),
    "area error": (6.802, 542.2),
    "smoothness error": (0.002, 0.031),
    "compactness error": (0.002, 0.135),
    "concavity error": (0.0, 0.396),
    "concave points error": (0.0, 0.053),
    "symmetry error": (0.008, 0.079),
    "fractal dimension error": (0.001, 0.03),
    "worst radius": (7.93, 36.04),
    "worst texture": (12.02, 49.54),
    "worst perimeter": (50.41, 251.2),
    "worst area": (185.2, 4254.0),
    "worst smoothness": (0.071, 0.223),
    "worst compactness": (0.027, 1.058),
    "worst concavity": (0.0, 1.252),
    "worst concave points": (0.0, 0.291),
    "worst symmetry": (0.156, 0.664),
    "worst fractal dimension": (0.055, 0.208),
}


def breast_cancer(feature_bound: ExactLike = 1) -> Dataset:
    """Return the Breast Cancer Wisconsin (Diagnostic) data, from the copy in scikit-learn (no network).

    569 records, 30 features and an intercept. Each feature is shifted and scaled so that its published range becomes
    [-1, 1]; then every record is clipped to l2 norm ``feature_bound``.

    Label +1 is malignant (212 records), -1 benign (357).

    Raises:
        ModuleNotFoundError: scikit-learn is not installed.

    Source: Street, Wolberg & Mangasarian 1993; ranges as printed in the dataset's documentation.
    """
    bound = checked_bound(feature_bound)
    try:
        from sklearn.datasets import load_breast_cancer
    except ModuleNotFoundError:
        message = "breast_cancer() needs scikit-learn, which carries the data: pip install 'dpbounds[demo]'"
        raise ModuleNotFoundError(message) from None
    bunch = load_breast_cancer()
    names = tuple(str(name) for name in bunch.feature_names)
    ranges = tuple(_BREAST_CANCER_RANGES[name] for name in names)
    labels = np.where(np.asarray(bunch.target) == 0, 1.0, -1.0)  # scikit-learn's 0 is malignant
    note = (
        "the ranges are the smallest and largest values printed in the dataset's documentation; they were published "
        "with the data and are taken to be public"
    )
    features, name = np.asarray(bunch.data, dtype=np.float64), "Breast Cancer Wisconsin (Diagnostic)"
    return prepared(name, features, labels, names, bound, "malignant", ranges, intercept=True, notes=(note,))


def read_csv(
    path: str | Path,
    label: str | None = None,
    positive: str | float | None = None,
    ranges: str | Path | None = None,
    feature_bound: ExactLike = 1,
    intercept: bool = True,
) -> Dataset:
    """Read a CSV file (plain or gzip-compressed) whose first line names the columns.

    Nothing is standardised by the data. With ``ranges``, each feature is moved and scaled so that its public range
    becomes [-1, 1]; without, features stay as they are. Then every record is clipped to l2 norm ``feature_bound``.

    Args:
        path: The file.
        label: Name of the label column; the last column by default.
        positive: The label value that becomes +1, all others become -1 (one against the rest). May be left out where
            there are exactly two values: the larger one (as numbers, or else as text) becomes +1.
        ranges: A CSV file with columns feature, lower, upper and one line for every feature. The ranges must be public
            knowledge, not read off these records.
        feature_bound: B > 0, public.
        intercept: Whether to add a column of ones.

    Raises:
        InvalidValue: The file cannot be read, a line has too few or too many fields, a feature is not a finite number
            (its column and line are named), the labels do not make two classes, or the ranges do not fit.
    """
    bound = checked_bound(feature_bound)
    header, rows = read_table(path, "path")
    target = header[-1] if label is None else label
    if target not in header:
        raise InvalidValue("label", repr(target), "one of the columns " + ", ".join(header))
    position = header.index(target)
    names = tuple(name for name in header if name != target)
    if not names:
        raise InvalidValue("columns of the file", ", ".join(header), "at least one feature beside the label")
    columns = list(zip(*rows, strict=True))
    features = np.column_stack(
        [column_of_numbers(columns[index], name) for index, name in enumerate(header) if index != position]
    )
    labels, meaning, how = two_classes([value.strip() for value in columns[position]], target, positive)
    public = None if ranges is None else _every_range(ranges, names)
    return prepared(Path(path).name, features, labels, names, bound, meaning, public, intercept, notes=(how,))


def prepared(
    name: str,
    features: Array,
    labels: Array,
    names: tuple[str, ...],
    bound: Fraction,
    positive: str,
    ranges: Sequence[Range] | None,
    intercept: bool,
    notes: tuple[str, ...],
) -> Dataset:
    """Return features, shape (n, p), scaled by public ranges if given and clipped to an l2 norm, with notes."""
    matrix = features
    if ranges is None:
        scaling = "features are used as they are in the file: no public ranges were given to scale them by"
    else:
        lower, upper = np.array(ranges, dtype=np.float64).T
        with np.errstate(over="ignore"):
            matrix = (matrix - (lower + upper) / 2) / ((upper - lower) / 2)
        for row, column in np.argwhere(~np.isfinite(matrix))[:1]:
            allowed = "a value that its range scales to a finite number"
            raise InvalidValue(f"feature {names[column]!r}", f"the value of record {row + 1}", allowed)
        scaling = "each feature is moved and scaled so that its public range becomes [-1, 1]"
    if intercept:
        matrix = np.column_stack([matrix, np.ones(len(matrix))])
        names = (*names, "intercept")
    clipped = clip_rows(matrix, bound)[0]
    clipping = (
        f"every record{' (with its intercept 1)' if intercept else ''} is clipped to l2 norm {bound}, one record at a "
        "time"
    )
    for array in (clipped, labels):
        array.flags.writeable = False
    return Dataset(name, clipped, labels, names, bound, positive, (scaling, clipping, *notes))


def read_table(path: str | Path, what: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file, every row as long as the header; blank lines are skipped."""
    raw = _read_bytes(Path(path), what)
    try:
        lines = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        numbered = [(lines.line_num, row) for row in lines if row]
    except UnicodeDecodeError as error:
        raise InvalidValue(what, path, "a CSV file in UTF-8", f"byte {error.start} is not") from None
    except csv.Error as error:
        raise InvalidValue(what, path, "a CSV file", str(error)) from None
    if len(numbered) < 2:
        raise InvalidValue(what, path, "a CSV file with a line of column names and at least one record")
    header = [name.strip() for name in numbered[0][1]]
    if all(_is_number(name) for name in header):
        advice = "add a first line with the names of the columns"
        raise InvalidValue(f"first line of {path}", "numbers", "column names, not numbers", advice)
    wrong = [str(place) for place, name in enumerate(header, 1) if not name or header.count(name) > 1]
    if wrong:  # not their text: it may be a record
        raise InvalidValue(f"first line of {path}", f"fields {', '.join(wrong)}", "non-empty column names, each once")
    for line, row in numbered[1:]:
        if len(row) != len(header):
            raise InvalidValue(
                f"line {line} of {path}", f"{len(row)} fields", f"{len(header)} fields, as the first line"
            )
    return header, [row for _, row in numbered[1:]]


def _read_bytes(path: Path, what: str) -> bytes:
    raw = documents.read_bytes(path, what, limits.TABLE_BYTES)
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            unpacked = file.read(limits.TABLE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:  # gzip.BadGzipFile is an OSError
        raise InvalidValue(what, path, "a readable CSV file, plain or gzip-compressed", str(error)) from None
    if len(unpacked) > limits.TABLE_BYTES:
        raise InvalidValue(what, path, f"a file of at most {limits.TABLE_BYTES} bytes when unpacked")
    return unpacked


def column_of_numbers(column: Sequence[str], name: str) -> Array:
    """Return the values of a column as finite doubles, or ``InvalidValue`` with the first record that is none."""
    try:
        values = np.array(column, dtype=np.float64)
    except ValueError:
        values = np.array([float(value) if _is_number(value) else math.nan for value in column])
    wrong = ~np.isfinite(values)
    if wrong.any():
        record = int(np.argmax(wrong))
        advice = "drop the column or encode it as numbers by a public rule"
        what = f"the value of record {record + 1}"  # and not the value itself: errors end up in logs
        raise InvalidValue(f"column {name!r}", what, "finite numbers only", advice)
    return values


def two_classes(values: list[str], column: str, positive: str | float | None) -> tuple[Array, str, str]:
    """Return labels -1 and +1, the label that is +1, and a note on the choice; or raise ``InvalidValue``."""
    if "" in values:
        advice = "drop records without a label"
        raise InvalidValue(f"labels in column {column!r}", f"none in record {values.index('') + 1}", "a label", advice)
    distinct: list[str] = []
    for value in sorted(set(values), key=_label_order):  # labels of equal value stand side by side: 1 and 1.0 are one
        if not (distinct and _same_label(distinct[-1], value)):
            distinct.append(value)
    # classes have few names; many different values are measurements, which belong into no log
    shown = ", ".join(distinct) if len(distinct) <= _MOST_CLASSES else f"{len(distinct)} different values"
    if positive is None:
        if len(distinct) != 2:
            advice = "name the one that becomes +1 with `positive`; all others become -1" if len(distinct) > 2 else ""
            raise InvalidValue(f"labels in column {column!r}", shown, "exactly two values", advice)
        chosen = distinct[1]
        how = f"label {chosen} is +1 and {distinct[0]} is -1; that these are the labels is taken to be public"
    else:
        matches = [value for value in distinct if _same_label(value, str(positive))]
        if not matches:
            raise InvalidValue("positive", repr(positive), f"one of the labels in column {column!r}: {shown}")
        if len(distinct) < 2:
            raise InvalidValue(f"labels in column {column!r}", shown, "at least two values")
        chosen = matches[0]
        how = f"label {chosen} is +1 and all others are -1"
    labels = np.array([1.0 if _same_label(value, chosen) else -1.0 for value in values])
    return labels, f"{column} = {chosen}", how


def _label_order(value: str) -> tuple[bool, float, str]:
    return (False, float(value), value) if _is_number(value) else (True, 0.0, value)


def _same_label(first: str, second: str) -> bool:
    return first == second or (_is_number(first) and _is_number(second) and float(first) == float(second))


def _every_range(path: str | Path, names: tuple[str, ...]) -> tuple[Range, ...]:
    found = read_ranges(path, names)
    missing = [name for name in names if name not in found]
    if missing:
        raise InvalidValue(f"ranges in {path}", "no range for " + ", ".join(missing), "a range for every feature")
    return tuple(found[name] for name in names)


def read_ranges(path: str | Path, names: Sequence[str]) -> dict[str, Range]:
    """Return the ranges of features that a CSV file with the columns feature, lower, upper has."""
    header, rows = read_table(path, "ranges")
    if sorted(header) != ["feature", "lower", "upper"]:
        raise InvalidValue(f"columns of {path}", ", ".join(header), "feature, lower, upper")
    feature, lower, upper = (header.index(name) for name in ("feature", "lower", "upper"))
    found: dict[str, Range] = {}
    for row in rows:
        name = row[feature].strip()
        if name not in names:
            raise InvalidValue(f"feature in {path}", repr(name), "one of " + ", ".join(names))
        if name in found:
            raise InvalidValue(f"feature {name!r} in {path}", "twice", "given once")
        ends = row[lower].strip(), row[upper].strip()
        if not all(map(_is_number, ends)) or not float(ends[0]) < float(ends[1]):
            raise InvalidValue(f"range of {name!r} in {path}", ", ".join(ends), "two finite numbers, lower < upper")
        found[name] = (float(ends[0]), float(ends[1]))
    return found


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
