"""The proven implications between notions of privacy, as formulas and as a graph.

An edge is an implication with its proof's source: "every ε-DP mechanism is ε tanh(ε/2)-zCDP". :func:`convert` searches
the chains of edges that lead from one notion to another and returns the best value that any of them proves, together
with its chain. What no chain proves is refused.

Every number that comes out is an exact fraction, rounded to the safe side from a ball. The derivations are written out
in ``conversions.md`` beside this file; section numbers below refer to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, assert_never

from flint import arb

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import working
from dpbounds.privacy.notions.concentrated import (
    renyi_between,
    renyi_delta,
    renyi_epsilon,
    upper_end,
    zcdp_delta,
    zcdp_epsilon,
)
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    BoundedRange,
    GaussianDP,
    Notion,
    Points,
    PureDP,
    RenyiDP,
    TotalVariation,
    ZeroConcentratedDP,
    shown,
)
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.values import above_one, at_least_zero, open_unit, positive, probability

_PRECISION = 160
_LONGEST_CHAIN = 8


# --- closed forms ---------------------------------------------------------------------------------------------------


def _randomised_response_renyi(epsilon: Fraction, order: Fraction) -> Fraction:
    """D_λ of ε-randomised response, log(cosh((λ-1/2)ε)/cosh(ε/2))/(λ-1), rounded up (section 1)."""
    if epsilon == 0:
        return Fraction(0)

    def curve() -> arb:
        small, large = (-ball(epsilon)).exp(), (-ball((2 * order - 1) * epsilon)).exp()
        return ball(epsilon) + (large.log1p() - small.log1p()) / ball(order - 1)

    return min(epsilon, upper_end(curve))


def gaussian_epsilon(squared_mu: ExactLike, delta: ExactLike) -> Fraction:
    """Return ε(δ) of μ-Gaussian differential privacy, rounded up, for μ² >= 0 and δ > 0; 0 from δ = 1 on.

    Source: Balle & Wang 2018; Dong, Roth & Su 2022.

    >>> float(gaussian_epsilon("1/25", "1e-5"))
    0.72552175085779...
    """
    squared, target = at_least_zero(squared_mu, "squared_mu"), positive(delta, "delta")
    if squared == 0 or target >= 1:
        return Fraction(0)
    pair = ShiftedGaussians(squared)
    with working(_PRECISION):
        return invert(lambda epsilon: (closed_form_delta(pair, epsilon, 120)[0],) * 2, ball(target), 1.0)[1]


def gaussian_delta(squared_mu: ExactLike, epsilon: ExactLike) -> Fraction:
    """Return δ(ε) of μ-Gaussian differential privacy, rounded up, for μ² >= 0 and ε >= 0; source as above."""
    squared, target = at_least_zero(squared_mu, "squared_mu"), at_least_zero(epsilon)
    if squared == 0:
        return Fraction(0)
    value, precision = closed_form_delta(ShiftedGaussians(squared), target)
    with working(precision):
        return min(Fraction(1), ball_end(value, "up"))


def gaussian_budget(epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """Return the largest μ for which μ-Gaussian DP gives (ε, δ), rounded down in about the 60th bit, 0 < δ < 1."""
    target, allowed = at_least_zero(epsilon), open_unit(delta)
    high = Fraction(1)
    while gaussian_delta(high**2, target) <= allowed:
        high *= 2
    low = high / 2
    while gaussian_delta(low**2, target) > allowed:
        low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle**2, target) <= allowed else (low, middle)
    return low


def _traded_epsilon(known: ApproximateDP, delta: Fraction) -> Fraction:
    """The ε at which the extremal pair of (ε, δ) spends a larger δ (section 2)."""
    if delta < known.delta:
        raise Declined(f"delta = {shown(delta)} is smaller than the {shown(known.delta)} that the guarantee itself has")
    if delta == 1 or known.epsilon == 0:
        return Fraction(0)
    if delta == known.delta:
        return known.epsilon
    rest = (delta - known.delta) / (1 - known.delta)

    def bound() -> arb:
        taken = ball(rest) * (1 + (-ball(known.epsilon)).exp())
        return arb(0) if taken >= -(-ball(known.epsilon)).expm1() else ball(known.epsilon) + (-taken).log1p()

    return min(known.epsilon, max(Fraction(0), upper_end(bound)))


def _traded_delta(known: ApproximateDP, epsilon: Fraction) -> Fraction:
    """The δ that the extremal pair of (ε, δ) spends at a smaller ε (section 2)."""
    if epsilon >= known.epsilon:
        return known.delta

    def bound() -> arb:
        return -ball(epsilon - known.epsilon).expm1() / (1 + (-ball(known.epsilon)).exp())

    return min(Fraction(1), known.delta + (1 - known.delta) * upper_end(bound))


def _bounded_range_epsilon(eta: Fraction, delta: Fraction) -> Fraction:
    if eta == 0 or delta >= 1:
        return Fraction(0)

    def bound() -> arb:
        root = (-ball(delta) * (-ball(eta)).expm1()).sqrt()
        return ball(eta) + 2 * (-root).log1p()

    return min(eta, max(Fraction(0), upper_end(bound)))


def _bounded_range_delta(eta: Fraction, epsilon: Fraction) -> Fraction:
    if epsilon >= eta:
        return Fraction(0)
    return upper_end(lambda: (ball(epsilon - eta) / 2).expm1() ** 2 / -(-ball(eta)).expm1())


def _total_variation_of(divergence: Fraction) -> Fraction:
    """Bound the total variation where KL(P ‖ Q) is at most this (section 6)."""
    if divergence == 0:
        return Fraction(0)
    pinsker = upper_end(lambda: ball(divergence / 2).sqrt())
    return min(Fraction(1), pinsker, upper_end(lambda: (-(-ball(divergence)).expm1()).sqrt()))


# --- the graph -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal:
    """What a conversion is to arrive at.

    Attributes:
        kind: The notion.
        relation: Its relation.
        group: Its group.
        delta: For ``ApproximateDP``, the δ at which ε is wanted, or None.
        epsilon: For ``ApproximateDP``, the ε at which δ is wanted (0 on the way to ``TotalVariation``), or None.
        order: For ``RenyiDP``, the order wanted, or None.
    """

    kind: type[Notion]
    relation: Relation
    group: int
    delta: Fraction | None = None
    epsilon: Fraction | None = None
    order: Fraction | None = None

    def is_near(self, notion: Notion) -> bool:
        """Whether the notion speaks of the wanted neighbours."""
        return (notion.relation, notion.group) == (self.relation, self.group)

    def is_met_by(self, notion: Notion) -> bool:
        """Whether the notion is of the wanted kind, for the wanted neighbours and at the target."""
        if type(notion) is not self.kind or not self.is_near(notion):
            return False
        match notion:
            case ApproximateDP(epsilon=epsilon, delta=delta):
                return (self.delta is None or delta <= self.delta) and (self.epsilon is None or epsilon <= self.epsilon)
            case RenyiDP(points=points):
                return any(order == self.order for order, _ in points)
        return True

    def cost(self, notion: Notion) -> tuple[Fraction, ...]:
        """What is to be made small, of a notion that meets the goal: ε before δ, unless ε is given."""
        if isinstance(notion, RenyiDP):
            return tuple(value for order, value in notion.points if order == self.order)
        return notion.parameters if self.epsilon is None else notion.parameters[::-1]

    def distance(self, relation: Relation) -> int:
        """How many steps of a relation lie between the wanted neighbours: a replacement is two of any other."""
        return self.group if relation is self.relation else 2 * self.group


Known = TypeVar("Known", bound=Notion)


@dataclass(frozen=True, slots=True)
class Edge:
    """A proven implication.

    Attributes:
        name: What it says.
        source: Who proved it, and the section of ``conversions.md`` where the proof stands.
        takes: The notion it starts from.
        rule: (notion, goal) -> what is proven; the goal tells the target.
        when: Whether a chain to that goal has a use for it.
    """

    name: str
    source: str
    takes: type[Notion]
    rule: Callable[[Any, Goal], Notion]
    when: Callable[[Notion, Goal], bool]

    def is_of_use(self, notion: Notion, goal: Goal) -> bool:
        """Whether the implication starts from such a notion, and leads on to the goal."""
        return isinstance(notion, self.takes) and self.when(notion, goal)

    def apply(self, notion: Notion, goal: Goal) -> Notion:
        """Return what the implication proves of this notion.

        Raises:
            Declined: It proves nothing for these numbers.
            UnsupportedMechanism: It is of no use.
        """
        if not self.is_of_use(notion, goal):
            raise UnsupportedMechanism(f"the implication '{self.name}' is of no use from {notion} to {goal}")
        return self.rule(notion, goal)


def _to_value(
    takes: type[Known],
    gives: Callable[[ExactLike, Relation, int], Notion],
    value: Callable[[Known], ExactLike],
    name: str,
    source: str,
) -> Edge:
    """To a notion of one number, for the same neighbours."""
    return Edge(
        name,
        source,
        takes,
        lambda known, goal: gives(value(known), known.relation, known.group),
        lambda known, goal: True,
    )


def _to_target(
    takes: type[Known],
    epsilon: Callable[[Known, Fraction], Fraction],
    delta: Callable[[Known, Fraction], Fraction],
    name: str,
    source: str,
) -> Edge:
    """To (ε(δ), δ) or (ε, δ(ε)), whichever is aimed at."""

    def rule(known: Known, goal: Goal) -> Notion:
        if goal.delta is not None:
            return ApproximateDP(epsilon(known, goal.delta), goal.delta, known.relation, known.group)
        assert goal.epsilon is not None
        return ApproximateDP(goal.epsilon, delta(known, goal.epsilon), known.relation, known.group)

    def when(known: Notion, goal: Goal) -> bool:
        return goal.is_near(known) and (goal.delta is not None or goal.epsilon is not None)

    return Edge(name, source, takes, rule, when)


def _to_order(takes: type[Known], value: Callable[[Known, Fraction], Fraction], name: str, source: str) -> Edge:
    """To the Rényi order that is aimed at."""

    def rule(known: Known, goal: Goal) -> Notion:
        assert goal.order is not None
        return RenyiDP([(goal.order, value(known, goal.order))], known.relation, known.group)

    return Edge(name, source, takes, rule, lambda known, goal: goal.is_near(known) and goal.order is not None)


def _above_zero(delta: Fraction) -> Fraction:
    if delta == 0:
        raise Declined("no finite epsilon follows at delta = 0: give a delta greater than 0")
    return delta


def _least_rho(epsilon: Fraction) -> Fraction:
    """ρ of an ε-DP mechanism (section 1)."""
    sharper = upper_end(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh()) if epsilon else Fraction(0)
    return min(sharper, epsilon**2 / 2)


def _pure_epsilon(known: ApproximateDP) -> Fraction:
    if known.delta:
        raise Declined(f"delta = {shown(known.delta)} is not 0")
    return known.epsilon


def _chained(known: Notion, goal: Goal) -> Notion:
    steps = goal.distance(known.relation)
    return replace(_along_chain(known, -(-steps // known.group)), group=steps)


EDGES: tuple[Edge, ...] = (
    Edge(
        "pure is approximate with δ = 0",
        "definition",
        PureDP,
        lambda known, goal: ApproximateDP(known.epsilon, 0, known.relation, known.group),
        lambda known, goal: True,
    ),
    _to_value(
        PureDP,
        ZeroConcentratedDP,
        lambda known: _least_rho(known.epsilon),
        "pure is ε tanh(ε/2)-zCDP",
        "Bun & Steinke 2016 for ε²/2; sharpened in section 1",
    ),
    _to_order(
        PureDP,
        lambda known, order: _randomised_response_renyi(known.epsilon, order),
        "pure has the Rényi curve of randomised response",
        "Mironov 2017; section 1",
    ),
    _to_value(PureDP, BoundedRange, lambda known: 2 * known.epsilon, "pure has range 2ε", "definition"),
    _to_value(
        BoundedRange, PureDP, lambda known: known.eta, "bounded range is η-pure", "Durfee & Rogers 2019; section 3"
    ),
    _to_value(
        BoundedRange,
        ZeroConcentratedDP,
        lambda known: known.eta**2 / 8,
        "bounded range is η²/8-zCDP",
        "Cesar & Rogers 2021; section 3",
    ),
    _to_target(
        BoundedRange,
        lambda known, delta: _bounded_range_epsilon(known.eta, delta),
        lambda known, epsilon: _bounded_range_delta(known.eta, epsilon),
        "the profile of bounded range",
        "Dong, Durfee & Rogers 2020; section 3",
    ),
    _to_order(
        ZeroConcentratedDP,
        lambda known, order: order * known.rho,
        "zCDP bounds every Rényi order by λρ",
        "definition",
    ),
    _to_target(
        ZeroConcentratedDP,
        lambda known, delta: zcdp_epsilon(known.rho, _above_zero(delta)),
        lambda known, epsilon: zcdp_delta(known.rho, epsilon),
        "zCDP at its best order",
        "Canonne, Kamath & Steinke 2020; section 4",
    ),
    _to_target(
        ZeroConcentratedDP,
        lambda known, delta: zcdp_epsilon(known.rho, _above_zero(delta), "classical"),
        lambda known, epsilon: zcdp_delta(known.rho, epsilon, "classical"),
        "zCDP gives ρ + 2 sqrt(ρ log 1/δ)",
        "Bun & Steinke 2016; section 4",
    ),
    _to_value(
        ZeroConcentratedDP,
        TotalVariation,
        lambda known: _total_variation_of(known.rho),
        "zCDP bounds the total variation",
        "Pinsker; Bretagnolle & Huber 1979; section 6",
    ),
    _to_target(
        RenyiDP,
        lambda known, delta: renyi_epsilon(known.points, _above_zero(delta)),
        lambda known, epsilon: renyi_delta(known.points, epsilon),
        "Rényi at the best of its orders",
        "Canonne, Kamath & Steinke 2020; section 4",
    ),
    _to_order(
        RenyiDP, lambda known, order: renyi_between(known.points, order), "Rényi between its orders", "section 5"
    ),
    _to_value(
        RenyiDP,
        TotalVariation,
        lambda known: _total_variation_of(min(known.parameters)),
        "Rényi bounds the total variation",
        "Pinsker; Bretagnolle & Huber 1979; section 6",
    ),
    _to_target(
        GaussianDP,
        lambda known, delta: gaussian_epsilon(known.mu**2, _above_zero(delta)),
        lambda known, epsilon: gaussian_delta(known.mu**2, epsilon),
        "the profile of shifted Gaussians",
        "Balle & Wang 2018; Dong, Roth & Su 2022",
    ),
    _to_value(
        GaussianDP,
        ZeroConcentratedDP,
        lambda known: known.mu**2 / 2,
        "Gaussian is μ²/2-zCDP",
        "Bun & Steinke 2016; section 6",
    ),
    _to_value(ApproximateDP, PureDP, _pure_epsilon, "approximate with δ = 0 is pure", "definition"),
    _to_target(
        ApproximateDP,
        _traded_epsilon,
        _traded_delta,
        "approximate at another target",
        "Kairouz, Oh & Viswanath 2015; section 2",
    ),
    _to_value(
        ApproximateDP,
        TotalVariation,
        lambda known: _traded_delta(known, Fraction(0)),
        "approximate is within δ + (1-δ) tanh(ε/2)",
        "Kairouz, Oh & Viswanath 2015; section 2",
    ),
    Edge(
        "total variation is approximate with ε = 0",
        "definition",
        TotalVariation,
        lambda known, goal: ApproximateDP(0, known.delta, known.relation, known.group),
        lambda known, goal: True,
    ),
    Edge(
        "a group is a chain of neighbours",
        "section 7",
        Notion,
        _chained,
        lambda known, goal: known.group != goal.distance(known.relation),
    ),
    Edge(
        "a replacement is one record out, and another one in",
        "section 7",
        Notion,
        lambda known, goal: replace(known, relation=Relation.REPLACE_ONE, group=known.group // 2),
        lambda known, goal: known.relation is not goal.relation and known.group == goal.distance(known.relation),
    ),
)


def _along_chain(known: Notion, k: int) -> Notion:
    """The numbers of the guarantee for data sets k times as far apart (section 7)."""
    match known:
        case PureDP(epsilon=epsilon):
            return replace(known, epsilon=k * epsilon)
        case BoundedRange(eta=eta):
            return replace(known, eta=k * eta)
        case GaussianDP(mu=mu):
            return replace(known, mu=k * mu)
        case TotalVariation(delta=delta):
            return replace(known, delta=min(Fraction(1), k * delta))
        case ZeroConcentratedDP(rho=rho):
            return replace(known, rho=k * k * rho)
        case ApproximateDP(epsilon=epsilon, delta=delta):
            return replace(known, epsilon=k * epsilon, delta=_chained_delta(epsilon, delta, k))
        case RenyiDP(points=points):
            reached = [order / k for order, _ in points if order > k]
            if not reached:
                raise Declined(f"{k} steps need an order above {k}, the largest given is {shown(points[-1][0])}")
            return replace(known, points=tuple((order, _chained_renyi(points, order, k)) for order in reached))
    raise UnsupportedMechanism(f"no guarantee for groups is proven here for {known}")


def _chained_delta(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """δ (e^{kε} - 1)/(e^ε - 1), or kδ at ε = 0."""
    if epsilon == 0 or delta == 0 or k == 1:
        return min(Fraction(1), k * delta)
    return min(Fraction(1), delta * upper_end(lambda: ball(k * epsilon).expm1() / ball(epsilon).expm1()))


def _chained_renyi(points: Points, order: Fraction, k: int) -> Fraction:
    """kλ times the sum of τ(m)/m over m = k(λ-1) + j, j = 1, ..., k."""
    needed = (k * (order - 1) + j for j in range(1, k + 1))
    return k * order * sum((renyi_between(points, m) / m for m in needed), Fraction(0))


# --- the search ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """One edge of a chain, what went in and what came out."""

    edge: Edge
    before: Notion
    after: Notion

    def __str__(self) -> str:
        return f"{self.edge.name}: {self.before} -> {self.after} [{self.edge.source}]"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A proven implication; printed, it is its chain, one line per edge.

    Attributes:
        notion: What was proven, rounded to the safe side.
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
        notion: What is known.
        to: The kind of guarantee wanted, such as ``ApproximateDP``.
        delta: For ``ApproximateDP``: find the least ε at this δ, from 0 to 1.
        epsilon: For ``ApproximateDP``: find the least δ at this ε, at least 0. Exactly one of the two.
        orders: For ``RenyiDP``: the orders wanted, each greater than 1.
        relation: The neighbouring relation wanted; that of the notion if None.
        group: How many steps of it to protect; if None, as many as the notion does, or 1 under another relation.

    Returns:
        The guarantee, its numbers rounded up, with its chain; among chains that prove the same, the shortest.

    Raises:
        InvalidValue: A target is missing, superfluous or out of range.
        UnsupportedMechanism: No chain is proven; the message says why.

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
                f"a {notion.relation} guarantee gives none under add-or-remove-one: it compares data sets of equal "
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
    """Breadth first; a notion that one found before implies is not followed any further."""
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
    """Whether the first is the second with numbers at most as large."""
    if (type(first), first.relation, first.group) != (type(second), second.relation, second.group):
        return False
    if isinstance(first, RenyiDP) and isinstance(second, RenyiDP):
        known = dict(first.points)
        return all(order in known and known[order] <= value for order, value in second.points)
    return all(one <= other for one, other in zip(first.parameters, second.parameters, strict=True))
