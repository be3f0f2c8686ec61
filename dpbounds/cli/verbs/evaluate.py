"""`dpbounds evaluate`: the value of a part of a statement, to any precision, with its conditions checked."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.completion import IDS
from dpbounds.cli.questions.options import RELATIONS
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact, to_decimal
from dpbounds.theorems.references import cited_as

if TYPE_CHECKING:
    from dpbounds.theorems.evaluation import Checked, Evaluation
    from dpbounds.theorems.spending import Spending

SPENT = "spent"


def assignments(words: tuple[str, ...]) -> dict[str, Fraction]:
    """``name=value`` words as exact numbers.

    >>> assignments(("n=1e4", "epsilon=1/2"))
    {'n': Fraction(10000, 1), 'epsilon': Fraction(1, 2)}
    """
    values: dict[str, Fraction] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name:
            raise InvalidValue("value", word, "name=value, such as n=10000 or epsilon=0.5")
        if name in values:
            raise InvalidValue(name, text, "given once only")
        values[name] = exact(text, name)
    return values


@click.command("evaluate", short_help="Evaluate a theorem's formulas, to any precision.")
@click.argument("name", metavar="ID", shell_complete=IDS)
@click.argument("words", metavar="NAME=VALUE...", nargs=-1)
@click.option(
    "--part",
    metavar="PART",
    help="Part to evaluate: bound, rate, spent or a name; by default the bound, else the rate.",
)
@click.option(
    "--digits", type=click.IntRange(1, 10_000), default=15, show_default=True, help="Number of certified digits."
)
@click.option(
    "--relation",
    type=RELATIONS,
    help="For --part spent: the neighbouring relation; by default the statement's own.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    name: str, words: tuple[str, ...], part: str | None, digits: int, relation: str | None, as_json: bool
) -> int:
    """Evaluate a formula of a theorem at exact values, and check every condition of the theorem.

    ID is one that `dpbounds theorems` lists, or a file of your own, such as ./my_theorem.py.

    If a condition fails, the theorem does not apply: no value is printed, and the exit status is 1. Conditions that
    could not be checked, because a value is missing, are listed. With --part spent, the exit status is 1 if the claimed
    privacy is proven to be exceeded.

    A FILE.py is executed: read it first if it is not yours.

    Example: dpbounds evaluate wang-xu-2019/theorem-2/explicit --part tuned n=1e5 d=50 rho=0.1 lipschitz=1 smoothness=1
    initial_gap=0.5
    """
    from dpbounds.theorems.evaluation import evaluate
    from dpbounds.theorems.registry import theorem

    values = assignments(words)
    statement = theorem(name)
    if part == SPENT:
        from dpbounds.theorems.spending import spending

        spent = spending(statement, values, relation)
        _print_spending(statement.id, spent, digits, as_json)
        return DOES_NOT_HOLD if spent.kept is False else DONE
    if relation is not None:
        raise click.UsageError(f"--relation {relation} needs --part spent: leave it out")
    found = evaluate(statement, part, values, digits=digits)
    _print_value(found, digits, as_json)
    return DOES_NOT_HOLD if found.applies is False else DONE


def _print_value(found: Evaluation, digits: int, as_json: bool) -> None:
    value = None if found.applies is False else found.value
    lower, upper = ("", "") if value is None else value.decimals(digits + 2)
    if as_json:
        output.print_json(
            {
                "id": found.id,
                "part": found.part,
                "kind": str(found.kind),
                "value": None if value is None else {"lower": lower, "upper": upper},
                "digits": digits if value is None or lower == upper else value.digits,
                "up_to_constant": found.up_to_constant,
                "applies": found.applies,
                "conditions": [_condition(one) for one in found.conditions],
            }
        )
        return
    shown = f"{lower if lower == upper else f'[{lower}, {upper}]'}  (proven)"
    rows = {
        "statement": cited_as(found.id),
        str(found.kind): found.part,
        "formula" if found.up_to_constant else "value": "none: the statement does not apply"
        if value is None
        else shown,
    }
    if found.up_to_constant and value is not None:
        rows["kind"] = "order of growth: it holds up to a constant that is not stated, so this is not a bound"
    output.print_rows(rows)
    for one in found.conditions:
        click.echo(f"  {_verdict(one)}: {one.text}" + (f"  ({one.why})" if one.why else ""))
        if one.undefined:
            click.echo(f"    here {one.undefined}")
    if found.applies is False:
        click.echo("  THE STATEMENT DOES NOT APPLY at these values")


def _condition(one: Checked) -> dict[str, object]:
    return {"text": one.text, "holds": one.holds, "why": one.why or None, "missing": list(one.missing)}


def _verdict(one: Checked) -> str:
    if one.holds is None:
        return f"not checked ({', '.join(one.missing)} not given)" if one.missing else "not decided"
    return "holds" if one.holds else "FAILS"


def _print_spending(name: str, found: Spending, digits: int, as_json: bool) -> None:
    if as_json:
        output.print_json(
            {
                "id": name,
                "part": SPENT,
                "kind": "bound",
                "value": output.json_ends(found.spent, digits if digits > 15 else None),
                "digits": found.spent.digits,
                "claim": str(found.claim),
                "relation": str(found.relation),
                "promised": output.json_given(found.promised),
                "kept": found.kept,
                "conditions": [],
            }
        )
        return
    verdict = {True: "holds (proven)", False: "FAILS (proven)", None: "undecided"}[found.kept]
    output.print_rows(
        {
            "statement": cited_as(name),
            "claimed": f"{output.plain(found.promised)}  {found.claim}",
            "spent": _spent(found),
            "verdict": verdict,
            "relation": str(found.relation),
        }
    )


def _spent(found: Spending) -> str:
    """Return the spent budget, to be read beside the claimed one.

    What is prescribed is rounded to the safe side in its 30th digit before it is accounted for. Where that alone makes
    the difference, it is said: a rounded number would look larger than the claim.
    """
    above = Fraction(found.spent.exact_upper) - found.promised if found.kept else 0
    if above <= 0:
        return output.shown(found.spent, limit=found.promised)
    return (
        f"{output.plain(found.promised)}, and at most {to_decimal(above, 2, 'up')} more  (proven; from rounding "
        "prescribed numbers in the 30th digit, which does not count against the claim)"
    )
