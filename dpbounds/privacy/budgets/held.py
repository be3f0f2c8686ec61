"""Values of a parameter that are proven at once to suffice and to fail, which a search holds from its beginning.

The proofs are closed forms (``routes/at_once.py``) and then, to come closer, Rényi divergences. Every value was proven
where it is returned; monotonicity (``pairs.md``, section 7) only says where to look.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import TimeIsUp, checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.groups import group_products, with_fewest
from dpbounds.privacy.budgets.crossing import RANGES, Bracket, Solve, halved, log_of_safety, narrowed, parameter_at
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.domination.many_choices import with_gaussian_choices
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.renyi.accountant import converted
from dpbounds.privacy.routes.at_once import delta_at_once
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import Budget

_CLOSE = 1e-3  # in the logarithm of the parameter, where the search ends
_FIRST_STEP = 1.0  # in it, doubled until the side changes
_CONVERSIONS = 5  # of Rényi divergences, at most: each may take seconds
_PRECISION = 128
_CLOSE_MOMENTS = 1e-9  # relative distance of the two sides at which the search by divergences ends
_FIRST_STEP_OF_MOMENTS = 1 / 16  # in log parameter, doubled until the budget is overspent
_FARTHEST = 2.0**60  # and its inverse: parameters beyond are not looked at

Factory = Callable[[Fraction], Mechanism]


@dataclass(frozen=True, slots=True)
class Held:
    """A value proven to suffice, and one proven to fail; None where none is known."""

    safe: Fraction | None = None
    unsafe: Fraction | None = None

    def nearer(self, other: Held, solve: Solve) -> Held:
        """Return the better of two answers to one question, on either side."""

        def y(value: Fraction) -> float:
            return log_of_safety(value, solve)

        safes = [value for value in (self.safe, other.safe) if value is not None]
        unsafes = [value for value in (self.unsafe, other.unsafe) if value is not None]
        return Held(min(safes, key=y, default=None), max(unsafes, key=y, default=None))


def proven_at_once(factory: Factory, budget: Budget, solve: Solve, group_size: int = 1) -> Held:
    """Return what closed forms prove of a parameter, in some thirty evaluations."""

    def suffices(value: Fraction) -> bool:
        upper = _delta_from_above(factory(value), budget, group_size)
        return upper <= budget.delta

    def does_not_fail(value: Fraction) -> bool:
        lower = _delta_from_below(factory(value), budget)
        return lower <= budget.delta

    safe, _ = _boundary(suffices, solve)
    _, unsafe = _boundary(does_not_fail, solve)
    return Held(safe, unsafe)


def improved(held: Held, factory: Factory, budget: Budget, solve: Solve) -> Held:
    """Return the same, with a value nearer to the crossing that Rényi divergences prove to suffice, if there is one."""
    if held.safe is None:
        return held

    def suffices(value: Fraction) -> bool:
        checkpoint()
        return _promised_excess(factory, value, budget) <= 0

    safe, y = held.safe, log_of_safety(held.safe, solve)
    unsafe_y = RANGES[solve][1] if held.unsafe is None else log_of_safety(held.unsafe, solve)
    try:
        for _ in range(_CONVERSIONS):
            middle = max((y + unsafe_y) / 2, y - 2.0)
            value = parameter_at(middle, solve)
            if y - unsafe_y <= _CLOSE or value in (safe, held.unsafe):
                break
            if suffices(value):
                safe, y = value, middle
            else:
                unsafe_y = middle
    except TimeIsUp:
        pass
    return replace(held, safe=safe)


def least_by_moments(factory: Factory, safe: Fraction, budget: Budget, solve: Solve) -> Fraction:
    """Return the least noise (the most steps, the largest rate) at which Rényi divergences prove the budget kept.

    Composing pairs that no datasets attain at the same time can be dearer than adding up divergences. Such a parameter
    has then two crossings, one per way to prove it, and either one suffices. From the pairs' crossing this search goes
    on to the divergences'. ``safe`` suffices; where the divergences do not prove so too, it is returned as it is.
    """

    def excess(value: Fraction) -> float:
        return _promised_excess(factory, value, budget)

    below = excess(safe)
    if below > 0:
        return safe
    unsafe, above, step = safe, below, _FIRST_STEP_OF_MOMENTS
    while above <= 0:
        safe, below = unsafe, above
        unsafe, step = _further(safe, step, solve), 2 * step
        if unsafe == safe or not 1 / _FARTHEST <= unsafe <= _FARTHEST:
            return safe
        above = excess(unsafe)

    def between(value: float, ends: Bracket[Fraction]) -> Fraction:
        if solve == "steps":  # strictly between, as long as there is anything between
            return Fraction(min(max(round(value), int(ends.safe) + 1), max(int(ends.unsafe) - 1, int(ends.safe))))
        return Fraction(value)

    ends = Bracket(unsafe, above, safe, below)
    return narrowed(ends, excess, between, resolution=_CLOSE_MOMENTS, least_share=0.01)


def _promised_excess(factory: Factory, value: Fraction, budget: Budget) -> float:
    """Return what Rényi divergences promise over the budget; at most 0 only where they prove it kept."""
    try:
        promised = converted(factory(value), budget.at_delta, budget.relation).enclosure.exact_upper
    except (NotCertified, UnsupportedMechanism, Declined):
        return math.inf
    over = float(promised - budget.epsilon)
    return max(over, math.ulp(0.0)) if promised > budget.epsilon else over


def _further(value: Fraction, step: float, solve: Solve) -> Fraction:
    """A value that spends more."""
    if solve == "noise":
        return Fraction(float(value) * math.exp(-step))
    if solve == "steps":
        return Fraction(max(int(value) + 1, round(float(value) * math.exp(step))))
    return Fraction(min(1.0, float(value) * math.exp(step)))


def _delta_from_above(mechanism: Mechanism, budget: Budget, group_size: int) -> Fraction:
    """A proven upper bound on δ(ε), for a group of so many records."""
    if group_size == 1:
        return _largest_upper(_products(mechanism, budget), budget.epsilon)
    try:
        return _largest_upper(group_products(mechanism, budget.relation, group_size)[0], budget.epsilon)
    except UnsupportedMechanism:  # a chain of k links: P_0(A) <= e^ε' P_1(A) + δ', k times (``pairs.md``, section 6)
        fewest = with_fewest(mechanism, budget.relation, group_size)
        share = budget.epsilon / group_size
        one = _largest_upper(_products(fewest, budget), share)
        with working(_PRECISION):
            growth = ball(share).exp()
            factor = sum((growth**i for i in range(1, group_size)), ball(Fraction(1)))
            return min(Fraction(1), ball_end(ball(one) * factor, "up"))


def _products(mechanism: Mechanism, budget: Budget) -> tuple[Product, ...]:
    return tuple(with_gaussian_choices(each.product) for each in neighbour_classes(mechanism, budget.relation).every())


def _largest_upper(products: tuple[Product, ...], epsilon: Fraction) -> Fraction:
    """An upper end of the largest δ(ε) of products."""
    return max(Fraction(delta_at_once(product, epsilon).exact_upper) for product in products)


def _delta_from_below(mechanism: Mechanism, budget: Budget) -> Fraction:
    """Return what an attack on one record is proven to attain; 0 where none is known."""
    attacks = {attack for each in neighbour_classes(mechanism, budget.relation).every() for attack in each.attacks}
    lowers = (Fraction(delta_at_once(attack, budget.epsilon).exact_lower) for attack in attacks)
    return max(lowers, default=Fraction(0))


def _boundary(holds: Callable[[Fraction], bool], solve: Solve) -> tuple[Fraction | None, Fraction | None]:
    """Return a value at which a property holds, and a less safe one at which it does not (None: none was met).

    The property is taken to hold on the safe side of some value.
    """
    start, least, most = RANGES[solve]
    seen: dict[Fraction, bool] = {}

    def holds_at(y: float) -> bool:
        value = parameter_at(y, solve)
        if value not in seen:
            seen[value] = holds(value)
        return seen[value]

    inside = outside = start
    step, towards = _FIRST_STEP, -1.0 if holds_at(start) else 1.0
    while holds_at(inside) == holds_at(outside):
        here = min(max(start + towards * step, least), most)
        inside, outside = (outside, here) if towards < 0 else (here, inside)
        if here in (least, most) and holds_at(inside) == holds_at(outside):
            return (parameter_at(here, solve), None) if towards < 0 else (None, parameter_at(here, solve))
        step *= 2
    inside, outside = halved(inside, outside, holds, solve, _CLOSE)
    return parameter_at(inside, solve), parameter_at(outside, solve)
