"""The smallest noise, the most steps, the largest rate that keep a budget, with a proof of both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.accountants import delta, epsilon, valid_delta, valid_epsilon
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation


@dataclass(frozen=True, slots=True)
class Calibration:
    """A parameter that keeps the budget, and a neighbouring one that does not, both proven.

    Attributes:
        value: Suffices.
        fails_at: Does not.
        epsilon: Proven enclosure of what ``value`` spends at the target δ.
        target_epsilon: The budget.
        target_delta: The budget.
        relation: The neighbouring relation.
    """

    value: Fraction
    fails_at: Fraction
    epsilon: Enclosure
    target_epsilon: Fraction
    target_delta: Fraction
    relation: Relation


def calibrate(
    factory: Callable[[Fraction], Mechanism],
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Calibration:
    """The smallest noise multiplier that keeps the budget."""
    budget, failure, neighbours = valid_epsilon(target_epsilon), valid_delta(target_delta), as_relation(relation)
    low, high = 2.0**-10, 2.0**10
    while high / low > 1 + 1e-12:
        middle = (low * high) ** 0.5
        spent = delta(factory(Fraction(middle)), budget, neighbours)
        if spent.exact_upper <= failure:
            high = middle
        else:
            low = middle
    return Calibration(
        Fraction(high), Fraction(low), epsilon(factory(Fraction(high)), failure, neighbours), budget, failure, neighbours
    )
