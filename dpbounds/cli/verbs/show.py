"""`dpbounds show`: one theorem."""

from __future__ import annotations

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import IDS
from dpbounds.errors import InvalidValue


@click.command("show", short_help="Show a theorem: claim, conditions, formulas, errata, source.")
@click.argument("name", metavar="ID", shell_complete=IDS)
@click.option("--latex", is_flag=True, help="Print it in LaTeX.")
@click.option("--markdown", is_flag=True, help="Print it in Markdown, with formulas in LaTeX.")
@click.option("--bibtex", is_flag=True, help="Print the source as a BibTeX entry.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(name: str, latex: bool, markdown: bool, bibtex: bool, as_json: bool) -> int:
    """Show a theorem. ID is one that `dpbounds theorems` lists, or a file of your own, such as ./my_theorem.py.

    A FILE.py is executed: read it first if it is not yours.

    Example: dpbounds show wang-xu-2019/theorem-2
    """
    if latex + markdown + bibtex + as_json > 1:
        raise InvalidValue("output", "several", "one of --latex, --markdown, --bibtex and --json")

    from dpbounds.theorems import wording
    from dpbounds.theorems.checking import defects
    from dpbounds.theorems.registry import theorem

    found = theorem(name)
    if bibtex:
        from dpbounds.theorems.references import bibtex as entry

        click.echo(entry(found.paper))
        return 0
    problems: tuple[str, ...] = ()
    if name.endswith(".py"):
        from dpbounds.rates.refutations import refutations
        from dpbounds.theorems.registry import library

        problems = (*defects(found), *map(str, refutations((found,), library())))
    if as_json:
        output.print_json({**wording.as_data(found), "defects": list(problems)})
        return 0
    teller = wording.as_latex if latex else wording.as_markdown if markdown else wording.as_text
    click.echo(teller(found))
    if name.endswith(".py"):
        lines = [f"  {problem}" for problem in problems] or [
            "  none: formulas are exact, known and scale as they should, and nothing in the library contradicts them"
        ]
        click.echo("\nDefects found in the file\n" + "\n".join(lines))
    return 0
