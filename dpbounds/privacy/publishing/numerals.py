"""Numbers as text: decimals, rounded to a given side; or exact, as in files."""

from __future__ import annotations

import math
from fractions import Fraction

from dpbounds.expressions.exact import Direction, to_decimal, to_float

_LONGEST_TEXT = 60  # characters up to which p/q is written out


def typed(value: Fraction, direction: Direction, digits: int = 12) -> str:
    """Return a number as a short decimal, rounded in a direction if it is long."""
    near = Fraction(to_decimal(value, digits, direction))
    if 1e-300 < near < 1e300:
        short = f"{float(near):.{digits}g}"
        if Fraction(short) == near:
            return short
    return to_decimal(value, digits, direction)


def rounded(value: Fraction, direction: Direction) -> str:
    """Return a number as a decimal: a double by its shortest decimal, others rounded, with a flag."""
    text = typed(value, direction)
    if Fraction(text) == value:
        return text
    return as_double(value) or f"{'at most' if direction == 'up' else 'at least'} {text}"


def as_double(value: Fraction, digits: int = 12) -> str | None:
    """Return a short decimal whose nearest double is exactly this value; None where there is none.

    >>> as_double(Fraction(0.1)), as_double(Fraction(1, 10)), as_double(Fraction(1, 3))
    ('0.1', None, None)
    """
    near = to_float(value, "down")
    short = f"{near:.{digits}g}"
    return short if math.isfinite(near) and Fraction(float(short)) == value else None


def exact_text(value: Fraction) -> str:
    """Write a rational number exactly: p, p/q, or (where that is long) p/q*2**a*5**b with p, q free of 2 and 5.

    >>> exact_text(Fraction(1, 3)), exact_text(Fraction(7, 2**400))
    ('1/3', '7*2**-400')
    """
    number, denominator = value.numerator, value.denominator
    if number.bit_length() + denominator.bit_length() < 3 * _LONGEST_TEXT and len(str(value)) <= _LONGEST_TEXT:
        return str(value)
    text = ""
    for base in (2, 5):
        power = _power_of(base, number) - _power_of(base, denominator)
        number, denominator = number // base ** max(power, 0), denominator // base ** max(-power, 0)
        text += f"*{base}**{power}" if power else ""
    return f"{Fraction(number, denominator)}{text}"


def _power_of(base: int, number: int) -> int:
    """Return the multiplicity of ``base`` in a number (0 for the number 0)."""
    power = 0
    while number and number % base == 0:
        number, power = number // base, power + 1
    return power
