"""`dpbounds errata`: the errata of the papers, with reasons."""

from __future__ import annotations

import textwrap

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import PAPERS
from dpbounds.errors import InvalidValue, one_of
from dpbounds.theorems.index import listing
from dpbounds.theorems.references import cited_as

SEVERITIES = ("typo", "harmless", "constant", "gap", "false", "privacy")


@click.command("errata", short_help="List the errata of the papers, with reasons.")
@click.option("--paper", metavar="P", shell_complete=PAPERS, help="Paper, such as wang-xu-2019.")
@click.option("--severity", metavar="S", help="One of " + ", ".join(SEVERITIES) + ".")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on standard output.")
def command(paper: str | None, severity: str | None, as_json: bool) -> int:
    """List the errata: the published text, the correction, what remains true, and the test that shows it.

    Example: dpbounds errata --severity privacy
    """
    if severity is not None and severity not in SEVERITIES:
        raise InvalidValue("--severity", severity, "one of " + ", ".join(SEVERITIES))
    entries = listing()
    papers = {entry.paper for entry in entries} | {"cited"}
    if paper is not None and paper not in papers:
        raise InvalidValue("--paper", paper, one_of(paper, sorted(papers), "`dpbounds theorems`"))
    found = [
        (entry, one)
        for entry in entries
        if paper is None or entry.paper == paper or entry.paper.startswith(paper + "/")
        for one in entry.errata
        if severity is None or one.severity == severity
    ]
    if as_json:
        output.print_json(
            [
                {
                    "id": entry.id,
                    "where": one.where,
                    "printed": one.printed,
                    "right": one.right,
                    "severity": one.severity,
                    "evidence": one.evidence,
                    "survives": one.survives or None,
                    "relation": one.relation or None,
                    "also": list(one.also),
                }
                for entry, one in found
            ]
        )
        return 0
    for entry, one in found:
        under = f", under {one.relation}" if one.relation else ""
        click.echo(f"{cited_as(entry.id)}  [{one.severity}{under}]  {one.where}")
        texts = {"printed": one.printed, "right": one.right, "survives": one.survives}
        texts["also in"] = "; ".join(map(cited_as, one.also))
        for label, text in texts.items():
            if text:
                click.echo(textwrap.fill(f"{label}: {text}", 110, initial_indent="    ", subsequent_indent="      "))
        click.echo(f"    evidence: {one.evidence}\n")
    click.echo(f"{len(found)} errata; each has a test that derives it or exhibits the example")
    return 0
