"""`dpbounds verify`: theory against empirical behaviour, statement by statement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.answers import plots, verification_report
from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import progress_bar
from dpbounds.cli.questions.completion import CHECKED
from dpbounds.cli.questions.options import FILE, PLAIN_REPORT_OPTION, note, number_of_processes, unfit, writable
from dpbounds.errors import InvalidValue
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    from dpbounds.algorithms.verification.experiments import Picture
    from dpbounds.algorithms.verification.judging.planned_checks import PlannedCheck
    from dpbounds.algorithms.verification.suite import Outcome


@click.command("verify", short_help="Compare theorems with runs of algorithms.")
@click.argument("names", metavar="[ID...]", nargs=-1, shell_complete=CHECKED)
@click.option("--quick", is_flag=True, help="Run one check of every statement, at small size.")
@click.option("--full", is_flag=True, help="Run every check at full size (takes a night).")
@click.option(
    "--store",
    "directory",
    type=FILE,
    metavar="DIR",
    help="Directory that keeps finished runs, to resume from.",
)
@click.option(
    "--jobs",
    default="1",
    callback=number_of_processes,
    show_default=True,
    metavar="N",
    help="Number of processes on this machine.",
)
@click.option(
    "--scheduler", metavar="tcp://...", help="Address of a Dask scheduler, in place of processes on this machine."
)
@click.option("--experiments", is_flag=True, help="Run the papers' experiments again, too; pictures with --output.")
@click.option(
    "--output", "folder", type=FILE, metavar="DIR", help="Directory to write verification.md and verification.csv to."
)
@click.option(
    "--export", type=FILE, callback=writable, metavar="FILE", help="Write all runs of this command: .csv or .parquet."
)
@PLOT_OPTION
@PLAIN_REPORT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    names: tuple[str, ...],
    quick: bool,
    full: bool,
    directory: Path | None,
    jobs: int,
    scheduler: str | None,
    experiments: bool,
    folder: Path | None,
    export: Path | None,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Compare theorems with measurements. ID is a theorem or a paper; all of them by default.

    By default, every check is run at small size, in minutes. The exit status is 1 if a check fails; undecided checks
    are listed with a way to decide them.

    Example: dpbounds verify tholeti-kalyani-2020 --jobs 2
    """
    if quick and full:
        raise unfit("--quick", "does not fit --full", "leave one of the two out")

    from dpbounds.algorithms.verification.judging.planned_checks import Size
    from dpbounds.algorithms.verification.suite import chosen, failed, left_out, run_suite
    from dpbounds.algorithms.verification.sweeping.store import Store

    if export is not None:
        from dpbounds.algorithms.verification.sweeping import exports

        if export.suffix not in exports.ENDINGS:
            raise InvalidValue("--export", export, "a file that ends with " + " or ".join(exports.ENDINGS))

    size = Size.FULL if full else Size.QUICK
    # an id that has an experiment but no check is fine where experiments are asked for
    checked = [name for name in names if not (experiments and _drawn_only(name))]
    if checked or not names:
        chosen(checked)  # raises where an id is not known, before a store is made
    store = Store(directory)
    if store.other_versions:
        note(f"{directory} also holds results of other versions of the code, which are not used")
    outcomes: tuple[Outcome, ...] = ()
    rest: tuple[PlannedCheck, ...] = ()
    if checked or not names:
        with progress_bar("checks", shown=not as_json) as progress:
            outcomes = run_suite(
                size, store, theorems=checked, shortest=quick, jobs=jobs, scheduler=scheduler, progress=progress
            )
        rest = left_out(checked) if quick else ()
    pictures: tuple[Picture, ...] = ()
    if experiments:
        from dpbounds.algorithms.verification import experiments as again

        with progress_bar("experiments", shown=not as_json) as progress:
            pictures = again.run_experiments(
                size, store, theorems=names, jobs=jobs, scheduler=scheduler, progress=progress
            )
    if store.damaged:
        note(f"damaged results in {directory} were computed again: {store.damaged}")
    if export is not None:
        exports.write(export, store.results.values())
    files: list[Path] = []
    if folder is not None:
        given = {"--quick": quick, "--full": full, "--experiments": experiments}
        words = ["dpbounds verify", *names, *(option for option, there in given.items() if there)]
        files = verification_report.write(folder, outcomes, pictures, " ".join(words), rest)
    if plot is not None:
        plots.write(plot, plots.verification(outcomes))
    if report is not None:
        _write_report(report, outcomes, pictures)
    if as_json:
        output.print_json(verification_report.document(outcomes, pictures, rest))
    else:
        _print(outcomes, pictures)
        if rest:
            every = len(outcomes) + len(rest)
            everything = " ".join(["dpbounds verify", *names])
            click.echo(f"{len(outcomes)} checks of {every}, one of every statement; the rest: {everything}")
        if files:
            click.echo("wrote " + ", ".join(str(file) for file in files))
    return DOES_NOT_HOLD if failed(outcomes) else DONE


def _write_report(path: Path, outcomes: Sequence[Outcome], pictures: Sequence[Picture]) -> None:
    from dpbounds.algorithms.verification.judging.planned_checks import SUITE_ERROR
    from dpbounds.algorithms.verification.suite import failed
    from dpbounds.cli.answers import reports
    from dpbounds.render.report import Report, Section, Table

    counts = verification_report.counts(outcomes)
    told = verification_report.in_words(counts)
    rows = tuple(
        (cited_as(one.planned.theorem), one.planned.name, str(one.check.verdict), one.check.reason) for one in outcomes
    )
    document = Report(
        kind="Verification",
        verdict=f"{'A check fails' if failed(outcomes) else 'No check fails'}: {told}",
        holds=not failed(outcomes),
        lead="Algorithms were run, and the runs compared with the guarantees of theorems.",
        sections=(
            Section("What was found?", table=Table(("statement", "check", "verdict", "why"), rows)),
            Section(
                "What does it mean?",
                points=(
                    "“holds”: the whole measured interval satisfies the theorem; “fails”: no part of it does; "
                    "“compatible”: an exponent whose interval reaches beyond the tolerance, or an attack that finds "
                    "less than is certified: the theorem is neither confirmed nor refuted",
                    "“undecided”: none of these, and the reason says what would decide it",
                    f"the probability that any sound check here raises a false alarm is {SUITE_ERROR:g} at most",
                    "runs cannot prove a theorem: they can refute it, or its transcription, or the code",
                ),
            ),
            *(Section(one.experiment.title, points=tuple(one.findings)) for one in pictures),
            reports.checking({}),
            reports.signatures(),
        ),
    )
    reports.write(path, document)


def _drawn_only(name: str) -> bool:
    """Return whether a statement or a paper has an experiment and no check."""
    from dpbounds.algorithms.verification.catalogue import checked_statements
    from dpbounds.algorithms.verification.experiments import experiments
    from dpbounds.algorithms.verification.suite import belongs

    drawn = [experiment.theorem for experiment in experiments()]
    here = [any(belongs(theorem, name) for theorem in theorems) for theorems in (checked_statements(), drawn)]
    return here == [False, True]


def _print(outcomes: Sequence[Outcome], pictures: Sequence[Picture]) -> None:
    theorem = ""
    for one in outcomes:
        if one.planned.theorem != theorem:
            theorem = one.planned.theorem
            click.echo(cited_as(theorem))
        click.echo(f"  {one.check.verdict!s:<10} {one.planned.kind}: {one.planned.name}")
        click.echo(f"             {one.check.reason}")
    for picture in pictures:
        click.echo(picture.experiment.title)
        for sentence in picture.findings:
            click.echo(f"  {sentence}")
    counts = verification_report.counts(outcomes)
    click.echo(f"\n{verification_report.in_words(counts)}")
