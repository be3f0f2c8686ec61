"""Columns with numbers: the value of a part at given values, and whether its statement applies there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from operator import itemgetter

from dpbounds.errors import MISSING, InvalidValue, NotCertified
from dpbounds.expressions.exact import to_float
from dpbounds.render.tables import Missing, Standing, TableCell
from dpbounds.theorems.evaluation import Evaluation, evaluate
from dpbounds.theorems.record import Side, Theorem

Values = Mapping[str, Fraction]
DIGITS = 4


def columns(at: Values) -> tuple[str, ...]:
    """Return the headings of the columns with numbers; none without values."""
    return ("value", "applies") if at else ()


def orders_at(at: Values) -> tuple[str, ...]:
    """Return the note on a table's numbers, if they are values of orders of growth."""
    return (f"At {at_in_words(at)}: values after ~ are those of the formula inside O(.), no bounds.",) if at else ()


def cells(
    theorem: Theorem, part: str, at: Values, side: Side | None
) -> tuple[tuple[str | Missing, Standing], tuple[bool, float]]:
    """Return a part's value and whether the statement applies; and for sorting: numbers first, by size.

    Upper bounds are rounded up, lower bounds down. Orders of growth are marked.
    """
    try:
        found = evaluate(theorem, part, theorem.own_values(at), digits=15)
    except InvalidValue as error:
        why = f"needs {error.name}" if error.value == MISSING else f"not defined: {error.name} = {error.value}"
        return (Missing(why), Standing("")), (True, 0.0)
    except NotCertified:
        return (Missing("not decided"), Standing("")), (True, 0.0)
    if found.applies is False:
        return (Missing("does not apply"), _applies(found)), (True, 0.0)
    text = found.value.decimals(DIGITS)[side is not Side.LOWER]
    shown = f"~ {text}" if found.up_to_constant else text
    return (shown, _applies(found)), (False, float(found.value.upper))


def _applies(found: Evaluation) -> Standing:
    """Return the conditions that fail, or could not be checked."""
    unknown = ", ".join(sorted({name for one in found.conditions for name in one.missing}))
    if found.failing:
        failing = "; ".join(found.failing)
        return Standing(f"no: {failing} fails", f"Does not apply at these values: {failing} fails.")
    if unknown:
        return Standing(f"unknown: needs {unknown}", f"Whether it applies at these values depends on {unknown}.")
    return Standing("yes")


Row = tuple[tuple[object, ...], tuple[TableCell, ...]]  # the key by which it is sorted, and its cells


def in_order(rows: Iterable[Row], at: Values) -> tuple[tuple[TableCell, ...], ...]:
    """Return the rows by size where there are numbers."""
    key = itemgetter(0) if at else lambda row: tuple(map(str, row[0]))
    return tuple(row[1] for row in sorted(rows, key=key))


def at_in_words(at: Values) -> str:
    """Return the values in words."""
    return ", ".join(f"{name} = {_number(value)}" for name, value in at.items())


def _number(value: Fraction) -> str:
    if value.denominator == 1 and abs(value) < 10**6:
        return str(value.numerator)
    short = f"{to_float(value, 'down' if value > 0 else 'up'):g}"
    return short if Fraction(short) == value else str(value)
