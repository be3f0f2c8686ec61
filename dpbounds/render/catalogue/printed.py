"""The comparison tables of the papers, row by row, with the status of each row today."""

from __future__ import annotations

from dpbounds.render.catalogue.numbers import Values, cells as numbers_of, columns, orders_at
from dpbounds.render.catalogue.statements import stood
from dpbounds.render.tables import Formula, Table, TableCell
from dpbounds.theorems.record import Rate
from dpbounds.theorems.registry import theorem

PRINTED = {
    "wang-xu-2019-table-1": "wang-xu-2019/table-1",
    "ganesh-liu-oh-thakurta-2023-table-1": "ganesh-liu-oh-thakurta-2023/table-1",
    "ganesh-liu-oh-thakurta-2023-table-2": "ganesh-liu-oh-thakurta-2023/table-2",
    "ganesh-liu-oh-thakurta-2023-table-3": "ganesh-liu-oh-thakurta-2023/table-3",
    "lowy-ullman-wright-2024-figure-1": "lowy-ullman-wright-2024/figure-1",
}


def printed(name: str, at: Values) -> Table:
    """Return a table of a paper."""
    record = theorem(PRINTED[name])
    rows: list[tuple[TableCell, ...]] = []
    for part in record.parts:
        rate = part if isinstance(part, Rate) else None
        restored = rate.restored_expression if rate else None
        cells: list[TableCell] = [
            part.name.replace("-", " ").replace("_", " "),
            part.meaning,
            Formula(part.expression, order=rate is not None, logs_hidden=bool(rate and rate.logs_hidden),
                    local=record.local),
            None if restored is None else Formula(restored, local=record.local),
            stood(record, part),
        ]  # fmt: skip
        numbers = numbers_of(record, part.name, at, None)[0] if at else ()
        rows.append((*cells, *numbers))
    return Table(
        name=name,
        title=f"{record.paper}, {record.number}: {record.title}",
        columns=("row", "what", "as printed", "with constants", "standing", *columns(at)),
        rows=tuple(rows),
        in_print=("what", "as printed", "with constants", *columns(at)[:1]),
        sorted=True,
        preface=(f"Where it stands: {record.where}.", *orders_at(at)),
        footnotes=(
            *(f"Printed: {one.printed}; right: {one.right} ({one.severity})." for one in record.errata),
            *(one.text for one in record.notes),
        ),
    )
