"""`dpbounds new`: the files that an addition to dpbounds begins with."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpbounds.cli.answers.stubs import KINDS, checkout
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import writing
from dpbounds.errors import InvalidValue, one_of


@click.command("new", short_help="Write commented stubs of a theorem, an algorithm, a noise or a scheme.")
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(kind: str, name: str, as_json: bool) -> int:
    """Write the first files of an addition into the checkout of dpbounds that you are in, and say what is left to do.

    KIND is theorem, algorithm, noise or scheme. NAME is the id of a theorem (my-paper-2026/theorem-2), the name of an
    algorithm, with its folder if that is not descents (spider/my-spider), or the name of a noise or a scheme
    (student-t). No file is overwritten. A stub is imported without an error; its test fails until it is filled in.

    Example: dpbounds new noise student-t
    """
    if kind not in KINDS:
        raise InvalidValue("KIND", kind, one_of(kind, KINDS))
    root, stubs = checkout(), KINDS[kind](name)
    for path in stubs.files:
        if os.path.lexists(root / path):
            raise InvalidValue("NAME", name, "one whose files do not exist", f"{path} does; nothing was written")
    kept = [path for path in stubs.shared if os.path.lexists(root / path)]
    written = {path: text for path, text in {**stubs.files, **stubs.shared}.items() if path not in kept}
    for path, text in written.items():
        _write(root / path, text)
    if as_json:
        output.print_json({"kind": kind, "name": name, "files": [*written], "kept": kept, "steps": [*stubs.steps]})
        return 0
    for path in written:
        output.print_written(Path(os.path.relpath(root / path)))
    for path in kept:
        click.echo(f"kept {os.path.relpath(root / path)}, which exists already")
    click.echo("\nWhat is left to do:")
    for number, step in enumerate(stubs.steps, start=1):
        click.echo(f"  {number}. {step}")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValue("NAME", path, "a file that can be written", error.strerror or "") from None
    writing(path, text, "NAME")
