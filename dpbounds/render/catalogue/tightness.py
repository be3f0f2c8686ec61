"""Table of the tightness of bounds with constants: the bound, an instance, and the loss."""

from __future__ import annotations

from dpbounds.rates.tightness import rows
from dpbounds.rates.tightness.instances import Finding
from dpbounds.render.catalogue.numbers import DIGITS, at_in_words
from dpbounds.render.catalogue.statements import named
from dpbounds.render.tables import Table, TableCell
from dpbounds.theorems.record import Theorem

_COLUMNS = ("statement", "bounds", "verdict", "bound", "instance", "loss", "run", "what the bound loses", "at")


def tightness() -> Table:
    """Return the table."""
    found = rows.rows()
    near = sum(1 for one in found if any(finding.ratio.exact_upper <= 2 for finding in one.findings))
    attained = sum(1 for one in found if any(finding.exact for finding in one.findings))
    cells = [line for one in found for line in _lines(one)]
    return Table(
        name="tightness",
        title="How tight each bound is",
        columns=_COLUMNS,
        in_print=("statement", "verdict", "what the bound loses"),
        rows=tuple(cells),
        preface=(
            "An instance is a problem that satisfies all that its statement assumes, on which what is bounded is "
            "computed with proof: at these values the bound cannot be made smaller by more than the factor. Bounds are "
            "rounded up, instances down.",
            f"Of {len(found)} statements {attained} are attained in a part, and {near} are within a factor of 2.",
        ),
        footnotes=("The factor is one at the values shown: where other terms of a bound dominate it may be larger.",),
    )


def _lines(row: rows.Row) -> list[tuple[TableCell, ...]]:
    metric = str(row.theorem.metric).replace("-", " ")
    if row.reason is not None:
        return [(named(row.theorem), metric, "open", None, None, None, None, row.reason, None)]
    return [_line(row.theorem, metric, finding) for finding in row.findings]


def _line(theorem: Theorem, metric: str, finding: Finding) -> tuple[TableCell, ...]:
    one = finding.instance
    return (
        named(theorem, theorem.part(one.part), f"{one.statement}: {one.part}"),
        metric,
        rows.verdict(finding),
        finding.bound.decimals(DIGITS)[1],
        finding.value.decimals(DIGITS)[0],
        one.loss.name,
        one.run,
        one.gap,
        at_in_words(one.values),
    )
