"""Matrices that encode a stream of sums: Toeplitz factors, any lower triangular matrix, binary trees.

Row l of C x is released at step l with independent noise; exact rational numbers throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeGuard

from dpbounds import documents
from dpbounds.displayed import Displayed, written
from dpbounds.documents import quoted
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.limits import DIGITS, MATRIX_ROWS, MATRIX_STEPS
from dpbounds.privacy.mechanisms.core import listed
from dpbounds.privacy.mechanisms.parameters import Kind, WriteNumber, read_list, read_number


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Toeplitz(Displayed):
    """The lower triangular matrix with the same coefficients in every column, C[i, l] = coefficients[i - l].

    Args:
        coefficients: From the diagonal down, exact numbers, the first not 0; those that are not given are 0. Or
            "square-root", binom(2k, k) / 4^k rounded to doubles: the square root of the prefix sums.
        steps: The number of rows and of columns.
        bands: The number of coefficients in use; the others are left out. With "square-root" only; the default is the
            number of steps.

    Raises:
        InvalidValue: There is no coefficient, the first is 0, or a number is not a whole one, or too large.

    >>> Toeplitz(["1", "1/2", "1/8"], steps=8, bands=2).coefficients
    (Fraction(1, 1), Fraction(1, 2))
    """

    coefficients: tuple[Fraction, ...]
    steps: int

    def __init__(self, coefficients: Iterable[ExactLike] | str, steps: int, bands: int | None = None) -> None:
        rows = positive_integer(steps, "steps", MATRIX_STEPS)
        kept = rows if bands is None else min(rows, positive_integer(bands, "bands"))
        if isinstance(coefficients, str) and coefficients == "square-root":
            given: tuple[ExactLike, ...] = _square_root(kept)
        else:
            given = listed(coefficients, "coefficients", "numbers, or 'square-root'")
        read = [exact(value, "coefficients") for value in given[:kept]]
        while read and read[-1] == 0:
            read.pop()
        if not read or read[0] == 0:
            raise InvalidValue("coefficients", list(given[:3]), "numbers, the first of them not 0", _DIAGONAL)
        _common_denominator(read, "coefficients")
        object.__setattr__(self, "coefficients", tuple(read))
        object.__setattr__(self, "steps", rows)

    @property
    def bands(self) -> int:
        """The number of diagonals that are not 0, including the main one."""
        return len(self.coefficients)


_DIAGONAL = "without a diagonal a step's own sum is not released, and cannot be worked out"


def _square_root(count: int) -> tuple[float, ...]:
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (2 * k - 1) / (2 * k))
    return tuple(found)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LowerTriangular(Displayed):
    """Any lower triangular matrix, without a 0 on its diagonal.

    Args:
        rows: As many rows as columns, exact numbers; a row may end at its diagonal.

    Raises:
        InvalidValue: It is not square, not lower triangular, has a 0 on its diagonal, or more than 2048 rows.

    >>> LowerTriangular([["1"], ["1/2", 1]]).steps
    2
    """

    denominator: int
    rows: tuple[tuple[int, ...], ...]  # numerators, each row up to its diagonal

    def __init__(self, rows: Iterable[Iterable[ExactLike]]) -> None:
        given = [listed(row, "matrix", "numbers") for row in listed(rows, "matrix", "rows, which are lists of numbers")]
        if not 0 < len(given) <= MATRIX_ROWS:
            raise InvalidValue(
                "matrix", f"{len(given)} rows", f"1 to {MATRIX_ROWS} rows", "a Toeplitz matrix may have more"
            )
        read = [tuple(_entry(value) for value in row) for row in given]
        for index, row in enumerate(read):
            if len(row) not in (index + 1, len(read)):
                told = f"{len(row)} entries in row {index + 1} of {len(read)}"
                raise InvalidValue("matrix", told, "square: as many entries in a row as there are rows")
            if any(row[index + 1 :]):
                above = "lower triangular: a step's sum may enter its own row and later ones only"
                raise InvalidValue("matrix", f"an entry above the diagonal in row {index + 1}", above)
            if row[index] == 0:
                raise InvalidValue(
                    f"the diagonal entry of row {index + 1} of the matrix", 0, "different from 0", _DIAGONAL
                )
        common = _common_denominator((value for row in read for value in row), "matrix")
        numerators = tuple(
            tuple(value.numerator * (common // value.denominator) for value in row[: index + 1])
            for index, row in enumerate(read)
        )
        object.__setattr__(self, "denominator", common)
        object.__setattr__(self, "rows", numerators)

    def __repr__(self) -> str:
        rows = tuple(tuple(Fraction(entry, self.denominator) for entry in row) for row in self.rows)
        return f"LowerTriangular({written(rows)})"

    @property
    def steps(self) -> int:
        """The number of rows and of columns."""
        return len(self.rows)

    @property
    def bands(self) -> int:
        """The number of diagonals that hold all entries that are not 0, including the main one."""
        return 1 + max(
            index - next(column for column, value in enumerate(row) if value) for index, row in enumerate(self.rows)
        )


_ZERO = Fraction(0)


def _entry(value: ExactLike) -> Fraction:
    return _ZERO if isinstance(value, int | float | str) and value in (0, "0") else exact(value, "matrix")


def _common_denominator(values: Iterable[Fraction], name: str) -> int:
    found = 1
    for value in values:
        found = math.lcm(found, value.denominator)
        if found > _LARGEST:
            told = "numbers whose common denominator is longer"
            raise InvalidValue(name, told, f"numbers with a common denominator of at most {DIGITS} digits", _DECIMALS)
    return found


_LARGEST = 10**DIGITS
_DECIMALS = "round them to decimals, as the training does"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BinaryTree(Displayed):
    """The complete blocks of 2^h steps that begin at multiples of 2^h, each released when its last step is done.

    Prefix sums, and all other functions of the releases, are post-processing. A tree that is padded with empty steps is
    a tree over the padded number of steps.

    Args:
        steps: The number of leaves.

    Raises:
        InvalidValue: It is not a positive whole number, or too large.
    """

    steps: int

    def __init__(self, steps: int) -> None:
        object.__setattr__(self, "steps", positive_integer(steps, "steps", MATRIX_STEPS))


Encoder = Toeplitz | LowerTriangular | BinaryTree


def is_encoder(value: object) -> TypeGuard[Encoder]:
    """Return whether it is one of the matrices of this file."""
    return isinstance(value, Toeplitz | LowerTriangular | BinaryTree)


def _write_matrix(matrix: Encoder, number: WriteNumber) -> object:
    match matrix:
        case Toeplitz(coefficients=coefficients, steps=steps):
            return {"kind": "toeplitz", "coefficients": list(map(number, coefficients)), "steps": steps}
        case LowerTriangular(rows=rows, denominator=common):
            exact_rows = [[number(Fraction(x, common)) for x in row] for row in rows]
            return {"kind": "lower-triangular", "rows": exact_rows}
    return {"kind": "binary-tree", "steps": matrix.steps}


def _read_matrix(value: object, name: str) -> Encoder:
    kinds = {"toeplitz": ("coefficients", "steps"), "lower-triangular": ("rows",), "binary-tree": ("steps",)}
    kind = value.get("kind") if isinstance(value, dict) else value
    if not isinstance(value, dict) or not isinstance(kind, str) or kind not in kinds:
        raise InvalidValue(name, quoted(kind), "an object of a kind among " + ", ".join(kinds))
    documents.demand_object(value, name, {"kind", *kinds[kind]})
    if kind == "lower-triangular":
        rows = (read_list(row, name) for row in read_list(value["rows"], name))
        return encoder_of({"kind": kind, "rows": [[read_number(x, name) for x in row] for row in rows]})
    read: dict[str, object] = {"kind": kind, "steps": positive_integer(value["steps"], "steps")}
    if "coefficients" in value:
        given = read_list(value["coefficients"], "coefficients")
        read["coefficients"] = [read_number(x, "coefficients") for x in given]
    return encoder_of(read)


def encoder_of(given: Mapping[str, Any]) -> Encoder:
    """Return the matrix of an object whose numbers have been read, of a known kind."""
    match given["kind"]:
        case "toeplitz":
            return Toeplitz(given["coefficients"], given["steps"])
        case "lower-triangular":
            return LowerTriangular(given["rows"])
    return BinaryTree(given["steps"])


MATRIX = Kind(_read_matrix, _write_matrix)
