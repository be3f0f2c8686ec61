"""`dpbounds theorems`: the statements of the library, one line each."""

from __future__ import annotations

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import METRICS, PAPERS, STATUSES
from dpbounds.errors import InvalidValue, one_of
from dpbounds.theorems.index import Entry, listing


@click.command("theorems", short_help="List the theorems of the library.")
@click.option("--paper", metavar="P", shell_complete=PAPERS, help="Paper, such as wang-xu-2019, or cited.")
@click.option("--metric", metavar="M", shell_complete=METRICS, help="Quantity that is bounded, such as gradient-norm.")
@click.option(
    "--status", metavar="S", shell_complete=STATUSES, help="Status of the statement or of a part, such as proved."
)
@click.option("--search", metavar="TEXT", help="Words that the id, title or statement contains.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on standard output.")
def command(paper: str | None, metric: str | None, status: str | None, search: str | None, as_json: bool) -> int:
    """List the theorems of the library, with their status and title.

    Example: dpbounds theorems --metric gradient-norm --status proved
    """
    entries = listing()
    _known("--paper", paper, {entry.paper for entry in entries} | {entry.paper.split("/")[0] for entry in entries})
    _known("--metric", metric, {entry.metric for entry in entries})
    _known("--status", status, {known for entry in entries for known in (entry.status, *entry.part_statuses)})
    chosen = [
        entry
        for entry in entries
        if (paper is None or entry.paper == paper or entry.paper.startswith(paper + "/"))
        and (metric is None or entry.metric == metric)
        and (status is None or status in (entry.status, *entry.part_statuses))
        and (search is None or _mentions(entry, search))
    ]
    if as_json:
        output.print_json([_json(entry) for entry in chosen])
        return 0
    if not chosen:
        of_words = "" if search is None else "; --search finds theorems that have all of its words"
        click.echo(f"no theorem fits{of_words}")
        return 0
    width = max(len(entry.id) for entry in chosen)
    for entry in chosen:
        wrong = f"  (errata: {len(entry.errata)})" if entry.errata else ""
        click.echo(f"{entry.id:<{width}}  {entry.status:<12}  {entry.title}{_apart(entry)}{wrong}")
    click.echo(f"\n{len(chosen)} statements; `dpbounds show ID` prints one")
    return 0


def _known(option: str, value: str | None, known: set[str]) -> None:
    if value is not None and value not in known:
        raise InvalidValue(option, value, one_of(value, sorted(known), "`dpbounds theorems`"))


def _mentions(entry: Entry, text: str) -> bool:
    """Return whether the text has all words, in any order."""
    whole = " ".join((entry.id, entry.number, entry.title, entry.statement)).lower()
    return all(word in whole for word in text.lower().split())


def _apart(entry: Entry) -> str:
    """Return the parts with another status than the whole."""
    pairs = zip(entry.parts, entry.part_statuses, strict=True)
    told = ", ".join(f"{part} {known}" for part, known in pairs if known != entry.status)
    return f"  [{told}]" if told else ""


def _json(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "paper": entry.paper,
        "number": entry.number,
        "title": entry.title,
        "metric": entry.metric,
        "side": entry.side or None,
        "mode": entry.mode or None,
        "status": entry.status,
        "parts": list(entry.parts),
        "part_statuses": dict(zip(entry.parts, entry.part_statuses, strict=True)),
        "algorithm": entry.algorithm or None,
        "errata": [one.severity for one in entry.errata],
    }
