"""Tables of the orders of growth for one metric, with assumptions and status."""

from __future__ import annotations

from collections.abc import Sequence

from dpbounds.rates.promises import is_of, measures
from dpbounds.render.catalogue import numbers
from dpbounds.render.catalogue.numbers import Row, Values
from dpbounds.render.catalogue.statements import assumed, named, stood
from dpbounds.render.tables import Formula, Table, TableCell
from dpbounds.theorems.record import Bound, Metric, Part, Rate, Side, Status, Theorem
from dpbounds.theorems.references import cited_as
from dpbounds.theorems.registry import on_metrics
from dpbounds.theorems.standing import standing

METRICS = {
    "gradient-norm": (Metric.GRADIENT_NORM, Metric.PROJECTED_GRADIENT_NORM, Metric.POPULATION_GRADIENT_NORM),
    "sosp": (Metric.SOSP, Metric.POPULATION_SOSP),
    "frank-wolfe-gap": (Metric.FRANK_WOLFE_GAP,),
    "excess-empirical-risk": (Metric.EXCESS_EMPIRICAL_RISK,),
    "excess-population-risk": (Metric.EXCESS_POPULATION_RISK,),
}
_KINDS = {Side.UPPER: "upper", Side.LOWER: "lower", Side.TIGHT: "upper and lower", None: ""}
_LETTERS = {Side.UPPER: "O", Side.LOWER: r"\Omega", Side.TIGHT: r"\Theta", None: "O"}


def by_metric(name: str, at: Values, own: Sequence[Theorem] = ()) -> Table:
    """Return the table of a metric (and of those that belong to it: projected and population gradients, ...)."""
    metrics = METRICS[name]
    rows: list[Row] = []
    notes: list[str] = []
    for theorem in (*on_metrics(*metrics), *own):
        if theorem.metric not in metrics or theorem.side is None or _quotes(theorem):
            continue
        shown = _shown(theorem, theorem in own)
        rows += [_row(theorem, part, at, own) for part in shown]
        if theorem.errata and shown:
            worst = ", ".join(dict.fromkeys(str(one.severity) for one in theorem.errata))
            notes.append(f"{cited_as(theorem.id)} has errata ({worst}): `dpbounds show {theorem.id}`.")
    ordered = numbers.in_order(rows, at)
    return Table(
        name=name,
        title=f"Orders of growth: {name.replace('-', ' ')}",
        columns=(
            *("statement", "bounds", "side", "order", "with constants", "assumes", "standing"),
            *numbers.columns(at),
        ),
        rows=ordered,
        groups=tuple(_group(str(row[1]), str(row[2])) for row in ordered),
        in_print=("statement", "order", "assumes", *numbers.columns(at)[:1]),
        notes_in_print=numbers.orders_at(at),
        sorted=bool(at),
        preface=(
            'Orders hold up to unstated constants; "with constants" puts back what the papers take as 1, where '
            "that could be derived.",
            *numbers.orders_at(at),
        ),
        footnotes=(
            "standing: what is known of the statement and of what its proof uses; a disputed one uses a lemma that is "
            "false as stated.",
            *notes,
        ),
    )


def _group(metric: str, kind: str) -> str:
    side, comma, under = kind.partition(",")
    return f"{metric}: {side} bounds{comma}{under}"


def _shown(theorem: Theorem, own: bool) -> list[Part]:
    """The orders of growth of the bounded quantity, without those of numbers of evaluations or of a risk's decrease.

    Bounds where one's own has no orders.
    """
    main = theorem.rate
    if main is None and own:
        return [part for part in theorem.parts if isinstance(part, Bound) and measures(part, theorem.metric)]
    orders = [part for part in theorem.parts if isinstance(part, Rate) and main is not None and part.unit == main.unit]
    return [part for part in orders if is_of(part, theorem.metric) or (part.unit.loss, part.unit.length) == (0, 0)]


def _quotes(theorem: Theorem) -> bool:
    """Tables and figures repeat other statements."""
    return theorem.id.split("/")[-1].startswith(("table-", "figure-", "appendix-", "section-"))


def _row(theorem: Theorem, part: Part, at: Values, own: Sequence[Theorem]) -> Row:
    restored = part.restored_expression
    known = standing(theorem, part)
    side = theorem.side_of(part)
    cells: list[TableCell] = [
        named(theorem, part, own=own),
        str(theorem.metric).replace("-", " "),
        _KINDS[side] + ("" if part.under is None else f", {part.under}"),
        Formula(part.expression, part.is_order, getattr(part, "logs_hidden", False), theorem.local, _LETTERS[side]),
        None if restored is None else Formula(restored, local=theorem.local),
        assumed(theorem, part),
        stood(theorem, part),
    ]
    key: tuple[object, ...] = (str(theorem.metric), known is Status.FALSE, theorem.id, part.name)
    if at:
        more, size = numbers.cells(theorem, part.name, at, theorem.side_of(part))
        return (*size, theorem.id, part.name), (*cells, *more)
    return key, tuple(cells)
