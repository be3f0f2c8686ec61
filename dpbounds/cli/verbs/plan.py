"""`dpbounds plan`: the best guarantee for given numbers."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpbounds.cli.answers.commands import command_of
from dpbounds.cli.answers.demo_training import L1, demand_data, prepared
from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.answers.running import CONSTANTS, Records
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import METRICS
from dpbounds.cli.questions.options import (
    CENTRE_OPTION,
    CHOICE_OPTIONS,
    FILE,
    RECORDS_OPTIONS,
    relation_option,
    unfit,
    whole,
)
from dpbounds.cli.verbs.evaluate import assignments
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_decimal, to_float
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism
    from dpbounds.rates.guarantees import Guarantee
    from dpbounds.rates.plan import Plan
    from dpbounds.rates.prescriptions import Prescribed

_WIDTH = 110
_LETTERS = {"dataset_size": "n", "dimension": "d"}
_QUANTITIES = {
    "n": "Number of records.",
    "d": "Number of parameters.",
    "epsilon": "Privacy loss of (ε, δ)-DP.",
    "delta": "Failure probability of (ε, δ)-DP.",
    "lipschitz": "Bound on the norm of one record's gradient.",
    "smoothness": "Lipschitz constant of the gradient.",
    "hessian-lipschitz": "Lipschitz constant of the Hessian.",
    "diameter": "Largest distance within the constraint set.",
    "initial-gap": "Risk of the first iterate minus the infimum.",
    "loss-range": "Largest minus smallest value of the loss.",
    "failure-probability": "Probability that a bound fails.",
}
Callback = TypeVar("Callback", bound=Callable[..., Any])


def _quantity_options(function: Callback) -> Callback:
    for name, text in reversed(_QUANTITIES.items()):
        function = click.option(f"--{name}", metavar="X", help=text)(function)
    return function


@click.command("plan", short_help="Rank what the theorems guarantee at given numbers.")
@click.argument("words", metavar="[NAME=VALUE]...", nargs=-1)
@click.option(
    "--metric",
    metavar="METRIC",
    required=True,
    shell_complete=METRICS,
    help="Quantity to bound, such as gradient-norm.",
)
@_quantity_options
@click.option("--steps-limit", "limit", callback=whole, metavar="T", help="Maximum number of steps.")
@click.option(
    "--gradients-limit", "gradients", callback=whole, metavar="N", help="Maximum number of gradients of single records."
)
@click.option(
    "--batch-size",
    "batch",
    callback=whole,
    metavar="B",
    help="Maximum number of records per step (expected, where they are sampled).",
)
@click.option(
    "--memory-limit",
    "memory",
    callback=whole,
    metavar="M",
    help="Maximum number of values held in memory beside the data.",
)
@RECORDS_OPTIONS
@CENTRE_OPTION
@click.option(
    "--with",
    "files",
    type=FILE,
    multiple=True,
    metavar="FILE.py",
    help="File with your own theorem, to be ranked, too.",
)
@CHOICE_OPTIONS["assuming"]
@CHOICE_OPTIONS["status"]
@relation_option(Relation.REPLACE_ONE)
@click.option(
    "--top", default="3", callback=whole, show_default=True, metavar="K", help="Number of results to show in detail."
)
@PLOT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    words: tuple[str, ...],
    metric: str,
    limit: int | None,
    gradients: int | None,
    batch: int | None,
    memory: int | None,
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    centre: Fraction | None,
    files: tuple[Path, ...],
    assuming: tuple[str, ...],
    statuses: tuple[str, ...],
    relation: str,
    top: int,
    plot: Path | None,
    as_json: bool,
    **quantities: str | None,
) -> int:
    """Rank the guarantees of the library at given numbers: proven bounds by value, and separately orders of growth.

    Any quantity may be given as an option or as NAME=VALUE; the output lists the quantities that other theorems need.
    With --data, n and d are those of your records, taken to be public, and the constants are those of the sigmoid loss
    that `dpbounds run` minimises, which do not depend on the records. For rows that can be run, the command is printed.
    A FILE.py is executed: read it first if it is not yours.

    Example: dpbounds plan --metric gradient-norm --n 1e6 --d 100 --epsilon 1 --delta 1e-6 --lipschitz 1 --smoothness 1
    --initial-gap 1
    """
    from dpbounds.rates.plan import plan
    from dpbounds.rates.promises import ACCEPTED
    from dpbounds.theorems.registry import own_statements

    demand_data(data, label, positive, ranges, centre)
    records = Records(data, label, positive, ranges, centre)
    values = _values(words, quantities)
    if data is not None:
        values = _with_constants(values, records, metric)
    planned: Callable[..., Plan] = partial(
        plan,
        metric,
        relation=relation,
        assuming=assuming,
        statuses=statuses or ACCEPTED,
        steps_limit=limit,
        gradients_limit=gradients,
        batch_size=batch,
        memory_limit=memory,
        own=own_statements(files),
    )
    found = planned(**values)
    if plot is not None:
        from dpbounds.cli.answers import plots

        size = found.values["dataset_size"]
        plots.write(plot, plots.plan(lambda n: planned(**{**found.values, "dataset_size": n}), size))
    if as_json:
        output.print_json(_document(found, records))
    else:
        _print(found, top, records)
    return 0


def _values(words: tuple[str, ...], quantities: dict[str, str | None]) -> dict[str, Fraction]:
    """Words and options as exact numbers; the same quantity twice is refused where the numbers are admitted."""
    values = assignments(words)
    for name, text in quantities.items():
        if text is None:
            continue
        if name in values:
            raise InvalidValue(name, text, "given once only")
        values.update(assignments((f"{name}={text}",)))
    return values


def _with_constants(values: dict[str, Fraction], records: Records, metric: str) -> dict[str, Fraction]:
    """Add n, d and the constants of the user's records, which are public bounds and not computed from the data."""
    from dpbounds.algorithms.oracles import at_least
    from dpbounds.expressions.symbols import by_name

    problem = prepared(*records, L1 if metric == "projected-gradient-norm" else "0")[1]
    sizes = {"dataset_size": Fraction(problem.records), "dimension": Fraction(problem.dimension)}
    known = {name: sizes.get(name) or at_least(getattr(problem, name), name) for name in CONSTANTS}
    for word in values:
        if word in by_name() and by_name()[word].name in known:
            raise unfit(f"{word} {output.plain(values[word])}", "goes without --data, which has its own")
    return {**known, **values}


# --- For programs ----------------------------------------------------------------------------------------------------


def _document(found: Plan, records: Records) -> dict[str, object]:
    return {
        "metric": str(found.metric),
        "relation": str(found.budget.relation),
        "values": {name: output.json_given(value) for name, value in found.values.items()},
        "ranking": [_entry(one, _command(one, found, records)) for one in found.ranking],
        "not_ranked": [_entry(one, None) for one in found.apart],
        "all_vacuous": found.all_vacuous,
        "trivial": [
            {"value": output.json_number(one.value.exact_upper, "up"), "reason": one.reason} for one in found.trivial
        ],
        "lower_bounds": [
            {"id": name, "value": output.json_number(value.exact_lower, "down"), "up_to_constant": order}
            for name, value, order in found.floors
        ],
        "missing": [{"id": name, "needs": list(needs)} for name, needs in found.missing],
        "left_out": [{"id": name, "reason": reason} for name, reason in found.left_out],
    }


def _entry(one: Guarantee, command: list[str] | None) -> dict[str, object]:
    since = one.meaningful_from
    return {
        "id": one.id,
        "kind": "order" if one.bound is None else "bound",
        "place": one.place or None,
        "like": one.like or "proven bounds",
        "metric": str(one.metric),
        "sense": one.sense or None,
        "part": one.part,
        "meaning": one.meaning or None,
        "bound": None if one.bound is None else output.json_ends(one.bound),
        "rate": None
        if one.rate is None
        else {
            "value": output.json_number(one.rate.exact_upper, "up"),
            "formula": one.formula,
            "hides": list(one.hides),
            "logs_hidden": one.logs_hidden,
        },
        "vacuous": one.vacuous,
        "meaningful_from": None
        if since is None
        else {"dataset_size": since.dataset_size, "monotone": since.monotone, "part": since.part},
        "rho": None if one.rho is None else output.json_number(one.rho, "down"),
        "privacy": one.privacy,
        "releases": []
        if one.mechanism is None
        else [{"count": count, "release": text} for count, text in releases(one.mechanism)],
        "parameters": {
            each.name: {
                "value": output.json_given(each.value),
                "meaning": each.meaning or None,
                "up_to_constant": each.up_to_constant,
            }
            for each in one.parameters
        },
        "command": None if command is None else shlex.join(command),
        "gradient_evaluations": one.cost.gradients,
        "batch_size": one.cost.batch,
        "memory": one.cost.memory,
        "cost_note": one.cost.note,
        "status": str(one.status),
        "assumes": list(one.assumes),
        "unchecked": list(one.unchecked),
        "notes": list(one.remarks),
        "why": one.why,
    }


# --- For people ------------------------------------------------------------------------------------------------------


def _print(found: Plan, top: int, records: Records) -> None:
    budget = found.budget
    say(
        f"{found.metric} at epsilon = {output.plain(budget.epsilon)}, delta = {output.plain(budget.delta)} "
        f"({budget.relation}), "
        + ", ".join(
            f"{_LETTERS.get(name, name)} = {output.plain(value)}"
            for name, value in found.values.items()
            if name not in ("epsilon", "delta")
        )
    )
    click.echo()
    _print_table(found)
    _print_verdict(found)
    for one in found.ranking[:top]:
        _print_guarantee(one, _command(one, found, records))
    if found.apart:
        click.echo("\nnot ranked: the published order hides what decides the rank")
        for one in found.apart:
            say(f"{cited_as(one.id)}: {one.why.removeprefix('not ranked: ')}", 2)
    if found.missing:
        click.echo("\nnot ranked: a value is missing")
        for name, needs in found.missing:
            say(f"{cited_as(name)}: needs {', '.join(needs)}", 2)
    if found.left_out and top >= len(found.ranking):
        click.echo("\nleft out")
        for name, reason in found.left_out:
            say(f"{cited_as(name)}: {reason}", 2)
    elif found.left_out:
        click.echo()
        count = len(found.left_out)
        say(f"left out: {count} statements; `--top {len(found.ranking)}` lists them, with reasons")


def _print_table(found: Plan) -> None:
    if not found.ranking:
        click.echo("nothing can be ranked at these numbers")
    kinds = [(one.like or "proven bounds", _row(one)) for one in found.ranking]
    kinds += [("orders of growth that hide what decides: not ranked", _row(one)) for one in found.apart]
    if not kinds:
        return
    rows = [("#", "statement", "guarantee", "sense", "gradients", "memory", "status"), *(row for _, row in kinds)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for kind, same in groupby(kinds, key=itemgetter(0)):
        say(kind)
        for row in (rows[0], *(row for _, row in same)):
            click.echo(" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        click.echo()
    click.echo("<= proven   ~ an order of growth: the value of what stands inside O(.), no bound")
    if any(one.cost.uncounted for one in found.ranking):
        click.echo("+ and a draw from an exponential mechanism, not counted: over a net it is exponential in d")
    if any(one.vacuous for one in found.ranking):
        click.echo("! vacuous: not below what holds without any algorithm")
    click.echo("gradients: of one record; memory: numbers beside the data; -: not stated")


def _row(one: Guarantee) -> tuple[str, ...]:
    sign = "<=" if one.bound is not None else "~ "
    return (
        str(one.place or "-"),
        cited_as(one.id),
        f"{sign} {_up(one.value)}" + (" !" if one.vacuous else ""),
        {"expectation": "mean", "probability": "likely"}.get(one.sense, one.sense or "-"),
        _gradients(one),
        "-" if one.cost.memory is None else _short(one.cost.memory),
        str(one.status),
    )


def _gradients(one: Guarantee) -> str:
    cost = one.cost
    if not cost.gradients:
        return "+" if cost.uncounted else "-"
    sign = "~" if "constant" in cost.note else "<=" if cost.note.startswith("at most") else ""
    return f"{sign}{_short(cost.gradients)}{'+' if cost.uncounted else ''}"


def _print_verdict(found: Plan) -> None:
    click.echo()
    if found.trivial:
        least = found.trivial[0]
        say(f"without any algorithm: at most {_up(Fraction(least.value.exact_upper))}: {least.reason}")
    else:
        say("nothing is known here that holds without any algorithm; vacuous bounds are not pointed out")
    if found.all_vacuous:
        say("EVERY BOUND IS VACUOUS at these numbers (!): none is below what holds without any algorithm")
    proven = [(name, value) for name, value, order in found.floors if not order]
    for name, value in proven[:1]:
        say(f"no method is below {value.decimals(4)[0]} on every such problem: {cited_as(name)}")
    if not proven and found.floors:
        name, value, _ = found.floors[0]
        say(f"no method is below the order of {value.decimals(4)[0]} on every such problem (~): {cited_as(name)}")


def _print_guarantee(one: Guarantee, command: list[str] | None) -> None:
    click.echo()
    say(f"{'' if one.bound is not None else '~'}{one.place}. {cited_as(one.id)}: {one.why}")
    if one.meaning:
        say(f"value: {one.meaning}", 3)
    if one.mechanism is not None:
        shown = "; ".join(f"{count} x {text}" for count, text in releases(one.mechanism))
        rho = "" if one.rho is None else f"rho = {to_decimal(one.rho, 6, 'down')}; "
        say(f"run: {rho}{shown} ({one.privacy})", 3)
    if one.parameters:
        say("parameters: " + ", ".join(map(_parameter, one.parameters)), 3)
    if command is not None:
        click.echo(_lines(command))
    since = one.meaningful_from
    if since is not None and not one.vacuous:
        more = "" if since.monotone else ", not declared monotone"
        say(f"meaningful from n = {since.dataset_size} on (part {since.part}{more})", 3)
    if one.bound is not None:
        say("assumes: " + ", ".join(one.assumes), 3)
        for note in one.remarks:
            say(f"note: {note}", 3)


def _command(one: Guarantee, found: Plan, records: Records) -> list[str] | None:
    given = {name: value for name, value in records._asdict().items() if value is not None}
    texts = {name: output.plain(value) if isinstance(value, Fraction) else str(value) for name, value in given.items()}
    options = [word for name, text in texts.items() for word in (f"--{name}", text)]
    return command_of(one, found.values, found.budget, options)


def _lines(command: list[str]) -> str:
    """Return a command over as many lines as it takes, as a shell reads it."""
    lines = ["  "]
    for word in map(shlex.quote, command):
        if len(lines[-1]) + len(word) + 3 > _WIDTH:
            lines.append("      ")
        lines[-1] += f" {word}"
    return " \\\n".join(lines)


def _parameter(each: Prescribed) -> str:
    number = output.plain(each.value) if each.value.denominator == 1 else f"{to_float(each.value, 'up'):.6g}"
    return f"{each.name} {'~' if each.up_to_constant else '='} {number}"


def releases(mechanism: Mechanism) -> list[tuple[int, str]]:
    """Return each kind of release with its count."""
    from dpbounds.privacy.mechanisms import parts_of

    return [(count, _release(part)) for part, count in parts_of(mechanism)]


def _release(part: Mechanism) -> str:
    """One release in words; noise is rounded up and a selection's ε down, the safe sides."""
    from dpbounds.cli.printing.wording import described, drawn, noise_of
    from dpbounds.privacy.mechanisms import ExponentialMechanism, Gaussian, InParallel, LastIterate, MatrixMechanism

    match part:
        case Gaussian(noise_multiplier=Fraction() as multiplier):
            return f"Gaussian, noise multiplier {to_decimal(multiplier, 8, 'up')}"
        case ExponentialMechanism(epsilon=epsilon):
            return f"exponential mechanism, epsilon {to_decimal(epsilon, 8, 'down')}"
        case InParallel(blocks=blocks):
            kinds = dict.fromkeys("; ".join(text for _, text in releases(block)) for block in blocks)
            return f"{len(blocks)} disjoint parts of the data, each record in one release: {' | '.join(kinds)}"
        case MatrixMechanism() | LastIterate():
            return described(part)
    return f"on {drawn(part)}, {noise_of(part)}"


def _up(value: Fraction) -> str:
    return to_decimal(value, 4, "up")


def _short(count: int) -> str:
    return str(count) if count < 10**5 else f"{Decimal(count):.1e}".replace("e+0", "e").replace("e+", "e")


def say(text: str, indent: int = 0) -> None:
    """A paragraph that fits the page."""
    click.echo(
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
