"""Every order of growth for one metric, side by side, with what each assumes and what is known of it."""

from __future__ import annotations

from dpbounds.render.catalogue import numbers
from dpbounds.render.catalogue.numbers import Row, Values
from dpbounds.render.tables import Formula, Id, Table, TableCell
from dpbounds.theorems.record import Metric, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing, standing_in_words

METRICS = {
    "gradient-norm": (Metric.GRADIENT_NORM, Metric.PROJECTED_GRADIENT_NORM, Metric.POPULATION_GRADIENT_NORM),
    "sosp": (Metric.SOSP, Metric.POPULATION_SOSP),
    "frank-wolfe-gap": (Metric.FRANK_WOLFE_GAP,),
    "excess-empirical-risk": (Metric.EXCESS_EMPIRICAL_RISK,),
    "excess-population-risk": (Metric.EXCESS_POPULATION_RISK,),
}
_KINDS = {Side.UPPER: "upper", Side.LOWER: "lower", Side.TIGHT: "upper and lower", None: ""}


def by_metric(name: str, at: Values) -> Table:
    """The table of a metric (and of those that belong to it: projected and population gradients, ...)."""
    metrics = METRICS[name]
    rows: list[Row] = []
    notes: list[str] = []
    for theorem in library():
        if theorem.metric not in metrics or theorem.side is None or _quotes(theorem):
            continue
        main = theorem.rate
        rows += [
            _row(theorem, part, at)
            for part in theorem.parts
            if isinstance(part, Rate) and main is not None and part.unit == main.unit  # not a number of evaluations
        ]
        if theorem.errata and any(isinstance(part, Rate) for part in theorem.parts):
            worst = ", ".join(dict.fromkeys(str(one.severity) for one in theorem.errata))
            notes.append(f"`{theorem.id}` has errata ({worst}): `dpbounds show {theorem.id}`.")
    return Table(
        name=name,
        title=f"Orders of growth: {name.replace('-', ' ')}",
        columns=(
            *("statement", "bounds", "side", "order", "with constants", "assumes", "standing"),
            *numbers.columns(at),
        ),
        rows=numbers.in_order(rows, at),
        preface=(
            'Orders hold up to constants that nobody stated; "with constants" puts back what print takes as 1, where '
            "that could be derived.",
            *numbers.orders_at(at),
        ),
        footnotes=(
            "standing: what is known of the statement and of what its proof uses; a disputed one uses a lemma that is "
            "false as stated.",
            *notes,
        ),
    )


def _quotes(theorem: Theorem) -> bool:
    """Tables and figures repeat other statements."""
    return theorem.id.split("/")[-1].startswith(("table-", "figure-", "appendix-", "section-"))


def _row(theorem: Theorem, part: Rate, at: Values) -> Row:
    restored = part.restored_expression
    known = standing(theorem, part)
    cells: list[TableCell] = [
        Id(theorem.name_of(part)),
        str(theorem.metric).replace("-", " "),
        _KINDS[theorem.side_of(part)] + ("" if part.under is None else f", {part.under}"),
        Formula(part.expression, order=True, logs_hidden=part.logs_hidden, local=theorem.local),
        None if restored is None else Formula(restored, local=theorem.local),
        ", ".join(one.name for one in theorem.assumptions_of(part)),
        standing_in_words(theorem, part),
    ]
    key: tuple[object, ...] = (str(theorem.metric), known is Status.FALSE, theorem.id, part.name)
    if at:
        more, size = numbers.cells(theorem, part.name, at, theorem.side_of(part))
        return (*size, theorem.id, part.name), (*cells, *more)
    return key, tuple(cells)
