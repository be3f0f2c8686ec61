"""The best guarantee for given numbers: everything in the library that applies, like ranked with like.

Proven bounds are ranked by value, each evaluated at parameters that its own statement prescribes (or, where it leaves
them free, at good ones within the limits given: ``tuning``) and at the largest budget for which its own mechanism is
certified to keep (ε, δ). Orders of growth are ranked apart from them, by the
value of the formula inside O(.), which is no bound, and only among orders that leave the same things out; one that
hides how it depends on n, d, ε or δ not at all. What is not ranked is listed with what it needs, or why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

from sympy import Symbol

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import (
    MISSING,
    DpboundsError,
    InvalidValue,
    NotCertified,
    UnsupportedMechanism,
    demand,
    did_you_mean,
)
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate as value_of
from dpbounds.expressions.exact import ExactLike, brief, positive_integer, practical, to_decimal
from dpbounds.expressions.symbols import (
    Quantity,
    by_name,
    dataset_size as records,
    sample_rate,
    stationarity,
    steps as step_count,
)
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.rates.budgets import Budget, Tied, gaussian_rho, tied, tied_rho
from dpbounds.rates.costs import NOT_STATED, Cost, caveat_of, cost_of, gradients_per_record
from dpbounds.rates.prescriptions import BUDGET, CALIBRATED, DIGITS, Prescribed, Settled, overruled, roots, settled_at
from dpbounds.rates.promises import (
    ACCEPTED,
    BEST_ITERATE,
    DECIDING,
    FROM_ELSEWHERE,
    GOALS,
    ON_THE_WAY,
    SEARCHES,
    STRONGER,
    as_shape,
    as_status,
    claims_of,
    elsewhere,
    quotes,
)
from dpbounds.rates.trivial import Trivial, floor_of, no_floor, trivial_bounds
from dpbounds.rates.tuning import Tuned, freedom, inlined, likely_rho, search, tuned
from dpbounds.theorems.evaluation import Evaluation, evaluate
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.monotonicity import falls
from dpbounds.theorems.record import Bound, Claim, Metric, Parameter, Part, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing, standing_in_words

_OPEN_STEPS = (10_000, 100_000, 1_000_000, 10_000_000)  # tried in this order where the number of steps is free
_OPEN_PASSES = (10, 100, 1000, 10_000)  # over all records, likewise, where batches are chosen
_WORTH_WHILE = Fraction(95, 100)
_LARGEST_SIZE = 1 << 200
_ALL_BUT = 1 - Fraction(1, 10**9)
_NEARLY_ALL = Fraction(9, 10)  # a sample of so many is no saving
_NEARLY = Fraction(11, 10)  # a guess that is so near to what is proven leads to parameters that are nearly the best


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which number of records on a bound says something.

    Attributes:
        dataset_size: There the bound is proven to be below every trivial one; with one record less that is not so, or
            the statement does not apply (where parameters are free: none were found at which it is so).
        monotone: The record declares that the bound never rises with n, so it stays meaningful above.
    """

    dataset_size: int
    monotone: bool
    part: str


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One statement at the numbers given.

    Attributes:
        metric: What it bounds: the metric that was asked for, or a stronger one.
        sense: "expectation", "probability", "always", or empty where it is not said.
        meaning: What the number is, in the record's words.
        bound: A proven enclosure; None where the statement is an order of growth only.
        rate: The value of the formula inside O(.); None for a bound.
        rho: The ρ at which the statement was evaluated, for those that promise ρ-zCDP; None for releases on samples, of
            which it says nothing.
        mechanism: What is run; None where the record has none.
        privacy: How the budget is kept.
        status: What is known of the statement and of what it rests on.
        vacuous: The bound is not below what holds trivially; None where no trivial bound is known.
        meaningful_from: Since which n it is not; None where that was not found, or for an order.
        unchecked: Conditions that could not be checked.
        caveat: What stands between the bound and a run that reaches it, if anything.
        hides: What print takes as 1 although it is not known to be: the value holds in units in which it is.
        place: Its rank among its like; 0 where it has none.
    """

    id: str
    metric: Metric
    sense: str
    part: str
    meaning: str
    formula: str
    parameters: tuple[Prescribed, ...]
    privacy: str
    cost: Cost
    status: Status
    assumes: tuple[str, ...]
    unchecked: tuple[str, ...]
    remarks: tuple[str, ...]
    bound: Enclosure | None = None
    rate: Enclosure | None = None
    rho: Fraction | None = None
    mechanism: Mechanism | None = None
    vacuous: bool | None = None
    meaningful_from: Threshold | None = None
    caveat: str = ""
    hides: tuple[str, ...] = ()
    logs_hidden: bool = False
    place: int = 0
    why: str = ""

    @property
    def like(self) -> str:
        """With what it is ranked: in words, empty for proven bounds."""
        if self.bound is not None:
            return ""
        words = ["orders of growth", *(["logarithms left out"] if self.logs_hidden else [])]
        if self.hides:
            words.append(f"in units in which {', '.join(self.hides)} {'is' if len(self.hides) == 1 else 'are'} 1")
        return ", ".join(words)

    @property
    def value(self) -> Fraction:
        """What it is ranked by: the upper end."""
        found = self.bound or self.rate
        assert found is not None
        return Fraction(found.exact_upper)


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Displayed):
    """Everything that applies, ranked, and everything else with the reason.

    Attributes:
        values: The numbers given, under their quantities' names.
        ranking: Proven bounds from the best; then orders of growth, one kind after the other, each from the best.
        apart: Orders of growth that have a value and cannot be ranked, because of what they hide.
        trivial: What holds without any algorithm, the smallest first; empty where nothing of the kind is known here.
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
                one.id,
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
            lines.append(f"{one.place}. {one.id}: {sign} {float(one.value):.4g} ({one.why})")
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
    """Rank what the library guarantees at given numbers.

    Args:
        metric: What is to be small: "gradient-norm", "sosp", "excess-empirical-risk", ...
        relation: Which data sets must be hard to tell apart.
        assuming: Special classes of problems that yours belongs to, such as "quasar-convex".
        statuses: Which statements count, by what is known of them and of what they rest on.
        steps_limit: The most steps that you would run. Statements that prescribe more are left out; those that leave
            the number of steps free are given the best one within the limit (where there is none: up to 10 000, or as
            many as are worth it).
        gradients_limit: The most gradients of one record that you would compute, likewise. Draws from exponential
            mechanisms are not among them.
        batch_size: The most records that one step may look at, on average where they are sampled, likewise. A single
            pass over all records before the steps is no step.
        memory_limit: The most numbers that may be held beside the data, likewise.
        own: Statements of your own, ranked with the library's.
        **values: n, d, epsilon and delta, and whatever else is known: lipschitz, smoothness, diameter, initial_gap, ...
            Text and fractions are exact.

    Raises:
        InvalidValue: n, d, epsilon or delta is missing; there is no such quantity, metric, class or status; a value is
            outside its domain, or of what the budget determines (noise, say).

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
    enough = {wanted, *STRONGER.get(wanted, ())}
    candidates = [one for one in (*library(), *own) if one.side and enough & {one.metric, one.reaches}]
    given = _admitted(values, candidates)
    budget = Budget(given["epsilon"], given["delta"], as_relation(relation))
    trivial = trivial_bounds(wanted, given)
    ranked: list[Guarantee] = []
    floors: list[tuple[str, Enclosure, bool]] = []
    missing: list[tuple[str, tuple[str, ...]]] = []
    left_out: list[tuple[str, str]] = []
    for theorem in candidates:
        if quotes(theorem) or not any(isinstance(part, Bound | Rate) for part in theorem.parts):
            continue
        claims = claims_of(theorem, wanted) or _inverted(theorem)
        parts, reasons = [], []
        for part, side in claims:
            reason = "" if standing(theorem, part) in accepted else standing_in_words(theorem, part)
            if side is Side.UPPER:
                reason = reason or elsewhere(theorem, part, side, shapes)
                reasons += [reason] if reason else []
                parts += [] if reason else [part]
                continue
            reason = reason or (f"as a lower bound: under {part.under} only" if part.under else "")
            reason = reason or elsewhere(theorem, part, side, shapes) or no_floor(theorem, part, given)
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
            ranked.append(_guarantee(theorem, parts, given, budget, limits, trivial))
        except _Missing as what:
            missing.append((theorem.id, what.names))
        except _Unfit as why:
            left_out.append((theorem.id, str(why)))
    apart = {one.id: hidden for one in ranked if (hidden := [each.name for each in DECIDING if each.name in one.hides])}
    return Plan(
        wanted,
        budget,
        given,
        _ranked([one for one in ranked if one.id not in apart]),
        tuple(
            replace(one, why=f"not ranked: print hides how it depends on {', '.join(apart[one.id])}")
            for one in sorted(ranked, key=lambda one: one.id)
            if one.id in apart
        ),
        trivial,
        tuple(sorted(floors, key=lambda one: (one[2], -Fraction(one[1].exact_lower)))),
        tuple(missing),
        tuple(left_out),
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What people have, at most: steps, gradients, records a step, numbers; None where nothing is said."""

    steps: int | None = None
    gradients: int | None = None
    batch: int | None = None
    memory: int | None = None

    def steps_of(self, theorem: Theorem, given: Mapping[str, Fraction]) -> int | None:
        """How many steps a statement's algorithm may take, as far as that is known before it is tuned."""
        if self.gradients is None:
            return self.steps
        affordable = max(1, self.gradients // int(given["dataset_size"] * gradients_per_record(theorem)))
        return affordable if self.steps is None else min(affordable, self.steps)


class _Missing(Exception):
    """Values that were not given."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        super().__init__(self.names)


class _Unfit(Exception):
    """Why a statement cannot be ranked."""


def _admitted(values: Mapping[str, ExactLike], candidates: Sequence[Theorem]) -> dict[str, Fraction]:
    """The numbers under their quantities' own names, checked."""
    local: dict[str, Quantity] = {}
    for theorem in candidates:
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
    """How many records suffice for an α: for the least α for which so many do."""
    return ((theorem.bound, Side.UPPER),) if theorem.reaches is not None and theorem.bound is not None else ()


# --- One statement ---------------------------------------------------------------------------------------------------


def _guarantee(
    theorem: Theorem,
    parts: Sequence[Part],
    given: Mapping[str, Fraction],
    budget: Budget,
    limits: Limits,
    trivial: tuple[Trivial, ...],
) -> Guarantee:
    """The statement's best bound that can be evaluated; else its order of growth."""
    if theorem.algorithm in SEARCHES:
        raise _Unfit(BEST_ITERATE)
    own = theorem.own_values(given)
    obstacles: list[_Unfit] = []
    needs: list[tuple[str, ...]] = []
    found: list[Guarantee] = []
    for part in _distinct(theorem, sorted(parts, key=lambda part: isinstance(part, Rate)), own):
        if isinstance(part, Rate) and found and found[0].bound is not None:
            break  # an order says nothing beyond a bound
        try:
            if isinstance(part, Bound):
                found.append(_with_enough_steps(theorem, part, own, budget, limits, trivial))
            elif isinstance(part, Rate):
                found.append(_ordered(theorem, part, own, budget, limits))
        except _Missing as what:
            needs.append(what.names)
        except _Unfit as why:
            obstacles.append(why)
    if found:
        return _best(found)
    if obstacles:
        raise obstacles[0]
    if needs:
        fewest: tuple[str, ...] = min(needs, key=len)
        raise _Missing(fewest)
    raise _Unfit(ON_THE_WAY)


def _distinct(theorem: Theorem, parts: Sequence[Part], given: Mapping[str, Fraction]) -> Iterator[Part]:
    """Without bounds that are another one with what is prescribed put in: found once, they are found for all."""
    seen = set()
    for part in parts:
        if not theorem.free or len(parts) == 1:
            yield part
            continue
        formula = inlined(theorem, part.expression, given)
        if formula not in seen or not isinstance(part, Bound):
            yield part
        seen.add(formula)


def _best(found: Sequence[Guarantee]) -> Guarantee:
    """The smallest; with the threshold of a part that is declared monotone, if there is one: that bounds it, too."""
    smallest = min(found, key=lambda one: one.value)
    declared = [one.meaningful_from for one in found if one.meaningful_from and one.meaningful_from.monotone]
    since = min(declared, key=lambda one: one.dataset_size, default=smallest.meaningful_from)
    return replace(smallest, meaningful_from=since)


def _with_enough_steps(
    theorem: Theorem,
    part: Bound,
    given: Mapping[str, Fraction],
    budget: Budget,
    limits: Limits,
    trivial: tuple[Trivial, ...],
) -> Guarantee:
    """A bound; where the number of steps is free, with as many as are worth their while.

    Those are the least of the numbers tried from which on ten times as many gain less than 5 %.
    """
    chosen: tuple[Guarantee, Callable[[], Threshold | None]] | None = None
    failed: _Unfit | None = None
    for most in _tried(theorem, part, given, limits):
        try:
            found, threshold = _bounded(theorem, part, given, budget, limits, trivial, most)
        except _Unfit as why:
            failed = why
            continue
        if chosen is not None and found.value > chosen[0].value * _WORTH_WHILE:
            break
        chosen = found, threshold
    if chosen is None:
        assert failed is not None
        raise failed
    return replace(chosen[0], meaningful_from=chosen[1]())


def _tried(theorem: Theorem, part: Bound, given: Mapping[str, Fraction], limits: Limits) -> Iterator[Limits]:
    """The largest numbers of steps and, where the statement counts them, of gradients."""
    free = _free(theorem, part, given)
    if sample_rate in free:
        size = given[records.name]
        for steps, passes in zip(_OPEN_STEPS, _OPEN_PASSES, strict=True):
            most = replace(limits, steps=limits.steps or steps, gradients=limits.gradients or int(passes * size))
            yield most
            if most == limits:
                return
        return
    affordable = limits.steps_of(theorem, given)
    more_help = step_count in free or _falls_with_steps(theorem, part, given)
    open_ended = affordable is None and more_help and step_count.name not in given
    yield from (replace(limits, steps=steps) for steps in (_OPEN_STEPS if open_ended else (affordable,)))


def _bounded(
    theorem: Theorem,
    part: Bound,
    given: Mapping[str, Fraction],
    budget: Budget,
    limits: Limits,
    trivial: tuple[Trivial, ...],
    most: Limits,
) -> tuple[Guarantee, Callable[[], Threshold | None]]:
    """A bound, and how to find from which n on it is meaningful."""
    free = _free(theorem, part, given)
    chosen = {one.name: None for one in free}
    wanted = roots(theorem, part.expression, {**given, **chosen}) - set(chosen)
    _refuse_borrowed(wanted)
    if theorem.privacy is None and not wanted & set(BUDGET):
        raise _Unfit("a building block: no privacy budget is tied to it")
    if theorem.privacy is None and theorem.relation not in (None, budget.relation):
        raise _Unfit(f"proven under {theorem.relation}; its mechanism is not recorded, so nothing follows here")
    open_steps = not free and step_count.name not in given and _falls_with_steps(theorem, part, given)
    known = {**given, **({step_count.name: Fraction(most.steps)} if open_steps and most.steps else {})}
    if fixed := overruled(theorem, part, known):
        raise _Unfit(f"does not apply: it prescribes {', '.join(fixed)} itself, and proves nothing at a given one")
    absent = wanted - set(known) - {"rho"}
    if theorem.privacy is not None:
        for symbol in theorem.privacy.needs:
            absent |= roots(theorem, symbol, {**known, **chosen}) - set(known) - set(chosen) - {"rho"}
    if absent:
        raise _Missing(absent)
    try:
        held, settled, found, point = _settled(theorem, part, known, budget, _Freedom(free, most))
    except (NotCertified, UnsupportedMechanism) as error:
        raise _Unfit(str(error)) from None
    except InvalidValue as error:
        raise _Unfit(f"not defined at these numbers: {error}") from None
    _refuse(theorem, found, settled, limits)
    if sample_rate in free and settled.values[sample_rate.name] > _NEARLY_ALL:
        raise _Unfit("its best samples are all records, within the limits")
    value = _value(theorem, found, settled)
    if value is None:
        raise _Unfit("more records are needed")
    rho = None if held is None else held.rho
    mechanism = None if held is None else held.mechanism
    first, meaning = theorem.bound, part.meaning if theorem.reaches is None else "the α of the point that is returned"
    if first is not None and first is not part and meaning.startswith("the same"):
        meaning = f"{first.meaning}; {meaning}"
    parameters = settled.parameters
    if free:
        meanings = {one.name: one.meaning for one in (*by_name().values(), *theorem.local)}
        parameters = (*(Prescribed(name, settled.values[name], meanings[name]) for name in chosen), *parameters)
    if open_steps:
        steps = settled.values["steps"]
        parameters = (Prescribed("steps", steps, "as many as you would run: more would only help"), *parameters)
    taken = settled.values.get(step_count.name)
    cost = cost_of(
        theorem,
        mechanism,
        int(given["dataset_size"]),
        int(given["dimension"]),
        None if taken is None else int(taken),
        _counted(theorem, "gradients", settled),
        _counted(theorem, "memory", settled),
    )
    _refuse_costly(cost, limits)
    guarantee = Guarantee(
        **_common(theorem, part, found),
        meaning=meaning,
        bound=value,
        formula=inline(part.expression, theorem.local),
        parameters=parameters,
        rho=None if theorem.privacy is not None and theorem.privacy.guess is not None else rho,
        mechanism=mechanism,
        privacy="by the statement; its mechanism is not recorded" if held is None else held.how,
        cost=cost,
        vacuous=not _below(value, trivial) if trivial else None,
        caveat=caveat_of(cost),
    )
    searched = _Freedom(free, most, point)
    return guarantee, partial(
        _threshold, theorem, part, known, budget, rho, trivial, searched, vacuous=guarantee.vacuous
    )


def _settled(
    theorem: Theorem,
    part: Bound,
    known: Mapping[str, Fraction],
    budget: Budget,
    freedom: _Freedom,
) -> tuple[Tied | None, Settled, Evaluation, tuple[float, ...]]:
    """What a statement spends and promises: at what it prescribes, and at the best that is found of what is free.

    The search needs a ρ, and the ρ that is kept depends on what is found: where it is less than was thought, once more.

    Returns:
        The last is where the search ended.
    """
    guess = None if theorem.privacy is None else theorem.privacy.guess
    rho = gaussian_rho(budget)
    point: tuple[float, ...] = freedom.point or ()
    for _ in range(2 if freedom.free else 1):
        here = known
        spend = {"rho": rho} if guess is None else {"gaussian_mu": Fraction(math.sqrt(2 * rho))}
        if freedom.free:
            best = _tuned(theorem, part, {**known, **spend}, replace(freedom, point=point or None))
            here, point = {**known, **best.values}, best.point
        held = _held(theorem, here, budget)
        settled = settled_at(theorem, here, None if held is None else held.rho)
        if held is None or held.rho is None:
            break
        thought = rho if guess is None else Fraction(likely_rho(guess, {**here, **spend}))
        if thought * _ALL_BUT <= held.rho if guess is None else thought / _NEARLY <= held.rho <= thought * _NEARLY:
            break
        rho *= held.rho / thought
    return held, settled, evaluate(theorem, part.name, settled.values, digits=DIGITS), point


@dataclass(frozen=True, slots=True)
class _Freedom:
    """What of a statement is free, up to how many steps and gradients, and where a search ended before."""

    free: tuple[Symbol, ...] = ()
    most: Limits = Limits()
    point: tuple[float, ...] | None = None


def _free(theorem: Theorem, part: Bound, given: Mapping[str, Fraction]) -> tuple[Symbol, ...]:
    conditions = (*theorem.conditions, *part.conditions)
    occurring = part.expression.free_symbols.union(*(one.symbols for one in conditions))
    return freedom(theorem, occurring, given)


def _tuned(theorem: Theorem, part: Bound, values: Mapping[str, Fraction], where: _Freedom) -> Tuned:
    conditions = [one.holds for one in (*theorem.conditions, *part.conditions)]
    goal = part.expression
    if theorem.reaches is not None:
        conditions.append(goal <= records)
        goal = stationarity
    most_of = (("steps", where.most.steps), ("gradients", where.most.gradients), ("memory", where.most.memory))
    for name, most in most_of:
        counted = _named(theorem, name)
        if counted is not None and most is not None:
            conditions.append(counted.expression <= most)
    if sample_rate in where.free and where.most.batch is not None:
        conditions.append(sample_rate * records <= where.most.batch)
    found = tuned(search(theorem, goal, conditions, where.free, values, where.most.steps), where.point)
    if found is None:
        raise _Unfit("no parameters within the limits were found at which it applies")
    return found


def _named(theorem: Theorem, name: str) -> Bound | None:
    """A bound on the number of "steps", where that is not chosen, of "gradients", or of numbers in "memory"."""
    return next((one for one in theorem.parts if isinstance(one, Bound) and one.name == name), None)


def _counted(theorem: Theorem, name: str, settled: Settled) -> int | None:
    bound = _named(theorem, name)
    return None if bound is None else math.floor(value_of(bound.expression, settled.values).exact_upper)


def _value(theorem: Theorem, found: Evaluation, settled: Settled) -> Enclosure | None:
    """What a statement bounds: for a number of records, the α at which it is enough; None where it is not."""
    if theorem.reaches is None:
        return found.value
    enough = found.value.exact_upper <= settled.values[records.name]
    return Enclosure.exactly(settled.values[stationarity.name]) if enough else None


def _common(theorem: Theorem, part: Part, found: Evaluation) -> dict[str, Any]:
    """What a guarantee says of its statement, a bound and an order alike."""
    unchecked = ((one.text, ", ".join(one.missing)) for one in found.conditions if one.holds is None)
    return {
        "id": theorem.id,
        "metric": theorem.reaches or theorem.metric,
        "sense": str(theorem.mode or ""),
        "part": part.name,
        "status": standing(theorem),
        "assumes": tuple(one.name for one in theorem.assumptions),
        "unchecked": tuple(
            f"{text} (needs {names})" if names else f"{text} (not decided)" for text, names in unchecked
        ),
        "remarks": tuple(note.text for note in theorem.notes),
    }


def _refuse_borrowed(wanted: set[str]) -> None:
    borrowed = [name for name in FROM_ELSEWHERE if name in wanted]
    if borrowed:
        raise _Unfit(f"a building block: {', '.join(borrowed)} is what another private step reaches, at its own cost")
    untied = [name for name in CALIBRATED if name in wanted and name not in BUDGET]
    if untied:
        raise _Unfit(f"a building block: it does not say which {', '.join(untied)} a budget allows")


def _falls_with_steps(theorem: Theorem, part: Bound, given: Mapping[str, Fraction]) -> bool:
    """Whether more steps never harm, as far as is known, and nothing prescribed in between depends on their number."""
    between = [symbol for symbol in part.expression.free_symbols if symbol != step_count]
    return falls(theorem, part, step_count) and not any(
        step_count.name in roots(theorem, symbol, given) for symbol in between
    )


def _held(theorem: Theorem, known: Mapping[str, Fraction], budget: Budget) -> Tied | None:
    if theorem.privacy is None:
        return None
    if theorem.privacy.claim is Claim.ZCDP:
        return tied_rho(theorem, lambda rho: settled_at(theorem, known, rho).values, budget)
    return tied(theorem, settled_at(theorem, known, None).values, budget)


def _refuse(theorem: Theorem, found: Evaluation, settled: Settled, limits: Limits) -> None:
    """Leave out what does not apply, and what runs longer than is wanted."""
    if found.failing:
        raise _Unfit("does not apply: " + "; ".join(found.failing) + " fails")
    taken = settled.values.get(step_count.name)
    length = _named(theorem, step_count.name)
    if limits.steps is not None and taken is None and length is not None:
        taken = Fraction(value_of(length.expression, settled.values, digits=DIGITS).exact_upper)
    if limits.steps is not None and taken is not None and taken > limits.steps:
        raise _Unfit(f"prescribes {math.ceil(taken)} steps, more than the limit of {limits.steps}")


def _refuse_costly(cost: Cost, limits: Limits) -> None:
    for what, most, found in (
        ("gradients", limits.gradients, cost.gradients),
        ("records in a batch", limits.batch, cost.batch),
        ("numbers in memory", limits.memory, cost.memory),
    ):
        if most is None or (what == "records in a batch" and cost.gradients == 0):
            continue
        if found is None:
            raise _Unfit(f"how many {what} it takes is not stated, and there is a limit of them")
        if found > most:
            raise _Unfit(f"takes {found} {what}, more than the limit of {most}")


def _below(value: Enclosure, trivial: tuple[Trivial, ...]) -> bool:
    return all(value.less_than(one.value) is True for one in trivial)


def _ordered(theorem: Theorem, rate: Rate, given: Mapping[str, Fraction], budget: Budget, limits: Limits) -> Guarantee:
    """An order of growth; what print takes as 1 is put back where that is known and the numbers are given."""
    known: dict[str, Fraction] = {**given, "rho": gaussian_rho(budget)}
    restored = rate.restored_expression
    formula, hidden = rate.expression, rate.hides
    if restored is not None and all(symbol.name in known for symbol in restored.free_symbols):
        formula, hidden = restored, ()
    wanted = {symbol.name for symbol in formula.free_symbols}
    _refuse_borrowed(wanted)
    if absent := wanted - set(known):
        raise _Missing(absent)
    try:
        settled = settled_at(theorem, given, known["rho"])
        value = value_of(formula, known, digits=DIGITS)
        found = evaluate(theorem, rate.name, known, digits=DIGITS)
    except (InvalidValue, NotCertified) as error:
        raise _Unfit(f"not defined at these numbers: {error}") from None
    _refuse(theorem, found, settled, Limits())
    unknown = tuple(symbol.name for symbol in hidden if symbol in DECIDING or given.get(symbol.name) != 1)
    taken = ", ".join(unknown)
    return Guarantee(
        **_common(theorem, rate, found),
        meaning=rate.meaning + (f" ({taken} {'counts' if len(unknown) == 1 else 'count'} as 1)" if taken else ""),
        rate=value,
        formula=inline(formula, theorem.local),
        parameters=settled.parameters,
        privacy="by the statement, up to its constants",
        cost=_passes(theorem, settled, known),
        hides=unknown,
        logs_hidden=rate.logs_hidden,
    )


def _passes(theorem: Theorem, settled: Settled, known: Mapping[str, Fraction]) -> Cost:
    """The work as far as the statement says it: an order of its own, or full batches of a number of steps."""
    own = next((part for part in theorem.parts if part.name == "gradient-evaluations"), None)
    if own is not None and all(symbol.name in known for symbol in own.expression.free_symbols):
        return Cost(int(value_of(own.expression, known, digits=DIGITS).exact_upper), None, "up to a constant")
    if "steps" not in settled.values or theorem.sampling != "full batch":
        return NOT_STATED
    order = any(one.up_to_constant and one.name == "steps" for one in settled.parameters)
    passes = settled.values["steps"] * known["dataset_size"]
    return Cost(int(passes), None, "up to a constant" if order else "exact")


# --- From which n on -------------------------------------------------------------------------------------------------


def _threshold(
    theorem: Theorem,
    part: Bound,
    known: Mapping[str, Fraction],
    budget: Budget,
    rho: Fraction | None,
    trivial: tuple[Trivial, ...],
    freedom: _Freedom,
    vacuous: bool | None,
) -> Threshold | None:
    """The n from which the bound is below every trivial one, by bisection: evaluated there, and with one record less.

    At other n nothing is claimed unless the record declares the bound monotone. Trivial bounds do not depend on n.
    What is calibrated for each n anew is looked at only where it says nothing at the n that was given.
    """
    sampled = theorem.privacy is not None and theorem.privacy.guess is not None
    if not trivial or (sampled and not vacuous):
        return None

    near = freedom.point

    def meaningful(size: int) -> bool:
        nonlocal near
        here = {**known, "dataset_size": Fraction(size)}
        try:
            if sampled:  # what a budget allows depends on what is chosen
                _, settled, found, near = _settled(theorem, part, here, budget, replace(freedom, point=near))
                return found.applies is not False and _below(found.value, trivial)
            if freedom.free:
                values = {**here, **({"rho": rho} if rho else {})}
                best = _tuned(theorem, part, values, replace(freedom, point=near))
                here, near = {**here, **best.values}, best.point
            settled = settled_at(theorem, here, rho)
            found = evaluate(theorem, part.name, settled.values, digits=DIGITS)
        except (DpboundsError, _Unfit):
            return False
        value = None if found.applies is False else _value(theorem, found, settled)
        return value is not None and _below(value, trivial)

    high = int(known["dataset_size"])
    factor = 2
    if meaningful(high):
        low = high
        while low > 1 and meaningful(low):
            high, low, factor = low, max(1, low // factor), factor**2
        if low == 1 and meaningful(1):
            return Threshold(1, _declared(theorem, part), part.name)
    else:
        low = high
        while not meaningful(high):
            low, high, factor = high, factor * high, factor**2
            if high > _LARGEST_SIZE:
                return None
    while high - low > 1:
        middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
        low, high = (low, middle) if meaningful(middle) else (middle, high)
    return Threshold(high, _declared(theorem, part), part.name)


def _declared(theorem: Theorem, part: Bound) -> bool:
    """Whether nothing else than the known dependence on n enters: no parameter, and no condition."""
    touched = any(records in one.symbols for one in (*theorem.conditions, *part.conditions))
    prescribed = {one.name for one in theorem.parts if isinstance(one, Parameter)}
    indirect = any(symbol.name in prescribed for symbol in part.expression.free_symbols)
    return falls(theorem, part, records) and not touched and not indirect


# --- Why this rank ---------------------------------------------------------------------------------------------------


def _ranked(found: Sequence[Guarantee]) -> tuple[Guarantee, ...]:
    """Proven bounds, then each kind of orders, those that leave out least first; each by value."""

    def kind(one: Guarantee) -> tuple[bool, int, bool, tuple[str, ...]]:
        return one.bound is None, len(one.hides), one.logs_hidden, tuple(sorted(one.hides))

    ordered = sorted(found, key=lambda one: (kind(one), one.value, one.id))
    result: list[Guarantee] = []
    for _, group in groupby(ordered, key=kind):
        same = list(group)
        for place, one in enumerate(same, 1):
            why = _why_bound(one, same[0]) if one.bound is not None else _why_order(one, same, result)
            unless = ["if " + " and ".join(one.unchecked)] if one.unchecked else []
            result.append(replace(one, place=place, why="; ".join((*why, *unless))))
    return tuple(result)


def _why_bound(one: Guarantee, best: Guarantee) -> Iterator[str]:
    if one.id == best.id:
        yield "the smallest proven bound"
    else:
        yield "proven"
        yield f"{_times(one, best)} the best bound"
    if one.vacuous:
        since = one.meaningful_from
        declared = "" if since is None or since.monotone else " (not declared monotone in n)"
        yield "vacuous here" + ("" if since is None else f": meaningful from n = {since.dataset_size}{declared}")
    if one.caveat:
        yield one.caveat


def _why_order(one: Guarantee, same: Sequence[Guarantee], before: Sequence[Guarantee]) -> Iterator[str]:
    yield "an order, no constant stated"
    if len(same) > 1:
        kind = "such orders" if one.like != "orders of growth" else "the orders that leave nothing out"
        yield f"the smallest of {kind}" if one.id == same[0].id else f"{_times(one, same[0])} the smallest of {kind}"
    explicit = next((bound for bound in before if bound.id == f"{one.id}/explicit" and bound.bound is not None), None)
    if explicit is not None:
        yield f"with constants it is number {explicit.place} of the proven bounds"


def _times(one: Guarantee, best: Guarantee) -> str:
    if best.value <= 0:
        return "above"
    ratio = one.value / best.value
    if ratio < Fraction(1001, 1000):
        return "as large as"
    return f"{float(ratio):.3g} times" if ratio < 10**6 else "more than a million times"
