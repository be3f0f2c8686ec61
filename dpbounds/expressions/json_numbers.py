"""Ends of intervals as JSON numbers: doubles whose decimals lie on the safe side, too.

Some readers of JSON take a number as the double nearest to it, others (auditors, databases) as the decimal that it is.
The shortest decimal of a double lies up to half a unit in the last place beside it, on either side. So the decimal of
an upper bound is at least what was proven, that of a lower bound at most, and both read back as the doubles that they
show.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction

from dpbounds.expressions.exact import Direction, to_decimal, to_float

_MOST_DIGITS = 18  # with this number of digits, some decimal on either side of a double reads back as the double


class OutwardFloat(float):
    """A double that JSON shows by another decimal than its shortest; for all else it is that double.

    Attributes:
        text: The decimal, which reads back as the double.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, double: float, text: str) -> OutwardFloat:
        """Make one of a double and its decimal."""
        made = super().__new__(cls, double)
        made.text = text
        return made

    def __reduce__(self) -> tuple[type[OutwardFloat], tuple[float, str]]:
        return type(self), (float(self), self.text)


def outward(end: Fraction | float, direction: Direction) -> float:
    """Return an end of an interval as a double for JSON, rounded in a direction, as a decimal, too.

    Args:
        end: The exact end; a float is the binary value that it holds.
        direction: "down" for a lower bound, "up" for an upper one.

    Returns:
        ``to_float(end, direction)``. Where its shortest decimal lies on the wrong side of the end it is an
        ``OutwardFloat``, with the first decimal of 15 to 18 digits that does not.

    >>> text_of(outward(Fraction(1, 10), "up")), text_of(outward(0.1, "up")), outward(0.1, "up") == 0.1
    ('0.1', '0.10000000000000001', True)
    """
    double = float(to_float(end, direction))
    if not math.isfinite(double) or _is_outward(repr(double), end, direction):
        return double
    decimals = (to_decimal(Fraction(double), digits, direction).lower() for digits in range(15, _MOST_DIGITS + 1))
    return OutwardFloat(double, next(text for text in decimals if float(text) == double))


def _is_outward(text: str, end: Fraction | float, direction: Direction) -> bool:
    return Fraction(text) <= end if direction == "down" else Fraction(text) >= end


def text_of(number: float) -> str:
    """Return the decimal by which JSON shows a finite double."""
    return number.text if isinstance(number, OutwardFloat) else float.__repr__(number)


def json_text(document: object, indent: int) -> str:
    """Write plain data as ``json.dumps(document, indent=indent, allow_nan=False)`` does, each end by its own decimal.

    >>> print(json_text({"upper": outward(0.1, "up"), "steps": []}, indent=1))
    {
     "upper": 0.10000000000000001,
     "steps": []
    }
    """
    return _written(document, " " * indent, "\n") if _has_ends(document) else _plain(document, indent)


def _plain(document: object, indent: int | None = None) -> str:
    return json.dumps(document, indent=indent, allow_nan=False)


def _has_ends(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_ends, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_ends, value))
    return isinstance(value, OutwardFloat)


def _written(value: object, step: str, line: str) -> str:
    """Return a value in its place; ``line`` starts a line at the level of its container."""
    if isinstance(value, OutwardFloat):
        return value.text
    deeper = line + step
    if isinstance(value, dict) and value:
        # a pair as JSON has it, "{key: 0}", shows how the key is written
        entries = [f"{_plain({key: 0})[1:-2]}{_written(inner, step, deeper)}" for key, inner in value.items()]
        return f"{{{deeper}{f',{deeper}'.join(entries)}{line}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{deeper}{f',{deeper}'.join(_written(inner, step, deeper) for inner in value)}{line}]"
    return _plain(value)
