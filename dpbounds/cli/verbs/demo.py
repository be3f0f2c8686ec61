"""`dpbounds demo`: the main job end to end on real data: calibrate, train, account, verify, report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli.answers import demo_report
from dpbounds.cli.answers.demo_training import prepared, trained, without_noise
from dpbounds.cli.questions.options import (
    PROBABILITY,
    RECORDS_OPTIONS,
    demand_place,
    make_directory,
    note,
    number,
    number_of_runs,
    warn_if_delta_is_large,
)
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact

if TYPE_CHECKING:
    from collections.abc import Callable

_BUDGETS = ("1", "4", "10")


@click.command("demo", short_help="Calibrate, train, account and verify on real data.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("dpbounds-demo"),
    show_default=True,
    metavar="DIR",
    help="Directory to write the table, the data and the plot to.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed to repeat a demo (default: entropy of the operating system).",
)
@click.option("--epsilon", "epsilons", multiple=True, metavar="E", help="A budget; may be repeated (default 1, 4, 10).")
@click.option(
    "--delta", callback=PROBABILITY, default="1e-5", show_default=True, metavar="D", help="δ of every budget."
)
@click.option(
    "--repetitions",
    callback=number_of_runs,
    default="32",
    show_default=True,
    metavar="R",
    help="Number of repetitions to measure with.",
)
@RECORDS_OPTIONS
@click.option(
    "--centre",
    callback=number("a number from 0 to 1", lambda x: 0 <= x <= 1),
    metavar="F",
    help="Where in its public range a feature counts as zero (default: 1/2, the middle; 1/4 for the built-in data).",
)
@click.option("--guarded", is_flag=True, help="Check runs for leaks, and test their noise; the results are the same.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    output: Path,
    seed: int | None,
    epsilons: tuple[str, ...],
    delta: Fraction,
    repetitions: int,
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    centre: Fraction | None,
    guarded: bool,
    as_json: bool,
) -> int:
    """Train on real data with proven privacy, and compare spent ε and measurements with budget and theorem.

    Example: dpbounds demo --output dpbounds-demo
    """
    _require("matplotlib", "rich", *(() if data is not None else ("sklearn",)))
    budgets = _budgets(epsilons)
    demand_place(output)
    dataset, problem, preparation = prepared(data, label, positive, ranges, centre)
    warn_if_delta_is_large(delta, problem.records, "--delta")
    if repetitions == 1:
        note("one repetition has no confidence interval: the measured norms will be undecided")

    with _progress(len(budgets) + 1) as tick:
        rows = []
        for epsilon in budgets:
            tick(f"training at epsilon = {float(epsilon):g}, {repetitions} repetitions")
            rows.append(trained(problem, dataset.labels, epsilon, delta, seed, repetitions, guarded))
        tick("training without noise")
        baseline = without_noise(problem, dataset.labels)
        tick("writing")
    make_directory(output)  # only now: what is refused leaves nothing behind

    report = demo_report.Report(dataset, problem, preparation, tuple(rows), baseline, seed)
    files = demo_report.write(report, output)
    demo_report.show(report, files, as_json=as_json)
    return 1 if report.failed else 0


def _budgets(epsilons: tuple[str, ...]) -> tuple[Fraction, ...]:
    budgets = tuple(exact(text, "--epsilon") for text in epsilons or _BUDGETS)
    for text, budget in zip(epsilons or _BUDGETS, budgets, strict=True):
        if budget <= 0:
            raise InvalidValue("--epsilon", text, "greater than 0")
        if budgets.count(budget) > 1:
            raise InvalidValue("--epsilon", text, "given once")
    return tuple(sorted(budgets))


def _require(*modules: str) -> None:
    for module in modules:
        if find_spec(module) is None:
            name = {"sklearn": "scikit-learn"}.get(module, module)
            raise click.UsageError(f"the demo needs {name}, which is not installed: pip install 'dpbounds[demo]'")


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error; the yielded function names the next of ``total`` pieces of work."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        started = False

        def tick(description: str) -> None:
            nonlocal started
            bar.update(task, description=description, advance=1 if started else 0)
            started = True

        yield tick
