"""Table of printed rates and rates by balancing, and their differences."""

from __future__ import annotations

from dpbounds.rates.derivations import DERIVATIONS, Derivation
from dpbounds.rates.orders import LOGARITHMS, Monomial
from dpbounds.rates.spaces import in_letters
from dpbounds.render.catalogue.statements import named
from dpbounds.render.tables import Formula, Table, TableCell
from dpbounds.theorems.references import cited_as
from dpbounds.theorems.registry import theorem


def derived() -> Table:
    """Return the table."""
    return Table(
        name="derived-rates",
        title="Rates that arise by balancing, derived again",
        columns=("statement", "what is chosen", "choice", "derived", "printed", "agrees"),
        rows=tuple(_row(one) for one in DERIVATIONS),
        in_print=("statement", "derived", "printed", "agrees"),
        preface=(
            "The free parameter of each sum is chosen by exact elimination; nothing is typed in. Logarithms are left "
            "out of the comparison, and constants where the papers hide them.",
        ),
        footnotes=tuple(
            f"{cited_as(one.id)}: the derived order is larger where {' and '.join(region)}."
            for one in DERIVATIONS
            for region in one.exceeds()
        ),
    )


def _row(one: Derivation) -> tuple[TableCell, ...]:
    first, second = one.compared()
    choices = []
    for symbol, order in one.derive().choices:
        plain = order.without((*one.constants, *LOGARITHMS))
        values = [in_letters(monomial) for monomial in plain.monomials]
        choices.append(
            f"{in_letters(Monomial.of({symbol: 1}))} ~ "
            + (values[0] if len(values) == 1 else f"min({', '.join(values)})")
        )
    return (
        named(theorem(one.id), text=one.id),
        one.text,
        "; ".join(dict.fromkeys(choices)),
        Formula(first.expression, order=True),
        Formula(second.expression, order=True),
        "yes" if one.agrees() else "no",
    )
