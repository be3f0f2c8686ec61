"""`dpbounds table`: pages made from the library, and whether the committed ones are fresh.

JSON (with --check): stale, missing and superfluous files.
"""

from __future__ import annotations

from pathlib import Path

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE, output
from dpbounds.cli.options import writing
from dpbounds.errors import InvalidValue

_HOME = Path("tables")


@click.command("table", short_help="Pages of the library: a paper's statements, all errata.")
@click.argument("name", metavar="NAME|all")
@click.option("--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write files there.")
@click.option("--check", is_flag=True, help="Say which files in DIR (default: tables) are stale; exit 1 if any is.")
@click.option("--json", "as_json", is_flag=True, help="With --check: one JSON object on standard output.")
def command(name: str, folder: Path | None, check: bool, as_json: bool) -> int:
    """Print a page in Markdown, or write all of them. NAME is a paper's id, cited, dpbounds, or errata.

    Example: dpbounds table all --output tables
    """
    from dpbounds.render.pages import page, pages

    if name != "all":
        text = page(name)
        if check:
            return _report(_stale({f"{name}.md": text}, folder or _HOME, everything=False), as_json)
        if folder is None:
            click.echo(text)
        else:
            _write({f"{name}.md": text}, folder)
        return DONE
    if check:
        return _report(_stale(dict(pages()), folder or _HOME, everything=True), as_json)
    if folder is None:
        raise InvalidValue("NAME", "all", "one page's name, or all together with --output DIR or --check")
    _write(dict(pages()), folder)
    return DONE


def _write(files: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        writing(folder / file, text, "--output")
        click.echo(f"wrote {folder / file}")


def _stale(files: dict[str, str], folder: Path, everything: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"stale": [], "missing": [], "superfluous": []}
    for file, text in files.items():
        path = folder / file
        if not path.is_file():
            found["missing"].append(str(path))
        elif path.read_text(encoding="utf-8") != text:
            found["stale"].append(str(path))
    if everything:
        found["superfluous"] = sorted(str(path) for path in folder.glob("*.md") if path.name not in files)
    return found


def _report(found: dict[str, list[str]], as_json: bool) -> int:
    if as_json:
        output.print_json(found)
    else:
        for kind, files in found.items():
            for file in files:
                click.echo(f"{kind}: {file}")
        if not any(found.values()):
            click.echo("every page is fresh")
        else:
            click.echo("run: dpbounds table all --output tables")
    return DOES_NOT_HOLD if any(found.values()) else DONE
