"""Results of complete runs: pages and pictures of `tables/`, which a wheel contains."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_HOME = Path(__file__).parent
_PLACES = (_HOME / "results", _HOME.parents[1] / "tables")  # in an installed wheel; in a git checkout
_PICTURES = "runs/figures"


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
