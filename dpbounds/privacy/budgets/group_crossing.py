"""Calibration for groups: the noise, steps or rate at which k records together satisfy a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.accountants.groups import group_account, group_products, is_attained
from dpbounds.privacy.budgets.crossing import Crossing, boundary
from dpbounds.privacy.budgets.evidence import OfProducts
from dpbounds.privacy.budgets.parameter import PROBES, Solve, log_of_safety, one_step_is_too_much
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Product, holds_shuffling
from dpbounds.privacy.values import Budget

_CLOSE = 1e-3  # relative distance for chains of neighbours

OneRecord = Callable[[], tuple[Fraction, Fraction | None]]


def calibrated_for_groups(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, one_record: OneRecord
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """Return a value that suffices, one that does not, and the loss of the first.

    What fails where no pair for the whole group is attained, fails for one record of it.

    Args:
        factory: From the parameter to a mechanism.
        budget: For the whole group.
        solve: The kind of parameter.
        group_size: The number of records.
        one_record: The values that suffice and fail for one record.

    Raises:
        InvalidValue: No value keeps the budget.
        UnsupportedMechanism: The ε of the group is unknown, or takes too long for a search.
        NotCertified: None was proven to.
    """

    def products(value: Fraction) -> tuple[Product, ...]:
        return group_products(factory(value), budget.relation, group_size)[0]

    try:
        _, exact = group_products(factory(PROBES[solve]), budget.relation, group_size)
    except UnsupportedMechanism:
        value, fails_at = _along_chains(factory, budget, solve, group_size, one_record)
    else:
        safe, fails_at = Crossing(OfProducts(products, budget), solve, "both" if exact else "safe").search()
        assert safe is not None
        value = safe
        if not is_attained(factory(value if fails_at is None else fails_at), budget.relation, group_size):
            fails_at = one_record()[1]
    spent = group_account(factory(value), group_size, delta=budget.delta, relation=budget.relation)
    return value, fails_at, spent


def _along_chains(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, one_record: OneRecord
) -> tuple[Fraction, Fraction | None]:
    """Bisect between the value that one record needs and a value that is proven to suffice for all."""
    probe = neighbour_classes(factory(PROBES[solve]), budget.relation)
    if any(holds_shuffling(each.product) for each in probe.every()):
        raise UnsupportedMechanism(
            "calibration for groups on shuffled batches: every value tried takes minutes; compute ε of the group for "
            "a given noise multiplier (`group_account`, --group-size), or calibrate as if no order were secret"
        )
    alone, fails_at = one_record()

    def suffices(value: Fraction) -> bool:
        checkpoint()
        found = group_account(factory(value), group_size, epsilon=budget.epsilon, relation=budget.relation)
        return found.exact_upper <= budget.delta

    low = log_of_safety(alone, solve)
    step = math.log(group_size) * (2 if solve == "steps" else 1)
    value, _ = boundary(suffices, solve, start=low + step, step=step / 2, close=_CLOSE, last=low)
    if value is None and solve == "steps":
        raise one_step_is_too_much(budget.epsilon)
    if value is None:
        raise NotCertified(f"no {solve} was proven to suffice for {group_size} records; ask for a larger budget")
    return value, fails_at
