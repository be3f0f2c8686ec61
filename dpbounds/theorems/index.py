"""The list of all statements, and where each has its file.

An id says where its file is: ``lowy-ullman-wright-2024/corollary-4.3`` is ``lowy_ullman_wright_2024/corollary_4_3.py``.
Listing must not wait for 200 modules and a computer algebra system, so what a list shows is kept in ``index.json``,
which ``python -m dpbounds.theorems`` writes and a test compares with the files. A file that is not in the index is read
itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.theorems.record import Theorem

HOME = Path(__file__).parent.parent / "papers"
INDEX = HOME / "index.json"
ID = re.compile(r"[a-z0-9-]+(/[a-z0-9.-]+)+")
OWN = "dpbounds"  # the "paper" of results of this library
EXPLICIT = "/explicit"  # ends the id of a version with constants
PAPERS = {
    "wang-xu-2019": "Wang & Xu, Differentially Private ERM with Smooth Non-convex Loss Functions (AAAI 2019)",
    "wang-chen-xu-2019": "Wang, Chen & Xu, Differentially Private ERM with Non-convex Loss Functions (ICML 2019)",
    "tholeti-kalyani-2020": (
        "Tholeti & Kalyani, On the Differentially Private Nature of Perturbed Gradient Descent (2020)"
    ),
    "ganesh-liu-oh-thakurta-2023": "Ganesh, Liu, Oh & Thakurta, Private (Stochastic) Non-Convex Optimization (2023)",
    "lowy-ullman-wright-2024": "Lowy, Ullman & Wright, How to Make the Gradients Small Privately (2024, version 1)",
    "cited": "What these papers build on or compare with, and newer results that change the picture",
    OWN: "Results of this library without a printed counterpart",
}


@dataclass(frozen=True, slots=True)
class ListedErratum:
    """An erratum as a list shows it."""

    where: str
    printed: str
    right: str
    severity: str
    evidence: str
    survives: str
    relation: str
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement as a list shows it."""

    id: str
    paper: str
    number: str
    title: str
    metric: str
    side: str
    mode: str
    status: str
    parts: tuple[str, ...]
    part_statuses: tuple[str, ...]
    algorithm: str
    statement: str
    errata: tuple[ListedErratum, ...]

    @classmethod
    def of(cls, theorem: Theorem) -> Entry:
        """Return the entry of a record."""
        return cls(
            id=theorem.id,
            paper=theorem.paper,
            number=theorem.number,
            title=theorem.title,
            metric=str(theorem.metric),
            side=str(theorem.side or ""),
            mode=str(theorem.mode or ""),
            status=str(theorem.status),
            parts=tuple(part.name for part in theorem.parts),
            part_statuses=tuple(str(theorem.status_of(part)) for part in theorem.parts),
            algorithm=theorem.algorithm or "",
            statement=" ".join((theorem.statement or "").split()),
            errata=tuple(
                ListedErratum(
                    one.where or theorem.number,
                    *(one.printed, one.right, str(one.severity), one.evidence, one.survives),
                    str(one.relation or ""),
                    one.also,
                )
                for one in theorem.errata
            ),
        )


def module_of(name: str) -> str:
    """Return the module of an id.

    >>> module_of("lowy-ullman-wright-2024/corollary-4.3")
    'dpbounds.papers.lowy_ullman_wright_2024.corollary_4_3'
    >>> module_of("cited/abadi-et-al-2016/theorem-1")
    'dpbounds.papers.cited.abadi_et_al_2016.theorem_1'
    >>> module_of("dpbounds/langevin-under-pl")
    'dpbounds.papers.ours.langevin_under_pl'
    """
    pieces = [piece.replace("-", "_").replace(".", "_") for piece in name.split("/")]
    folders = 2 if pieces[0] == "cited" else 1
    home = ["ours"] if pieces[0] == OWN else pieces[:folders]
    return ".".join(["dpbounds", "papers", *home, "_".join(pieces[folders:])])


def paper_of(name: str) -> str:
    """Return the paper of an id.

    >>> paper_of("wang-xu-2019/theorem-2/explicit"), paper_of("cited/abadi-et-al-2016/theorem-1")
    ('wang-xu-2019', 'cited/abadi-et-al-2016')
    """
    return "/".join(name.split("/")[: 2 if name.startswith("cited/") else 1])


def item_of(stem: str) -> str:
    """The id, without its paper, of a statement in a file of that name.

    >>> item_of("corollary_4_3_explicit"), item_of("lemma_a_4"), item_of("main_result")
    ('corollary-4.3/explicit', 'lemma-a.4', 'main-result')
    """
    name = stem.removesuffix("_explicit")
    dotted = re.sub(r"_([a-z])_(?=\d)", r"-\1.", re.sub(r"(?<=\d)_(?=\d)", ".", name))
    return dotted.replace("_", "-") + (EXPLICIT if name != stem else "")


def file_of(name: str) -> Path:
    """The file of an id, from the root of a checkout on.

    >>> print(file_of("wang-xu-2019/theorem-2/explicit").as_posix())
    dpbounds/papers/wang_xu_2019/theorem_2_explicit.py
    """
    return Path(*module_of(name).split(".")).with_suffix(".py")


def modules() -> Iterator[str]:
    """Every module that holds a statement, in a fixed order."""
    for path in sorted(HOME.glob("*/**/*.py"), key=lambda path: str(path).replace("/ours/", "/dpbounds/")):
        if path.name != "__init__.py" and not path.name.startswith("_"):
            yield ".".join(["dpbounds", "papers", *path.relative_to(HOME).with_suffix("").parts])


@cache
def listing() -> tuple[Entry, ...]:
    """Every statement as a list shows it, from the index; quick."""
    known = {entry.id: entry for entry in indexed()}
    homes = {module_of(name): name for name in known}
    found = []
    for module in modules():
        if module in homes:
            found.append(known[homes[module]])
        else:
            found.append(Entry.of(importlib.import_module(module).THEOREM))
    return tuple(sorted(found, key=order))


def indexed() -> list[Entry]:
    """The entries of the index, whether or not their files exist."""
    if not INDEX.is_file():
        return []
    from dpbounds import documents

    def entry(data: dict[str, Any]) -> dict[str, Any]:
        return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}

    entries = map(entry, documents.read_json(INDEX, "index of the library"))
    return [
        Entry(**{**one, "errata": tuple(ListedErratum(**entry(each)) for each in one["errata"])}) for one in entries
    ]


def order(entry: Entry) -> tuple[object, ...]:
    """Papers in the order above, items in the order of the paper as far as their numbers tell."""
    papers = list(PAPERS)
    first = entry.paper.split("/")[0]
    pieces = [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in re.split(r"(\d+)", entry.id)]
    return (papers.index(first) if first in papers else len(papers), entry.paper, pieces)
