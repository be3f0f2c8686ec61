"""`dpbounds tightness`: bounds, with problems on which they are nearly attained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import IDS
from dpbounds.errors import InvalidValue

if TYPE_CHECKING:
    from dpbounds.rates.tightness.instances import Finding
    from dpbounds.rates.tightness.rows import Row
    from dpbounds.theorems.record import Theorem


@click.command("tightness", short_help="Compare each bound with the worst problem known.")
@click.argument("name", metavar="[ID]", required=False, shell_complete=IDS)
@PLOT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON list on standard output.")
def command(name: str | None, plot: Path | None, as_json: bool) -> int:
    """Compare bounds with their values on problems where the bounded quantity is computed with proof.

    Example: dpbounds tightness dpbounds/noisy-descent-exact
    """
    from dpbounds.rates.tightness import rows
    from dpbounds.theorems.references import cited_as
    from dpbounds.theorems.registry import theorem

    found = rows.rows() if name is None else (rows.row(_with_constants(theorem(name))),)
    if plot is not None:
        from dpbounds.cli.answers import plots

        plots.write(plot, plots.tightness(found))
    if as_json:
        output.print_json([_data(one) for one in found])
        return 0
    for one in found:
        if one.reason is not None:
            click.echo(f"{cited_as(one.theorem.id)}: open: {one.reason}")
        for finding in one.findings:
            click.echo(f"{cited_as(finding.instance.statement)}, {finding.instance.part}: {rows.verdict(finding)}")
            if name is not None:
                _tell(finding)
    return 0


def _with_constants(statement: Theorem) -> Theorem:
    if statement.bound is None:
        raise InvalidValue(
            "ID", statement.id, "a statement with a bound with constants", "`dpbounds tightness` lists them"
        )
    return statement


def _tell(finding: Finding) -> None:
    one = finding.instance
    click.echo(f"  bound     {finding.bound}")
    click.echo(f"  instance  {finding.value}  {one.loss.name}: {one.run}")
    click.echo(f"  ratio     {finding.ratio}")
    click.echo(f"  loses     {one.gap}")
    click.echo(f"  at        {_at(finding)}")


def _at(finding: Finding) -> str:
    return " ".join(f"{name}={value}" for name, value in finding.instance.values.items())


def _data(row: Row) -> dict[str, Any]:
    from dpbounds.rates.tightness.rows import verdict

    return {
        "id": row.theorem.id,
        "instances": [
            {
                "part": finding.instance.part,
                "verdict": verdict(finding),
                "ratio": output.json_ends(finding.ratio),
                "bound": output.json_ends(finding.bound),
                "instance": output.json_ends(finding.value),
                "loss": finding.instance.loss.name,
                "run": finding.instance.run,
                "gap": finding.instance.gap,
                "at": {name: str(value) for name, value in finding.instance.values.items()},
            }
            for finding in row.findings
        ],
        "open": row.reason,
    }
