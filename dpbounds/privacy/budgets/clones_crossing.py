"""Where a parameter of shuffled batches starts to keep a budget.

What their clones prove is only bounded above, and jumps where they start to help, so estimates find the place, and the
proof is of the value that is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from scipy.optimize import brentq

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import TimeIsUp, checkpoint
from dpbounds.privacy.accountants.certified import account_at, prove_epsilon
from dpbounds.privacy.budgets.crossing import WHOLE, Solve, halved, log_of_safety, one_step_is_too_much, parameter_at
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Product, holds_shuffling
from dpbounds.privacy.routes.shuffling.enclosed import expected_epsilon, in_known_order
from dpbounds.privacy.values import Budget

_ROUGH = 1e-2  # of what is spent without a secret, for an estimate
_CLOSE = 2e-5  # in the logarithm of the parameter
_STEPS = (0.0, 5e-5, 1e-4, 2e-4, 4e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1)  # of it, towards safety, until a proof decides
_FARTHEST = 40.0
_CLOSELY, _NEARLY, _LOOKS = (
    1e-3,
    2e-3,
    10,
)  # of what attacks attain, and of where they break the budget: they lie far away


def calibrated_by_clones(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """A value that suffices, one that an attack breaks (None: no attack is known), and what the first spends.

    Raises:
        InvalidValue: Not even one epoch, or no number of batches, keeps the budget.
        NotCertified: No value was proven to keep it.
        TimeIsUp: The time limit passed before one was.
    """
    if solve == "sample-rate":
        raise InvalidValue("solve", solve, "noise, steps or batches where batches are shuffled")

    @cache
    def excess(value: Fraction) -> float:
        """Log of the ε that is expected over the budget's, at most 0 where it should suffice."""
        checkpoint()
        delta, worst = budget.delta, 0.0
        for each in neighbour_classes(factory(value), budget.relation).every():
            plain = prove_epsilon(in_known_order(each.product), delta, _ROUGH).enclosure.upper
            clones = holds_shuffling(each.product)
            worst = max(worst, expected_epsilon(each.product, float(delta), plain) if clones else plain)
        return math.log(max(worst, 1e-12) / max(float(budget.epsilon), 1e-12))

    def proven(value: Fraction) -> Enclosure | None:
        spent = account_at(factory(value), budget.at_delta, budget.relation).enclosure
        return spent if spent.exact_upper <= budget.epsilon else None

    place = _crossing(excess, budget, solve)
    if solve in WHOLE:
        return _whole(
            parameter_at(place, solve), lambda number: _broken(factory, number, budget, solve), proven, budget, solve
        )
    for step in _STEPS:
        value = parameter_at(place + step, solve)
        found = proven(value)
        if found is not None:
            return value, _broken(factory, value, budget, solve), found
    raise NotCertified(f"the {solve} that just keeps the budget could not be enclosed")


def _broken(factory: Callable[[Fraction], Mechanism], value: Fraction, budget: Budget, solve: Solve) -> Fraction | None:
    """A value that an attack is proven to break, about the closest one; None where none is known."""

    def attained(mechanism: Mechanism) -> tuple[Product, ...]:
        every = neighbour_classes(mechanism, budget.relation).every()
        return tuple(dict.fromkeys(attack for each in every for attack in each.attacks))

    @cache
    def excess(number: Fraction) -> float:
        checkpoint()
        spent = [prove_epsilon(attack, budget.delta, _CLOSELY).enclosure.lower for attack in attained(factory(number))]
        return math.log(max([1e-12, *spent]) / max(float(budget.epsilon), 1e-12))

    if not attained(factory(value)):
        return None
    safe = unsafe = log_of_safety(value, solve)
    step = math.log(1.5)
    least = 0.0 if solve == "batches" else -_FARTHEST
    try:
        while excess(parameter_at(unsafe, solve)) <= 0:
            if unsafe <= least:
                return None
            safe, unsafe, step = unsafe, max(unsafe - step, least), 1.5 * step
        for _ in range(_LOOKS):
            if safe - unsafe < _NEARLY or abs(parameter_at(safe, solve) - parameter_at(unsafe, solve)) <= _one(solve):
                break
            near, far = (excess(parameter_at(y, solve)) for y in (safe, unsafe))
            share = min(max(near / (near - far) + _NEARLY, 0.1), 0.9)
            middle = safe + share * (unsafe - safe)
            over = excess(parameter_at(middle, solve)) > 0
            safe, unsafe = (safe, middle) if over else (middle, unsafe)
    except (TimeIsUp, NotCertified):
        if excess.cache_info().currsize == 0 or unsafe == safe:
            return None
    found = parameter_at(unsafe, solve)
    return found if found != value and excess(found) > 0 else None


def _one(solve: Solve) -> int:
    return 1 if solve in WHOLE else 0


def _crossing(excess_of: Callable[[Fraction], float], budget: Budget, solve: Solve) -> float:
    """Return the crossing of the estimate with the budget, on its safe side, as the logarithm of safety."""

    def excess(y: float) -> float:
        return excess_of(parameter_at(y, solve))

    safe = unsafe = log_of_safety(Fraction(4), solve)
    step = math.log(2)
    least = 0.0 if solve == "batches" else -_FARTHEST
    while excess(safe) > 0:
        unsafe, safe, step = safe, safe + step, 1.5 * step
        if solve == "steps" and safe > 0:
            if excess(0.0) > 0:
                raise one_step_is_too_much(budget.epsilon)
            safe = 0.0
        if safe > _FARTHEST:
            raise InvalidValue("budget", f"{float(budget.epsilon):g}", f"a budget that some {solve} keeps")
    while unsafe == safe or excess(unsafe) <= 0:
        safe, unsafe = unsafe, max(unsafe - step, least)
        if safe == unsafe:
            return safe
        if unsafe <= -_FARTHEST:
            raise NotCertified(f"the budget does not bound the {solve}: every value tried keeps it")
    if solve in WHOLE:  # a step function
        return halved(safe, unsafe, lambda value: excess_of(value) <= 0, solve, _CLOSE)[0]
    return max(float(brentq(excess, unsafe, safe, xtol=_CLOSE, rtol=1e-9)), unsafe) + _CLOSE


def _whole(
    value: Fraction,
    broken: Callable[[Fraction], Fraction | None],
    proven: Callable[[Fraction], Enclosure | None],
    budget: Budget,
    solve: Solve,
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """Calibrate a whole number: the proof is of the number found, or of one a little safer."""
    for step in (0, 1, 2, *(math.ceil(x * value) for x in _STEPS[1:])):
        number = value - step if solve == "steps" else value + step
        if number < 1:
            raise one_step_is_too_much(budget.epsilon)
        found = proven(number)
        if found is not None:
            return number, broken(number), found
    raise NotCertified(f"the {solve} that just keep the budget could not be enclosed")
