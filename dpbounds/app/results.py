"""Results of complete runs: pages and pictures of `tables/`, which a wheel contains."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from dpbounds.theorems.references import id_of

_HOME = Path(__file__).parent
_PLACES = (_HOME / "results", _HOME.parents[1] / "tables")  # in an installed wheel; in a git checkout
_PICTURES = "runs/figures"
_LONG = 70  # rows of a table that is shown in one piece


@dataclass(frozen=True, slots=True)
class Result:
    """One page: its file below the folder, and its name in the navigation."""

    file: str
    title: str


RESULTS = {
    "verification": Result("runs/verification.md", "Theory against practice"),
    "tightness": Result("tightness.md", "How tight the bounds are"),
    "audits": Result("runs/audits-algorithms.md", "Attacks on the algorithms"),
    "broken-copies": Result("runs/audits-broken-copies.md", "Attacks on broken copies"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page.

    Attributes:
        title: The line that unfolds it; "" for a part that is always shown.
        text: Markdown.
    """

    title: str
    text: str


def parts(text: str) -> list[Part]:
    """Return the parts of a page without its heading: each chapter, and the rows of each paper in a long table."""
    beginning, *chapters = re.split(r"^## ", text, flags=re.MULTILINE)
    found = _grouped(beginning)
    for chapter in chapters:
        title, _, body = chapter.partition("\n")
        found.append(Part(title, body))
    return found


def _grouped(text: str) -> list[Part]:
    """Return the text and its table, with the rows of each paper apart where they are many."""
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    head, line, *rows = table[0].splitlines() if table else ("", "")
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(_paper(_cells(row)[0]), []).append(row)
    if table is None or len(rows) <= _LONG or "" in groups:
        return [Part("", text)]
    verdict = _cells(head).index("verdict")
    found = [Part("", text[: table.start()])]
    for paper, own in groups.items():
        counts = Counter(_cells(row)[verdict].split(" ")[0] for row in own)
        told = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
        found.append(Part(f"{paper} ({told})", "\n".join((head, line, *own)) + "\n"))
    rest = text[table.end() :]
    return [*found, *([Part("", rest)] if rest.strip() else [])]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def _paper(name: str) -> str:
    """Return the authors and the year of a statement as a table names it; "" for anything else."""
    statement = name.partition(": ")[0]
    return statement.partition(", ")[0] if id_of(statement) != statement else ""


def _folder() -> Path | None:
    return next((place for place in _PLACES if (place / RESULTS["verification"].file).exists()), None)


def markdown(name: str) -> str | None:
    """Return the text of a page of :data:`RESULTS`; None where this installation has it not."""
    folder = _folder()
    path = folder and folder / RESULTS[name].file
    return path.read_text("utf-8") if path and path.exists() else None


def picture(name: str) -> Path | None:
    """Return the file of a picture that a page shows, by its name alone."""
    folder = _folder()
    if folder is None or not re.fullmatch(r"[\w-]+\.png", name):
        return None
    path = folder / _PICTURES / name
    return path if path.exists() else None
