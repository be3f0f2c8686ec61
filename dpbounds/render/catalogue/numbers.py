"""Columns with numbers: the value of a part at given values, and whether its statement applies there."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpbounds.errors import MISSING, InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.theorems.evaluation import Evaluation, evaluate
from dpbounds.theorems.record import Side, Theorem

Values = Mapping[str, Fraction]
DIGITS = 4


def value_of(theorem: Theorem, part: str, at: Values) -> Evaluation | str:
    """The value; or, in words, why there is none."""
    own = {quantity.name for quantity in theorem.local}
    try:
        return evaluate(theorem, part, {name: value for name, value in at.items() if _is_known(name, own)}, digits=15)
    except InvalidValue as error:
        if error.value == MISSING:
            return f"needs {error.name}"
        return f"not defined: {error.name} = {error.value}"
    except NotCertified:
        return "not decided"


def _is_known(name: str, own: set[str]) -> bool:
    from dpbounds.expressions.symbols import by_name

    return name in own or name in by_name()


def rounded(value: Enclosure, side: Side | None, digits: int = DIGITS) -> str:
    """A few digits, rounded away from what is promised: upper bounds up, lower bounds down."""
    lower, upper = value.decimals(digits)
    return lower if side is Side.LOWER else upper


def shown(found: Evaluation | str, side: Side | None) -> str:
    """A value in a cell; orders of growth are marked."""
    if isinstance(found, str):
        return found
    text = rounded(found.value, side)
    return f"~ {text}" if found.up_to_constant else text


def applies(found: Evaluation | str) -> str:
    """Whether the statement applies: which conditions fail, or could not be checked."""
    if isinstance(found, str):
        return ""
    failing = [one.text for one in found.conditions if one.holds is False]
    unknown = sorted({name for one in found.conditions for name in one.missing})
    if failing:
        return "no: " + "; ".join(failing) + " fails"
    return f"unknown: needs {', '.join(unknown)}" if unknown else "yes"


def size(found: Evaluation | str) -> tuple[bool, float]:
    """For sorting: numbers first, by size."""
    return (True, 0.0) if isinstance(found, str) else (False, float(found.value.upper))


def at_in_words(at: Values) -> str:
    """The values, as a person would write them."""
    return ", ".join(f"{name} = {_number(value)}" for name, value in at.items())


def _number(value: Fraction) -> str:
    if value.denominator == 1 and abs(value) < 10**6:
        return str(value.numerator)
    short = f"{to_float(value, 'down' if value > 0 else 'up'):g}"
    return short if Fraction(short) == value else str(value)
