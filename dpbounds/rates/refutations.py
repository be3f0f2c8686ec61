"""Contradictions between statements: a lower bound above an upper bound, or a proven counter-example.

Orders of growth, those that follow from constants among them, are compared exactly, as regions of n, d, ε and log 1/δ;
bounds with constants at random points within the conditions of both. What the paper hides in a lower bound is taken to
be 1: one that leaves out what decides is found out. An upper bound whose the paper leaves out logarithms may have any
power of log 1/δ: it is compared in n, d and ε alone. A lower bound binds an upper one where its hard examples belong to
the class for which the other is claimed; one for ε-DP binds ε-DP algorithms only. What needs the result of another
private step (the α of the points among which it chooses) is not a promise at a budget, and bound by nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sympy import sqrt

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.exact import formatted_float
from dpbounds.expressions.symbols import by_name, delta, dimension, kl_exponent, lipschitz
from dpbounds.rates.cones import outside
from dpbounds.rates.orders import ONE, Order
from dpbounds.rates.prescriptions import settled_at
from dpbounds.rates.promises import (
    ACCEPTED,
    GOALS,
    OTHER_NORMS,
    NotComparable,
    claims_of,
    is_pure,
    is_special,
    needs_another,
    obstacle,
    order_in,
)
from dpbounds.rates.regimes import Restricted, compare
from dpbounds.rates.spaces import Space, standard, with_delta
from dpbounds.theorems import assumptions as known
from dpbounds.theorems.assumptions import Assumption, follow
from dpbounds.theorems.checking import drawn
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Bound, Metric, Part, Rate, Side, Status, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.standing import standing

_POINTS = 60
_ATTEMPTS = 600
_EXPONENTS = (Fraction(3, 2), Fraction(2))  # exponents of Kurdyka-Łojasiewicz losses
_DOUBTED = (Status.FALSE, Status.DISPUTED)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A part of a statement that bounds a metric from one side."""

    theorem: Theorem
    part: Part
    side: Side
    metric: Metric

    @property
    def name(self) -> str:
        """The id, and the part where it is not the first that bounds."""
        return self.theorem.name_of(self.part)

    @property
    def special(self) -> tuple[Assumption, ...]:
        """The special class of problems that it is about."""
        return tuple(one for one in self.theorem.assumptions_of(self.part) if is_special(one))

    def within(self, other: Claimed) -> bool:
        """Return whether every problem of this statement is also a problem of the other one."""
        return follow(self.special, other.special)


@dataclass(frozen=True, slots=True)
class Refutation:
    """Two statements that cannot both be true as recorded.

    Attributes:
        first: The lower bound, or the refuted statement.
        second: The upper bound, or the refuting statement.
        where: A region or a point.
    """

    metric: Metric
    first: str
    second: str
    where: str
    text: str

    def __str__(self) -> str:
        return self.text


def refutations(
    statements: Sequence[Theorem] | None = None, against: Sequence[Theorem] | None = None, *, seed: int = 0
) -> tuple[Refutation, ...]:
    """Return the contradictions in a family of statements.

    Args:
        statements: Those to look at; by default the library.
        against: With these they are compared, too, but not these among each other; by default nothing.
        seed: The seed of the random points.
    """
    own = tuple(library() if statements is None else statements)
    looked_at = {one.id for one in own}
    every = (*own, *(one for one in against or () if one.id not in looked_at))
    found: list[Refutation] = []
    for metric in GOALS:
        claims = [
            Claimed(theorem, part, side, metric) for theorem in every for part, side in claims_of(theorem, metric)
        ]
        accepted = [one for one in claims if not obstacle(one.theorem, one.part, one.side, set(ACCEPTED))]
        for lower in (one for one in accepted if one.side is Side.LOWER):
            for upper in (one for one in accepted if one.side is Side.UPPER):
                if {lower.theorem.id, upper.theorem.id} & looked_at and _binds(lower, upper):
                    found += _above(lower, upper, seed)
        doubted = [
            one for one in claims if one.theorem.metric is metric and standing(one.theorem, one.part) in _DOUBTED
        ]
        proven = [one for one in accepted if standing(one.theorem, one.part) is not Status.CLAIMED]
        for one in doubted:
            for other in proven:
                if {one.theorem.id, other.theorem.id} & looked_at:
                    found += _implied(one, other)
    return tuple(found)


def _binds(lower: Claimed, upper: Claimed) -> bool:
    """Return whether the lower bound's hard examples are problems for which the upper bound is claimed."""
    if is_pure(lower.theorem, lower.part, Side.LOWER) and not is_pure(upper.theorem, upper.part, Side.UPPER):
        return False
    return lower.within(upper)


# --- Orders -----------------------------------------------------------------------------------------------------------


def _above(lower: Claimed, upper: Claimed, seed: int) -> Iterator[Refutation]:
    """Yield the cases where a lower bound exceeds an upper bound."""
    local = {record.symbol for record in lower.theorem.local}
    if local & lower.part.expression.free_symbols:
        return  # it is a lower bound only if that quantity is as large as it says
    if needs_another(upper.theorem, upper.part):
        return
    if isinstance(lower.part, Bound) and isinstance(upper.part, Bound):
        yield from _above_with_constants(lower, upper, seed)
    space = standard() if _hides_logarithms(upper.part) else with_delta()
    for fixed in _exponents(lower, upper):
        orders = _orders(lower, upper, space, fixed)
        if orders is None:
            continue
        least, most = orders
        translated = _translated(most, lower, upper)
        for cone in () if translated is None else compare(translated, least, space).smaller:
            where = " and ".join(space.inequalities(cone)) or "everywhere"
            yield Refutation(
                lower.metric, lower.name, upper.name, where,
                f"{lower.name} (at least) exceeds {upper.name} (at most) where {where}",
            )  # fmt: skip


def _hides_logarithms(part: Part) -> bool:
    return isinstance(part, Rate) and (part.logs_hidden or delta in part.hides)


def _exponents(*claims: Claimed) -> Iterator[Mapping[object, Fraction]]:
    if any(kl_exponent in one.part.expression.free_symbols for one in claims):
        yield from ({kl_exponent: value} for value in _EXPONENTS)
    else:
        yield {}


def _orders(
    first: Claimed, second: Claimed, space: Space, fixed: Mapping[object, Fraction]
) -> tuple[Restricted, Restricted] | None:
    """Return both orders, capped by the trivial bound; None where one of them has none."""
    try:
        one, other = (
            order_in(each.theorem, each.part, each.side, space, fixed, at_face_value=each.side is Side.LOWER)
            for each in (first, second)
        )
    except (InvalidValue, NotComparable):
        return None
    return one, other


def _translated(order: Restricted, lower: Claimed, upper: Claimed) -> Restricted | None:
    """Return an upper bound at the lower bound's problems: losses that are G-Lipschitz in l1 are G√d-Lipschitz in l2.

    None where the paper hides G, so that the factor cannot be put in.
    """
    own, other = (one.theorem.assumptions_of(one.part) for one in (lower, upper))
    value = order.order
    if _in_other_norm(own) and not _in_other_norm(other) and known.LIPSCHITZ in other:
        if isinstance(upper.part, Rate) and lipschitz in upper.part.hides:
            return None
        value = value.substituted({lipschitz: Order.of(lipschitz * sqrt(dimension))})
    return Restricted(value.minimum(Order.single(ONE)), order.region)


def _in_other_norm(assumptions: Sequence[Assumption]) -> bool:
    return any(one.implies(norm) for one in assumptions for norm in OTHER_NORMS)


def _implied(doubted: Claimed, proven: Claimed) -> Iterator[Refutation]:
    """Whether a bound marked as refuted or disputed follows, in its order, from proven ones."""
    if doubted.side is not proven.side:
        return
    weaker, stronger = (proven, doubted) if doubted.side is Side.UPPER else (doubted, proven)
    if not stronger.within(weaker):
        return
    if is_pure(proven.theorem, proven.part, proven.side) and proven.side is Side.LOWER:
        return
    if _in_other_norm(doubted.theorem.assumptions) != _in_other_norm(proven.theorem.assumptions):
        return
    space = with_delta()
    for fixed in _exponents(doubted, proven):
        orders = _orders(doubted, proven, space, fixed)
        if orders is None:
            return
        own, other = orders
        verdict = compare(own, other, space)
        beyond = verdict.smaller if doubted.side is Side.UPPER else verdict.larger
        covered = not any(outside(cone, other.region or (space.whole,)) for cone in own.region or (space.whole,))
        if beyond or not covered:
            return
    known_of_it = standing(doubted.theorem, doubted.part)
    yield Refutation(
        doubted.metric, doubted.name, proven.name, "everywhere",
        f"{doubted.name} is marked {known_of_it}, and follows up to constants from {proven.name}",
    )  # fmt: skip


# --- Constants --------------------------------------------------------------------------------------------------------


def _above_with_constants(lower: Claimed, upper: Claimed, seed: int) -> Iterator[Refutation]:
    """Yield a point within the conditions of both at which the lower bound is proven to be above the upper one."""
    draw = random.Random(f"{lower.name} {upper.name} {seed}")  # noqa: S311 (no secret: the same on every machine)
    tested = 0
    for _ in range(_ATTEMPTS):
        point = _point(draw, lower, upper)
        try:
            below = evaluate(lower.theorem, lower.part.name, lower.theorem.own_values(point))
            if below.applies is not True:
                continue
            settled = settled_at(upper.theorem, upper.theorem.own_values(point), point["rho"])
            above = evaluate(upper.theorem, upper.part.name, settled.values)
        except (InvalidValue, NotCertified):
            continue
        if above.applies is not True:
            continue
        tested += 1
        if above.value.less_than(below.value):
            where = ", ".join(f"{name} = {float(value):.4g}" for name, value in sorted(point.items()))
            least = formatted_float(below.value.exact_lower, ".4g", "down")
            most = formatted_float(above.value.exact_upper, ".4g", "up")
            yield Refutation(
                lower.metric, lower.name, upper.name, where,
                f"{lower.name} (at least {least}) exceeds {upper.name} (at most {most}) at {where}",
            )  # fmt: skip
            return
        if tested == _POINTS:
            return


def _point(draw: random.Random, lower: Claimed, upper: Claimed) -> dict[str, Fraction]:
    """Values at which both speak of one problem: the loss varies by as much as the hard examples may."""
    point = {
        "dataset_size": Fraction(round(10 ** draw.uniform(1, 9))),
        "dimension": Fraction(round(10 ** draw.uniform(0, 4))),
        "epsilon": Fraction(round(10 ** draw.uniform(3, 7)), 10**6),
        "delta": Fraction(1, round(10 ** draw.uniform(0.5, 40))),
        "lipschitz": Fraction(draw.randint(1, 400), 100),
        "diameter": Fraction(draw.randint(1, 400), 100),
    }
    span = point["lipschitz"] * point["diameter"]
    point |= {"loss_range": span, "initial_gap": span, "enclosing_radius": point["diameter"]}
    point |= {"lipschitz_l1": point["lipschitz"], "l1_diameter": point["diameter"], "rho": _rho(point)}
    records = {**by_name(), **{one.name: one for claim in (lower, upper) for one in claim.theorem.local}}
    parts = [part for claim in (lower, upper) for part in claim.theorem.parts]
    names = {symbol.name for part in parts for symbol in part.expression.free_symbols}
    for name in sorted(names - {part.name for part in parts} - set(point)):
        if name in records:
            point[name] = drawn(draw, records[name].domain)
    return point


def _rho(point: Mapping[str, Fraction]) -> Fraction:
    """A ρ for which every ρ-zCDP mechanism is (ε, δ)-DP: (√(ln(1/δ) + ε) - √ln(1/δ))², rounded down."""
    logarithm = math.log(point["delta"].denominator) - math.log(point["delta"].numerator)
    root = math.sqrt(logarithm + float(point["epsilon"])) + math.sqrt(logarithm)
    return Fraction((float(point["epsilon"]) / root) ** 2) * Fraction(999_999, 1_000_000)
