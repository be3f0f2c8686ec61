"""Values of a parameter that are proven at once to suffice and to fail, which a search holds from its beginning.

The proofs are closed forms (``routes/at_once.py``) and then, to come closer, Rényi divergences. Every value was proven
where it is returned; monotonicity (``pairs.md``, section 7) only says where to look.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.groups import group_products, with_fewest
from dpbounds.privacy.budgets.crossing import boundary, halved
from dpbounds.privacy.budgets.parameter import RANGES, WHOLE, Solve, log_of_safety, parameter_at
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.domination.many_choices import with_gaussian_choices
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.renyi.accountant import converted
from dpbounds.privacy.routes.at_once import delta_at_once
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.routes.searching import crossing
from dpbounds.privacy.values import Budget

_CLOSE = 1e-4  # distance in log(parameter) at which the search ends
_CONVERSIONS = 5  # largest number of conversions of Rényi divergences: each may take seconds
_REACH = 4.0  # range of their search in log(parameter)
_PRECISION = 128
_CLOSE_MOMENTS = 1e-9  # relative distance of the two sides at which the search by divergences ends
_FIRST_STEP_OF_MOMENTS = 1 / 16  # first step in log(parameter), doubled until the budget is overspent

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
    """Return bounds of a parameter by closed forms, in some thirty evaluations."""

    def suffices(value: Fraction) -> bool:
        upper = _delta_from_above(factory(value), budget, group_size)
        return upper <= budget.delta

    def does_not_fail(value: Fraction) -> bool:
        lower = _delta_from_below(factory(value), budget)
        return lower <= budget.delta

    safe, _ = boundary(suffices, solve, close=_CLOSE)
    _, unsafe = boundary(does_not_fail, solve, close=_CLOSE)
    return Held(safe, unsafe)


def improved(held: Held, factory: Factory, budget: Budget, solve: Solve) -> Held:
    """Return the same, with a value nearer to the crossing that Rényi divergences prove to suffice, if there is one."""
    if held.safe is None:
        return held

    def suffices(value: Fraction) -> bool:
        checkpoint()
        return _promised_excess(factory, value, budget) <= 0

    start = log_of_safety(held.safe, solve)
    outside = RANGES[solve][1] if held.unsafe is None else log_of_safety(held.unsafe, solve)
    inside, _ = halved(start, max(outside, start - _REACH), suffices, solve, _CLOSE, looks=_CONVERSIONS)
    # the parameter at ``start`` may differ from the value that is held in its last bit, and is not proven
    return held if inside == start else Held(parameter_at(inside, solve), held.unsafe).nearer(held, solve)


def least_by_moments(factory: Factory, safe: Fraction, budget: Budget, solve: Solve) -> Fraction:
    """Return the least noise (the most steps, the largest rate) at which Rényi divergences prove the budget kept.

    Composing pairs that no datasets attain at the same time can spend more than the sum of their divergences. Such a
    parameter has then two crossings, one per way to prove it, and either one suffices. From the pairs' crossing this
    search goes on to the divergences'. ``safe`` suffices; where the divergences do not prove so too, it is returned as
    it is.
    """

    def excess(value: Fraction) -> float:
        return _promised_excess(factory, value, budget)

    found = {safe: excess(safe)}
    if found[safe] > 0:
        return safe

    def excess_at(y: float) -> float:
        value = parameter_at(y, solve)
        if value not in found:
            found[value] = excess(value)
        return found[value]

    inside, least = log_of_safety(safe, solve), RANGES[solve][1]
    outside, step = inside, _FIRST_STEP_OF_MOMENTS
    while excess_at(outside) <= 0:
        if outside <= least:
            return parameter_at(outside, solve)
        inside, outside, step = outside, max(outside - step, least), 2 * step
    if solve in WHOLE:
        halved(inside, outside, lambda value: excess_at(log_of_safety(value, solve)) <= 0, solve, _CLOSE_MOMENTS)
    else:
        crossing(lambda y: -excess_at(y), outside, inside, near=_CLOSE_MOMENTS)
    return min((value for value, over in found.items() if over <= 0), key=lambda value: log_of_safety(value, solve))


def _promised_excess(factory: Factory, value: Fraction, budget: Budget) -> float:
    """Return the excess over the budget by Rényi divergences; at most 0 only where they prove it kept."""
    try:
        promised = converted(factory(value), budget.at_delta, budget.relation).enclosure.exact_upper
    except (NotCertified, UnsupportedMechanism, Declined):
        return math.inf
    over = float(promised - budget.epsilon)
    return max(over, math.ulp(0.0)) if promised > budget.epsilon else over


def _delta_from_above(mechanism: Mechanism, budget: Budget, group_size: int) -> Fraction:
    """Return a proven upper bound on δ(ε) for groups of ``group_size`` records."""
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
    """Return an upper bound on the largest δ(ε) of products."""
    return max(Fraction(delta_at_once(product, epsilon).exact_upper) for product in products)


def _delta_from_below(mechanism: Mechanism, budget: Budget) -> Fraction:
    """Return the δ that an attack on one record is proven to attain; 0 where none is known."""
    attacks = {attack for each in neighbour_classes(mechanism, budget.relation).every() for attack in each.attacks}
    lowers = (Fraction(delta_at_once(attack, budget.epsilon).exact_lower) for attack in attacks)
    return max(lowers, default=Fraction(0))
