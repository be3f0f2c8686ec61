"""Exact numbers in, correctly rounded numbers out.

Text means what it says (``"0.1"`` is one tenth); a Python float means the binary value it holds. Inside, such a number
is a ``Fraction``; on the way out it is rounded in a direction that the caller names.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import Literal, SupportsIndex

from dpbounds.errors import InvalidValue

ExactLike = int | float | str | Fraction | Decimal
Direction = Literal["down", "up"]

_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"\s*(?P<left>{_DECIMAL})\s*(?:(?P<operator>/|\*\*)\s*(?P<right>{_DECIMAL})\s*)?")
_LARGEST_EXPONENT = 100_000  # keeps a typing slip such as 1e999999999 from filling the memory


def exact(value: ExactLike, name: str = "value") -> Fraction:
    """Return the rational number that ``value`` stands for, without rounding.

    Args:
        value: An integer, a fraction, a decimal, a finite float (its binary value), or text: ``"0.1"``, ``"1e-6"``,
            ``"1/3"``, ``"2**-20"`` (each taken exactly).
        name: What to call the value in an error.

    Returns:
        The number as a ``Fraction``.

    Raises:
        InvalidValue: Not a finite number, or text that is none of the forms above.

    >>> exact("0.1"), exact(0.5), exact("2**-3")
    (Fraction(1, 10), Fraction(1, 2), Fraction(1, 8))
    """
    if isinstance(value, bool):
        raise InvalidValue(name, value, "a number")
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, Rational):  # integers, fractions, and those of other libraries (SymPy, NumPy)
        return Fraction(int(value.numerator), int(value.denominator))
    try:
        number = Fraction(value) if isinstance(value, float | Decimal) else Fraction(float(value))
        if isinstance(value, float | Decimal) or number == value:
            return number
    except (ValueError, OverflowError, TypeError):
        raise InvalidValue(name, value, "a finite number") from None
    raise InvalidValue(name, value, "a number that a double holds exactly", "give a fraction, a Decimal or text")


def _from_text(text: str, name: str) -> Fraction:
    allowed = "a number such as 0.1, 1e-6, 1/3 or 2**-20"
    match = _NUMBER.fullmatch(text)
    if match is None or any(_too_large(match[part]) for part in ("left", "right")):
        raise InvalidValue(name, repr(text), allowed)
    left, operator = Fraction(match["left"]), match["operator"]
    if operator is None:
        return left
    right = Fraction(match["right"])
    if operator == "/":
        if right == 0:
            raise InvalidValue(name, repr(text), allowed, "the denominator is zero")
        return left / right
    too_long = abs(right) * max(abs(left.numerator), left.denominator, 2).bit_length() > 4 * _LARGEST_EXPONENT
    if right.denominator != 1 or too_long or (left == 0 and right < 0):
        raise InvalidValue(name, repr(text), allowed, "the exponent must be a whole number of moderate size")
    return Fraction(left ** int(right))


def _too_large(decimal: str | None) -> bool:
    exponent = re.search(r"[eE]([+-]?\d+)$", decimal or "")
    return exponent is not None and abs(int(exponent[1])) > _LARGEST_EXPONENT


def positive_integer(value: object, name: str) -> int:
    """Return ``value`` as an integer >= 1 (integers, integral floats and text of one), or raise ``InvalidValue``."""
    if type(value) is int and value >= 1:  # what it nearly always is: asked at every release of a run
        return value
    allowed = "a positive whole number"
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        number = Fraction(value.__index__())
    elif isinstance(value, float | str | Fraction | Decimal):
        number = exact(value, name)
    else:
        raise InvalidValue(name, value, allowed)
    if number.denominator != 1 or number < 1:
        raise InvalidValue(name, value, allowed)
    return int(number)


def to_float(value: Fraction | float, direction: Direction) -> float:
    """Round an exact number to a double, downwards or upwards (overflow upwards is ``inf``)."""
    if isinstance(value, float):  # an infinity, or already a double
        return value
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if direction == "down":
        return nearest if nearest <= value else math.nextafter(nearest, -math.inf)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def to_decimal(value: Fraction | float, digits: int, direction: Direction) -> str:
    """Write an exact number with ``digits`` significant decimal digits, rounded downwards or upwards.

    >>> to_decimal(Fraction(2, 3), 5, "down"), to_decimal(Fraction(2, 3), 5, "up")
    ('0.66666', '0.66667')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    number = Fraction(value)
    context = Context(prec=digits, rounding=ROUND_FLOOR if direction == "down" else ROUND_CEILING)
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))


def brief(value: Fraction) -> str:
    """A number of any size in six digits, for messages."""
    nearest = to_float(value, "down")
    ordinary = value == 0 or 1e-300 < abs(nearest) < 1e300
    return f"{nearest:g}" if ordinary else to_decimal(value, 6, "down")
