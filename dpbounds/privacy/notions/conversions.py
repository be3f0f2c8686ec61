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
from typing import TypeVar

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
    at_least_zero,
    open_unit,
    positive,
    probability,
    shown,
    valid_order,
)
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta
from dpbounds.privacy.routes.inversion import invert

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
    """Return ε(δ) of μ-Gaussian differential privacy, rounded up.

    Args:
        squared_mu: μ² >= 0.
        delta: Greater than 0; ε is 0 from 1 on.

    Raises:
        InvalidValue: A value is out of range.

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
    squared, target = at_least_zero(squared_mu, "squared_mu"), at_least_zero(epsilon, "epsilon")
    if squared == 0:
        return Fraction(0)
    value, precision = closed_form_delta(ShiftedGaussians(squared), target)
    with working(precision):
        return min(Fraction(1), ball_end(value, "up"))


def gaussian_budget(epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """Return the largest μ for which μ-Gaussian differential privacy gives (ε, δ), rounded down in about the 60th bit.

    Args:
        epsilon: At least 0.
        delta: In (0, 1).

    Raises:
        InvalidValue: A value is out of range.
    """
    target, allowed = at_least_zero(epsilon, "epsilon"), open_unit(delta)
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
    pinsker, other = (
        upper_end(lambda: ball(divergence / 2).sqrt()),
        upper_end(lambda: (-(-ball(divergence)).expm1()).sqrt()),
    )
    return min(Fraction(1), pinsker, other)


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
        """How many steps of a relation lie between the wanted neighbours: a replacement is two of the other."""
        return self.group if relation is self.relation else 2 * self.group


When = Callable[[Notion, Goal], bool]
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
    rule: Callable[[Notion, Goal], Notion]
    when: When

    def accepts(self, notion: Notion) -> bool:
        """Whether the implication starts from such a notion."""
        return isinstance(notion, self.takes)

    def apply(self, notion: Notion, goal: Goal) -> Notion:
        """Return what the implication proves of this notion.

        Raises:
            Declined: It proves nothing for these numbers.
            UnsupportedMechanism: It does not start from such a notion, or has no use on the way to this goal.
        """
        if not (self.accepts(notion) and self.when(notion, goal)):
            raise UnsupportedMechanism(f"the implication '{self.name}' is of no use from {notion} to {goal}")
        return self.rule(notion, goal)


def _always(notion: Notion, goal: Goal) -> bool:
    return True


def _at_target(notion: Notion, goal: Goal) -> bool:
    """δ or ε is aimed at last, among the wanted neighbours."""
    return goal.is_near(notion) and (goal.delta is not None or goal.epsilon is not None)


def _at_order(notion: Notion, goal: Goal) -> bool:
    return goal.is_near(notion) and goal.order is not None


def _in_groups(notion: Notion, goal: Goal) -> bool:
    return notion.group != goal.distance(notion.relation)


def _by_replacing(notion: Notion, goal: Goal) -> bool:
    return notion.relation is not goal.relation and notion.group == goal.distance(notion.relation)


def _edge(
    name: str, source: str, takes: type[Known], when: When = _always
) -> Callable[[Callable[[Known, Goal], Notion]], Edge]:
    def made(rule: Callable[[Known, Goal], Notion]) -> Edge:
        def checked(notion: Notion, goal: Goal) -> Notion:
            assert isinstance(notion, takes)
            return rule(notion, goal)

        return Edge(name, source, takes, checked, when)

    return made


def _for_same(known: Notion, kind: Callable[[ExactLike, Relation, int], Notion], value: Fraction) -> Notion:
    return kind(value, known.relation, known.group)


def _at_goal(
    known: Notion, goal: Goal, epsilon: Callable[[Fraction], Fraction], delta: Callable[[Fraction], Fraction]
) -> Notion:
    """(ε(δ), δ) or (ε, δ(ε)), whichever is aimed at."""
    if goal.delta is not None:
        return ApproximateDP(epsilon(goal.delta), goal.delta, known.relation, known.group)
    assert goal.epsilon is not None
    return ApproximateDP(goal.epsilon, delta(goal.epsilon), known.relation, known.group)


def _renyi_at_goal(known: Notion, goal: Goal, value: Callable[[Fraction], Fraction]) -> Notion:
    assert goal.order is not None
    return RenyiDP([(goal.order, value(goal.order))], known.relation, known.group)


def _above_zero(delta: Fraction) -> Fraction:
    if delta == 0:
        raise Declined("no finite epsilon follows at delta = 0: give a delta greater than 0")
    return delta


@_edge("pure is approximate with δ = 0", "definition", PureDP)
def _pure_is_approximate(known: PureDP, goal: Goal) -> Notion:
    return ApproximateDP(known.epsilon, 0, known.relation, known.group)


@_edge("approximate with δ = 0 is pure", "definition", ApproximateDP)
def _approximate_is_pure(known: ApproximateDP, goal: Goal) -> Notion:
    if known.delta:
        raise Declined(f"delta = {shown(known.delta)} is not 0")
    return _for_same(known, PureDP, known.epsilon)


@_edge("pure is ε tanh(ε/2)-zCDP", "Bun & Steinke 2016 for ε²/2; sharpened in section 1", PureDP)
def _pure_is_zcdp(known: PureDP, goal: Goal) -> Notion:
    epsilon = known.epsilon
    sharper = upper_end(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh()) if epsilon else Fraction(0)
    return _for_same(known, ZeroConcentratedDP, min(sharper, epsilon**2 / 2))


@_edge("pure has the Rényi curve of randomised response", "Mironov 2017; section 1", PureDP, _at_order)
def _pure_has_renyi(known: PureDP, goal: Goal) -> Notion:
    return _renyi_at_goal(known, goal, lambda order: _randomised_response_renyi(known.epsilon, order))


@_edge("pure has range 2ε", "definition", PureDP)
def _pure_has_range(known: PureDP, goal: Goal) -> Notion:
    return _for_same(known, BoundedRange, 2 * known.epsilon)


@_edge("bounded range is η-pure", "Durfee & Rogers 2019; section 3", BoundedRange)
def _range_is_pure(known: BoundedRange, goal: Goal) -> Notion:
    return _for_same(known, PureDP, known.eta)


@_edge("bounded range is η²/8-zCDP", "Cesar & Rogers 2021; section 3", BoundedRange)
def _range_is_zcdp(known: BoundedRange, goal: Goal) -> Notion:
    return _for_same(known, ZeroConcentratedDP, known.eta**2 / 8)


@_edge("the profile of bounded range", "Dong, Durfee & Rogers 2020; section 3", BoundedRange, _at_target)
def _range_is_approximate(known: BoundedRange, goal: Goal) -> Notion:
    return _at_goal(
        known,
        goal,
        lambda delta: _bounded_range_epsilon(known.eta, delta),
        lambda epsilon: _bounded_range_delta(known.eta, epsilon),
    )


@_edge("zCDP bounds every Rényi order by λρ", "definition", ZeroConcentratedDP, _at_order)
def _zcdp_has_renyi(known: ZeroConcentratedDP, goal: Goal) -> Notion:
    return _renyi_at_goal(known, goal, lambda order: order * known.rho)


@_edge("zCDP at its best order", "Canonne, Kamath & Steinke 2020; section 4", ZeroConcentratedDP, _at_target)
def _zcdp_is_approximate(known: ZeroConcentratedDP, goal: Goal) -> Notion:
    return _at_goal(
        known,
        goal,
        lambda delta: zcdp_epsilon(known.rho, _above_zero(delta)),
        lambda epsilon: zcdp_delta(known.rho, epsilon),
    )


@_edge("zCDP gives ρ + 2 sqrt(ρ log 1/δ)", "Bun & Steinke 2016; section 4", ZeroConcentratedDP, _at_target)
def _zcdp_is_approximate_classically(known: ZeroConcentratedDP, goal: Goal) -> Notion:
    return _at_goal(
        known,
        goal,
        lambda delta: zcdp_epsilon(known.rho, _above_zero(delta), "classical"),
        lambda epsilon: zcdp_delta(known.rho, epsilon, "classical"),
    )


@_edge("zCDP bounds the total variation", "Pinsker; Bretagnolle & Huber 1979; section 6", ZeroConcentratedDP)
def _zcdp_has_total_variation(known: ZeroConcentratedDP, goal: Goal) -> Notion:
    return _for_same(known, TotalVariation, _total_variation_of(known.rho))


@_edge("Rényi at the best of its orders", "Canonne, Kamath & Steinke 2020; section 4", RenyiDP, _at_target)
def _renyi_is_approximate(known: RenyiDP, goal: Goal) -> Notion:
    return _at_goal(
        known,
        goal,
        lambda delta: renyi_epsilon(known.points, _above_zero(delta)),
        lambda epsilon: renyi_delta(known.points, epsilon),
    )


@_edge("Rényi between its orders", "section 5", RenyiDP, _at_order)
def _renyi_has_orders_between(known: RenyiDP, goal: Goal) -> Notion:
    return _renyi_at_goal(known, goal, lambda order: renyi_between(known.points, order))


@_edge("Rényi bounds the total variation", "Pinsker; Bretagnolle & Huber 1979; section 6", RenyiDP)
def _renyi_has_total_variation(known: RenyiDP, goal: Goal) -> Notion:
    return _for_same(known, TotalVariation, _total_variation_of(min(known.parameters)))


@_edge("the profile of shifted Gaussians", "Balle & Wang 2018; Dong, Roth & Su 2022", GaussianDP, _at_target)
def _gaussian_is_approximate(known: GaussianDP, goal: Goal) -> Notion:
    return _at_goal(
        known,
        goal,
        lambda delta: gaussian_epsilon(known.mu**2, _above_zero(delta)),
        lambda epsilon: gaussian_delta(known.mu**2, epsilon),
    )


@_edge("Gaussian is μ²/2-zCDP", "Bun & Steinke 2016; section 6", GaussianDP)
def _gaussian_is_zcdp(known: GaussianDP, goal: Goal) -> Notion:
    return _for_same(known, ZeroConcentratedDP, known.mu**2 / 2)


@_edge("approximate at another target", "Kairouz, Oh & Viswanath 2015; section 2", ApproximateDP, _at_target)
def _approximate_is_approximate(known: ApproximateDP, goal: Goal) -> Notion:
    return _at_goal(
        known, goal, lambda delta: _traded_epsilon(known, delta), lambda epsilon: _traded_delta(known, epsilon)
    )


@_edge("approximate is within δ + (1-δ) tanh(ε/2)", "Kairouz, Oh & Viswanath 2015; section 2", ApproximateDP)
def _approximate_has_total_variation(known: ApproximateDP, goal: Goal) -> Notion:
    return _for_same(known, TotalVariation, _traded_delta(known, Fraction(0)))


@_edge("total variation is approximate with ε = 0", "definition", TotalVariation)
def _total_variation_is_approximate(known: TotalVariation, goal: Goal) -> Notion:
    return ApproximateDP(0, known.delta, known.relation, known.group)


@_edge("a group is a chain of neighbours", "section 7", Notion, _in_groups)
def _neighbours_make_groups(known: Notion, goal: Goal) -> Notion:
    steps = goal.distance(known.relation)
    return replace(_along_chain(known, -(-steps // known.group)), group=steps)


@_edge("a replacement is a removal and an addition", "section 7", Notion, _by_replacing)
def _two_make_a_replacement(known: Notion, goal: Goal) -> Notion:
    return replace(known, relation=Relation.REPLACE_ONE, group=known.group // 2)


EDGES: tuple[Edge, ...] = (
    _pure_is_approximate,
    _pure_is_zcdp,
    _pure_has_renyi,
    _pure_has_range,
    _range_is_pure,
    _range_is_zcdp,
    _range_is_approximate,
    _zcdp_has_renyi,
    _zcdp_is_approximate,
    _zcdp_is_approximate_classically,
    _zcdp_has_total_variation,
    _renyi_is_approximate,
    _renyi_has_orders_between,
    _renyi_has_total_variation,
    _gaussian_is_approximate,
    _gaussian_is_zcdp,
    _approximate_is_pure,
    _approximate_is_approximate,
    _approximate_has_total_variation,
    _total_variation_is_approximate,
    _neighbours_make_groups,
    _two_make_a_replacement,
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
    wanted = sorted({valid_order(order) for order in orders})
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
        Fraction(0) if to is TotalVariation else None if epsilon is None else at_least_zero(epsilon, "epsilon"),
    )


def _refuse_what_is_false(notion: Notion, goal: Goal) -> None:
    if notion.relation is Relation.REPLACE_ONE and goal.relation is Relation.ADD_OR_REMOVE_ONE:
        raise UnsupportedMechanism(
            "a replace-one guarantee gives none under add-or-remove-one: it compares data sets of equal size only, so "
            "that a mechanism which publishes the number of records can have it; state the guarantee under "
            "add-or-remove-one from the start"
        )
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
            if not (edge.accepts(here.notion) and edge.when(here.notion, goal)):
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
