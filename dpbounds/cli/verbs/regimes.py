"""`dpbounds regimes`: the best known orders of growth, exactly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli.answers.plots import OUTPUT_OPTION
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import METRICS
from dpbounds.cli.questions.options import AT_LEAST_ZERO, CHOICE_OPTIONS, unfit
from dpbounds.cli.verbs.evaluate import assignments
from dpbounds.errors import InvalidValue
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    from dpbounds.rates.promises import Promises
    from dpbounds.rates.regimes import Regimes


@click.command("regimes", short_help="Compare rates: exact regions and crossovers.")
@click.argument("metric", metavar="METRIC", shell_complete=METRICS)
@click.option(
    "--epsilon-power",
    "power",
    callback=AT_LEAST_ZERO,
    metavar="B",
    help="Fix ε = d^(-B); 0 for a constant ε. By default, ε is a separate axis.",
)
@click.option("--axis", metavar="rank|width", help="A further axis: the rank of the features, or the width of the set.")
@CHOICE_OPTIONS["status"]
@CHOICE_OPTIONS["assuming"]
@click.option(
    "--with",
    "words",
    multiple=True,
    metavar="NAME=VALUE|FILE.py",
    help="Value, such as kl_exponent=2, or file with your own theorem.",
)
@OUTPUT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    metric: str,
    power: Fraction | None,
    axis: str | None,
    statuses: tuple[str, ...],
    assuming: tuple[str, ...],
    words: tuple[str, ...],
    plot: Path | None,
    as_json: bool,
) -> int:
    """Find the best result for each region of n, d and ε, up to constants and logarithms.

    It compares orders of growth, also those of bounds with constants. A FILE.py is executed: read it first
    if it is not yours.

    Example: dpbounds regimes gradient-norm --output map.png
    """
    from dpbounds.rates.planes import exponent_inequalities
    from dpbounds.rates.promises import ACCEPTED, compared, promises
    from dpbounds.rates.regimes import boundaries, verdict_in_words
    from dpbounds.rates.spaces import at_epsilon, in_letters, standard, with_rank, with_width
    from dpbounds.theorems.registry import library, own_statements

    spaces = {None: standard(), "rank": with_rank(), "width": with_width()}
    if axis not in spaces:
        raise InvalidValue("--axis", axis, "rank or width")
    if plot is not None and power is not None:
        raise unfit(f"--epsilon-power {power}", "does not fit a map, which has ε on its second axis")
    if axis is not None and (plot is not None or power is not None):
        raise unfit(f"--axis {axis}", "fits neither a map nor a fixed power, which are planes")
    space = at_epsilon(power) if power is not None else spaces[axis]
    files = [word for word in words if word.endswith(".py")]
    known = promises(
        metric,
        space=space,
        statuses=statuses or ACCEPTED,
        assuming=assuming,
        values=assignments(tuple(word for word in words if word not in files)),
        statements=(*library(), *own_statements(files)) if files else None,
    )
    found = compared(known, space)
    if plot is not None:
        if not found:
            raise unfit(f"--plot {plot}", "needs something to compare, and there is nothing", _try(known))
        _draw(plot, found, metric)
    every = (*known.uppers, *known.lowers, *known.pure_lowers)
    if as_json:
        output.print_json(
            {
                "metric": metric,
                "space": [str(axis) for axis in space.axes],
                "regions": [
                    {
                        "winner": regime.best[0],
                        "ties": list(regime.best[1:]),
                        "where": list(exponent_inequalities(regime.cone, space)),
                        "conditions": list(space.inequalities(regime.cone)),
                        "value": in_letters(regime.value),
                        "verdict": str(regime.verdict),
                        "gap": None if regime.gap is None else in_letters(regime.gap),
                        "by_logarithms": list(regime.by_logarithms),
                        "pure": list(regime.pure),
                        "pure_gap": None if regime.pure_gap is None else in_letters(regime.pure_gap),
                    }
                    for regime in found
                ],
                "crossovers": list(boundaries(found, space)),
                "left_out": [{"id": name, "reason": reason} for name, reason in known.left_out],
                "statuses": {one.id: str(one.standing) for one in every},
                "derived": [one.id for one in every if one.explicit],
                "advice": list(known.advice),
            }
        )
        return 0
    name = metric.replace("-", " ")
    if found:
        click.echo(f"{name}: the best known order, up to constants and logarithms; every loss has unit scale\n")
    else:
        click.echo(f"{name}: nothing to compare here; {_try(known)}")
    for regime in found:
        click.echo("where " + (" and ".join(space.inequalities(regime.cone)) or "everywhere"))
        click.echo(f"  {in_letters(regime.value)}  by {'; '.join(map(cited_as, regime.best))}")
        if regime.by_logarithms and regime.by_logarithms != regime.best:
            click.echo(f"  fewest logarithms: {'; '.join(map(cited_as, regime.by_logarithms))}")
        click.echo(f"  {verdict_in_words(regime.gap)}")
        if regime.pure_gap is not None and regime.pure_gap != regime.gap:
            click.echo(f"  for ε-DP {verdict_in_words(regime.pure_gap)}")
    edges = boundaries(found, space)
    if edges:
        click.echo(f"\nboundaries: {'; '.join(edges)}")
    for one in known.uppers:
        if one.standing == "disputed":
            click.echo(f"note: {cited_as(one.id)} is disputed: `dpbounds show {one.id}`")
    if known.left_out:
        click.echo("\nnot compared")
        for name, reason in known.left_out:
            click.echo(f"  {cited_as(name)}: {reason}")
    if plot is not None:
        output.print_written(plot, before="\n")
    return 0


def _try(known: Promises) -> str:
    """Return advice where nothing can be compared."""
    return "try " + " or ".join(known.advice) if known.advice else "no statement about it has an order of growth"


def _draw(file: Path, found: Regimes, metric: str) -> None:
    from dpbounds.rates.spaces import standard
    from dpbounds.render.regime_map import regime_map
    from dpbounds.render.style import save

    title = f"{metric.replace('-', ' ')}: best known orders of growth"
    save(regime_map(found, standard(), title=title), file)
