"""Pages in Markdown: every statement of a paper, and all errata."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dpbounds.errors import InvalidValue
from dpbounds.theorems.index import PAPERS, Entry, listing
from dpbounds.theorems.registry import library
from dpbounds.theorems.wording import as_markdown

ERRATA = "errata"
_MADE = "<!-- made by `dpbounds table all`; do not edit -->"


def names() -> tuple[str, ...]:
    """Return the names of all pages."""
    papers = {entry.paper.split("/")[0] for entry in listing()}
    return (*(paper for paper in PAPERS if paper in papers), ERRATA)


def page(name: str) -> str:
    """Return a page in Markdown.

    Raises:
        InvalidValue: There is no page of that name.
    """
    if name == ERRATA:
        return _errata()
    if name not in names():
        raise InvalidValue("table", name, "one of " + ", ".join(names()) + ", or all")
    return _paper(name)


def pages() -> Mapping[str, str]:
    """Every page under its file name."""
    return {f"{name}.md": page(name) for name in names()}


@cache
def _statements() -> dict[str, str]:
    return {one.id: as_markdown(one) for one in library()}


def _paper(name: str) -> str:
    entries = [entry for entry in listing() if entry.paper.split("/")[0] == name]
    lines = [_MADE, "", f"# {PAPERS[name]}", "", *_summary(entries), ""]
    lines += [_statements()[entry.id] for entry in entries]
    return "\n".join(lines)


def _summary(entries: list[Entry]) -> list[str]:
    rows = ["| statement | about | bounds | status | errata |", "| --- | --- | --- | --- | --- |"]
    for entry in entries:
        wrong = ", ".join(sorted({one.severity for one in entry.errata})) or ""
        metric = "" if entry.metric == "none" else entry.metric.replace("-", " ")
        rows.append(f"| `{entry.id}` | {_cell(entry.title)} | {metric} | {entry.status} | {wrong} |")
    return rows


def _errata() -> str:
    lines = [
        _MADE,
        "",
        "# Errata of the papers",
        "",
        "An entry is an error of the published text, taken literally: a claim or formula that fails in the range given",
        "for it, constants that do not fit the unit of what they bound, a step that does not give what is concluded,",
        "an account of privacy that does not cover what is released. Conventions, looseness and slips that do not",
        "mislead are notes on the statement's page; a logarithm in an order of growth is read as at least 1. A fault",
        "has one entry, where it arises. Each has a test, in `tests/papers/` under its paper, that derives it or",
        "exhibits the example; *survives* says what remains true. Versions are those named on each paper's page.",
        "",
    ]
    for entry in listing():
        if not entry.errata:
            continue
        lines += [f"## {entry.number} · `{entry.id}`", ""]
        for one in entry.errata:
            under = f" (under {one.relation})" if one.relation else ""
            lines += [
                f"**{one.severity}**{under}, {one.where}",
                "",
                f"- printed: {one.printed}",
                f"- right: {one.right}",
                *([f"- survives: {one.survives}"] if one.survives else []),
                *([f"- also in: {', '.join(f'`{name}`' for name in one.also)}"] if one.also else []),
                f"- evidence: `{one.evidence}`",
                "",
            ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
