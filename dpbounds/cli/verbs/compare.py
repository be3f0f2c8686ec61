"""`dpbounds compare`: two theorems at the same values, with their assumptions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import IDS
from dpbounds.cli.verbs.evaluate import assignments
from dpbounds.expressions.enclosure import Enclosure

if TYPE_CHECKING:
    from dpbounds.theorems.evaluation import Evaluation
    from dpbounds.theorems.record import Theorem


@click.command("compare", short_help="Compare two theorems at the same values.")
@click.argument("first", metavar="ID", shell_complete=IDS)
@click.argument("second", metavar="ID", shell_complete=IDS)
@click.argument("words", metavar="NAME=VALUE...", nargs=-1)
@click.option("--parts", metavar="A,B", help="The parts to compare; by default the bounds, else the rates.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(first: str, second: str, words: tuple[str, ...], parts: str | None, as_json: bool) -> int:
    """Compare two theorems at the same values. Each ID may be a file of your own, such as ./my_theorem.py.

    If a condition of one fails, it has no value, and the exit status is 1.

    A FILE.py is executed: read it first if it is not yours.

    Example: dpbounds compare wang-xu-2019/theorem-2 cited/wang-ye-xu-2017/main-result n=1e6 d=100 epsilon=1 delta=1e-6
    """
    from dpbounds.theorems.evaluation import evaluate
    from dpbounds.theorems.references import cited_as
    from dpbounds.theorems.registry import theorem

    values = assignments(words)
    one, other = theorem(first), theorem(second)
    chosen = parts.split(",") if parts else [None, None]
    if len(chosen) != 2:
        raise click.UsageError("--parts wants two names, such as --parts bound,tuned")
    left, right = evaluate(one, chosen[0], values), evaluate(other, chosen[1], values)
    status = DOES_NOT_HOLD if False in (left.applies, right.applies) else DONE
    ratio = _ratio(left, right)
    shared, first_only, second_only = _assumed(one, other)
    if as_json:
        output.print_json(
            {
                "statements": [_json(left), _json(right)],
                "ratio": None if ratio is None else output.json_ends(ratio),
                "same_kind": left.up_to_constant == right.up_to_constant,
                "assumptions": {"shared": shared, "first_only": first_only, "second_only": second_only},
            }
        )
        return status
    for evaluation in (left, right):
        click.echo(f"{cited_as(evaluation.id)}, {evaluation.part}: {_in_words(evaluation)}")
    if ratio is not None:
        click.echo(f"ratio: {ratio.decimals(6)[1]}")
    if left.up_to_constant != right.up_to_constant:
        click.echo("note: one is a bound and the other an order of growth: the ratio is not meaningful for constants")
    for label, names in (("both assume", shared), ("the first also", first_only), ("the second also", second_only)):
        if names:
            click.echo(f"{label}: {', '.join(names)}")
    return status


def _in_words(found: Evaluation) -> str:
    if found.applies is False:
        return f"no value: the statement DOES NOT APPLY here: {', '.join(found.failing)} fails"
    order = "up to a constant" if found.up_to_constant else "proven"
    unchecked = "" if found.applies else ", not every condition could be checked"
    return f"{found.value.decimals(10)[0]}  ({order}{unchecked})"


def _ratio(left: Evaluation, right: Evaluation) -> Enclosure | None:
    if False in (left.applies, right.applies):
        return None
    above, below = left.value, right.value
    if not (isinstance(below.exact_lower, Fraction) and below.exact_lower > 0 and above.exact_lower >= 0):
        return None
    return Enclosure(
        Fraction(above.exact_lower) / Fraction(below.exact_upper),
        Fraction(above.exact_upper) / Fraction(below.exact_lower),
        "ratio",
    )


def _assumed(one: Theorem, other: Theorem) -> tuple[list[str], list[str], list[str]]:
    """Names of assumptions: implied by both, by the first only, by the second only."""
    first = [a for a in one.assumptions if not any(b.implies(a) for b in other.assumptions)]
    second = [b for b in other.assumptions if not any(a.implies(b) for a in one.assumptions)]
    shared = [a for a in one.assumptions if a not in first]
    return [str(a) for a in shared], [str(a) for a in first], [str(b) for b in second]


def _json(found: Evaluation) -> dict[str, object]:
    ends = None if found.applies is False else dict(zip(("lower", "upper"), found.value.decimals(17), strict=True))
    return {
        "id": found.id,
        "part": found.part,
        "kind": str(found.kind),
        "value": ends,
        "up_to_constant": found.up_to_constant,
        "applies": found.applies,
    }
