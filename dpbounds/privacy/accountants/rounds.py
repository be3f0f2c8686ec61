"""Bounds on the privacy that a run has spent after each of several numbers of rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure, End
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.accountants import certified
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed
from dpbounds.privacy.relations import Relation


def after_rounds(
    one_round: Mechanism,
    rounds: Iterable[int],
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    tolerance: float = DEFAULT_TOLERANCE,
    time_limit: ExactLike | None = None,
) -> dict[int, Enclosure]:
    """Enclose ε(δ) or δ(ε) of a round that is repeated, for several numbers of rounds.

    The answers of fewer rounds are part of those of more, so that ε and δ do not fall with the number: what is proven
    for one number bounds the others. Each row holds for a number of rounds that is fixed in advance.

    Args:
        one_round: The mechanism of one round, or of one step.
        rounds: Positive whole numbers, in any order.
        delta: The δ at which ε is wanted, as for :func:`epsilon`; or
        epsilon: the ε at which δ is wanted.
        relation: The neighbouring relation.
        tolerance: Target relative width of each answer.
        time_limit: Seconds for each number (None: no limit).

    Returns:
        The certified interval for each number, by increasing numbers.

    Raises:
        InvalidValue: There is no number, or an argument is not allowed.
        UnsupportedMechanism: No dominating pair is proven for the mechanism.
        NotCertified: No method proves an answer.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> for count, spent in after_rounds(Gaussian(10), (1, 10, 100), delta="1e-6").items():
    ...     print(count, spent.decimals(4)[1])
    1 0.3969
    10 1.368
    100 4.887
    """
    counts = sorted({positive_integer(count, "rounds") for count in listed(rounds, "rounds", "whole numbers")})
    if not counts:
        raise InvalidValue("rounds", rounds, "at least one number")
    found = {
        count: certified.account(
            one_round**count,
            delta=delta,
            epsilon=epsilon,
            relation=relation,
            tolerance=tolerance,
            time_limit=time_limit,
        ).enclosure
        for count in counts
    }
    return _never_falling(found)


def _never_falling(found: dict[int, Enclosure]) -> dict[int, Enclosure]:
    """Return each interval without what those of fewer and of more rounds exclude."""
    lowers: dict[int, End] = {}
    uppers: dict[int, End] = {}
    least: End = found[min(found)].exact_lower
    for count in sorted(found):
        least = lowers[count] = max(least, found[count].exact_lower)
    most: End = math.inf
    for count in sorted(found, reverse=True):
        most = uppers[count] = min(most, found[count].exact_upper)
    return {
        count: Enclosure(lowers[count], uppers[count], each.method, each.precision) for count, each in found.items()
    }
