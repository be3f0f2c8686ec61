"""`dpbounds explain`: where a bound loses: every line of its proof with both sides measured in one run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.answers.demo_training import demand_data, prepared
from dpbounds.cli.answers.plots import OUTPUT_OPTION
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import ALGORITHMS
from dpbounds.cli.questions.options import (
    POSITIVE,
    PROBABILITY,
    RECORDS_OPTIONS,
    Word,
    number_of_runs,
    relation_option,
    unfit,
)
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.verification.ladders import Explanation

_WORTH_TELLING = 1.01
_ROW = "  {:>10} {:>8}  {:<17} {}"


@click.command("explain", short_help="Show where a bound is loose, line by line of its proof.")
@click.argument("name", metavar="ALGORITHM", shell_complete=ALGORITHMS)
@click.option(
    "--mapping",
    type=Word(["noisy", "exact"]),
    default="noisy",
    show_default=True,
    help="Bound of projected and mirror descent to explain.",
)
@click.option(
    "--repetitions",
    callback=number_of_runs,
    default="64",
    show_default=True,
    metavar="R",
    help="Number of repetitions to measure with.",
)
@click.option("--seed", default=0, type=click.IntRange(min=0), show_default=True, metavar="N")
@click.option("--epsilon", default="1", callback=POSITIVE, show_default=True, help="ε of the privacy budget.")
@click.option("--delta", default="1e-5", callback=PROBABILITY, show_default=True, help="δ of the privacy budget.")
@relation_option(Relation.REPLACE_ONE)
@click.option(
    "--confidence",
    default="0.999",
    callback=PROBABILITY,
    show_default=True,
    metavar="C",
    help="Probability that no valid proof step is reported as violated.",
)
@RECORDS_OPTIONS
@OUTPUT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    name: str,
    mapping: str,
    repetitions: int,
    seed: int,
    epsilon: Fraction,
    delta: Fraction,
    relation: str,
    confidence: Fraction,
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Run an algorithm on its example, and measure both sides of every line of the proof of its bound.

    The output is not private: it is computed from exact answers. The exit status is 1 if a line does not hold: then the
    proof, the constants or the code are wrong there. ALGORITHM is a name of the table in docs/training.md; for a run of
    your own, use `dpbounds.algorithms.explain`. With --data, dp-pgd runs on your own records, as in `dpbounds demo`.

    Example: dpbounds explain dp-spider
    """
    from dpbounds.algorithms import ProjectedGradientDescent
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.verification.catalogue import example
    from dpbounds.algorithms.verification.ladders import demand_ladder, explain

    algorithm, problem = example(name).calibrated(PrivacyBudget.of(epsilon, delta, relation))
    demand_ladder(algorithm, name)
    demand_data(data, label, positive, ranges)
    if data is not None:
        if name != "dp-pgd":
            raise unfit(f"--data {data}", f"goes with dp-pgd, not with {name}", "of a run of your own, call `explain`")
        problem = prepared(data, label, positive, ranges, None)[1]
        algorithm = ProjectedGradientDescent.calibrated(problem, epsilon, delta, relation=relation)
    run = algorithm.run(problem, seed=seed, repetitions=repetitions)
    found = explain(algorithm, problem, run, mapping=mapping, confidence=float(confidence))
    if plot is not None:
        _draw(found, name, plot)
    if as_json:
        output.print_json(found.as_json())
    else:
        _print(found, name)
        if plot is not None:
            output.print_written(plot, before="\n")
    return DOES_NOT_HOLD if found.broken else DONE


def _print(found: Explanation, name: str) -> None:
    click.echo(f"{name}: {found.quantity}, {found.repetitions} repetitions of {found.steps} steps; not private\n")
    click.echo(_ROW.format("value", "factor", "due to", "because").rstrip())
    what = "measured" + (f", less {found.subtracted:.4g}, the lowest value found" if found.subtracted else "")
    click.echo(_ROW.format(f"{found.measured:.4g}", "", "", what))
    for line in found.lines:
        said = {"fails": "  <- does not hold", "undecided": "  <- undecided: run more repetitions"}
        because = line.claim + said.get(str(line.verdict), "")
        click.echo(_ROW.format(f"{line.right:.4g}", f"{line.factor:.3g}", line.due, because))
    worst = [f"{due} {factor:.3g}" for due, factor in found.factors().items() if factor > _WORTH_TELLING][:3]
    rows = {"  lost": f"{found.bound.upper / found.measured:.3g} in all; most by {', '.join(worst) or 'nothing'}"}
    if found.curvature is not None:
        met, public = found.curvature
        rows["  curvature"] = f"{met:.4g} at most where the run was; the public L is {public:.4g}"
    if found.output_rule:
        rows["  output"] = ", ".join(f"{name} {value:.4g}" for name, value in found.output_rule.items())
    if found.regime:
        rows["  regime"] = ", ".join(f"{name} = {value:.3g}" for name, value in found.regime.items())
    click.echo()
    output.print_rows(rows)


def _draw(found: Explanation, name: str, path: Path) -> None:
    from dpbounds.render.style import save
    from dpbounds.render.waterfall import Bar, waterfall

    bars = [Bar(str(line.due), line.left, line.right, line in found.broken) for line in found.lines]
    title = f"{name}: from measured (dotted) to bound (dashed)"
    save(waterfall(title, bars, found.quantity), path)
