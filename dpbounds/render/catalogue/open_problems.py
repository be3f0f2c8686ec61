"""Open problems: the gaps between the best known upper and lower bounds, by size."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.expressions.symbols import dataset_size
from dpbounds.rates.open_problems import OpenProblem, open_problems as found_open
from dpbounds.rates.orders import Monomial
from dpbounds.rates.regimes import Verdict
from dpbounds.rates.spaces import in_letters
from dpbounds.render.tables import Conditions, Formula, Ids, Table, TableCell

_COLUMNS = (
    "quantity", "where", "best known", "by", "lower bound", "lower bound by", "verdict", "gap", "at most", "there"
)  # fmt: skip


def open_problems() -> Table:
    """Return the table."""
    every = found_open()
    gaps = sum(one.regime.verdict is Verdict.GAP for one in every)
    return Table(
        name="open-problems",
        title="Open problems: how far upper and lower bounds are apart",
        columns=_COLUMNS,
        in_print=("quantity", "where", "best known", "lower bound", "gap"),
        rows=tuple(map(_row, every)),
        preface=(
            "Regions of n, d and ε in which the best upper bound that the library accepts is not known to be tight, up "
            "to constants and logarithms, for problems in general: no special shape of the risk is assumed, and every "
            "loss has unit scale. `dpbounds regimes` says it for one quantity, and for special shapes.",
            f"{gaps} regions have a gap, the largest first: the last columns say which power of n it is at most in its "
            f"region, and where. In {len(every) - gaps} no lower bound is known that compares.",
        ),
        footnotes=(
            "Powers of log(1/δ) are left out: where it is as large as d, a gap that is a power of d may be closed.",
            "What is disputed counts for nothing here; what is claimed does.",
        ),
    )


def _row(one: OpenProblem) -> tuple[TableCell, ...]:
    regime = one.regime
    where = tuple(Formula(one.space.relation(facet)) for facet in one.space.facets(regime.cone))
    return (
        str(one.metric).replace("-", " "),
        Conditions(where) if where else "everywhere",
        Formula(regime.value.expression),
        Ids(regime.best),
        None if regime.floor is None else Formula(regime.floor.expression),
        Ids(one.lowers),
        str(regime.verdict),
        None if regime.gap is None else Formula(regime.gap.expression),
        None if one.size is None else Formula(Monomial.of({dataset_size: one.size}).expression),
        None if one.at is None else _there(one),
    )


def _there(one: OpenProblem) -> str:
    """Return a ray, as powers of n."""
    assert one.at is not None
    powers = dict(zip(one.space.axes, one.at, strict=True))
    others = {axis: Fraction(power, powers[dataset_size]) for axis, power in powers.items() if axis != dataset_size}
    return ", ".join(
        f"{in_letters(Monomial.of({axis: 1}))} = {in_letters(Monomial.of({dataset_size: ratio}))}"
        for axis, ratio in others.items()
    )
