"""The exceptions of dpbounds: one base class, one class per thing that can go wrong."""

from __future__ import annotations

import difflib
import inspect
import re
import reprlib
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from pathlib import PurePath
from typing import Any

from dpbounds.limits import DIGITS, LINE, SHOWN

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Decimal, Fraction)
_LONGEST_INTEGER = 10**DIGITS
_BETWEEN = re.compile(", | or ")
_FEW = 4  # names that are read at a glance


class DpboundsError(Exception):
    """Base of every error that dpbounds raises on purpose."""


MISSING = "(missing)"  # in the place of a value that was not given


class InvalidValue(DpboundsError, ValueError):
    """A value is outside its domain; the message names the value, the allowed values, and what to do.

    It travels between processes: a value that is more than a number or a text arrives there as its text.
    """

    def __init__(self, name: str, value: object, allowed: str, advice: str = "") -> None:
        self.name, self.value, self.allowed, self.advice = name, value, allowed, advice
        told = (
            f"{name} is missing: {allowed}"
            if isinstance(value, str) and value == MISSING
            else f"{name} must be {allowed}, not {shown(value)}{_meant(value, allowed)}"
        )
        super().__init__(told + (f"; {advice}" if advice else ""))

    def __reduce__(self) -> tuple[type[InvalidValue], tuple[str, object, str, str]]:
        value = self.value if type(self.value) in _PLAIN else shown(self.value)
        return type(self), (self.name, value, self.allowed, self.advice)


class UnsupportedMechanism(DpboundsError):
    """No proven analysis is known for this mechanism, sampling scheme and relation."""


class NotCertified(DpboundsError):
    """The proof did not succeed within its limits (precision, work); no unproven value is returned in its place."""


class CertificateError(DpboundsError):
    """A certificate is malformed, or its claim could not be confirmed."""


class BudgetExceeded(DpboundsError):
    """A ledger shows more spent than was planned."""


# --- Words of an error ------------------------------------------------------------------------------------------------


class _Bounded(reprlib.Repr):
    """``repr`` that cannot fail and does not grow with its object."""

    def repr_int(self, x: int, level: int) -> str:
        return str(x) if abs(x) < _LONGEST_INTEGER else f"an integer of {x.bit_length()} bits"

    def repr_Fraction(self, x: Fraction, level: int) -> str:  # (the name that reprlib looks for)
        return f"{self.repr_int(x.numerator, level)}/{self.repr_int(x.denominator, level)}"

    def repr_instance(self, x: object, level: int) -> str:
        told = super().repr_instance(x, level)
        return f"<{type(x).__name__}>" if " instance at 0x" in told else told


_BOUNDED = _Bounded()
_BOUNDED.maxstring = _BOUNDED.maxother = _BOUNDED.maxlong = SHOWN


def shown(value: object) -> str:
    """Return a value for an error message: never longer than ``limits.SHOWN``, and never an error itself.

    >>> shown(Fraction(1, 3)), len(shown("x" * 100_000)) <= 120, shown(10**5000)
    ('1/3', True, 'an integer of 16610 bits')
    """
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Integral):
        value = int(value)  # and not what NumPy calls it
    elif type(value) is Fraction and value.denominator == 1:
        value = value.numerator
    elif isinstance(value, float):
        return float.__repr__(value)
    elif isinstance(value, str):
        return shortened(str.__str__(value), SHOWN)
    elif isinstance(value, Decimal | PurePath):
        return shortened(str(value), SHOWN)
    return shortened(" ".join(_BOUNDED.repr(value).split()), SHOWN)


def demand(name: str, value: object, *kinds: Any) -> None:
    """Refuse objects of another type: for records, whose fields are results and not converted."""
    if not isinstance(value, kinds):
        names = [kind.__name__ if isinstance(kind, type) else str(kind) for kind in kinds]
        raise InvalidValue(name, value, "of type " + " or ".join(names))


def demand_function(name: str, value: object) -> None:
    """Refuse objects that cannot be called with one argument."""
    rule = "a function of one argument"
    if not callable(value):
        raise InvalidValue(name, value, rule)
    try:
        inspect.signature(value).bind(None)
    except TypeError:
        raise InvalidValue(name, value, rule) from None
    except ValueError:  # raised by a built-in function without details
        return


def demand_one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Refuse words that are not in a list."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise InvalidValue(name, repr(value) if isinstance(value, str) else value, " or ".join(words))


def shortened(text: str, longest: int = LINE) -> str:
    """Return a text without its middle, where it is too long.

    >>> shortened("abcdefghijklmnopqrstuvwxyz", 15)
    'abcde ... vwxyz'
    """
    if len(text) <= longest:
        return text
    kept = longest - len(" ... ")
    return f"{text[: kept - kept // 2]} ... {text[len(text) - kept // 2 :]}"


def one_of(value: object, known: Iterable[str], listed_by: str = "") -> str:
    """Return the allowed values for an unknown name: the nearest names, or all of them if there are few.

    Args:
        value: The given value.
        known: The names that there are.
        listed_by: The command that lists all values, such as "`dpbounds theorems`".

    >>> one_of("gradient", ["gradient-norm", *map(str, range(100))], "`dpbounds regimes`")
    'one of those that `dpbounds regimes` lists, such as gradient-norm'
    """
    names = list(known)
    if len(", ".join(names)) <= 2 * SHOWN or not listed_by:
        return "one of " + ", ".join(names)
    near = nearest(value, names)
    return f"one of those that {listed_by} lists" + (f", such as {', '.join(near)}" if near else "")


def _meant(value: object, allowed: str) -> str:
    """Return the known words that may have been meant, if there are more than a few.

    >>> InvalidValue("word", "gamm", "one of alpha, beta, gamma, delta")
    InvalidValue('word must be one of alpha, beta, gamma, delta, not gamm (did you mean gamma?)')
    >>> InvalidValue("word", "dp-pgdd", "one of those that this lists, such as dp-pgd, dp-gd")
    InvalidValue('word must be one of those that this lists, such as dp-pgd, dp-gd, not dp-pgdd (did you mean dp-pgd?)')
    """
    _, _, near = allowed.partition(" lists, such as ")
    names = _BETWEEN.split(near or allowed.removeprefix("one of "))
    worth = isinstance(value, str) and (near or len(names) >= _FEW)
    told = did_you_mean(str(value).strip("'"), names) if worth else ""
    return told and f" ({told})"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question with similar known words, or an empty text if none is similar.

    >>> did_you_mean("smothness", ["lipschitz", "smoothness"]), did_you_mean("volume", ["lipschitz", "smoothness"])
    ('did you mean smoothness?', '')
    """
    near = difflib.get_close_matches(word[:SHOWN], list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


def nearest(value: object, known: Iterable[str]) -> list[str]:
    """Names that look like the one that was given."""
    return difflib.get_close_matches(str(value)[:SHOWN], list(known), n=3, cutoff=0.5) if isinstance(value, str) else []
