"""How far below the bound records are clipped, so that computed sums keep it: ``clipped_sums.md``."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.errors import InvalidValue

UNIT = Fraction(1, 2**53)
SLACK = Fraction(1, 2**30)  # how far a clipped square may be above the limit's: far above any rounding of a root
SMALLEST_LIMIT = 1e-100  # below, squares leave the range of doubles
_LARGEST = Fraction(1, 2**10)


def margin(records: int, dimension: int) -> Fraction:
    """By how much, relatively, a record is clipped below the bound so that computed sums differ by at most the bound.

    Raises:
        InvalidValue: It would be above 2^-10.

    Source: ``clipped_sums.md``.
    """
    found = 2 * records * _relative(2 * records + 8) + 2 * _relative(dimension + 8) + 2 * SLACK
    if found > _LARGEST:
        raise InvalidValue("records", records, "so many that doubles sum them well, about a million", "draw fewer")
    return found


def _relative(operations: int) -> Fraction:
    return operations * UNIT / (1 - operations * UNIT)
