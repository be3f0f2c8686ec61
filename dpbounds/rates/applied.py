"""One statement at given numbers: its best bound that is proven there, or else the value of its order of growth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from sympy import Symbol

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.evaluation import evaluate as value_of
from dpbounds.expressions.symbols import by_name, dataset_size as records, sample_rate, steps as step_count
from dpbounds.privacy.values import Budget
from dpbounds.rates.budgets import gaussian_rho
from dpbounds.rates.costs import NOT_STATED, Cost, caveat_of, cost_of
from dpbounds.rates.guarantees import Guarantee, Missing, Threshold, Unfit
from dpbounds.rates.prescriptions import BUDGET, CALIBRATED, DIGITS, Prescribed, Settled, overruled, roots, settled_at
from dpbounds.rates.promises import BEST_ITERATE, DECIDING, FROM_ELSEWHERE, ON_THE_WAY, SEARCHES
from dpbounds.rates.settling import Freedom, Limits, counted, counting, free_symbols, promised, settle
from dpbounds.rates.thresholds import below, threshold
from dpbounds.rates.trivial import Trivial
from dpbounds.rates.tuning import inlined
from dpbounds.theorems.evaluation import Evaluation, evaluate
from dpbounds.theorems.formulas import inline
from dpbounds.theorems.monotonicity import falls
from dpbounds.theorems.record import Bound, Part, Rate, Theorem
from dpbounds.theorems.standing import standing

_OPEN_STEPS = (10_000, 100_000, 1_000_000, 10_000_000)  # tried in this order where the number of steps is free
_OPEN_PASSES = (10, 100, 1000, 10_000)  # over all records, likewise, where batches are chosen
_WORTH_WHILE = Fraction(95, 100)
_NEARLY_ALL = Fraction(9, 10)  # a larger share of the records is not a saving


@dataclass(frozen=True, slots=True)
class Request:
    """The numbers at which a guarantee is requested, with a budget and limits; and the trivial bounds there."""

    given: Mapping[str, Fraction]
    budget: Budget
    limits: Limits
    trivial: tuple[Trivial, ...]


def best_guarantee(theorem: Theorem, parts: Sequence[Part], request: Request) -> Guarantee:
    """Return the statement's best bound that can be evaluated; else its order of growth.

    Raises:
        Missing: Values that it needs were not given.
        Unfit: It has no guarantee at these numbers.
    """
    if theorem.algorithm in SEARCHES:
        raise Unfit(BEST_ITERATE)
    own = replace(request, given=theorem.own_values(request.given))
    obstacles: list[Unfit] = []
    needs: list[tuple[str, ...]] = []
    found: list[Guarantee] = []
    for part in _distinct(theorem, sorted(parts, key=lambda part: isinstance(part, Rate)), own.given):
        if isinstance(part, Rate) and found and found[0].bound is not None:
            break  # an order says nothing beyond a bound
        try:
            if isinstance(part, Bound):
                found.append(_with_enough_steps(theorem, part, own))
            elif isinstance(part, Rate):
                found.append(_ordered(theorem, part, own.given, own.budget))
        except Missing as what:
            needs.append(what.names)
        except Unfit as why:
            obstacles.append(why)
    if found:
        return _best(found)
    if obstacles:
        raise obstacles[0]
    if needs:
        fewest: tuple[str, ...] = min(needs, key=len)
        raise Missing(fewest)
    raise Unfit(ON_THE_WAY)


def _distinct(theorem: Theorem, parts: Sequence[Part], given: Mapping[str, Fraction]) -> Iterator[Part]:
    """Without bounds that equal another one after substitution of the prescribed values: one is found for all."""
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


def _with_enough_steps(theorem: Theorem, part: Bound, own: Request) -> Guarantee:
    """Return a bound; where the number of steps is free, with as many as are worth their while.

    Those are the least of the numbers tried from which on ten times as many gain less than 5 %.
    """
    chosen: tuple[Guarantee, Callable[[], Threshold | None]] | None = None
    failed: Unfit | None = None
    for most in _tried(theorem, part, own.given, own.limits):
        try:
            found, since = _bounded(theorem, part, own, most)
        except Unfit as why:
            failed = why
            continue
        if chosen is not None and found.value > chosen[0].value * _WORTH_WHILE:
            break
        chosen = found, since
    if chosen is None:
        assert failed is not None
        raise failed
    return replace(chosen[0], meaningful_from=chosen[1]())


def _tried(theorem: Theorem, part: Bound, given: Mapping[str, Fraction], limits: Limits) -> Iterator[Limits]:
    """Yield the largest numbers of steps and, where the statement counts them, of gradients."""
    free = free_symbols(theorem, part, given)
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
    theorem: Theorem, part: Bound, own: Request, most: Limits
) -> tuple[Guarantee, Callable[[], Threshold | None]]:
    """Return a bound, and how to find from which n on it is meaningful."""
    free = free_symbols(theorem, part, own.given)
    open_steps = not free and step_count.name not in own.given and _falls_with_steps(theorem, part, own.given)
    known = {**own.given, **({step_count.name: Fraction(most.steps)} if open_steps and most.steps else {})}
    _refuse_unknown(theorem, part, own, known, {one.name: None for one in free})
    try:
        held, settled, found, point = settle(theorem, part, known, own.budget, Freedom(free, most))
    except (NotCertified, UnsupportedMechanism) as error:
        raise Unfit(str(error)) from None
    except InvalidValue as error:
        raise Unfit(f"not defined at these numbers: {error}") from None
    _refuse_failing(found)
    _refuse_long(theorem, settled, own.limits)
    if sample_rate in free and settled.values[sample_rate.name] > _NEARLY_ALL:
        raise Unfit("its best samples are all records, within the limits")
    value = promised(theorem, found, settled)
    if value is None:
        raise Unfit("more records are needed")
    rho = None if held is None else held.rho
    mechanism = None if held is None else held.mechanism
    taken = settled.values.get(step_count.name)
    cost = cost_of(
        theorem,
        mechanism,
        int(own.given["dataset_size"]),
        int(own.given["dimension"]),
        None if taken is None else int(taken),
        counted(theorem, "gradients", settled),
        counted(theorem, "memory", settled),
    )
    _refuse_costly(cost, own.limits)
    guarantee = Guarantee(
        **_common(theorem, part, found),
        meaning=_meaning(theorem, part),
        bound=value,
        formula=inline(part.expression, theorem.local),
        parameters=(*_chosen(theorem, free, settled, open_steps=open_steps), *settled.parameters),
        rho=None if theorem.privacy is not None and theorem.privacy.guess is not None else rho,
        mechanism=mechanism,
        privacy="by the statement; its mechanism is not recorded" if held is None else held.how,
        cost=cost,
        vacuous=not below(value, own.trivial) if own.trivial else None,
        caveat=caveat_of(cost),
    )
    searched = Freedom(free, most, point)
    return guarantee, partial(
        threshold, theorem, part, known, own.budget, rho, own.trivial, searched, vacuous=guarantee.vacuous
    )


def _chosen(
    theorem: Theorem, free: tuple[Symbol, ...], settled: Settled, *, open_steps: bool
) -> tuple[Prescribed, ...]:
    """Return the parameters that the statement leaves free, and the plan has chosen."""
    meanings = {one.name: one.meaning for one in (*by_name().values(), *theorem.local)}
    searched = tuple(Prescribed(one.name, settled.values[one.name], meanings[one.name]) for one in free)
    if not open_steps:
        return searched
    return (Prescribed("steps", settled.values["steps"], "as many as you would run: more would only help"), *searched)


def _meaning(theorem: Theorem, part: Bound) -> str:
    """Return the bound in words that stand alone."""
    meaning = part.meaning if theorem.reaches is None else "the α of the point that is returned"
    first = theorem.bound
    repeated = first is not None and first is not part and meaning.startswith("the same")
    return f"{first.meaning}; {meaning}" if first is not None and repeated else meaning


def _common(theorem: Theorem, part: Part, found: Evaluation) -> dict[str, Any]:
    """Return the common fields of a guarantee, for bounds and orders alike."""
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


def _refuse_unknown(
    theorem: Theorem, part: Bound, own: Request, known: Mapping[str, Fraction], chosen: Mapping[str, None]
) -> None:
    """Leave out values without a privacy budget, given values that are prescribed, and bounds that need more values."""
    wanted = roots(theorem, part.expression, {**own.given, **chosen}) - set(chosen)
    _refuse_borrowed(wanted)
    if theorem.privacy is None and not wanted & set(BUDGET):
        raise Unfit("a building block: no privacy budget is tied to it")
    if theorem.privacy is None and theorem.relation not in (None, own.budget.relation):
        raise Unfit(f"proven under {theorem.relation}; its mechanism is not recorded, so nothing follows here")
    if fixed := overruled(theorem, part, known):
        raise Unfit(f"does not apply: it prescribes {', '.join(fixed)} itself, and is not proven at a given one")
    absent = wanted - set(known) - {"rho"}
    if theorem.privacy is not None:
        for symbol in theorem.privacy.needs:
            absent |= roots(theorem, symbol, {**known, **chosen}) - set(known) - set(chosen) - {"rho"}
    if absent:
        raise Missing(absent)


def _refuse_borrowed(wanted: set[str]) -> None:
    borrowed = [name for name in FROM_ELSEWHERE if name in wanted]
    if borrowed:
        raise Unfit(f"a building block: {', '.join(borrowed)} is what another private step reaches, at its own cost")
    untied = [name for name in CALIBRATED if name in wanted and name not in BUDGET]
    if untied:
        raise Unfit(f"a building block: it does not say which {', '.join(untied)} a budget allows")


def _falls_with_steps(theorem: Theorem, part: Bound, given: Mapping[str, Fraction]) -> bool:
    """Whether more steps never harm, as far as is known, and nothing prescribed in between depends on their number."""
    between = [symbol for symbol in part.expression.free_symbols if symbol != step_count]
    return falls(theorem, part, step_count) and not any(
        step_count.name in roots(theorem, symbol, given) for symbol in between
    )


def _refuse_failing(found: Evaluation) -> None:
    if found.failing:
        raise Unfit("does not apply: " + "; ".join(found.failing) + " fails")


def _refuse_long(theorem: Theorem, settled: Settled, limits: Limits) -> None:
    """Leave out bounds that take more steps than wanted."""
    taken = settled.values.get(step_count.name)
    length = counting(theorem, step_count.name)
    if limits.steps is not None and taken is None and length is not None:
        taken = Fraction(value_of(length.expression, settled.values, digits=DIGITS).exact_upper)
    if limits.steps is not None and taken is not None and taken > limits.steps:
        raise Unfit(f"prescribes {math.ceil(taken)} steps, more than the limit of {limits.steps}")


def _refuse_costly(cost: Cost, limits: Limits) -> None:
    for what, most, found in (
        ("gradients", limits.gradients, cost.gradients),
        ("records in a batch", limits.batch, cost.batch),
        ("numbers in memory", limits.memory, cost.memory),
    ):
        if most is None or (what == "records in a batch" and cost.gradients == 0):
            continue
        if found is None:
            raise Unfit(f"how many {what} it takes is not stated, and there is a limit of them")
        if found > most:
            raise Unfit(f"takes {found} {what}, more than the limit of {most}")


def _ordered(theorem: Theorem, rate: Rate, given: Mapping[str, Fraction], budget: Budget) -> Guarantee:
    """An order of growth; units that the paper takes as 1 are put back if they are known and the numbers are given."""
    known: dict[str, Fraction] = {**given, "rho": gaussian_rho(budget)}
    restored = rate.restored_expression
    formula, hidden = rate.expression, rate.hides
    if restored is not None and all(symbol.name in known for symbol in restored.free_symbols):
        formula, hidden = restored, ()
    wanted = {symbol.name for symbol in formula.free_symbols}
    _refuse_borrowed(wanted)
    if absent := wanted - set(known):
        raise Missing(absent)
    try:
        settled = settled_at(theorem, given, known["rho"])
        value = value_of(formula, known, digits=DIGITS)
        found = evaluate(theorem, rate.name, known, digits=DIGITS)
    except (InvalidValue, NotCertified) as error:
        raise Unfit(f"not defined at these numbers: {error}") from None
    _refuse_failing(found)
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
    """Return the work as far as the statement says it: an order of its own, or full batches of a number of steps."""
    own = next((part for part in theorem.parts if part.name == "gradient-evaluations"), None)
    if own is not None and all(symbol.name in known for symbol in own.expression.free_symbols):
        return Cost(int(value_of(own.expression, known, digits=DIGITS).exact_upper), None, "up to a constant")
    if "steps" not in settled.values or theorem.sampling != "full batch":
        return NOT_STATED
    order = any(one.up_to_constant and one.name == "steps" for one in settled.parameters)
    passes = settled.values["steps"] * known["dataset_size"]
    return Cost(int(passes), None, "up to a constant" if order else "exact")
