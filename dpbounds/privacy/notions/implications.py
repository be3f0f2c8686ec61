"""The graph of proven implications between notions of privacy.

An edge is an implication with its proof's source: "every ε-DP mechanism is ε tanh(ε/2)-zCDP". Section numbers refer to
``conversions.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.notions.chained import along_chain
from dpbounds.privacy.notions.concentrated import renyi_between, renyi_delta, renyi_epsilon, zcdp_delta, zcdp_epsilon
from dpbounds.privacy.notions.extremal import (
    bounded_range_delta,
    bounded_range_epsilon,
    least_rho,
    randomised_response_renyi,
    total_variation_of,
    traded_delta,
    traded_epsilon,
)
from dpbounds.privacy.notions.gaussian import gaussian_delta, gaussian_epsilon
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    BoundedRange,
    GaussianDP,
    Notion,
    PureDP,
    RenyiDP,
    TotalVariation,
    ZeroConcentratedDP,
    shown,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a conversion.

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
        """Return whether the notion speaks of the wanted neighbours."""
        return (notion.relation, notion.group) == (self.relation, self.group)

    def is_met_by(self, notion: Notion) -> bool:
        """Return whether the notion is of the wanted kind, for the wanted neighbours and at the target."""
        if type(notion) is not self.kind or not self.is_near(notion):
            return False
        match notion:
            case ApproximateDP(epsilon=epsilon, delta=delta):
                return (self.delta is None or delta <= self.delta) and (self.epsilon is None or epsilon <= self.epsilon)
            case RenyiDP(points=points):
                return any(order == self.order for order, _ in points)
        return True

    def cost(self, notion: Notion) -> tuple[Fraction, ...]:
        """Return the values to minimise of a notion that meets the goal: ε before δ, unless ε is given."""
        if isinstance(notion, RenyiDP):
            return tuple(value for order, value in notion.points if order == self.order)
        return notion.parameters if self.epsilon is None else notion.parameters[::-1]

    def distance(self, relation: Relation) -> int:
        """Return the number of steps of a relation between the wanted neighbours: a replacement is two of any other."""
        return self.group if relation is self.relation else 2 * self.group


Known = TypeVar("Known", bound=Notion)


@dataclass(frozen=True, slots=True)
class Edge:
    """A proven implication.

    Attributes:
        name: The implication.
        source: The source of the proof, and the section of ``conversions.md``.
        takes: The notion it starts from.
        rule: Maps a notion and a goal to the implied notion; the goal has the target.
        when: Whether a chain to that goal has a use for it.
    """

    name: str
    source: str
    takes: type[Notion]
    rule: Callable[[Any, Goal], Notion]
    when: Callable[[Notion, Goal], bool]

    def is_of_use(self, notion: Notion, goal: Goal) -> bool:
        """Return whether the implication starts from such a notion, and leads on to the goal."""
        return isinstance(notion, self.takes) and self.when(notion, goal)

    def apply(self, notion: Notion, goal: Goal) -> Notion:
        """Return the implied notion.

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
    """Return the implication of a notion with one number, for the same neighbours."""
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
    """Return the implication of (ε(δ), δ) or (ε, δ(ε)), whichever is the target."""

    def rule(known: Known, goal: Goal) -> Notion:
        if goal.delta is not None:
            return ApproximateDP(epsilon(known, goal.delta), goal.delta, known.relation, known.group)
        assert goal.epsilon is not None
        return ApproximateDP(goal.epsilon, delta(known, goal.epsilon), known.relation, known.group)

    def when(known: Notion, goal: Goal) -> bool:
        return goal.is_near(known) and (goal.delta is not None or goal.epsilon is not None)

    return Edge(name, source, takes, rule, when)


def _to_order(takes: type[Known], value: Callable[[Known, Fraction], Fraction], name: str, source: str) -> Edge:
    """Return the implication of the target's Rényi order."""

    def rule(known: Known, goal: Goal) -> Notion:
        assert goal.order is not None
        return RenyiDP([(goal.order, value(known, goal.order))], known.relation, known.group)

    return Edge(name, source, takes, rule, lambda known, goal: goal.is_near(known) and goal.order is not None)


def _above_zero(delta: Fraction) -> Fraction:
    if delta == 0:
        raise Declined("no finite epsilon follows at delta = 0: give a delta greater than 0")
    return delta


def _pure_epsilon(known: ApproximateDP) -> Fraction:
    if known.delta:
        raise Declined(f"delta = {shown(known.delta)} is not 0")
    return known.epsilon


def _chained(known: Notion, goal: Goal) -> Notion:
    steps = goal.distance(known.relation)
    return replace(along_chain(known, -(-steps // known.group)), group=steps)


EDGES: tuple[Edge, ...] = (
    _to_value(
        PureDP,
        lambda epsilon, relation, group: ApproximateDP(epsilon, 0, relation, group),
        lambda known: known.epsilon,
        "pure is approximate with δ = 0",
        "definition",
    ),
    _to_value(
        PureDP,
        ZeroConcentratedDP,
        lambda known: least_rho(known.epsilon),
        "pure is ε tanh(ε/2)-zCDP",
        "Bun & Steinke 2016 for ε²/2; sharpened in section 1",
    ),
    _to_order(
        PureDP,
        lambda known, order: randomised_response_renyi(known.epsilon, order),
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
        lambda known, delta: bounded_range_epsilon(known.eta, delta),
        lambda known, epsilon: bounded_range_delta(known.eta, epsilon),
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
        lambda known: total_variation_of(known.rho),
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
        lambda known: total_variation_of(min(known.parameters)),
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
        traded_epsilon,
        traded_delta,
        "approximate at another target",
        "Kairouz, Oh & Viswanath 2015; section 2",
    ),
    _to_value(
        ApproximateDP,
        TotalVariation,
        lambda known: traded_delta(known, Fraction(0)),
        "approximate is within δ + (1-δ) tanh(ε/2)",
        "Kairouz, Oh & Viswanath 2015; section 2",
    ),
    _to_value(
        TotalVariation,
        lambda delta, relation, group: ApproximateDP(0, delta, relation, group),
        lambda known: known.delta,
        "total variation is approximate with ε = 0",
        "definition",
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
