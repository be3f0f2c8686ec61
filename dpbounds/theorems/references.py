"""Sources of statements: BibTeX entries, by paper.

``references.bib`` holds one entry per paper; its key is the paper's id without ``cited/``. Entries are returned as
text, to be pasted; the parser below only makes sure that it is well formed. It reads the plain part of BibTeX that the
file uses (values in braces, one entry after the other, ``%`` comments), and refuses the rest.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from dpbounds.errors import InvalidValue, shortened
from dpbounds.theorems.index import EXPLICIT, OWN, PAPERS, Entry, listing

FILE = "references.bib"
REQUIRED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "article": frozenset({"author", "title", "year", "journal"}),
        "inproceedings": frozenset({"author", "title", "year", "booktitle"}),
        "misc": frozenset({"author", "title", "year"}),
    }
)

_TRIVIAL = "trivial"
_HEAD = re.compile(r"@([a-z]+)\{([a-z0-9-]+),\n")
_FIELD = re.compile(r"[ ]+([a-z]+)[ ]*=[ ]*\{")
_FIELD_END = re.compile(r"\},\n")
_END = re.compile(r"\}\n")
_BETWEEN = re.compile(r"(?:[ \t]*\n|%[^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class Reference:
    """One source.

    Attributes:
        fields: Author, title, year, ..., as they stand, with LaTeX's accents and protecting braces.
    """

    key: str
    kind: str
    fields: Mapping[str, str]
    text: str


def parse(text: str) -> tuple[Reference, ...]:
    r"""Return the entries of a BibTeX text.

    Args:
        text: Entries such as ``@misc{key,`` newline ``  title = {...},`` newline ``}``, blank lines and comments.

    Returns:
        The entries in the order of the text.

    Raises:
        InvalidValue: The text is not of this form, a key or a field occurs twice, a field that the kind requires is
            missing; the message says in which line.

    >>> (one,) = parse("@misc{author-2020,\n  author = {A. B.},\n  title = {{X} and Y},\n  year = {2020},\n}\n")
    >>> one.key, one.fields["title"]
    ('author-2020', '{X} and Y')
    """
    found: dict[str, Reference] = {}
    for reference, start in _entries(text):
        if reference.key in found:
            raise _wrong(text, start, f"such that key {reference.key} occurs once")
        missing = REQUIRED[reference.kind] - set(reference.fields)
        if missing:
            raise _wrong(text, start, f"such that {reference.key} has {', '.join(sorted(missing))}")
        found[reference.key] = reference
    return tuple(found.values())


def _entries(text: str) -> Iterator[tuple[Reference, int]]:
    position = _skip(text, 0)
    while position < len(text):
        start = position
        head = _HEAD.match(text, position)
        if head is None:
            raise _wrong(text, position, "such that an entry begins with @kind{key, on a line of its own")
        kind, key = head.groups()
        if kind not in REQUIRED:
            raise _wrong(text, position, f"of a known kind: {', '.join(REQUIRED)}")
        fields: dict[str, str] = {}
        position = head.end()
        while (field := _FIELD.match(text, position)) is not None:
            value_end = _closing_brace(text, field.end())
            name, value = field[1], text[field.end() : value_end]
            if name in fields:
                raise _wrong(text, position, f"such that field {name} occurs once in {key}")
            if not value.strip():
                raise _wrong(text, position, f"such that field {name} of {key} has a value")
            fields[name] = value
            end = _FIELD_END.match(text, value_end)
            if end is None:
                ending = f"such that field {name} of {key} ends with }}, and a new line; are its braces closed?"
                raise _wrong(text, position, ending)
            position = end.end()
        last = _END.match(text, position)
        if last is None:
            going_on = f"such that {key} goes on with name = {{value}}, or ends with }} on a line of its own"
            raise _wrong(text, position, going_on)
        yield Reference(key, kind, MappingProxyType(fields), text[start : last.end()]), start
        position = _skip(text, last.end())


def _skip(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    assert found is not None  # it matches nothing, too
    return found.end()


def _closing_brace(text: str, start: int) -> int:
    """Return the place of the brace that closes the one before ``start``."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise _wrong(text, start, "such that this value's brace is closed")


def _wrong(text: str, position: int, what: str) -> InvalidValue:
    line = text.count("\n", 0, position) + 1
    return InvalidValue(f"BibTeX from line {line} on", shortened(text[position:].strip().split("\n")[0], 60), what)


@cache
def references() -> Mapping[str, Reference]:
    """Every source of the library under its paper's id, such as ``wang-xu-2019`` or ``cited/abadi-et-al-2016``."""
    text = resources.files("dpbounds.papers").joinpath(FILE).read_text(encoding="utf-8")
    return MappingProxyType({_paper(one.key): one for one in parse(text)})


def _paper(key: str) -> str:
    return key if key in PAPERS else f"cited/{key}"


def bibtex(paper: str) -> str:
    """Return the BibTeX entry of a paper, as it can be pasted.

    Args:
        paper: A paper's id (what ``Theorem.paper`` is), or ``dpbounds`` for the library itself.

    Raises:
        InvalidValue: There is no entry; the message names similar ids.

    >>> print(bibtex("wang-xu-2019").splitlines()[0])
    @inproceedings{wang-xu-2019,
    """
    found = references().get(paper)
    if found is None:
        near = difflib.get_close_matches(paper, references(), n=3, cutoff=0.5) or sorted(references())[-2:]
        raise InvalidValue(
            "paper",
            paper,
            f"a paper of the library, such as {', '.join(near)}",
            "a new paper needs an entry in dpbounds/papers/references.bib",
        )
    return found.text


def bibliography(papers: Iterable[str]) -> str:
    """Return the BibTeX entries of several papers, each once, in the order given.

    Raises:
        InvalidValue: One of them has no entry.

    >>> bibliography(["wang-xu-2019", "cited/abadi-et-al-2016", "wang-xu-2019"]).count("@")
    2
    """
    return "\n".join(bibtex(paper) for paper in dict.fromkeys(papers))


def authors_and_year(paper: str) -> str:
    """Return the authors and the year of a paper, as in a text.

    Raises:
        InvalidValue: The library has no such paper.

    >>> authors_and_year("wang-xu-2019"), authors_and_year("lowy-ullman-wright-2024")
    ('Wang & Xu 2019', 'Lowy et al. 2024')
    """
    bibtex(paper)  # refuses an unknown one
    fields = references()[paper].fields
    names = [re.sub(r"^\{(.*)\}$", r"\1", one.split(",")[0]) for one in fields["author"].split(" and ")]
    return f"{names[0]} et al. {fields['year']}" if len(names) > 2 else f"{' & '.join(names)} {fields['year']}"


def cited_as(name: str) -> str:
    """Return the authors, the year and the number of a statement; any other name is returned as it is.

    >>> cited_as("cited/arora-et-al-2023/theorem-4.2"), cited_as("cited/wang-xu-2020/main-result")
    ('Arora et al. 2023, Theorem 4.2', 'Wang & Xu 2020')
    >>> cited_as("dpbounds/langevin-under-pl"), cited_as("wang-xu-2019")
    ('dpbounds, langevin under pl', 'wang-xu-2019')
    >>> cited_as("wang-xu-2019/theorem-2/explicit: tuned")  # with a part of the statement
    'Wang & Xu 2019, Theorem 2, explicit: tuned'
    >>> cited_as("trivial")  # the name of that bound in rankings and regimes
    'the bound without any algorithm'
    """
    if name == _TRIVIAL:
        return "the bound without any algorithm"
    statement, colon, part = name.partition(": ")
    entry = _entries_by_id().get(statement)
    if entry is None:
        return name
    paper = OWN if entry.paper == OWN else authors_and_year(entry.paper)
    cited = paper if entry.number == "main result" else f"{paper}, {entry.number}"
    return cited + colon + part


def without_versions(names: Sequence[str]) -> list[str]:
    """Return ids without the versions with constants of statements that are among them.

    >>> without_versions(["wang-xu-2019/theorem-2", "wang-xu-2019/theorem-2/explicit"])
    ['wang-xu-2019/theorem-2']
    """
    return [name for name in names if name.removesuffix(EXPLICIT) not in names or not name.endswith(EXPLICIT)]


def id_of(name: str) -> str:
    """Return the id of the statement that :func:`cited_as` writes so; any other name is returned as it is.

    >>> id_of("Arora et al. 2023, Theorem 4.2"), id_of("wang-xu-2019/theorem-2")
    ('cited/arora-et-al-2023/theorem-4.2', 'wang-xu-2019/theorem-2')
    """
    return _ids_by_citation().get(name, name)


@cache
def _ids_by_citation() -> Mapping[str, str]:
    return MappingProxyType({cited_as(name): name for name in _entries_by_id()})


@cache
def _entries_by_id() -> Mapping[str, Entry]:
    return MappingProxyType({entry.id: entry for entry in listing()})
