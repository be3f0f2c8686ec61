"""Notions of privacy as frozen records: the guarantee, its relation, and the size of groups.

The implications between them are in ``implications.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer, to_decimal
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import above_one, at_least_zero, probability

Points = tuple[tuple[Fraction, Fraction], ...]  # (order, ε) with increasing orders


@dataclass(frozen=True, slots=True, init=False)
class Notion:
    """A guarantee for every ordered pair of neighbours (D, D') with M(D) distributed as P and M(D') as Q.

    Attributes:
        relation: The neighbouring relation.
        group: The guarantee holds for datasets at most this many steps of the relation apart; 1 for neighbours.
    """

    relation: Relation
    group: int

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        """The numbers of the guarantee, in the order of the constructor: the smaller, the stronger."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def __str__(self) -> str:
        texts = (f"{name} = {shown(getattr(self, name))}" for name in self.__slots__)
        people = f", groups of {self.group}" if self.group > 1 else ""
        return f"{type(self).__name__}({', '.join(texts)}) under {self.relation}{people}"


@dataclass(frozen=True, slots=True, init=False)
class PureDP(Notion):
    """|log dP/dQ| <= ε everywhere; ε >= 0.

    >>> print(PureDP("0.5", "replace-one"))
    PureDP(epsilon = 0.5) under replace-one
    """

    epsilon: Fraction

    def __init__(self, epsilon: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, epsilon=at_least_zero(epsilon))


@dataclass(frozen=True, slots=True, init=False)
class ApproximateDP(Notion):
    """P(A) <= e^ε Q(A) + δ for every event A; ε >= 0 and 0 <= δ <= 1."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: ExactLike, delta: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, epsilon=at_least_zero(epsilon), delta=probability(delta))


@dataclass(frozen=True, slots=True, init=False)
class ZeroConcentratedDP(Notion):
    """D_λ(P ‖ Q) <= λρ for every real order λ > 1; ρ >= 0. Bun & Steinke 2016."""

    rho: Fraction

    def __init__(self, rho: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, rho=at_least_zero(rho, "rho"))


@dataclass(frozen=True, slots=True, init=False)
class RenyiDP(Notion):
    """D_λ(P ‖ Q) <= ε for finitely many (λ, ε), λ > 1 real (given as a rational number), ε >= 0. Mironov 2017.

    Attributes:
        points: (order, ε) with increasing orders.
    """

    points: Points

    def __init__(self, points: Iterable[tuple[ExactLike, ExactLike]], relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, points=valid_points(points))

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        """The ε of each order."""
        return tuple(value for _, value in self.points)


@dataclass(frozen=True, slots=True, init=False)
class GaussianDP(Notion):
    """μ-GDP: at most as distinguishable as N(μ, 1) and N(0, 1), at every error level; μ >= 0. Dong, Roth & Su 2022."""

    mu: Fraction

    def __init__(self, mu: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, mu=at_least_zero(mu, "mu"))


@dataclass(frozen=True, slots=True, init=False)
class BoundedRange(Notion):
    """log dP/dQ lies in an interval of length η, which may depend on the neighbours; η >= 0. Durfee & Rogers 2019."""

    eta: Fraction

    def __init__(self, eta: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, eta=at_least_zero(eta, "eta"))


@dataclass(frozen=True, slots=True, init=False)
class TotalVariation(Notion):
    """P(A) - Q(A) <= δ for every event A; 0 <= δ <= 1.

    The same number bounds the membership advantage: what anyone who guesses which of two neighbours was used gains,
    as true positive rate minus false positive rate.
    """

    delta: Fraction

    def __init__(self, delta: ExactLike, relation: str | Relation, group: int = 1) -> None:
        _fill(self, relation, group, delta=probability(delta))


def _fill(notion: Notion, relation: str | Relation, group: int, **parameters: object) -> None:
    parameters.update(relation=as_relation(relation), group=positive_integer(group, "group"))
    for name, value in parameters.items():
        object.__setattr__(notion, name, value)


def valid_points(points: Iterable[tuple[ExactLike, ExactLike]]) -> Points:
    """Return (order, ε) with increasing orders > 1 and ε >= 0, or raise ``InvalidValue``."""
    found = sorted((above_one(order), at_least_zero(value)) for order, value in points)
    if not found or any(first == second for (first, _), (second, _) in pairwise(found)):
        raise InvalidValue("points", [str(order) for order, _ in found], "at least one (order, ε), no order twice")
    return tuple(found)


def shown(value: Fraction | Points) -> str:
    """Write a number, or the points of a Rényi curve, with nine digits rounded up."""
    if isinstance(value, Fraction):
        return f"{float(to_decimal(value, 9, 'up')):.9g}" if 1e-300 < value < 1e300 else to_decimal(value, 9, "up")
    return ", ".join(f"{shown(epsilon)} at order {shown(order)}" for order, epsilon in value)
