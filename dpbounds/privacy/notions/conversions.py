"""The best guarantee of one kind that follows from another, along chains of proven implications.

:func:`convert` searches the chains of edges (``implications.py``) that lead from one notion to another and returns the
best value that any of them proves, together with its chain. A conversion without a chain of proofs raises an error.

Every number that comes out is an exact fraction, rounded to the safe side from a ball. The derivations are written out
in ``conversions.md`` beside this file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.notions.implications import EDGES, Edge, Goal
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    GaussianDP,
    Notion,
    RenyiDP,
    TotalVariation,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import above_one, at_least_zero, probability

_LONGEST_CHAIN = 8


@dataclass(frozen=True, slots=True)
class Link:
    """One edge of a chain, with its input and output."""

    edge: Edge
    before: Notion
    after: Notion

    def __str__(self) -> str:
        return f"{self.edge.name}: {self.before} -> {self.after} [{self.edge.source}]"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A proven implication; printed, it is its chain, one line per edge.

    Attributes:
        notion: The proven notion, rounded to the safe side.
        chain: The steps that lead there; none where the known guarantee is itself the answer. Where several orders were
            asked for, the chains of all of them.
    """

    notion: Notion
    chain: tuple[Link, ...]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.chain), f"proven: {self.notion}"])


def convert(
    notion: Notion,
    to: type[Notion],
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    orders: Iterable[ExactLike] = (),
    relation: str | Relation | None = None,
    group: int | None = None,
) -> Conversion:
    """Return the best guarantee of the wanted kind that a chain of proven implications gives.

    Args:
        notion: The known notion.
        to: The kind of guarantee wanted, such as ``ApproximateDP``.
        delta: For ``ApproximateDP``: find the least ε at this δ, from 0 to 1.
        epsilon: For ``ApproximateDP``: find the least δ at this ε, at least 0. Exactly one of the two.
        orders: For ``RenyiDP``: the orders wanted, each greater than 1.
        relation: The neighbouring relation wanted; that of the notion if None.
        group: The number of steps to protect; if None, that of the notion, or 1 under another relation.

    Returns:
        The guarantee, its numbers rounded up, with its chain; among chains that prove the same, the shortest.

    Raises:
        InvalidValue: A target is missing, superfluous or out of range.
        UnsupportedMechanism: No chain is proven; the message says why.

    >>> from dpbounds.privacy.notions.notions import ZeroConcentratedDP
    >>> print(convert(ZeroConcentratedDP("1/50", "replace-one"), ApproximateDP, delta="1e-6").notion)
    ApproximateDP(epsilon = 0.899..., delta = 1e-06) under replace-one
    """
    wanted = sorted({above_one(order) for order in orders})
    goal = _goal(notion, to, delta, epsilon, relation, group)
    if (to is RenyiDP) != bool(wanted):
        given = [str(order) for order in wanted]
        raise InvalidValue("orders", given, "at least one order for RenyiDP, and none for any other notion")
    _refuse_what_is_false(notion, goal)
    if not wanted:
        return _search(notion, goal)
    goals = [replace(goal, order=order) for order in wanted]
    found = [_search(notion, each) for each in goals]
    points = [(order, each.cost(one.notion)[0]) for order, each, one in zip(wanted, goals, found, strict=True)]
    chains = dict.fromkeys(step for one in found for step in one.chain)
    return Conversion(RenyiDP(points, goal.relation, goal.group), tuple(chains))


def _goal(
    notion: Notion,
    to: type[Notion],
    delta: ExactLike | None,
    epsilon: ExactLike | None,
    relation: str | Relation | None,
    group: int | None,
) -> Goal:
    given = sum(target is not None for target in (delta, epsilon))
    if given != (to is ApproximateDP):
        allowed = "exactly one of the two for ApproximateDP, and none for any other notion"
        raise InvalidValue("delta, epsilon", (delta, epsilon), allowed)
    neighbours = notion.relation if relation is None else as_relation(relation)
    if group is None:
        group = notion.group if neighbours is notion.relation else 1
    return Goal(
        to,
        neighbours,
        positive_integer(group, "group"),
        None if delta is None else probability(delta),
        Fraction(0) if to is TotalVariation else None if epsilon is None else at_least_zero(epsilon),
    )


def _refuse_what_is_false(notion: Notion, goal: Goal) -> None:
    match goal.relation:
        case notion.relation | Relation.REPLACE_ONE:
            pass
        case Relation.ADD_OR_REMOVE_ONE:
            raise UnsupportedMechanism(
                f"a {notion.relation} guarantee gives none under add-or-remove-one: it compares datasets of equal "
                "size only, so that a mechanism which publishes the number of records can have it; state the guarantee "
                "under add-or-remove-one from the start"
            )
        case Relation.ZERO_OUT_ONE:
            raise UnsupportedMechanism(
                f"a {notion.relation} guarantee gives none under zero-out-one unless it covers a record that "
                "contributes nothing: where it does, state the same numbers under zero-out-one from the start"
            )
        case _:
            assert_never(goal.relation)
    if goal.kind is GaussianDP and not isinstance(notion, GaussianDP):
        raise UnsupportedMechanism(
            f"{type(notion).__name__} is not a Gaussian curve: randomised response with a small ε is ε²/2-zCDP, yet "
            "its total variation tanh(ε/2) exceeds that of Gaussians with μ = ε, which is below 0.4 ε; convert to "
            "ApproximateDP, RenyiDP or ZeroConcentratedDP instead"
        )


def _search(notion: Notion, goal: Goal) -> Conversion:
    """Search breadth first; a notion that an earlier one implies is not followed any further."""
    best: Conversion | None = None
    seen = [notion]
    queue = deque([Conversion(notion, ())])
    reasons: dict[str, None] = {}
    while queue:
        here = queue.popleft()
        if goal.is_met_by(here.notion) and (best is None or goal.cost(here.notion) < goal.cost(best.notion)):
            best = here
        for edge in EDGES if len(here.chain) < _LONGEST_CHAIN else ():
            if not edge.is_of_use(here.notion, goal):
                continue
            try:
                after = edge.apply(here.notion, goal)
            except Declined as reason:
                if all(type(step.after) is type(notion) for step in here.chain):
                    reasons[f"{edge.name}: {reason}"] = None
                continue
            if not any(_implies(known, after) for known in seen):
                seen.append(after)
                queue.append(Conversion(after, (*here.chain, Link(edge, here.notion, after))))
    if best is None:
        people = f", groups of {goal.group}" if goal.group > 1 else ""
        because = f" ({'; '.join(reasons)})" if reasons else ""
        raise UnsupportedMechanism(
            f"no chain of proven implications leads from {notion} to {goal.kind.__name__} under {goal.relation}{people}"
            f"{because}"
        )
    return best


def _implies(first: Notion, second: Notion) -> bool:
    """Return whether the first is the second with numbers at most as large."""
    if (type(first), first.relation, first.group) != (type(second), second.relation, second.group):
        return False
    if isinstance(first, RenyiDP) and isinstance(second, RenyiDP):
        known = dict(first.points)
        return all(order in known and known[order] <= value for order, value in second.points)
    return all(one <= other for one, other in zip(first.parameters, second.parameters, strict=True))
