"""Comparison of a training run with one on Poisson samples: the noise or ε of the latter, where it is smaller."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpbounds.errors import DpboundsError
from dpbounds.expressions.time_limit import time_limited
from dpbounds.privacy.accountants import certified
from dpbounds.privacy.budgets.calibration import Calibration, sufficient_noise
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import Budget

_WORTH_SAYING = Fraction(95, 100)  # largest share of the number asked for at which another scheme is named


def cheaper_noise(found: Calibration, instead: Callable[[Fraction], Mechanism], seconds: Fraction) -> Fraction | None:
    """Return a noise multiplier that suffices for the budget of a calibration in another scheme.

    Args:
        found: The calibration.
        instead: The other scheme, as a function of the noise multiplier.
        seconds: The time limit of the search.

    Returns:
        None if it is not smaller than the calibrated one by 5 percent, or was not found in time.
    """
    budget = Budget(found.target_epsilon, found.target_delta, found.relation)
    try:
        with time_limited(seconds):
            value = sufficient_noise(instead, budget)
    except DpboundsError:  # there is no advice: the question was about another scheme, and has its answer
        return None
    return value if value < _WORTH_SAYING * found.value else None


def cheaper_epsilon(
    spent: Fraction | float, instead: Mechanism, delta: Fraction, relation: Relation, seconds: Fraction
) -> Fraction | None:
    """Return a proven upper bound of the ε of another scheme, with the arguments of :func:`cheaper_noise`.

    Args:
        spent: The upper bound of ε to compare it with.
        instead: The same training in the other scheme.
        delta: δ of both.
        relation: The neighbouring relation of both.
        seconds: The time limit of the proof.

    Returns:
        None if it is not smaller by 5 percent, or was not proven in time.
    """
    try:
        proven = certified.account(instead, delta=delta, relation=relation, time_limit=seconds)
    except DpboundsError:
        return None
    value = proven.enclosure.exact_upper
    return value if isinstance(value, Fraction) and value < _WORTH_SAYING * spent else None
