"""Table of the bounds with explicit constants on outputs of algorithms, at given numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dpbounds.rates.promises import GOALS
from dpbounds.render.catalogue import numbers
from dpbounds.render.catalogue.numbers import Row, Values
from dpbounds.render.catalogue.statements import named, stood
from dpbounds.render.tables import Conditions, Formula, Table, TableCell
from dpbounds.theorems.record import Bound, Part, Theorem
from dpbounds.theorems.registry import library


def explicit_bounds(at: Values, own: Sequence[Theorem] = ()) -> Table:
    """Return the table."""
    rows = [
        _row(theorem, part, at, own)
        for theorem in (*library(), *own)
        if theorem.metric in GOALS and theorem.side is not None
        for part in theorem.parts
        if isinstance(part, Bound)
    ]
    ordered = numbers.in_order(rows, at)
    return Table(
        name="explicit-bounds",
        title="Bounds with explicit constants",
        columns=("statement", "bounds", "sense", "bound", "needs", "standing", *numbers.columns(at)),
        rows=ordered,
        groups=tuple(f"{row[1]}: {row[2]}" for row in ordered),
        in_print=("statement", "bound", *numbers.columns(at)[:1]),
        notes_in_print=(*_rounded(at), "Conditions on the parameters are left out here."),
        sorted=bool(at),
        preface=(
            "Each of these is a number, not an order: verification compares runs with them.",
            *_rounded(at),
        ),
    )


def _rounded(at: Values) -> tuple[str, ...]:
    return (f"At {numbers.at_in_words(at)}; upper bounds are rounded up, lower bounds down.",) if at else ()


def _row(theorem: Theorem, part: Part, at: Values, own: Sequence[Theorem]) -> Row:
    conditions = (*theorem.conditions, *part.conditions)
    cells: list[TableCell] = [
        named(theorem, part, f"{theorem.id}: {part.name}", own),
        str(theorem.metric).replace("-", " "),
        ", ".join(str(one) for one in (theorem.side_of(part), theorem.mode, part.under) if one is not None),
        Formula(part.expression, local=theorem.local),
        Conditions(tuple(Formula(one.holds, local=theorem.local) for one in conditions)),
        stood(theorem, part),
    ]
    if at:
        more, size = numbers.cells(theorem, part.name, at, theorem.side_of(part))
        return (str(theorem.metric), *size, theorem.id, part.name), (*cells, *more)
    return (str(theorem.metric), theorem.id, part.name), tuple(cells)
