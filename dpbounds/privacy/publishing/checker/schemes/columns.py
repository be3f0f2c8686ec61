"""Matrices: how they are read, their rows and columns."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

from dpbounds.privacy.publishing.checker.fields import demand_fields
from dpbounds.privacy.publishing.checker.limits import DIGITS, ROWS, STEPS
from dpbounds.privacy.publishing.checker.reading import field, quoted, rational
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered
from dpbounds.privacy.publishing.checker.work import effort

MATRICES = {
    "toeplitz": ("kind", "coefficients", "steps"),
    "lower-triangular": ("kind", "rows"),
    "binary-tree": ("kind", "steps"),
}


def read_matrix(matrix: object) -> dict[str, Any]:
    """Return a matrix with its numbers read: lower triangular, without a 0 on its diagonal."""
    kind = field(matrix, "kind", str)
    if kind not in MATRICES:
        raise Malformed(f"a matrix of kind {quoted(kind)}")
    found = dict(demand_fields(matrix, kind, MATRICES[kind]))
    if "steps" in found and not 1 <= field(matrix, "steps", int) <= STEPS:
        raise Malformed(f"steps is {quoted(found['steps'])}, and not from 1 to {STEPS}")
    if kind == "toeplitz":
        found["coefficients"] = values = [rational(each) for each in field(matrix, "coefficients", list)]
        if not 0 < len(values) <= found["steps"] or values[0] == 0 or values[-1] == 0:
            raise Malformed(
                "a Toeplitz matrix has 1 to as many coefficients as steps; the first and the last are not 0"
            )
        common_denominator(values)
    elif kind == "lower-triangular":
        rows = field(matrix, "rows", list)
        if not 0 < len(rows) <= ROWS:
            raise Malformed(f"a matrix that is given entry by entry has 1 to {ROWS} rows")
        if any(not isinstance(row, list) or len(row) != index for index, row in enumerate(rows, 1)):
            raise Malformed("the rows of a lower triangular matrix end at its diagonal")
        found["rows"] = read = [[rational(each) for each in row] for row in rows]
        if any(row[-1] == 0 for row in read):
            raise Malformed("a 0 on the diagonal of a matrix")
        common_denominator([value for row in read for value in row])
    return found


def common_denominator(values: list[Fraction]) -> int:
    """Return the common denominator of numbers; an error if it is long."""
    found = 1
    for value in values:
        found = math.lcm(found, value.denominator)
        if found > 10**DIGITS:
            raise Malformed(f"the common denominator of a matrix has more than {DIGITS} digits")
    return found


def whole_rows(matrix: dict[str, Any], steps: int) -> tuple[list[list[int]], int]:
    """Return the rows up to the diagonal in units of 1 / (the common denominator), and that."""
    if matrix["kind"] == "toeplitz":
        values = matrix["coefficients"]
        if steps > ROWS:
            raise NotCovered(f"a Toeplitz matrix of more than {ROWS} steps whose coefficients rise or have two signs")
        rows = [[values[i - j] if i - j < len(values) else Fraction(0) for j in range(i + 1)] for i in range(steps)]
    else:
        values, rows = [value for row in matrix["rows"] for value in row], matrix["rows"]
    common = common_denominator(values)
    effort.spend(steps**2 / 8)
    return [[value.numerator * (common // value.denominator) for value in row] for row in rows], common


def squared_norms(matrix: dict[str, Any], steps: int) -> list[Fraction]:
    """Return the squared norms of the columns."""
    effort.spend(steps / 4, steps)
    if matrix["kind"] == "toeplitz":
        values, common = matrix["coefficients"], common_denominator(matrix["coefficients"])
        norms = list(accumulate((value * common).numerator ** 2 for value in values))
        return [Fraction(norms[min(len(values), steps - j) - 1], common**2) for j in range(steps)]
    rows, common = whole_rows(matrix, steps)
    return [Fraction(sum(row[j] ** 2 for row in rows[j:]), common**2) for j in range(steps)]


def bands_of(matrix: dict[str, Any]) -> int:
    """Return the number of diagonals that hold all entries that are not 0, including the main one."""
    if matrix["kind"] == "toeplitz":
        return len(matrix["coefficients"])
    return max(len(row) - next(j for j, value in enumerate(row) if value) for row in matrix["rows"])


def steps_in(given: dict[str, Any]) -> int:
    """Return the number of rows."""
    return len(given["rows"]) if "rows" in given else int(given["steps"])
