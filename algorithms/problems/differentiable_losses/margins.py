"""How far below the bound records are clipped, so that computed sums keep it: ``clipped_sums.md``."""

from __future__ import annotations

import math
from fractions import Fraction

from dpbounds.errors import InvalidValue

UNIT = Fraction(1, 2**53)
SLACK = Fraction(1, 2**30)  # how far a clipped square may be above the limit's: far above any rounding of a root
SMALLEST_LIMIT = 1e-100  # below, squares leave the range of doubles
_LARGEST = Fraction(1, 2**10)


def margin(records: int, dimension: int, tokens: int = 1) -> Fraction:
    """By how much, relatively, a record is clipped below the bound so that computed sums differ by at most the bound.

    Args:
        records: The most that are summed.
        dimension: p.
        tokens: T, the most rows that a record has in a product whose gradient is not written out (``ghost``).

    Raises:
        InvalidValue: It would be above 2^-10.

    Source: ``clipped_sums.md``.
    """
    terms = tokens * records
    spread = 2 * records * cancelling(tokens) * _relative(2 * terms + 10)
    found = spread + 2 * _relative(dimension + 8) + 2 * SLACK
    if found > _LARGEST:
        what = "so many that doubles sum them well, about a million" if tokens == 1 else "fewer, or shorter"
        raise InvalidValue("records", records, what, "draw fewer" if tokens == 1 else "or keep copies")
    return found


def cancelling(tokens: int) -> int:
    """K: how many times as long as a record's clipped gradient the terms may be that it is a sum of."""
    return 1 if tokens == 1 else 4 * (math.isqrt(tokens - 1) + 1)


def _relative(operations: int) -> Fraction:
    return operations * UNIT / (1 - operations * UNIT)
