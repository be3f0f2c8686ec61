"""Every bound with explicit constants on something that an algorithm is for: what can be proven at given numbers."""

from __future__ import annotations

from dpbounds.rates.promises import GOALS
from dpbounds.render.catalogue import numbers
from dpbounds.render.catalogue.numbers import Row, Values
from dpbounds.render.tables import Formula, Id, Table, TableCell
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.record import Bound, Part, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing_in_words


def explicit_bounds(at: Values) -> Table:
    """The table."""
    rows = [
        _row(theorem, part, at)
        for theorem in library()
        if theorem.metric in GOALS and theorem.side is not None
        for part in theorem.parts
        if isinstance(part, Bound)
    ]
    return Table(
        name="explicit-bounds",
        title="Bounds with explicit constants",
        columns=("statement", "bounds", "sense", "bound", "needs", "standing", *numbers.columns(at)),
        rows=numbers.in_order(rows, at),
        preface=(
            "Each of these is a number, not an order: verification holds runs against them.",
            *((f"At {numbers.at_in_words(at)}; upper bounds are rounded up, lower bounds down.",) if at else ()),
        ),
    )


def _row(theorem: Theorem, part: Part, at: Values) -> Row:
    conditions = (*theorem.conditions, *part.conditions)
    cells: list[TableCell] = [
        Id(f"{theorem.id}: {part.name}"),
        str(theorem.metric).replace("-", " "),
        ", ".join(str(one) for one in (theorem.side_of(part), theorem.mode, part.under) if one is not None),
        Formula(part.expression, local=theorem.local),
        "; ".join(inline(one.holds, theorem.local) for one in conditions),
        standing_in_words(theorem, part),
    ]
    if at:
        more, size = numbers.cells(theorem, part.name, at, theorem.side_of(part))
        return (str(theorem.metric), *size, theorem.id, part.name), (*cells, *more)
    return (str(theorem.metric), theorem.id, part.name), tuple(cells)
