"""The margin below the bound to which records are clipped, so that computed sums keep it: ``clipped_sums.md``."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

UNIT = Fraction(1, 2**53)
SLACK = Fraction(1, 2**30)  # how far a clipped square may be above the limit's: far above any rounding of a root
SMALLEST_LIMIT = 1e-100  # below, squares leave the range of doubles
_LARGEST = Fraction(1, 2**10)


@lru_cache(maxsize=64)  # asked for at every step of a run
def margin(records: int, dimension: int, tokens: int = 1) -> Fraction:
    """Return the relative margin below the bound to which records are clipped, so that computed sums keep it.

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


@lru_cache(maxsize=64)
def limit(bound: Fraction, records: int, dimension: int, tokens: int = 1) -> float:
    """Return C', the clipping norm at which computed sums keep the bound; rounded down. Arguments as ``margin``."""
    return to_float(bound * (1 - margin(records, dimension, tokens)), "down")


def cancelling(tokens: int) -> int:
    """Return K, the largest ratio of the norm of a term of a record's gradient to that of the clipped gradient."""
    return 1 if tokens == 1 else 4 * (math.isqrt(tokens - 1) + 1)


def _relative(operations: int) -> Fraction:
    return operations * UNIT / (1 - operations * UNIT)
