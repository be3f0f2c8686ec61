"""``python -m benchmarks.networks run | left | page``."""

from __future__ import annotations

import click


@click.group()
def main() -> None:
    """Which of the papers' ideas pays, for networks on real data."""


@main.command()
@click.option("--case", "cases", multiple=True, help="Of these cases alone.")
@click.option("--jobs", default=None, type=int, help="So many at most.")
def run(cases: tuple[str, ...], jobs: int | None) -> None:
    """Add what is missing to runs.csv, job by job."""
    from benchmarks.networks import sweep

    sweep.run(jobs, cases)


@main.command()
@click.option("--jobs", default=None, type=int, help="So many at most.")
def regime(jobs: int | None) -> None:
    """Add what is missing to regime.csv: where theory says that recursion pays."""
    from benchmarks.networks import regime

    regime.run(jobs)


@main.command()
def left() -> None:
    """What runs.csv has no line of."""
    from benchmarks.networks import sweep

    for job in sweep.left():
        click.echo(" ".join(map(str, job)))


@main.command()
def page() -> None:
    """Write the tables and the figures of docs/networks.md."""
    from benchmarks.networks import page

    page.page()


main()
