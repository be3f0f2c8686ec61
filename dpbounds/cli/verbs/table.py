"""`dpbounds table`: comparison tables and pages made from the library, and whether the committed ones are fresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import progress_bar
from dpbounds.cli.questions.completion import TABLES
from dpbounds.cli.questions.options import FILE, unfit, writing
from dpbounds.cli.verbs.evaluate import assignments
from dpbounds.errors import InvalidValue, one_of
from dpbounds.expressions.exact import practical

if TYPE_CHECKING:
    from dpbounds.render.tables import Table

_HOME = Path("tables")
_FORMATS = ("md", "latex", "bib", "html", "csv")


@click.command("table", short_help="Print comparison tables and pages of the library.")
@click.argument("name", metavar="NAME|all", shell_complete=TABLES)
@click.option("--format", "form", default="md", metavar="F", help="md (the default), latex, bib, html, csv.")
@click.option("--at", "point", metavar="n=1e6,d=100,...", help="Values: adds columns with numbers, and sorts by them.")
@click.option(
    "--with",
    "own",
    type=FILE,
    multiple=True,
    metavar="FILE.py",
    help="File with your own theorem, to be added as a row.",
)
@click.option("--columns", metavar="A,B,...", help="Columns to print, in this order.")
@click.option("--rows", metavar="ID,...", help="Rows to print, as lowy-*,cited/arora-*; those of --with stay.")
@click.option(
    "--letters",
    metavar="n,d,L,beta",
    help="Letters for n, d, Lipschitz and smoothness constant; others as NAME=LETTER.",
)
@click.option("--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Directory to write to.")
@click.option(
    "--check", is_flag=True, help="List the stale files in DIR (default: tables); exit status 1 if there are any."
)
@click.option("--figures", is_flag=True, help="With all and --output: draw DIR/figures, too (needs matplotlib).")
@click.option("--json", "as_json", is_flag=True, help="With --check: one JSON object on standard output.")
def command(
    name: str,
    form: str,
    point: str | None,
    own: tuple[Path, ...],
    columns: str | None,
    rows: str | None,
    letters: str | None,
    folder: Path | None,
    check: bool,
    figures: bool,
    as_json: bool,
) -> int:
    """Print a table or a page; or write all of them.

    NAME is a table (gradient-norm, noise-constants, ...), a paper's id, cited, dpbounds, or errata. A FILE.py is
    executed: read it first if it is not yours. LaTeX tables contain citations; --output writes their dpbounds.bib, too.

    Example: dpbounds table gradient-norm --at n=1e6,d=100,epsilon=1,delta=1e-6
    """
    given = assignments(tuple(point.split(","))) if point else {}
    at = {quantity: practical(value, quantity) for quantity, value in given.items()}
    if form not in _FORMATS:
        raise InvalidValue("--format", form, "one of " + ", ".join(_FORMATS))
    if as_json and not check:
        raise unfit("--json", "needs --check", "for programs there is --format csv")
    if figures and (name != "all" or folder is None or check):
        raise unfit("--figures", "needs all and --output DIR, and no --check")
    if figures and find_spec("matplotlib") is None:
        raise unfit("--figures", "needs matplotlib", "pip install 'dpbounds[demo]'")
    wanted = _Wanted(at, own, columns, rows, letters)
    if check and wanted != _Wanted():
        raise unfit("--check", "fits none of --at, --with, --columns, --rows and --letters: committed files have none")
    if name == "all":
        if wanted != _Wanted() or form != "md":
            raise InvalidValue(
                "NAME", name, "one table's name, with --format, --at, --with, --columns, --rows, --letters"
            )
        if folder is None and not check:
            raise InvalidValue("NAME", name, "one table's name, or all together with --output DIR or --check")
        files = _everything()
    elif check:
        files = _committed(name)
    else:
        files = _files_of(name, form, wanted, alone=folder is None)
    if check:
        return _report(_stale(files, folder or _HOME, everything=name == "all"), as_json)
    if folder is None:
        click.echo(next(iter(files.values())), nl=False)
        return DONE
    _write(files, folder)
    if figures:
        from dpbounds.render.figures import write

        for path in write(folder / "figures"):
            output.print_written(path)
    return DONE


@dataclass(frozen=True)
class _Wanted:
    """The choices of columns, rows and values that differ from the defaults of a table."""

    at: Mapping[str, Fraction] = field(default_factory=dict)
    own: tuple[Path, ...] = ()
    columns: str | None = None
    rows: str | None = None
    letters: str | None = None

    def table(self, name: str) -> Table:
        from dpbounds.cli.questions.letters import letters
        from dpbounds.expressions.symbols import by_name
        from dpbounds.render.catalogue import table
        from dpbounds.render.tables import Id
        from dpbounds.theorems.registry import library, own_statements

        statements = own_statements(self.own) if self.own else ()
        unknown = self.at.keys() - by_name().keys()
        local = {one.name for each in (*library(), *statements) for one in each.local} if unknown else set()
        for word in unknown - local:
            raise InvalidValue("--at", word, "a quantity's name", "such as n, d, epsilon, lipschitz, smoothness")
        found = table(name, self.at, statements)
        shown = {row[0].text.split(": ")[0] for row in found.rows if isinstance(row[0], Id) and row[0].own}
        for path, one in zip(self.own, statements, strict=True):
            if one.id not in shown:
                raise InvalidValue("--with", path, f"a statement that belongs into {name}", f"it bounds {one.metric}")
        if self.rows is not None:
            found = found.with_rows(self.rows.split(","))
        if self.columns is not None:
            found = found.with_columns(self.columns.split(","))
        return found if self.letters is None else found.with_letters(letters(self.letters))


def _files_of(name: str, form: str, wanted: _Wanted, alone: bool) -> dict[str, str]:
    """Return the file of a table or a page in a format; for LaTeX fragments, also the cited references."""
    from dpbounds.render import catalogue, pages
    from dpbounds.render.forms import rendered
    from dpbounds.render.latex import BIBLIOGRAPHY, bibliography_of
    from dpbounds.render.tables import ENDINGS

    if name in pages.names():
        if form != "md" or wanted != _Wanted():
            raise unfit("--format, --at, ...", f"fit no page such as {name}, which is Markdown as it stands")
        return {f"{name}.md": pages.page(name)}
    if name not in catalogue.names():
        raise InvalidValue("table", name, one_of(name, (*catalogue.names(), *pages.names(), "all")))
    found = wanted.table(name)
    cited = {BIBLIOGRAPHY: bibliography_of([found])} if form == "bib" or (form == "latex" and not alone) else {}
    return cited if form == "bib" else {f"{name}.{ENDINGS[form]}": rendered(found, form), **cited}


def _committed(name: str) -> dict[str, str]:
    """Return the files of a table or a page that belong into ``tables``."""
    from dpbounds.render import pages
    from dpbounds.render.catalogue import table
    from dpbounds.render.forms import rendered
    from dpbounds.render.tables import COMMITTED, ENDINGS

    if name in pages.names():
        return {f"{name}.md": pages.page(name)}
    made = table(name)
    return {f"{name}.{ENDINGS[form]}": rendered(made, form) for form in COMMITTED}


def _everything() -> dict[str, str]:
    from dpbounds.render import catalogue, pages
    from dpbounds.render.latex import BIBLIOGRAPHY
    from dpbounds.theorems.references import bibliography, references

    files = {BIBLIOGRAPHY: bibliography(references())}
    names = (*catalogue.names(), *pages.names())
    with progress_bar("tables", shown=True) as progress:
        for done, name in enumerate(names, start=1):
            files.update(_committed(name))
            if progress is not None:
                progress(done, len(names))
    return files


def _write(files: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        writing(folder / file, text, "--output")
        output.print_written(folder / file)


def _stale(files: dict[str, str], folder: Path, everything: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"stale": [], "missing": [], "superfluous": []}
    for file, text in files.items():
        path = folder / file
        if not path.is_file():
            found["missing"].append(str(path))
        elif path.read_bytes() != text.encode():
            found["stale"].append(str(path))
    if everything:
        known = (path for ending in ("md", "tex", "csv", "bib") for path in folder.glob(f"*.{ending}"))
        found["superfluous"] = sorted(str(path) for path in known if path.name not in files)
    return found


def _report(found: dict[str, list[str]], as_json: bool) -> int:
    if as_json:
        output.print_json(found)
    else:
        for kind, files in found.items():
            for file in files:
                click.echo(f"{kind}: {file}")
        if not any(found.values()):
            click.echo("every file is fresh")
        else:
            click.echo("run: dpbounds table all --output tables")
    return DOES_NOT_HOLD if any(found.values()) else DONE
