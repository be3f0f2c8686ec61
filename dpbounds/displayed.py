"""Display of results: short text in Python, small tables in notebooks (``_repr_html_``)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

_SHOWN = 20  # rows of a table
_DECIMALS = 9  # digits up to which a number is written as a decimal
_CELL = 'style="text-align:left"'


@dataclass(frozen=True, slots=True)
class Sheet:
    """The summary of a result for notebooks, all of it text.

    Attributes:
        title: The title.
        facts: Names and what they are.
        columns: The columns of a table below the facts.
        rows: The rows of that table, one text per column.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()

    def text(self) -> str:
        """Return the summary as lines of text."""
        lines = [self.title, *(f"  {name}: {told}" for name, told in self.facts)]
        return "\n".join(lines + ["  " + "  ".join(row) for row in self._shown()])

    def markup(self) -> str:
        """Return the summary as HTML, without colours."""
        head = f"<caption {_CELL}><b>{html.escape(self.title)}</b></caption>"
        facts = "".join(
            f'<tr><th scope="row" {_CELL}>{_inside(a)}</th><td {_CELL}>{_inside(b)}</td></tr>' for a, b in self.facts
        )
        names = "".join(f'<th scope="col" {_CELL}>{_inside(name)}</th>' for name in self.columns)
        cells = ("".join(f"<td {_CELL}>{_inside(cell)}</td>" for cell in row) for row in self._shown())
        table = (f"<tr>{names}</tr>" if names else "") + "".join(f"<tr>{row}</tr>" for row in cells)
        both = [f"<table>{head}<tbody>{facts}</tbody></table>"] if facts or not table else []
        return "".join([*both, f"<table>{'' if both else head}<tbody>{table}</tbody></table>" if table else ""])

    def _shown(self) -> list[tuple[str, ...]]:
        left_out = len(self.rows) - _SHOWN
        return [*self.rows[:_SHOWN], *([(f"... and {left_out} more",)] if left_out > 0 else [])]


class Displayed:
    """A frozen dataclass whose ``repr`` writes exact numbers as one types them, and that notebooks show as a sheet."""

    __slots__ = ()

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def __repr__(self) -> str:
        record: Any = self
        first, *_ = fields(record)
        given = {field.name: written(getattr(self, field.name)) for field in fields(record)}
        told = [
            text if name == first.name == "mechanism" else f"{name}={text}"
            for name, text in given.items()
            if text != "None"
        ]
        return f"{type(self).__name__}({', '.join(told)})"

    def _repr_html_(self) -> str:
        return self._sheet().markup()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def written(value: object) -> str:
    """A value as one would type it; exact numbers as whole numbers, as exact text, or as the floats that they are.

    >>> written((Fraction(3), Fraction(1, 100), Fraction(1, 3), Fraction(0.1)))
    "(3, '0.01', '1/3', 0.1)"
    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        decimal = _decimal(value)
        return repr(decimal or _double(value) or str(value))
    if isinstance(value, Enum):
        return repr(str(value))
    if type(value) is tuple:
        return f"({', '.join(map(written, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {written(each)}' for key, each in value.items())}}}"
    return repr(value)


def _double(value: Fraction) -> float | None:
    """Return the double that the number is; None where it is none."""
    try:
        return float(value) if float(value) == value else None
    except OverflowError:
        return None


def number(value: Fraction) -> str:
    """Return an exact number, as a decimal where that is short."""
    return str(value.numerator) if value.denominator == 1 else _decimal(value) or str(value)


def _decimal(value: Fraction) -> str:
    """Return the number as a short decimal, exactly; else nothing."""
    for digits in range(1, _DECIMALS + 1):
        scale = 10**digits
        if (value * scale).denominator == 1:
            return str(Decimal(int(value * scale)).scaleb(-digits))
    return ""


def _inside(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
