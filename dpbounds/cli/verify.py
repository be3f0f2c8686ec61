"""`dpbounds verify`: theory against empirical behaviour, statement by statement.

JSON: checks [{theorem, name, kind, predicted, measured {mean, low, high}, verdict, reason, seconds}], counts,
suite_error.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE, output
from dpbounds.cli.options import FILE, whole, writable, writing
from dpbounds.errors import InvalidValue

if TYPE_CHECKING:
    from algorithms.verification.suite import Outcome, Size

_MEMORY = ":memory:"
_COLUMNS = ("statement", "check", "kind", "predicted", "measured", "low", "high", "verdict", "reason", "seconds")


@click.command("verify", short_help="Theory against empirical behaviour.")
@click.argument("names", metavar="[ID...]", nargs=-1)
@click.option("--quick", is_flag=True, help="Every check at small size, in minutes (the default).")
@click.option("--full", is_flag=True, help="Every check at full size, overnight.")
@click.option("--store", "store", type=FILE, callback=writable, metavar="FILE", help="Keep finished cells; resumable.")
@click.option("--jobs", default="1", callback=whole, show_default=True, metavar="N", help="Processes on this machine.")
@click.option("--scheduler", metavar="tcp://...", help="A Dask scheduler, instead of processes on this machine.")
@click.option("--output", "folder", type=FILE, metavar="DIR", help="Write verification.md and verification.csv there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    names: tuple[str, ...],
    quick: bool,
    full: bool,
    store: Path | None,
    jobs: int,
    scheduler: str | None,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Hold statements against what is measured. ID is a statement or a paper; all of them by default.

    Exit status 1 when a check fails; undecided ones are listed with what would decide them.

    Example: dpbounds verify tholeti-kalyani-2020 --jobs 2
    """
    if quick and full:
        raise InvalidValue("--quick", "--full", "one of the two")

    from algorithms.verification.store import Store
    from algorithms.verification.suite import Size, failed, run_suite

    size = Size.FULL if full else Size.QUICK
    with Store(_MEMORY if store is None else store) as cells:
        outcomes = run_suite(
            size, cells, theorems=names, jobs=jobs, scheduler=scheduler, progress=None if as_json else _progress
        )
    if folder is not None:
        _write(folder, outcomes, size, names)
    if as_json:
        output.print_json(_document(outcomes))
    else:
        _print(outcomes)
        if folder is not None:
            click.echo(f"wrote {folder / 'verification.md'} and {folder / 'verification.csv'}")
    return DOES_NOT_HOLD if failed(outcomes) else DONE


def _progress(done: int, total: int) -> None:
    """One line on standard error, rewritten; nothing where it is no terminal."""
    if sys.stderr.isatty():
        click.echo(f"\rcell {done} of {total} ", err=True, nl=done == total)


def _document(outcomes: Sequence[Outcome]) -> dict[str, object]:
    from algorithms.verification.suite import SUITE_ERROR

    return {
        "checks": [
            {
                "theorem": one.planned.theorem,
                "name": one.planned.name,
                "kind": one.planned.kind,
                "predicted": _predicted(one),
                "measured": dict(zip(("mean", "low", "high"), map(_number, _measured(one)), strict=True)),
                "verdict": str(one.check.verdict),
                "reason": one.check.reason,
                "seconds": round(one.seconds, 3),
            }
            for one in outcomes
        ],
        "counts": _counts(outcomes),
        "suite_error": SUITE_ERROR,
    }


def _predicted(one: Outcome) -> object:
    from algorithms.verification.slopes import SlopeCheck

    if isinstance(one.check, SlopeCheck):
        return one.check.predicted
    return {"lower": one.check.predicted.lower, "upper": one.check.predicted.upper}


def _measured(one: Outcome) -> tuple[float, float, float]:
    from algorithms.verification.slopes import SlopeCheck

    if isinstance(one.check, SlopeCheck):
        return one.check.slope.value, one.check.slope.low, one.check.slope.high
    return one.check.measured.mean, one.check.measured.low, one.check.measured.high


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    counts = {"holds": 0, "undecided": 0, "fails": 0}
    for one in outcomes:
        counts[str(one.check.verdict)] += 1
    return counts


def _print(outcomes: Sequence[Outcome]) -> None:
    theorem = ""
    for one in outcomes:
        if one.planned.theorem != theorem:
            theorem = one.planned.theorem
            click.echo(theorem)
        click.echo(f"  {one.check.verdict!s:<9} {one.planned.kind}: {one.planned.name}")
        click.echo(f"            {one.check.reason}")
    counts = _counts(outcomes)
    click.echo(f"\n{counts['holds']} hold, {counts['undecided']} undecided, {counts['fails']} fail")


def _write(folder: Path, outcomes: Sequence[Outcome], size: Size, names: Sequence[str]) -> None:
    from algorithms.verification.suite import SUITE_ERROR
    from dpbounds import __version__

    folder.mkdir(parents=True, exist_ok=True)
    rows = [_row(one) for one in outcomes]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(rows)
    writing(folder / "verification.csv", text.getvalue(), "--output")
    counts = _counts(outcomes)
    words = " ".join(names)
    shown = _COLUMNS[:-2]
    lines = [
        "# Theory against practice",
        "",
        f"Made by `dpbounds verify {words}{' ' if words else ''}--{size}` with dpbounds {__version__}: "
        f"{counts['holds']} checks hold, {counts['undecided']} are undecided, {counts['fails']} fail. All of them "
        f"together raise a false alarm in at most {SUITE_ERROR:.0%} of runs.",
        "",
        "| " + " | ".join(shown) + " |",
        "| " + " | ".join("---" for _ in shown) + " |",
    ]
    lines += ["| " + " | ".join(cell.replace("|", r"\|") for cell in row[: len(shown)]) + " |" for row in rows]
    writing(folder / "verification.md", "\n".join(lines) + "\n", "--output")


def _row(one: Outcome) -> tuple[str, ...]:
    from algorithms.verification.slopes import SlopeCheck

    value = one.check.predicted if isinstance(one.check, SlopeCheck) else one.check.predicted.upper
    return (
        one.planned.theorem,
        one.planned.name,
        one.planned.kind,
        f"{value:.5g}",
        *(f"{number:.5g}" for number in _measured(one)),
        str(one.check.verdict),
        one.check.reason,
        f"{one.seconds:.2f}",
    )
