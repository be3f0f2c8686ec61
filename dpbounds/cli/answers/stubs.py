"""The files that an addition to dpbounds begins with, and what is left to do by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from keyword import iskeyword
from pathlib import Path

from dpbounds.errors import InvalidValue, one_of
from dpbounds.theorems.index import ID, file_of, item_of

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MECHANISMS = "dpbounds/privacy/mechanisms"
_ROOMS = ("descents", "frank_wolfe", "spider", "second_order", "warm_starts", "selection")


@dataclass(frozen=True, slots=True)
class Stubs:
    """The first files of an addition, and the steps that are left.

    Attributes:
        files: The text of each new file, by its path in the checkout.
        steps: The steps that are left, in order.
        shared: As ``files``, for files that several statements share: one that exists is kept.
    """

    files: Mapping[str, str]
    steps: tuple[str, ...]
    shared: Mapping[str, str] = field(default_factory=dict)


def checkout() -> Path:
    """The checkout of dpbounds that the working directory is in.

    Raises:
        InvalidValue: It is in none.
    """
    here = Path.cwd()
    for place in (here, *here.parents):
        if (place / "CONTRIBUTING.md").is_file() and (place / "dpbounds" / "papers").is_dir():
            return place
    advice = "clone the repository and change to it; for a theorem in a file of your own, copy docs/my_theorem.py"
    raise InvalidValue("the working directory", here, "in a checkout of dpbounds, with its CONTRIBUTING.md", advice)


def _theorem(name: str) -> Stubs:
    cited, place = name.startswith("cited/"), file_of(name)
    folder, stem = place.parent, place.stem
    is_id = ID.fullmatch(name) and name.count("/") >= 1 + cited and not name.startswith("ours/")
    if not is_id or stem.startswith("_") or not _is_module(*folder.parts, stem):
        allowed = "an id, such as my-paper-2026/theorem-2 or cited/my-paper-2026/theorem-2"
        raise InvalidValue(
            "NAME", name, allowed, "the paper, then the item as the paper numbers it; dpbounds/... is our own"
        )
    pieces = name.split("/")
    paper, item = "/".join(pieces[: 1 + cited]), "/".join(pieces[1 + cited :])
    group = folder.parts[2]  # the tests of all cited papers share a folder
    test = f"tests/papers/{group}/test_{folder.name if cited else stem.removesuffix('_explicit')}.py"
    formulas, records = f"tests/papers/{group}/reference_formulas.py", f"tests/papers/records/{group}.toml"
    words = {"ID": name, "PAPER": paper, "MODULE": ".".join(folder.parts[2:])}
    words["ITEM"] = "" if item_of(stem) == item else f'    id="{item}",\n'
    new = "If the paper is new, before anything else: its entry in dpbounds/papers/references.bib"
    if not cited:
        new += ", its title in dpbounds/theorems/index.py, its numbered items in tests/theorems/printed_labels.json"
    return Stubs(
        {place.as_posix(): _filled("statement", words)},
        (
            *(() if paper == "dpbounds" else (f"{new}.",)),
            f"{place.as_posix()}: fill in what is marked; `python -m dpbounds show {name}` shows it.",
            f"{test}: `python -m pytest -n 0 {test}` names what is missing.",
            f"{formulas} and {records}: write its formulas and its claims a second time, with the paper open.",
            "`python -m dpbounds.theorems` and `python -m dpbounds table all --output tables` write index and pages.",
            _explained("theorem"),
        ),
        {
            (folder / "__init__.py").as_posix(): _filled("paper", words),
            formulas: _filled("reference_formulas", words),
            records: _filled("records", words),
            test: _filled("statement_test", words),
        },
    )


def _algorithm(name: str) -> Stubs:
    room, _, last = name.rpartition("/")
    room = room or _ROOMS[0]
    if room not in _ROOMS:
        raise InvalidValue("NAME", name, f"a name, or a folder and a name; the folder is {one_of(room, _ROOMS)}")
    from dpbounds import algorithms

    words = _words(last, algorithms.__all__) | {"ROOM": room}
    place, test = f"algorithms/{room}/{words['FILE']}.py", f"tests/algorithms/{room}/test_{words['FILE']}.py"
    return Stubs(
        {place: _filled("algorithm", words), test: _filled("algorithm_test", words)},
        (
            f"{place}: fill in what is marked: the pseudo-code, the walk and its bound.",
            f"{test}: `python -m pytest -n 0 {test}` names what is missing.",
            "algorithms/verification/studies/: an example, checks and a ladder in the study of its family; then run "
            "`python -m dpbounds.algorithms.verification`.",
            f"algorithms/__init__.py and docs/api/algorithms.md: list {words['CLASS']}; then run "
            "`python docs/generated.py`.",
            _explained("algorithm"),
        ),
    )


def _noise(name: str) -> Stubs:
    return _mechanism("noise", "noises", name)


def _scheme(name: str) -> Stubs:
    return _mechanism("scheme", "schemes", name)


def _mechanism(kind: str, room: str, name: str) -> Stubs:
    from dpbounds.privacy import mechanisms

    words = _words(name, mechanisms.__all__)
    place = f"{_MECHANISMS}/{room}/{words['FILE']}"
    test = f"tests/privacy/pairs/test_{words['FILE']}.py"
    return Stubs(
        {
            f"{place}.md": _filled(f"{kind}_proof", words),
            f"{place}.py": _filled(kind, words),
            test: _filled(f"{kind}_test", words),
        },
        (
            f"{place}.md: write the proof; the class refuses what has none.",
            f"{place}.py: fill in what is marked.",
            f"{test}: `python -m pytest -n 0 {test}` names what is missing.",
            f"{_MECHANISMS}/__init__.py, dpbounds/__init__.py and docs/api/mechanisms.md: list {words['CLASS']}.",
            "tests/privacy/mechanisms/examples.py: a row; `python -m pytest tests/privacy/mechanisms "
            "tests/privacy/publishing tests/documentation/test_generated.py` names the other lists that need one.",
            "tests/mutants/planted/privacy.toml: a planted bug for each term of the proof.",
            _explained("sampling scheme" if kind == "scheme" else kind),
        ),
    )


KINDS: Mapping[str, Callable[[str], Stubs]] = {
    "theorem": _theorem,
    "algorithm": _algorithm,
    "noise": _noise,
    "scheme": _scheme,
}


def _words(name: str, taken: list[str]) -> dict[str, str]:
    """The names of a class, and of its files, that are made of a name."""
    file, kind = name.replace("-", "_"), "".join(word.capitalize() for word in name.split("-"))
    if not _NAME.fullmatch(name) or not _is_module(file):
        raise InvalidValue("NAME", name, "lower case words with hyphens between them, such as heavy-ball")
    if kind in taken:
        raise InvalidValue("NAME", name, "a name of its own", f"{kind} exists already")
    return {"NAME": name, "FILE": file, "CLASS": kind}


def _is_module(*parts: str) -> bool:
    return all(part.isidentifier() and not iskeyword(part) for part in parts)


def _filled(stub: str, words: Mapping[str, str]) -> str:
    """The text of a stub, each @WORD@ replaced by its value."""
    text = resources.files("dpbounds.cli").joinpath("stubs", f"{stub}.txt").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)


def _explained(addition: str) -> str:
    article = "an" if addition[0] in "aeiou" else "a"
    return f'CONTRIBUTING.md, "Adding {article} {addition}", explains these steps.'
