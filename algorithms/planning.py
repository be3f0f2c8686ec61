"""The smallest proven noise for a budget.

Composition of full-batch Gaussians is exact. T adaptive releases with multipliers z_1, ..., z_T are one release with
multiplier z where 1/z² = Σ 1/z_t² (Dong, Roth & Su 2022, Corollary 3.3; "adaptive" by their Theorem 3.2). So a single
certified calibration, of one release, serves every number of steps and every way to share a budget between groups: a
group of T_j releases that is given the share s_j of 1/z², Σ s_j <= 1, gets z_j = z √(T_j/s_j).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation

__all__ = ["Enclosure", "ExactLike", "Mechanism", "PrivacyBudget", "Relation"]  # plans need them, too
__all__ += ["root_above", "multiplier_of_one", "multiplier_of_steps", "multiplier_within", "multipliers_of_groups"]

# A root is rounded up by a relative 2^-40 or a little more: a budget met with equality would be a tie that no
# accountant can decide.
_GRID = 1 << 40


def multiplier_of_one(budget: PrivacyBudget) -> Fraction:
    """Return z, the smallest proven noise multiplier of one full-batch release in the budget, "secure" or not."""
    return multiplier_within(budget, Gaussian)


def multiplier_of_steps(budget: PrivacyBudget, steps: int) -> Fraction:
    """Return the noise multiplier of T equal full-batch releases that satisfy the budget together: z √T, rounded up."""
    return multiplier_of_one(budget) * root_above(positive_integer(steps, "steps"))


def multipliers_of_groups(budget: PrivacyBudget, groups: Mapping[str, tuple[int, Fraction]]) -> dict[str, Fraction]:
    """Return the noise multipliers of groups of full-batch releases that satisfy the budget together.

    Args:
        budget: The budget of all groups together.
        groups: T_j, how many equal releases there are, and s_j > 0, their part of 1/z²; the parts add up to at most 1.

    Raises:
        InvalidValue: A share is not positive, or the shares add up to more than 1.
    """
    if sum(share for _, share in groups.values()) > 1 or any(share <= 0 for _, share in groups.values()):
        shares = ", ".join(f"{name} {share}" for name, (_, share) in groups.items())
        raise InvalidValue("shares", shares, "numbers greater than 0 that add up to at most 1")
    single = multiplier_of_one(budget)
    return {
        name: single * root_above(positive_integer(count, "count") / share) for name, (count, share) in groups.items()
    }


def multiplier_within(budget: PrivacyBudget, mechanism: Callable[[Fraction], Mechanism]) -> Fraction:
    """Return the smallest proven noise multiplier at which any mechanism satisfies the budget.

    Args:
        budget: ε, δ and the relation.
        mechanism: From a noise multiplier to all that is released.

    Raises:
        InvalidValue: No noise is enough, say because another part of the mechanism spends the budget by itself.
        UnsupportedMechanism: A part has no proven analysis.
    """
    return calibrate(
        mechanism, target_epsilon=budget.epsilon, target_delta=budget.delta, relation=budget.relation
    ).value


def root_above(number: int | Fraction) -> Fraction:
    """Return a rational number above √x for x > 0, by a relative 2^-40 to 2^-37."""
    x = Fraction(number)
    scale = _GRID << max(0, x.denominator.bit_length() - x.numerator.bit_length())  # keeps the digits of small roots
    return Fraction(math.isqrt(math.ceil(x * scale**2)) + 1, scale) * (1 + Fraction(1, _GRID))
