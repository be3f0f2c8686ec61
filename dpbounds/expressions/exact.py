"""Exact numbers in, correctly rounded numbers out.

Text is read as an exact decimal (``"0.1"`` is one tenth); a Python float means the binary value it holds. Inside, such
a number is a ``Fraction``; on the way out it is rounded in a direction that the caller names.
"""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Literal

from dpbounds.errors import InvalidValue
from dpbounds.limits import CHARACTERS, COUNT, DIGITS, PRACTICAL

ExactLike = int | float | str | Fraction | Decimal
Direction = Literal["down", "up"]

_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"\s*(?P<left>{_DECIMAL})\s*(?:(?P<operator>/|\*\*)\s*(?P<right>{_DECIMAL})\s*)?")
_EXPONENT = re.compile(r"[eE]([+-]?\d+)$")
_LIMIT = 10**DIGITS
_TOO_LONG = f"a number whose numerator and denominator have at most {DIGITS} digits"


def exact(value: ExactLike, name: str = "value") -> Fraction:
    """Return the rational number that ``value`` stands for, without rounding.

    Args:
        value: An integer, a fraction, a decimal, a finite float (its binary value), or text: ``"0.1"``, ``"1e-6"``,
            ``"1/3"``, ``"2**-20"`` (each taken exactly).
        name: The name of the value for errors.

    Returns:
        The number as a ``Fraction``, its numerator and its denominator of at most ``limits.DIGITS`` digits.

    Raises:
        InvalidValue: Not a finite number, text that is none of the forms above, or a number that is too long.

    >>> exact("0.1"), exact(0.5), exact("2**-3")
    (Fraction(1, 10), Fraction(1, 2), Fraction(1, 8))
    """
    if type(value) is Fraction:
        return _short(value, value, name)
    if isinstance(value, str):
        return _short(_from_text(value, name), value, name)
    if not _is_number(value):
        raise InvalidValue(name, value, "a number")
    if isinstance(value, Rational):  # integers, fractions, and those of other libraries (SymPy, NumPy)
        return _short(Fraction(int(value.numerator), int(value.denominator)), value, name)
    if isinstance(value, Decimal) and value.is_finite() and not _is_short(value):
        raise InvalidValue(name, value, _TOO_LONG)
    try:
        number = Fraction(value) if isinstance(value, float | Decimal) else Fraction(float(value))
        if isinstance(value, float | Decimal) or number == value:
            return _short(number, value, name)
    except (ValueError, OverflowError, TypeError):
        raise InvalidValue(name, value, "a finite number") from None
    raise InvalidValue(name, value, "a number that a double holds exactly", "give a fraction, a Decimal or text")


def as_promised(value: ExactLike, name: str = "value") -> Fraction:
    """Return an ε or a δ exactly; of a float the smaller of its binary value and the decimal that Python prints.

    What is proven at the smaller one holds at the decimal, so that results may print the number as it was typed.

    Raises:
        InvalidValue: As ``exact``.

    >>> as_promised(1e-5) == Fraction("1e-5"), as_promised(3e-7) == Fraction(3e-7) < Fraction("3e-7")
    (True, True)
    """
    number = exact(value, name)
    return min(number, Fraction(float.__repr__(value))) if isinstance(value, float) else number


def as_allowed(value: ExactLike, name: str = "value") -> Fraction:
    """Return what an attacker is allowed exactly; of a float the larger of its binary value and its decimal.

    What is proven at the larger one, such as a false positive rate, holds at the smaller one.

    Raises:
        InvalidValue: As ``exact``.

    >>> as_allowed(1e-5) == Fraction(1e-5) > Fraction("1e-5"), as_allowed(3e-7) == Fraction("3e-7")
    (True, True)
    """
    number = exact(value, name)
    return max(number, Fraction(float.__repr__(value))) if isinstance(value, float) else number


def _is_number(value: object) -> bool:
    """Return whether it claims to be one; truth values and arrays, NumPy's among them, do not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def rational(value: ExactLike, name: str = "value") -> Fraction:
    """Convert as ``exact``, for a number that may have been computed: a fraction passes, however long it is."""
    return value if type(value) is Fraction else exact(value, name)


def practical(value: ExactLike, name: str = "value") -> Fraction:
    """Convert as ``exact``, for a number that becomes a double: 0, or of a size between 1e-100 and 1e100."""
    number = exact(value, name)
    if number == 0 or Fraction(1, 10**PRACTICAL) <= abs(number) <= 10**PRACTICAL:
        return number
    raise InvalidValue(name, value, f"a number that is 0, or between 1e-{PRACTICAL} and 1e{PRACTICAL} in size")


def _short(number: Fraction, given: object, name: str) -> Fraction:
    """Return the number, if results of computing with it can still be written down."""
    if -_LIMIT < number.numerator < _LIMIT and number.denominator < _LIMIT:
        return number
    raise InvalidValue(name, given, _TOO_LONG)


def _is_short(number: Decimal) -> bool:
    """Return whether it may be written out: before its powers of ten are."""
    return number == 0 or (number.adjusted() <= DIGITS and int(number.as_tuple().exponent) >= -DIGITS)


def _from_text(text: str, name: str) -> Fraction:
    allowed = "a number such as 0.1, 1e-6, 1/3 or 2**-20"
    match = _NUMBER.fullmatch(text) if len(text) <= CHARACTERS else None
    if match is None:
        raise InvalidValue(name, repr(text), allowed)
    if any(_too_large(match[part]) for part in ("left", "right")):
        raise InvalidValue(name, repr(text), _TOO_LONG)
    left, operator = Fraction(match["left"]), match["operator"]
    if operator is None:
        return left
    right = Fraction(match["right"])
    if operator == "/":
        if right == 0:
            raise InvalidValue(name, repr(text), allowed, "the denominator is zero")
        return left / right
    too_long = abs(right) * max(abs(left.numerator), left.denominator, 2).bit_length() > 8 * DIGITS
    if right.denominator != 1 or too_long or (left == 0 and right < 0):
        raise InvalidValue(name, repr(text), allowed, "the exponent must be a whole number of moderate size")
    return Fraction(left ** int(right))


def _too_large(decimal: str | None) -> bool:
    exponent = _EXPONENT.search(decimal or "")
    return exponent is not None and (
        len(exponent[1].lstrip("+-0")) > len(str(DIGITS)) or abs(int(exponent[1])) > DIGITS
    )


def positive_integer(value: object, name: str, most: int = COUNT) -> int:
    """Return ``value`` as an integer >= 1 (integers, integral floats and text of one), or raise ``InvalidValue``."""
    if type(value) is int and 1 <= value <= most:  # what it nearly always is: asked at every release of a run
        return value
    allowed = "a positive whole number"
    if isinstance(value, bool) or not isinstance(value, Integral | float | str | Fraction | Decimal):
        raise InvalidValue(name, value, allowed)
    number = exact(value if not isinstance(value, Integral) else int(value), name)
    if number.denominator != 1 or number < 1:
        raise InvalidValue(name, value, allowed)
    if number > most:
        raise InvalidValue(name, value, f"a positive whole number up to {_rounded(most)}")
    return int(number)


def _rounded(count: int) -> str:
    power = len(str(count)) - 1
    return f"1e{power}" if count == 10**power else str(count)


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
    rounding = ROUND_FLOOR if direction == "down" else ROUND_CEILING
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))


_FORMAT = re.compile(r"(?P<shape>(?:.?[<>^])?[-+ ]?#?0?\d{0,3}[,]?)(?:\.(?P<digits>\d{1,3}))?(?P<kind>[eEfFgG%]?)")


def formatted(value: Fraction | float, specification: str, direction: Direction) -> str:
    """Write an exact number as ``format`` writes a decimal, but rounded downwards or upwards.

    Raises:
        InvalidValue: Not a format specification of e, f, g or %, of three digits in width and precision at most.

    >>> formatted(Fraction(2, 3), ".3f", "up"), formatted(Fraction(2, 3), ">8.1%", "down")
    ('0.667', '   66.6%')
    """
    match = _FORMAT.fullmatch(specification)
    if match is None:
        raise InvalidValue("format", repr(specification), "a format of e, f, g or %, such as .4g or 10.3f")
    kind, digits = match["kind"] or "g", int(match["digits"] or 6)
    if isinstance(value, float):  # an infinity
        rounded = Decimal(value)
    elif kind in "fF%":
        places = digits + 2 if kind == "%" else digits
        scaled = value * 10**places
        whole = math.floor(scaled) if direction == "down" else math.ceil(scaled)
        rounded = Decimal(whole).scaleb(
            -places, Context(prec=max(1, len(str(abs(whole)))), Emin=MIN_EMIN, Emax=MAX_EMAX)
        )
    else:
        rounded = Decimal(to_decimal(value, digits + 1 if kind in "eE" else max(1, digits), direction))
    return format(rounded, f"{match['shape']}.{digits}{kind}")


def formatted_float(value: Fraction | float, specification: str, direction: Direction) -> str:
    """Write a number as ``format`` writes a float, in at most 15 digits, but rounded downwards or upwards.

    Raises:
        InvalidValue: As ``formatted``.

    >>> formatted_float(Fraction(1, 3 * 10**6), ".3g", "up"), formatted_float(0.1, ".3g", "down")
    ('3.34e-07', '0.1')
    """
    finite = isinstance(value, Fraction) or math.isfinite(value)
    return format(float(formatted(Fraction(value) if finite else value, specification, direction)), specification)


def brief(value: Fraction) -> str:
    """Return a number of any size in six digits, for messages."""
    nearest = to_float(value, "down")
    ordinary = value == 0 or 1e-300 < abs(nearest) < 1e300
    return f"{nearest:g}" if ordinary else to_decimal(value, 6, "down")
