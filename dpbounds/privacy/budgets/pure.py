"""Calibration for a budget with δ = 0: the spending is a sum of largest losses, so that halving finds the crossing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.accountants.rounding import short_decimal
from dpbounds.privacy.budgets.crossing import CLOSE, boundary
from dpbounds.privacy.budgets.parameter import RANGES, WHOLE, Solve, one_step_is_too_much, parameter_at
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.values import Budget


def calibrated_purely(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """Return a value that suffices, the closest one that is proven to fail, and what the first spends.

    Raises:
        InvalidValue: No value keeps the budget, as with noise whose losses are unbounded.
        NotCertified: Every value tried keeps it.
    """

    def spent(value: Fraction) -> Enclosure:
        checkpoint()
        return group_account(factory(value), group_size, delta=0, relation=budget.relation)

    def suffices(value: Fraction) -> bool:
        return spent(value).exact_upper <= budget.epsilon

    def may_suffice(value: Fraction) -> bool:
        return spent(value).exact_lower <= budget.epsilon

    value, beyond = boundary(suffices, solve, close=CLOSE)
    if value is None:
        raise _nothing_suffices(budget, solve, spent(parameter_at(RANGES[solve][2], solve)))
    if beyond is None:
        if not (solve in ("sample-rate", "batches") and value == 1):
            raise NotCertified(f"the budget does not bound the {solve}: every value tried keeps it")
        return value, None, spent(value)
    if solve not in WHOLE:
        value = _shorter(value, beyond, suffices)
    fails_at = beyond if not may_suffice(beyond) else boundary(may_suffice, solve, close=CLOSE)[1]
    return value, fails_at, spent(value)


def _shorter(value: Fraction, beyond: Fraction, suffices: Callable[[Fraction], bool]) -> Fraction:
    """Return the double next to a short decimal that lies between both, where it suffices; else the value."""
    short = short_decimal(*sorted((value, beyond)))
    if short is None:
        return value
    nearest = float(short)
    for double in (nearest, math.nextafter(nearest, float(value))):
        if suffices(Fraction(double)):
            return Fraction(double)
    return value


def _nothing_suffices(budget: Budget, solve: Solve, spent: Enclosure) -> InvalidValue:
    """Return the error that says why no value keeps the budget."""
    if spent.exact_upper == math.inf:
        return InvalidValue(
            "target_delta",
            0,
            f"greater than 0 for this mechanism, which is not pure for any epsilon ({spent.method})",
            "choose a delta, or noise with bounded losses such as Laplace",
        )
    if solve == "noise":
        return InvalidValue("target_epsilon", float(budget.epsilon), "a budget that some noise keeps")
    return one_step_is_too_much(budget.epsilon)
