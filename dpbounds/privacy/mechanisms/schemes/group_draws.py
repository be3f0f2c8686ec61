"""The distribution of the number of group members in a sample (``pairs/groups.md``)."""

from __future__ import annotations

import math
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism

_MOST = 64  # largest group that is summed over; the distribution of the loss then takes seconds


def binomial_chances(group: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Return the probabilities of 0, 1, ... of a group, each in the sample on its own.

    Raises:
        UnsupportedMechanism: The group is too large to be summed over.
    """
    if group > _MOST:
        raise UnsupportedMechanism(f"groups of more than {_MOST} records that are replaced are not summed over here")
    return tuple(math.comb(group, j) * rate**j * (1 - rate) ** (group - j) for j in range(group + 1))


def hypergeometric_chances(records: int, group: int, batch: int) -> tuple[Fraction, ...]:
    """Return the probabilities of 0, 1, ... of a group in a batch that is drawn without replacement.

    Raises:
        UnsupportedMechanism: The group and the batch are too large to be summed over.
    """
    few, many = sorted((group, batch))  # the two are interchangeable
    if few > _MOST:
        raise UnsupportedMechanism(f"more than {_MOST} of a group in one batch are not summed over here")
    choices = math.comb(records, few)
    return tuple(Fraction(math.comb(many, j) * math.comb(records - many, few - j), choices) for j in range(few + 1))
