"""Conversion of guarantees: any mechanism, a guarantee among them, to a number of another notion of privacy.

A guarantee is a mechanism that is known by it, so that one function answers for all: what each notion asks of a
mechanism is known to the accountants. ``arrows.py`` has the theorems for mechanisms that are given by a guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import get_args

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand, demand_one_of
from dpbounds.expressions.enclosure import Enclosure, End, ball_end
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.arrows import Arrow, Notion, arrow_of
from dpbounds.privacy.accountants.attackers import trade_off
from dpbounds.privacy.accountants.certified import delta as delta_of, epsilon as epsilon_of
from dpbounds.privacy.accountants.gaussian_dp import gdp_parameter, gdp_parameter_of_all_tests
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import (
    ZCDP,
    ApproximateDP,
    GaussianDP,
    Mechanism,
    PureDP,
    RenyiDP,
)
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Moments, Product, is_attack
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_curve
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.renyi.moments import total_log_moment
from dpbounds.privacy.values import above_one, demand_fields, probability, promised_delta, promised_epsilon

_PRECISION = 160
_TRIED = (1 + Fraction(1, 1 << 16), Fraction(2), Fraction(1 << 16))  # orders at which D_λ/λ bounds ρ from below
_ASKED_AT: dict[str, tuple[str, ...]] = {
    "epsilon": ("delta",),
    "delta": ("epsilon",),
    "renyi": ("order",),
    "trade-off": ("false_positive_rate",),
}
_MAY_BE_ASKED_AT = {"gdp": ("least_rate",)}


@dataclass(frozen=True, slots=True, repr=False)
class Conversion(Displayed):
    """A guarantee, or any mechanism, stated in another notion of privacy.

    Attributes:
        mechanism: The mechanism that it starts from.
        to: The notion.
        at: The δ, ε, order, false positive rate or least error rate that was given; None without one.
        relation: The neighbouring relation.
        enclosure: Certified bounds. One end is proven for every mechanism of this description. The other end is
            attained by one of them (or is 0 where none is known).
        arrow: The theorem, for a mechanism given by a guarantee under this relation; None for any other.
    """

    mechanism: Mechanism
    to: Notion
    at: Fraction | None
    relation: Relation
    enclosure: Enclosure
    arrow: Arrow | None

    def __post_init__(self) -> None:
        demand_one_of("to", self.to, get_args(Notion))
        demand_fields(self, mechanism=Mechanism, at=(Fraction, NoneType), relation=Relation)
        demand_fields(self, enclosure=Enclosure, arrow=(Arrow, NoneType))

    @property
    def proven(self) -> End:
        """The end to publish: the upper one; of a trade-off function the lower one."""
        return self.enclosure.exact_lower if self.to == "trade-off" else self.enclosure.exact_upper

    @property
    def guarantee(self) -> Mechanism | None:
        """The proven end as a mechanism given by its guarantee, to be composed with others.

        None for a point of a trade-off function, for a μ of some tests only, and where nothing is spent.
        """
        proven = Fraction(self.proven)
        match self.to:
            case "epsilon":
                return ApproximateDP(proven, self.at or Fraction(0), relation=self.relation)
            case "delta":
                return ApproximateDP(self.at or Fraction(0), proven, relation=self.relation)
            case "renyi":
                assert self.at is not None
                return RenyiDP([(self.at, proven)], relation=self.relation)
        if proven == 0 or self.to == "trade-off" or self.at is not None:
            return None
        kinds: dict[str, type[PureDP | ZCDP | GaussianDP]] = {"pure": PureDP, "zcdp": ZCDP, "gdp": GaussianDP}
        return kinds[self.to](proven, relation=self.relation)

    def _sheet(self) -> Sheet:
        known = () if self.arrow is None else (("theorem", self.arrow.theorem), ("source", self.arrow.source))
        asked = () if self.at is None else ((_name_of_place(self.to), number(self.at)),)
        facts = (*asked, ("bounds", str(self.enclosure)), ("relation", str(self.relation)), *known)
        return Sheet(f"{self.to} of {self.mechanism!r}", facts)

    def __str__(self) -> str:
        return self._sheet().text()


def convert(
    mechanism: Mechanism,
    to: Notion,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    order: ExactLike | None = None,
    false_positive_rate: ExactLike | None = None,
    least_rate: ExactLike | None = None,
    relation: str | Relation | None = None,
) -> Conversion:
    """Convert a guarantee, or what any mechanism spends, to another notion of privacy.

    Args:
        mechanism: Any mechanism: noise, a training run, a composition, or a guarantee such as ``ZCDP("0.1",
            relation="replace-one")``. A trade-off function and a distribution of the privacy loss are ``ProfileDP``.
        to: "pure" (ε at δ = 0), "epsilon" (at ``delta``), "delta" (at ``epsilon``), "renyi" (at ``order``), "zcdp"
            (ρ), "gdp" (μ), or "trade-off" (the least false negative rate at ``false_positive_rate``).
        delta: δ, greater than 0 and less than 1, for "epsilon" alone.
        epsilon: ε, at least 0, for "delta" alone.
        order: λ, greater than 1, for "renyi" alone.
        false_positive_rate: From 0 to 1, for "trade-off" alone.
        least_rate: For "gdp": count only tests whose error rates are at least this. By default all tests count.
        relation: The neighbouring relation. By default that of a guarantee, and add-or-remove-one for other mechanisms.

    Returns:
        The certified bounds, and for a guarantee the theorem.

    Raises:
        InvalidValue: A value is missing, superfluous or not allowed.
        UnsupportedMechanism: No finite number holds, or none is proven; the message has the reason.
        NotCertified: No method could prove an answer.

    >>> from dpbounds.privacy.mechanisms import PureDP
    >>> found = convert(PureDP(1, relation="replace-one"), "zcdp")  # tanh(1/2)
    >>> found.arrow.theorem, round(float(found.proven), 6)
    ('ρ = ε tanh(ε/2)', 0.462117)
    """
    demand("mechanism", mechanism, Mechanism)
    demand_one_of("to", to, get_args(Notion))
    given = {
        "delta": delta,
        "epsilon": epsilon,
        "order": order,
        "false_positive_rate": false_positive_rate,
        "least_rate": least_rate,
    }
    _demand_places(to, given)
    neighbours = as_relation(
        getattr(mechanism, "relation", Relation.ADD_OR_REMOVE_ONE) if relation is None else relation
    )
    arrow = arrow_of(mechanism, to) if getattr(mechanism, "relation", None) is neighbours else None
    at: Fraction | None = None
    match to:
        case "pure":
            found = epsilon_of(mechanism, 0, neighbours)
        case "epsilon":
            assert delta is not None
            at = promised_delta(delta)
            found = epsilon_of(mechanism, at, neighbours)
        case "delta":
            assert epsilon is not None
            at = promised_epsilon(epsilon)
            found = delta_of(mechanism, at, neighbours)
        case "renyi":
            assert order is not None
            at = above_one(order)
            found = _renyi(mechanism, at, neighbours, arrow)
        case "zcdp":
            found = _zcdp(mechanism, neighbours, arrow)
        case "gdp":
            found = _gdp(mechanism, neighbours, least_rate, arrow)
            at = None if least_rate is None else probability(least_rate, "least_rate")
        case "trade-off":
            assert false_positive_rate is not None
            found = trade_off(mechanism, false_positive_rate, neighbours)
            at = probability(false_positive_rate, "false_positive_rate")
    if found.exact_upper == math.inf:
        raise _refusal(to, arrow, "the privacy loss is unbounded")
    return Conversion(mechanism, to, at, neighbours, found, arrow)


def _name_of_place(to: Notion) -> str:
    return (_ASKED_AT.get(to) or _MAY_BE_ASKED_AT.get(to) or ("",))[0].replace("_", " ")


def _demand_places(to: Notion, given: dict[str, ExactLike | None]) -> None:
    """Refuse a value that is missing, or that the notion has no use for."""
    needed = _ASKED_AT.get(to, ())
    allowed = (*needed, *_MAY_BE_ASKED_AT.get(to, ()))
    for name, value in given.items():
        if value is None and name in needed:
            raise InvalidValue(name, value, f"given, for to={to!r}")
        if value is not None and name not in allowed:
            raise InvalidValue(name, value, f"left out, for to={to!r}")


def _refusal(to: Notion, arrow: Arrow | None, otherwise: str) -> UnsupportedMechanism:
    reason = arrow.none if arrow is not None and arrow.none else otherwise
    names = {"pure": "ε at δ = 0", "renyi": "Rényi divergence", "zcdp": "ρ", "gdp": "μ for all tests"}
    instead = "delta at an epsilon" if to == "epsilon" else "epsilon at a delta"
    return UnsupportedMechanism(f"no finite {names.get(to, to)} follows: {reason}; convert to {instead} instead")


def _renyi(mechanism: Mechanism, order: Fraction, relation: Relation, arrow: Arrow | None) -> Enclosure:
    upper = renyi_curve(mechanism, relation).upper(order)
    if upper == math.inf:
        raise _refusal("renyi", arrow, "with positive probability the privacy loss is infinite")
    return Enclosure(
        min(_attained_divergence(mechanism, order, relation), upper), upper, "Rényi divergences", _PRECISION
    )


def _zcdp(mechanism: Mechanism, relation: Relation, arrow: Arrow | None) -> Enclosure:
    try:
        upper = zcdp_rho(mechanism, relation)
    except UnsupportedMechanism as error:
        if arrow is not None and arrow.none:
            raise _refusal("zcdp", arrow, "") from None
        raise error
    lower = max(_attained_divergence(mechanism, order, relation) / order for order in _TRIED)
    return Enclosure(min(lower, upper), upper, "zcdp", _PRECISION)


def _gdp(mechanism: Mechanism, relation: Relation, least_rate: ExactLike | None, arrow: Arrow | None) -> Enclosure:
    if least_rate is not None:
        return gdp_parameter(mechanism, relation, least_rate=least_rate)
    try:
        return gdp_parameter_of_all_tests(mechanism, relation)
    except UnsupportedMechanism as error:
        if arrow is not None and arrow.none:
            raise _refusal("gdp", arrow, "") from None
        raise error


def _attained_divergence(mechanism: Mechanism, order: Fraction, relation: Relation) -> Fraction:
    """The largest D_λ that an attack attains, rounded down; 0 where none is known."""
    attacks = {attack for each in neighbour_classes(mechanism, relation).every() for attack in each.attacks}
    return max((_divergence(attack, order) for attack in attacks if _is_exact(attack)), default=Fraction(0))


def _is_exact(attack: Product) -> bool:
    return not is_attack(attack) and all(pair.moments is Moments.EXACT_AND_OWN for pair, _ in attack)


def _divergence(attack: Product, order: Fraction) -> Fraction:
    moment = total_log_moment(attack, order)
    with working(_PRECISION):
        return max(Fraction(0), ball_end(moment / ball(order - 1), "down")) if moment.is_finite() else Fraction(0)
