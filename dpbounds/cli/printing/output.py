"""Output of the verbs: numbers rounded outwards, aligned lines for people, one JSON object for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds import __version__
from dpbounds.expressions.exact import Direction, to_decimal, to_float
from dpbounds.expressions.json_numbers import json_text, outward

if TYPE_CHECKING:
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.proofs import Proof

# version of the output of --json: it increases if a field is renamed, dropped or changes its meaning
SCHEMA_VERSION = 1
_SMALLEST_JSON_NUMBER = Fraction(1, 10**300)
_DIGITS_OF_A_DOUBLE = 15
DEFAULT_DIGITS = 10
_MORE_DIGITS = (12, 15, 20, 30, 40)
_LONGEST = 17  # digits of an interval, where no more are asked for


def plain(number: Fraction | float) -> str:
    """Return a number as a short decimal, exactly if that is short.

    >>> plain(Fraction(1, 100)), plain(Fraction(1, 3)), plain(Fraction(1, 10**6))
    ('0.01', '1/3', '1e-06')
    """
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    value = Fraction(number)
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    short = to_decimal(value, 12, "down")
    if Fraction(short) == value:
        typed = f"{to_float(value, 'down' if value > 0 else 'up'):.12g}"
        return typed if Fraction(typed) == value else short
    written = max(abs(value.numerator), value.denominator) < 10**20 and str(value)
    return written if written and len(written) <= 20 else f"about {short}"


def rounded(value: Fraction | float, digits: int, direction: Direction) -> str:
    """Return a number with ``digits`` significant digits, rounded to a side, without trailing zeros.

    >>> rounded(Fraction(2, 3), 4, "down"), rounded(0.25, 4, "up")
    ('0.6666', '0.25')
    """
    text = to_decimal(value, digits, direction)
    return text if isinstance(value, float) and not math.isfinite(value) else plain(Fraction(text))


def plain_text(value: object) -> str:
    """Return an option's value for an error message."""
    if isinstance(value, tuple):
        return ",".join(map(plain_text, value))
    return plain(value) if isinstance(value, Fraction) else str(value)


def json_number(number: Fraction | float, direction: Direction, digits: int | None = None) -> float | int | str:
    """A number for JSON: a double rounded in a direction, as a decimal, too; text beyond doubles or for more digits."""
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    wide = digits is not None and digits > _DIGITS_OF_A_DOUBLE
    if wide or _beyond_doubles(number, direction):
        return to_decimal(number, digits or 17, direction)
    return outward(number, direction)


def json_given(number: Fraction | None) -> float | int | str | None:
    """Return a number that the person gave, for JSON: the nearest double, or text where doubles do not reach."""
    if number is None:
        return None
    direction: Direction = "down" if number < 0 else "up"
    return to_decimal(number, 17, direction) if _beyond_doubles(number, direction) else float(number)


def _beyond_doubles(number: Fraction | float, direction: Direction) -> bool:
    return 0 < abs(Fraction(number)) < _SMALLEST_JSON_NUMBER or math.isinf(to_float(number, direction))


def json_ends(enclosure: Enclosure, digits: int | None = None) -> dict[str, float | int | str]:
    """Return both bounds for JSON, rounded outwards."""
    return {
        "lower": json_number(enclosure.exact_lower, "down", digits),
        "upper": json_number(enclosure.exact_upper, "up", digits),
    }


def shown(
    enclosure: Enclosure, digits: int | None = None, *, tight: bool | None = True, limit: Fraction | None = None
) -> str:
    """Return the upper bound, to be published, with the interval that proves it, or the bound that an attack attains.

    Args:
        enclosure: Certified interval of the value.
        digits: Number of significant digits, or None for the default.
        tight: Whether an attack attains the proven value; None if unknown.
        limit: A budget. An upper bound within the budget is not rounded beyond it, since both are printed.
    """
    wanted = digits or DEFAULT_DIGITS
    lower, upper = enclosure.decimals(wanted)
    if limit is not None and enclosure.exact_upper <= limit < Fraction(upper):
        upper = _up_to(enclosure.exact_upper, limit)
    if enclosure.exact_upper == math.inf:
        if enclosure.exact_lower == math.inf:
            return "infinite  (proven: no finite value is enough)"
        return f"infinite  (no finite value is proven to be enough; at least {lower} is spent)"
    if tight is False:
        attack = f"an explicit attack attains {lower}" if enclosure.exact_lower > 0 else "no attack is known"
        return f"{upper}  (proven to suffice, rounded up; {attack})"
    if enclosure.exact_lower == enclosure.exact_upper:
        return f"{upper}  (proven, exact)" if lower == upper else f"{upper}  (proven, rounded up)"
    # Two digits beyond those that both bounds share show how wide the enclosure is.
    lower, inner = enclosure.decimals(max(2, min(enclosure.digits + 2, max(wanted + 2, _LONGEST))))
    return f"{upper}  (proven, rounded up; the value lies in [{lower}, {inner}])"


def _up_to(number: Fraction | float, limit: Fraction) -> str:
    """Return a number rounded up, in as many digits as it takes to stay within a limit that it does not exceed."""
    rounded = (to_decimal(number, digits, "up") for digits in _MORE_DIGITS)
    return next((text for text in rounded if Fraction(text) <= limit), plain(limit))


def explained(proofs: Iterable[tuple[str, Proof]], role: str) -> list[dict[str, object]]:
    """Return the proof of each class of neighbours as plain data; the role is "dominates" or "attack"."""
    return [
        {
            "order": order,
            "role": role,
            "enclosure": json_ends(proof.enclosure),
            "route": proof.route,
            "precision": proof.enclosure.precision,
            "parameters": {name: _data(value) for name, value in proof.parameters.items()},
            "error_budget": dict(proof.error_budget),
        }
        for order, proof in proofs
    ]


def print_written(path: Path, *, err: bool = False, before: str = "") -> None:
    """Report where a file was written, on one line for any name."""
    name = str(path)
    click.echo(f"{before}wrote {name if name.isprintable() else ascii(name)}", err=err)


@dataclass(slots=True)
class Pieces:
    """The rows and the table of an answer, before and after formatting.

    Attributes:
        rows: Name, value, and remark in parentheses, of the first rows that were printed.
        table: Head and lines of the first table, all of one length.
        printed: Both as they were printed.
    """

    rows: list[tuple[str, str, str]] = field(default_factory=list)
    table: list[tuple[str, ...]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)


_PIECES: ContextVar[Pieces | None] = ContextVar("pieces", default=None)


@contextmanager
def kept_in_pieces() -> Iterator[Pieces]:
    """Record rows and tables that are printed inside the ``with`` block, to show them in another form."""
    kept = Pieces()
    token = _PIECES.set(kept)
    try:
        yield kept
    finally:
        _PIECES.reset(token)


def print_rows(rows: Mapping[str, str]) -> None:
    """Names and values in two aligned columns."""
    width = max(map(len, rows)) + 2
    text = "".join(f"{name:<{width}}{value}\n" for name, value in rows.items())
    click.echo(text, nl=False)
    kept = _PIECES.get()
    if kept is not None and not kept.rows:
        kept.rows = [(name, *_apart(value)) for name, value in rows.items()]
        kept.printed.append(text)


def print_table(table: Sequence[Sequence[str]]) -> None:
    """A head and lines in aligned columns."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in table)
    text = "".join(f"{line}\n" for line in lines)
    click.echo(text, nl=False)
    kept = _PIECES.get()
    if kept is not None and not kept.table:
        kept.table = [tuple(line) for line in table]
        kept.printed.append(text)


def _apart(text: str) -> tuple[str, str]:
    """Split a value from its remark in parentheses (``shown``), which may go on after them.

    >>> _apart("0.001  (proven), at every epsilon")
    ('0.001', 'proven, at every epsilon')
    """
    value, _, remark = text.partition("  (")
    return value, remark.removesuffix(")") if remark.endswith(")") else remark.replace("), ", ", ", 1)


def print_json(document: Mapping[str, object] | Sequence[Mapping[str, object]], verb: str | None = None) -> None:
    """Print one object, or a list of objects, each with the command and the version that made it.

    Args:
        document: Plain data.
        verb: The verb that runs, by default.
    """
    running = click.get_current_context(silent=True)
    head = {
        "schema_version": SCHEMA_VERSION,
        "dpbounds_version": __version__,
        "verb": running.info_name if verb is None and running is not None else verb,
    }
    whole = {**head, **document} if isinstance(document, Mapping) else [{**head, **one} for one in document]
    click.echo(json_text(whole, indent=2))


def _data(value: object) -> object:
    """Return a parameter of a proof as JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_data(inner) for inner in value]
    return str(value)
