"""Permanent ids: from an id to its file, and the list of all statements.

An id says where its file is: ``lowy-ullman-wright-2024/corollary-4.3`` is ``lowy_ullman_wright_2024/corollary_4_3.py``.
Listing must not wait for 200 modules and a computer algebra system, so what a list shows is kept in ``index.json``,
which ``python -m dpbounds.theorems`` writes and a test compares with the files. A file that the index does not know yet
is read itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbounds import documents
from dpbounds.errors import InvalidValue, demand, nearest, shown

if TYPE_CHECKING:
    from dpbounds.theorems.record import Theorem

HOME = Path(__file__).parent
INDEX = HOME / "index.json"
PAPERS = {
    "wang-xu-2019": "Wang & Xu, Differentially Private ERM with Smooth Non-convex Loss Functions (AAAI 2019)",
    "wang-chen-xu-2019": "Wang, Chen & Xu, Differentially Private ERM with Non-convex Loss Functions (ICML 2019)",
    "tholeti-kalyani-2020": (
        "Tholeti & Kalyani, On the Differentially Private Nature of Perturbed Gradient Descent (2020)"
    ),
    "ganesh-liu-oh-thakurta-2023": "Ganesh, Liu, Oh & Thakurta, Private (Stochastic) Non-Convex Optimization (2023)",
    "lowy-ullman-wright-2024": "Lowy, Ullman & Wright, How to Make the Gradients Small Privately (2024, version 1)",
    "cited": "What these papers build on or compare with, and newer results that change the picture",
    "dpbounds": "Results of this library without a printed counterpart",
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
        """What a list shows of a record."""
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
                    where=one.where or theorem.number,
                    printed=one.printed,
                    right=one.right,
                    severity=str(one.severity),
                    evidence=one.evidence,
                    survives=one.survives,
                    relation=str(one.relation or ""),
                    also=one.also,
                )
                for one in theorem.errata
            ),
        )


def module_of(name: str) -> str:
    """The module of an id.

    >>> module_of("lowy-ullman-wright-2024/corollary-4.3")
    'dpbounds.theorems.lowy_ullman_wright_2024.corollary_4_3'
    >>> module_of("cited/abadi-et-al-2016/theorem-1")
    'dpbounds.theorems.cited.abadi_et_al_2016.theorem_1'
    """
    pieces = [piece.replace("-", "_").replace(".", "_") for piece in name.split("/")]
    folders = 2 if pieces[0] == "cited" else 1
    return ".".join(["dpbounds", "theorems", *pieces[:folders], "_".join(pieces[folders:])])


def modules() -> Iterator[str]:
    """Every module that holds a statement, in a fixed order."""
    for path in sorted(HOME.glob("*/**/*.py")):
        if path.name != "__init__.py" and not path.name.startswith("_"):
            yield ".".join(["dpbounds", "theorems", *path.relative_to(HOME).with_suffix("").parts])


def theorem(name: str) -> Theorem:
    """The statement of that id; or the one in a file, if the name is a path that ends in ``.py``.

    Raises:
        InvalidValue: There is none; the message names similar ids.

    >>> theorem("wang-xu-2019/theorem-2").number
    'Theorem 2'
    """
    demand("id", name, str)
    if name.endswith(".py"):
        return from_file(Path(name))
    module = module_of(name)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
            raise  # the statement is there; something that it imports is not
        near = nearest(name, [entry.id for entry in listing()])
        allowed = f"an id such as {', '.join(near)}" if near else "an id that `dpbounds theorems` lists"
        raise InvalidValue("id", name, allowed, "or a path to a file of your own that ends in .py") from None
    return _statement_in(found, name)


def from_file(path: Path) -> Theorem:
    """The statement in a Python file outside the library. The file is executed: read it first if it is not yours.

    Raises:
        InvalidValue: There is no such file, it cannot be read, it ends with an error (the message says in which line),
            or there is no ``THEOREM`` in it.
    """
    if not path.is_file():
        raise InvalidValue("file", path, "an existing Python file with a record named THEOREM")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    except OSError as error:
        if error.filename != specification.origin:
            raise _broken(path, error) from error
        raise InvalidValue("file", path, "a file that can be read", error.strerror or "") from None
    except (Exception, SystemExit) as error:  # whatever a stranger's program raises is an error of that file
        raise _broken(path, error) from error
    return _statement_in(module, str(path))


def _broken(path: Path, error: BaseException) -> InvalidValue:
    """What went wrong in a file, and in which of its lines."""
    file = str(path.absolute())
    if isinstance(error, SyntaxError) and error.filename == file:
        lines, told = [error.lineno], f"{type(error).__name__}: {error.msg}"
    else:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        told = shown(error)
    at = f"line {lines[-1]}: " if lines else ""
    return InvalidValue("file", path, "a Python file that runs without an error", f"{at}{told}")


def _statement_in(module: Any, name: str) -> Theorem:
    from dpbounds.theorems.record import Theorem

    found = getattr(module, "THEOREM", None)
    if not isinstance(found, Theorem):
        raise InvalidValue("statement", name, "a module with a record named THEOREM")
    return found


@cache
def library() -> tuple[Theorem, ...]:
    """Every statement (this imports all of them)."""
    return tuple(_statement_in(importlib.import_module(name), name) for name in modules())


@cache
def listing() -> tuple[Entry, ...]:
    """Every statement as a list shows it, from the index; quick."""
    known = {entry.id: entry for entry in _indexed()}
    homes = {module_of(name): name for name in known}
    found = []
    for module in modules():
        if module in homes:
            found.append(known[homes[module]])
        else:
            found.append(Entry.of(_statement_in(importlib.import_module(module), module)))
    return tuple(sorted(found, key=_order))


def _indexed() -> list[Entry]:
    if not INDEX.is_file():
        return []
    entries = documents.read_json(INDEX, "index of the library")
    return [
        Entry(
            **{
                **entry,
                "parts": tuple(entry["parts"]),
                "part_statuses": tuple(entry["part_statuses"]),
                "errata": tuple(ListedErratum(**{**one, "also": tuple(one["also"])}) for one in entry["errata"]),
            }
        )
        for entry in entries
    ]


def _order(entry: Entry) -> tuple[object, ...]:
    """Papers in the order above, items in the order of print as far as their numbers tell."""
    import re

    papers = list(PAPERS)
    first = entry.paper.split("/")[0]
    pieces = [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in re.split(r"(\d+)", entry.id)]
    return (papers.index(first) if first in papers else len(papers), entry.paper, pieces)


def write_index() -> None:
    """Write ``index.json`` from the files."""
    documents.write(INDEX, index_text())


def index_text() -> str:
    """What ``index.json`` should hold."""
    entries = sorted((Entry.of(one) for one in library()), key=_order)
    return json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=0, sort_keys=True) + "\n"
