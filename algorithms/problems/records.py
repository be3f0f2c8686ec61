"""Records and the public bounds that constants rest on: clipped where a problem is made, proven where one is built."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

_ROWS = 1 << 14  # looked at together, so that no second copy of the records is made
_ADVICE = "problems are made by their constructors, which clip; Clipped clips gradients"


def clip_rows(matrix: Array, bound: Fraction) -> tuple[Array, int]:
    """Scale rows down so that every row's exact l2 norm is at most ``bound``; count those that were changed.

    With u = 2^-53, the computed norm of p numbers is off by a factor of at most 1 ± (p+4)u, and scaling a row adds at
    most a few u more. A row stays as it is where its computed norm, enlarged by s = (p+16)u, is within the bound, and
    is otherwise scaled to (1 - 4s) times the bound: the true norm is within the bound in both cases, and clipping
    twice changes nothing. Per record: the result of one row depends on no other row.
    """
    slack = (matrix.shape[1] + 16) * 2.0**-53
    limit = to_float(bound, "down")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    direction = matrix / np.where(largest > 0, largest, 1.0)  # entries up to 1: no overflow in the squares
    lengths = np.sqrt((direction * direction).sum(axis=1, keepdims=True))
    with np.errstate(over="ignore"):  # an infinite norm is over the bound, which is all that is asked here
        over = largest * lengths * (1.0 + slack) > limit
    scaled = direction * (limit / np.maximum(lengths, 1.0) * (1.0 - 4.0 * slack))
    return np.where(over, scaled, matrix), int(over.sum())


def within_norm(matrix: Array, bound: Fraction, name: str) -> Array:
    """Return records, shape (n, p), read-only, once it is proven that no row's exact l2 norm exceeds ``bound``.

    One pass: what ``clip_rows`` would leave as it is is proven, the few rows beside the bound are asked exactly.

    Raises:
        InvalidValue: A row is longer, or not finite; it is named, and its entries are not.
    """
    records = _matrix(matrix, name)
    for start in range(0, len(records), _ROWS) if records.strides[0] else (0,):  # a row that is broadcast is seen once
        rows = records[start : start + _ROWS] if records.strides[0] else records[:1]
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        changed = (clip_rows(np.where(finite[:, None], rows, 0.0), bound)[0] != rows).any(axis=1)
        for row in np.flatnonzero(changed):
            if not finite[row] or sum((Fraction(float(x)) ** 2 for x in rows[row] if x), Fraction(0)) > bound**2:
                what = f"a record of l2 norm at most {bound}"
                raise InvalidValue(f"{name}[{start + row}]", "a longer one", what, _ADVICE)
    return records


def within_range(values: Array, least: Fraction, most: Fraction, records: int, name: str) -> Array:
    """Return one number per record, shape (n,), read-only, all from ``least`` to ``most``; else ``InvalidValue``."""
    numbers = _read_only(np.asarray(values, dtype=np.float64))
    if numbers.shape != (records,):
        raise InvalidValue(f"{name}.shape", numbers.shape, f"({records},), one number per record")
    outside = ~((numbers >= to_float(least, "up")) & (numbers <= to_float(most, "down")))  # a NaN is, too
    if outside.any():
        raise InvalidValue(f"{name}[{int(np.argmax(outside))}]", "another", f"from {least} to {most}", _ADVICE)
    return numbers


def _matrix(values: Array, name: str) -> Array:
    matrix = _read_only(np.asarray(values, dtype=np.float64))
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidValue(f"{name}.shape", matrix.shape, "(n, p) with n >= 1 and p >= 1", "one row per record")
    return matrix


def _read_only(values: Array) -> Array:
    """Return the array, or a read-only copy."""
    if values.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return values
