"""The best guarantee for given numbers: everything in the library that applies, like ranked with like.

Proven bounds are ranked by value, each evaluated at parameters that its own statement prescribes (or, where it leaves
them free, at good ones within the limits given: ``tuning``) and at the largest budget for which its own mechanism is
certified to keep (ε, δ). Orders of growth are ranked apart from them, by the value of the formula inside O(.), which is
not a bound, and only among orders that leave the same things out; one that hides how it depends on n, d, ε or δ not at
all. Statements that are not ranked are listed with the missing values, or the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import MISSING, InvalidValue, demand, did_you_mean
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, brief, positive_integer, practical, to_decimal
from dpbounds.expressions.symbols import Quantity, by_name
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import Budget
from dpbounds.rates.applied import Request, best_guarantee
from dpbounds.rates.guarantees import Guarantee, Missing, Unfit
from dpbounds.rates.prescriptions import CALIBRATED
from dpbounds.rates.promises import (
    ACCEPTED,
    DECIDING,
    GOALS,
    ON_THE_WAY,
    STRONGER,
    as_shape,
    as_status,
    candidates,
    claims_of,
    elsewhere,
    quotes,
)
from dpbounds.rates.ranking import ranked
from dpbounds.rates.settling import Limits
from dpbounds.rates.trivial import Trivial, floor_of, no_floor, trivial_bounds
from dpbounds.theorems.assumptions import Assumption
from dpbounds.theorems.record import Bound, Metric, Part, Rate, Side, Status, Theorem
from dpbounds.theorems.references import cited_as
from dpbounds.theorems.standing import standing, standing_in_words


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Displayed):
    """All applicable guarantees, ranked, and the others with the reason.

    Attributes:
        values: The numbers given, under their quantities' names.
        ranking: Proven bounds from the best; then orders of growth, one kind after the other, each from the best.
        apart: Orders of growth that have a value and cannot be ranked, because of hidden factors.
        trivial: The bounds without any algorithm, the smallest first; empty if none is known.
        floors: (id, value, whether only up to a constant) of lower bounds: no algorithm does better.
        missing: (id, names): what would be needed to evaluate it.
    """

    metric: Metric
    budget: Budget
    values: Mapping[str, Fraction]
    ranking: tuple[Guarantee, ...]
    apart: tuple[Guarantee, ...]
    trivial: tuple[Trivial, ...]
    floors: tuple[tuple[str, Enclosure, bool], ...]
    missing: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def all_vacuous(self) -> bool:
        """Whether there are bounds, and none of them says anything at these numbers."""
        bounds = [one for one in self.ranking if one.bound is not None]
        return bool(bounds) and all(one.vacuous for one in bounds)

    def _sheet(self) -> Sheet:
        rows = [
            (
                str(one.place),
                cited_as(one.id),
                f"{'at most' if one.bound is not None else 'of order'} {to_decimal(one.value, 4, 'up')}",
                "says nothing here" if one.vacuous else one.like or "proven",
                ", ".join(one.assumes),
            )
            for one in self.ranking
        ]
        given = "".join(f", {name.replace('_', ' ')} {brief(value)}" for name, value in self.values.items())
        facts = (("budget", f"{self.budget.relation}{given}"),)
        columns = ("place", "statement", "bound", "kind", "assumes")
        return Sheet(f"plan: {self.metric.replace('-', ' ')}", facts, columns, rows)

    def __str__(self) -> str:
        lines = []
        for one in self.ranking:
            sign = "<=" if one.bound is not None else "~"
            lines.append(f"{one.place}. {cited_as(one.id)}: {sign} {float(one.value):.4g} ({one.why})")
        return "\n".join(lines) or f"nothing can be ranked for {self.metric} at these numbers"


def plan(
    metric: str | Metric,
    *,
    relation: str | Relation = Relation.REPLACE_ONE,
    assuming: Sequence[str] = (),
    statuses: Iterable[str | Status] = ACCEPTED,
    steps_limit: int | None = None,
    gradients_limit: int | None = None,
    batch_size: int | None = None,
    memory_limit: int | None = None,
    own: Sequence[Theorem] = (),
    **values: ExactLike,
) -> Plan:
    """Rank the guarantees of the library at given numbers.

    Args:
        metric: The quantity to minimise: "gradient-norm", "sosp", "excess-empirical-risk", ...
        relation: The neighbouring relation.
        assuming: Special classes of problems that yours belongs to, such as "quasar-convex".
        statuses: The allowed statuses of statements, including those that they rely on.
        steps_limit: The largest number of steps. Statements that prescribe more are left out; for those that leave the
            number of steps free, the best one within the limit is chosen (without a limit: up to 10 000, or more if
            this lowers the bound enough).
        gradients_limit: The largest number of gradients of single records, in the same way. Draws from exponential
            mechanisms do not count.
        batch_size: The largest number of records of one step, on average if they are sampled, in the same way. A single
            pass over all records before the steps is not a step.
        memory_limit: The largest number of values in memory beside the data, in the same way.
        own: Statements of your own, ranked with the library's.
        **values: n, d, epsilon and delta, and other known quantities: lipschitz, smoothness, diameter, initial_gap, ...
            Text and fractions are exact.

    Raises:
        InvalidValue: n, d, epsilon or delta is missing; there is no such quantity, metric, class or status; a value is
            outside its domain, or of a quantity that the budget determines (noise, for example).

    >>> found = plan("gradient-norm", n=10**6, d=100, epsilon=1, delta="1e-6", lipschitz=1, smoothness=1, initial_gap=1)
    >>> found.ranking[0].id, found.ranking[0].bound.less_than("0.005")
    ('dpbounds/storm/batches', True)
    """
    demand("metric", metric, str)
    wanted = next((one for one in GOALS if one == metric), None)
    if wanted is None:
        raise InvalidValue("metric", metric, "one of " + ", ".join(GOALS))
    shapes = tuple(as_shape(name) for name in assuming)
    accepted = {as_status(one) for one in statuses}
    limits = Limits(
        *(
            None if limit is None else positive_integer(limit, name)
            for name, limit in (
                ("steps_limit", steps_limit),
                ("gradients_limit", gradients_limit),
                ("batch_size", batch_size),
                ("memory_limit", memory_limit),
            )
        )
    )
    demand("own", own, list, tuple)
    for one in own:
        demand("own", one, Theorem)
    enough = {wanted, *STRONGER.get(wanted, ())}
    statements = [one for one in (*candidates(wanted), *own) if one.side and enough & {one.metric, one.reaches}]
    given = _admitted(values, statements)
    budget = Budget(given["epsilon"], given["delta"], as_relation(relation))
    trivial = trivial_bounds(wanted, given)
    request = Request(given, budget, limits, trivial)
    found: list[Guarantee] = []
    floors: list[tuple[str, Enclosure, bool]] = []
    missing: list[tuple[str, tuple[str, ...]]] = []
    left_out: list[tuple[str, str]] = []
    for theorem in statements:
        if quotes(theorem) or not any(isinstance(part, Bound | Rate) for part in theorem.parts):
            continue
        claims = claims_of(theorem, wanted) or _inverted(theorem)
        parts, reasons = [], []
        for part, side in claims:
            reason = _refused(theorem, part, side, accepted, shapes)
            if side is Side.UPPER:
                reasons += [reason] if reason else []
                parts += [] if reason else [part]
                continue
            reason = reason or no_floor(theorem, part, given)
            floor = None if reason else floor_of(theorem, part, given)
            floors += [floor] if floor is not None else []
            left_out += [(theorem.id, reason)] if reason else []
        if theorem.side is Side.LOWER:
            left_out += [] if claims else [(theorem.id, ON_THE_WAY)]
            continue
        if not parts:
            left_out.append((theorem.id, reasons[0] if reasons else ON_THE_WAY))
            continue
        try:
            found.append(best_guarantee(theorem, parts, request))
        except Missing as what:
            missing.append((theorem.id, what.names))
        except Unfit as why:
            left_out.append((theorem.id, str(why)))
    apart = {one.id: hidden for one in found if (hidden := [each.name for each in DECIDING if each.name in one.hides])}
    return Plan(
        wanted,
        budget,
        given,
        ranked([one for one in found if one.id not in apart]),
        tuple(
            replace(one, why=f"not ranked: the published order hides how it depends on {', '.join(apart[one.id])}")
            for one in sorted(found, key=lambda one: one.id)
            if one.id in apart
        ),
        trivial,
        tuple(sorted(floors, key=lambda one: (one[2], -Fraction(one[1].exact_lower)))),
        tuple(missing),
        tuple(left_out),
    )


def _refused(
    theorem: Theorem, part: Part, side: Side, accepted: Collection[Status], shapes: tuple[Assumption, ...]
) -> str:
    """Why a part does not count: its status, or other problems than those that are asked about; empty if it does."""
    if standing(theorem, part) not in accepted:
        return standing_in_words(theorem, part)
    if side is not Side.UPPER and part.under:
        return f"as a lower bound: under {part.under} only"
    return elsewhere(theorem, part, side, shapes)


def _admitted(values: Mapping[str, ExactLike], statements: Sequence[Theorem]) -> dict[str, Fraction]:
    """Return the numbers under their quantities' own names, checked."""
    local: dict[str, Quantity] = {}
    for theorem in statements:
        local.update((quantity.name, quantity) for quantity in theorem.local)
    given: dict[str, Fraction] = {}
    for name, value in values.items():
        record = by_name().get(name) or local.get(name)
        if record is None:
            advice = did_you_mean(name, (*by_name(), *local)) or "such as lipschitz, smoothness, diameter"
            raise InvalidValue(name, value, "a quantity of the symbol table", advice)
        if record.name in CALIBRATED:
            rule = "left to the plan, which finds it from epsilon and delta"
            raise InvalidValue(name, value, rule, "leave it out; `dpbounds evaluate ID` takes it")
        if record.name in given:
            raise InvalidValue(name, value, f"given once only: it is another name of {record.name}")
        number = practical(value, record.name)
        if not record.domain.contains(number):
            raise InvalidValue(name, value, str(record.domain))
        given[record.name] = number
    absent = [name for name in ("dataset_size", "dimension", "epsilon", "delta") if name not in given]
    if absent:
        letters = {"dataset_size": "n", "dimension": "d"}
        raise InvalidValue(
            ", ".join(letters.get(name, name) for name in absent), MISSING, "a value for each", "a plan needs them"
        )
    return given


def _inverted(theorem: Theorem) -> tuple[tuple[Part, Side], ...]:
    """Return the inverted bound: the least α for which a number of records suffices."""
    return ((theorem.bound, Side.UPPER),) if theorem.reaches is not None and theorem.bound is not None else ()
