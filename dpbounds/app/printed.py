"""What a command printed, as a page shows it: a headline, named values, tables, notes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ROW = re.compile(r"([A-Za-z][\w ,()-]*?)  +(\S.*)")
_NOTE = re.compile(r"(note|warning): (.*)")


@dataclass(frozen=True, slots=True)
class Printed:
    """An answer in pieces.

    Attributes:
        headline: The first named value, without its remark in parentheses.
        rows: Named values: name, value, remark.
        text: What is not made of named values, as it was printed.
        notes: What was told on standard error.
        error: Why there is no answer; "" where there is one.
    """

    headline: str
    rows: tuple[tuple[str, str, str], ...]
    text: str
    notes: tuple[str, ...]
    error: str


def read(out: str, err: str, status: int) -> Printed:
    """Take an answer apart; a first paragraph in two columns becomes named values."""
    first, _, rest = out.strip("\n").partition("\n\n")
    matches = [_ROW.fullmatch(line) for line in first.split("\n")]
    rows: list[tuple[str, str, str]] = []
    if out.strip() and all(matches) and _aligned(first):
        rows = [(match[1].strip(), *_remark(match[2])) for match in matches if match]
    else:
        first, rest = "", out.strip("\n")
    told = [line for line in err.splitlines() if line.strip()]
    errors = [line.removeprefix("dpbounds: ") for line in told if line.startswith("dpbounds: ")]
    notes = [line for line in told if not line.startswith(("dpbounds: ", "wrote "))]
    if status == 3 and not errors:
        errors = [told[-1] if told else "the process ended without an answer"]
    headline = f"{rows[0][0]} {rows[0][1]}" if rows else ""
    return Printed(headline, tuple(rows), rest, tuple(notes), " ".join(errors))


def _aligned(paragraph: str) -> bool:
    """Whether all values begin in the same column."""
    starts = {match.end() for line in paragraph.split("\n") if (match := re.match(r".*?  +(?=\S)", line))}
    return len(starts) == 1


def _remark(text: str) -> tuple[str, str]:
    """A value, and what stands beside it in parentheses, which may go on after them.

    >>> _remark("0.001  (proven), at every epsilon")
    ('0.001', 'proven, at every epsilon')
    """
    value, _, remark = text.partition("  (")
    return value, remark.removesuffix(")") if remark.endswith(")") else remark.replace("), ", ", ", 1)


def columns(text: str) -> list[list[str]]:
    r"""Lines of aligned columns as cells.

    >>> columns("method  epsilon\nrdp     7.4")
    [['method', 'epsilon'], ['rdp', '7.4']]
    """
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]
