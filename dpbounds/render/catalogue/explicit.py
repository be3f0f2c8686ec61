"""Every bound with explicit constants on something that an algorithm is for: what can be proven at given numbers."""

from __future__ import annotations

from dpbounds.render.catalogue.numbers import Values, applies, at_in_words, shown, size, value_of
from dpbounds.render.tables import Formula, Id, Table, TableCell
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.record import Bound, Metric, Part, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing_in_words

_GOALS = (
    Metric.GRADIENT_NORM,
    Metric.POPULATION_GRADIENT_NORM,
    Metric.PROJECTED_GRADIENT_NORM,
    Metric.FRANK_WOLFE_GAP,
    Metric.SOSP,
    Metric.POPULATION_SOSP,
    Metric.EXCESS_EMPIRICAL_RISK,
    Metric.EXCESS_POPULATION_RISK,
)


def explicit_bounds(at: Values) -> Table:
    """The table."""
    rows = [
        _row(theorem, part, at)
        for theorem in library()
        if theorem.metric in _GOALS and theorem.side is not None
        for part in theorem.parts
        if isinstance(part, Bound)
    ]
    rows.sort(key=lambda item: tuple(map(str, item[0])) if not at else item[0])
    numbers = ("value", "applies") if at else ()
    return Table(
        name="explicit-bounds",
        title="Bounds with explicit constants",
        columns=("statement", "bounds", "sense", "bound", "needs", "standing", *numbers),
        rows=tuple(cells for _, cells in rows),
        preface=(
            "Each of these is a number, not an order: verification holds runs against them.",
            *((f"At {at_in_words(at)}; upper bounds are rounded up, lower bounds down.",) if at else ()),
        ),
    )


def _row(theorem: Theorem, part: Part, at: Values) -> tuple[tuple[object, ...], tuple[TableCell, ...]]:
    conditions = (*theorem.conditions, *part.conditions)
    cells: list[TableCell] = [
        Id(f"{theorem.id}: {part.name}"),
        str(theorem.metric).replace("-", " "),
        ", ".join(str(one) for one in (theorem.side_of(part), theorem.mode, part.under) if one is not None),
        Formula(part.expression, local=theorem.local),
        "; ".join(inline(one.holds, theorem.local) for one in conditions),
        standing_in_words(theorem, part),
    ]
    key: tuple[object, ...] = (str(theorem.metric), theorem.id, part.name)
    if at:
        found = value_of(theorem, part.name, at)
        cells += [shown(found, theorem.side_of(part)), applies(found)]
        key = (str(theorem.metric), *size(found), theorem.id, part.name)
    return key, tuple(cells)
