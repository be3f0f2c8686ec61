"""The smallest maximum batch size at which truncating Poisson samples hardly increases ε."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from scipy.special import betainc

from dpbounds.errors import UnsupportedMechanism, shown
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account_at, prove_delta
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism, PoissonSampled, TruncatedPoisson, parts_of
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import Target, positive, promised_delta

_TOLERANCE, _SHARE = 1e-4, 100  # relative tolerance of δ; a first step may take 1/100 of δ
_MOST_CLASSES = 16  # classes of neighbours: eight ranges of sizes, two orders


@working(OUTER_PRECISION)
def least_max_batch_size(
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    cost: ExactLike = "0.001",
) -> int:
    """Return the smallest B at which truncating Poisson samples is proven to increase ε by less than a given share.

    It compares the proven ε(δ) for batches of at most B records with that of Poisson samples without truncation, which
    is never larger. At the returned B the increase is proven to be below ``cost``; at B - 1 it is not.

    Args:
        mechanism: A ``TruncatedPoisson``, once or many times. Its own largest size is ignored.
        delta: In (0, 1).
        relation: The neighbouring relation.
        cost: The allowed relative increase of ε, greater than 0; 0.001 is 0.1 %.

    Raises:
        InvalidValue: δ, the cost or the relation is not allowed.
        UnsupportedMechanism: It is another mechanism, or nothing is proven for it.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> least_max_batch_size(TruncatedPoisson(Gaussian(4), "0.1", 20, 100), "1e-3")
    22
    """
    target, neighbours = promised_delta(delta), as_relation(relation)
    share = positive(cost, "cost")
    (part, steps), *others = parts_of(mechanism)
    if others or not isinstance(part, TruncatedPoisson):
        raise UnsupportedMechanism(
            f"max_batch_size is computed for one TruncatedPoisson, repeated, not for {shown(mechanism)}"
        )
    uncut = account_at(PoissonSampled(part.mechanism, part.sample_rate) ** steps, Target("delta", target), neighbours)
    allowed = Fraction(uncut.enclosure.exact_lower) * (1 + share)

    @cache
    def spent(most: int, rank: int) -> Fraction:
        """Return δ at the allowed ε, for one class of neighbours (past the last one: none)."""
        cut = TruncatedPoisson(part.mechanism, part.sample_rate, most, part.dataset_size) ** steps
        classes = list(neighbour_classes(cut, neighbours).every())
        if rank >= len(classes):
            return Fraction(0)
        return Fraction(prove_delta(classes[rank].product, allowed, _TOLERANCE).enclosure.exact_upper)

    def suffices(most: int, ranks: Iterable[int] = (0,)) -> bool:
        return all(spent(most, rank) <= target for rank in ranks)

    most = part.dataset_size  # at which nothing is cut
    # truncation adds to δ about in proportion to its probability, which is where the search begins
    low = high = _seldom(part, float(target) / steps / _SHARE)
    room = float(target - spent(most, 0))
    for _ in range(2):
        added = float(spent(high, 0) - spent(most, 0))
        if room > 0 and added > 0:
            low = high = _seldom(part, _chance(part, high) * room / added)
    width = 1
    if suffices(high):
        while (low := max(0, high - width)) and suffices(low):
            high, width = low, 2 * width
    else:
        while (high := min(most, low + width)) < most and not suffices(high):
            low, width = high, 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    while high < most and not suffices(high, range(_MOST_CLASSES)):
        high += 1
    return high


def _chance(part: TruncatedPoisson, most: int) -> float:
    """Estimate the probability that a sample exceeds that size."""
    return float(betainc(most, part.dataset_size - most, float(part.sample_rate)))


def _seldom(part: TruncatedPoisson, chance: float) -> int:
    """Return the smallest size that is exceeded with less than about that probability."""
    low, high = 0, part.dataset_size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _chance(part, middle) < chance else (middle, high)
    return high
