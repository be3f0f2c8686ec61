"""The printed answer of a command as a page shows it: a headline, named values, tables, notes."""

from __future__ import annotations

from dataclasses import dataclass

from dpbounds.app.jobs import Answer


@dataclass(frozen=True, slots=True)
class Printed:
    """An answer in pieces.

    Attributes:
        rows: Named values: name, value, remark.
        text: Other output, as it was printed.
        notes: The output on standard error.
        error: Why there is no answer; "" if there is one.
    """

    rows: tuple[tuple[str, str, str], ...]
    text: str
    notes: tuple[str, ...]
    error: str

    @property
    def headline(self) -> str:
        """The first named value, without its remark in parentheses."""
        return " ".join(self.rows[0][:2]) if self.rows else ""


def read(answer: Answer, *, as_json: bool = False) -> Printed:
    """Split an answer into pieces; an answer in JSON is shown in another form."""
    told = [line for line in answer.err.splitlines() if line.strip()]
    errors = [line.removeprefix("dpbounds: ") for line in told if line.startswith("dpbounds: ")]
    notes = [line for line in told if not line.startswith(("dpbounds: ", "wrote "))]
    if answer.status == 3 and not errors:
        errors = [told[-1] if told else "the process ended without an answer"]
    rows, text = ((), "") if as_json else (answer.rows, answer.text)
    return Printed(rows, text, tuple(notes), " ".join(errors))
