"""Numbers as a person would type them, rounded to the side that is asked for."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.expressions.exact import Direction, to_decimal


def typed(value: Fraction, direction: Direction, digits: int = 12) -> str:
    """A number as a person would type it, rounded in a direction where it is long."""
    near = Fraction(to_decimal(value, digits, direction))
    if 1e-300 < near < 1e300:
        short = f"{float(near):.{digits}g}"
        if Fraction(short) == near:
            return short
    return to_decimal(value, digits, direction)


def rounded(value: Fraction, direction: Direction) -> str:
    """The same, and it says so where it was rounded."""
    text = typed(value, direction)
    if Fraction(text) == value:
        return text
    return f"{'at most' if direction == 'up' else 'at least'} {text}"
