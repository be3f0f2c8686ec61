"""The printed answer of a command as a page shows it: a headline, named values, tables, notes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from dpbounds.app.faults import in_words
from dpbounds.app.jobs import Answer

_CHEAPER = "cheaper"  # the row with another scheme, which the page shows as a link


@dataclass(frozen=True, slots=True)
class Printed:
    """An answer in pieces, in the words of a form.

    Attributes:
        rows: Named values: name, value, remark.
        text: Other output, as it was printed.
        notes: The output on standard error.
        error: Why there is no answer; "" if there is one.
        message: The error as it was printed.
        cheaper: Advice on another scheme: its words, the options that ask for it, the line that changes a loader.
    """

    rows: tuple[tuple[str, str, str], ...]
    text: str
    notes: tuple[str, ...]
    error: str
    message: str = ""
    cheaper: tuple[str, tuple[str, ...], str] | None = None

    @property
    def headline(self) -> str:
        """The first named value, without its remark in parentheses."""
        return " ".join(self.rows[0][:2]) if self.rows else ""


def read(verb: str, answer: Answer, *, as_json: bool = False) -> Printed:
    """Split an answer into pieces; an answer in JSON is shown in another form."""
    told = [line for line in answer.err.splitlines() if line.strip()]
    errors = [line.removeprefix("dpbounds: ") for line in told if line.startswith("dpbounds: ")]
    notes = [line for line in told if not line.startswith(("dpbounds: ", "wrote "))]
    if answer.status == 3 and not errors:
        errors = [told[-1] if told else "the process ended without an answer"]
    rows, text = ((), "") if as_json else (answer.rows, answer.text)
    message = " ".join(errors)
    return Printed(
        tuple(row for row in rows if row[0] != _CHEAPER),
        text,
        tuple(in_words(verb, note) for note in notes),
        in_words(verb, message),
        message,
        next((_advice(value) for name, value, _ in rows if name == _CHEAPER), None),
    )


def _advice(text: str) -> tuple[str, tuple[str, ...], str]:
    """Split the advice of ``cli/answers/cheaper.py``.

    >>> text = "epsilon 1 with Poisson samples: --sampling poisson --sample-rate 0.1; with Opacus, this; "
    >>> _advice(text + "in your own PyTorch loop, L(rate=0.1)")
    ('epsilon 1 with Poisson samples', ('sampling', 'poisson', 'sample-rate', '0.1'), 'L(rate=0.1)')
    """
    words, _, rest = text.partition(": ")
    options, _, loaders = rest.partition("; with ")
    line = loaders.partition("; in your own PyTorch loop, ")[2]
    return words, tuple(word.removeprefix("--") for word in shlex.split(options)), line
