"""``python -m tests.benchmarks.networks run | page``."""

from __future__ import annotations

import click

NAMES = ("digits-mlp", "digits-conv", "digits-attention", "cancer-mlp", "covertype-mlp", "photo-factors")


@click.group()
def main() -> None:
    """Which of the papers' ideas pays, for networks on real data."""


@main.command()
@click.option("--case", "cases", multiple=True, type=click.Choice(NAMES), default=NAMES)
@click.option("--seeds", default=5)
def run(cases: tuple[str, ...], seeds: int) -> None:
    """Add what is missing to runs.csv."""
    from tests.benchmarks.networks.sweep import run_case

    for name in cases:
        run_case(name, seeds)


@main.command()
def page() -> None:
    """Write the table and the figure of docs/networks.md."""
    from tests.benchmarks.networks import page

    page.page()


main()
