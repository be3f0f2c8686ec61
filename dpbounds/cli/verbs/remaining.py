"""`dpbounds remaining`: the spent part of a budget, and what still fits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import (
    FILE,
    RELATION_OPTION,
    REPORT_OPTION,
    TARGET_OPTIONS,
    TIME_LIMIT_OPTION,
    note,
    note_if_stopped,
    required,
    warn_if_delta_is_large,
    whole,
)
from dpbounds.expressions.exact import to_decimal

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.remaining import Remaining

_DIGITS = 12
_KEPT = {True: "kept (proven)", False: "NOT kept (proven)", None: "NOT proven to be kept"}


@click.command("remaining", short_help="Compute what a ledger leaves of a budget.")
@required("--ledger", "FILE, the releases of a run", type=FILE, help="Ledger of a run (JSON).")
@TARGET_OPTIONS
@click.option("--dataset-size", callback=whole, metavar="N", help="Number of records (public).")
@RELATION_OPTION
@TIME_LIMIT_OPTION
@REPORT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    ledger: Path,
    target_epsilon: Fraction,
    target_delta: Fraction,
    dataset_size: int | None,
    relation: str,
    time_limit: Fraction | None,
    report: Path | None,
    as_json: bool,
) -> int:
    """Compute what a ledger spent of a budget, and what still fits; exit status 1 unless it is proven to be kept.

    Example: dpbounds remaining --ledger ledger.json --target-epsilon 4 --target-delta 1e-5 --relation replace-one
    """
    from dpbounds.cli.questions.subjects import is_gaussian, read_ledger
    from dpbounds.privacy.budgets.remaining import remaining

    subject = read_ledger(ledger, dataset_size)
    warn_if_delta_is_large(target_delta, subject.dataset_size, "--target-delta")
    if not is_gaussian(subject.mechanism):
        note("for other than Gaussian noise, or batches of a fixed size, this can take a few minutes")
    left = remaining(subject.mechanism, target_epsilon, target_delta, relation, time_limit=time_limit)
    note_if_stopped(left.complete)
    if report is not None:
        _write_report(report, left, ledger, subject.condition)
    if as_json:
        output.print_json(_as_json(left, ledger))
    else:
        output.print_rows(_as_rows(left))
    return DONE if left.within else DOES_NOT_HOLD


def _write_report(path: Path, left: Remaining, ledger: Path, condition: str | None) -> None:
    from dpbounds.cli.answers import reports
    from dpbounds.render.report import Section

    spent = reports.rounded(left.spent.enclosure.exact_upper, "up")
    budget = f"ε = {output.plain(left.target_epsilon)} at δ = {output.plain(left.target_delta)}"
    verdict = {
        True: f"The budget, {budget}, is kept: ε = {spent} is spent at most",
        False: f"The budget, {budget}, is NOT kept",
        None: f"The budget, {budget}, is NOT proven to be kept: ε = {spent} may be spent",
    }[left.within]
    rows = _as_rows(left)
    report = reports.account_report(
        "Budget left",
        verdict,
        bool(left.within),
        left.spent,
        numbers={"ε spent, at most": spent, "budget": f"{budget}: {_KEPT[left.within]}"},
        condition=condition,
        files={"ledger": ledger},
        further=[
            Section(
                "What may still be released?",
                values={name: rows[name] for name in ("one more Gaussian", "more of the last")},
            )
        ],
    )
    reports.write(path, report)


def _as_json(left: Remaining, path: Path) -> dict[str, object]:
    from dpbounds.cli.printing.wording import described

    noise = left.noise
    fails_at = None if noise is None else noise.fails_at
    return {
        "epsilon": output.json_ends(left.spent.enclosure),
        "within": left.within,
        "target_epsilon": output.json_given(left.target_epsilon),
        "target_delta": output.json_given(left.target_delta),
        "relation": str(left.relation),
        "noise_multiplier": None if noise is None else output.json_number(noise.value, "up"),
        "noise_fails_at": None if fails_at is None else output.json_number(fails_at, "down"),
        "more": left.more,
        "more_fails_at": left.too_many,
        "last": described(left.last),
        "tight": left.spent.tight,
        "certified": True,
        **({} if left.complete else {"complete": False}),
        "ledger": str(path),
    }


def _as_rows(left: Remaining) -> dict[str, str]:
    from dpbounds.cli.printing.wording import described, drawn, noise_of

    budget = f"epsilon {output.plain(left.target_epsilon)}, delta {output.plain(left.target_delta)}"
    return {
        "epsilon spent": output.shown(left.spent.enclosure, tight=left.spent.tight, limit=left.target_epsilon),
        "budget": f"{budget}: {_KEPT[left.within]}",
        "relation": str(left.relation),
        "ledger": described(left.spent.mechanism),
        "one more Gaussian": _one_more(left),
        "more of the last": f"{_more(left)}: on {drawn(left.last)}, {noise_of(left.last)}",
    }


def _one_more(left: Remaining) -> str:
    if left.noise is None:
        return "no noise is proven to fit"
    fits = to_decimal(left.noise.value, _DIGITS, "up")
    if left.noise.fails_at is None:
        return f"noise multiplier {fits} fits on the full batch (proven)"
    fails = to_decimal(left.noise.fails_at, _DIGITS, "down")
    return f"noise multiplier {fits} fits on the full batch (proven), {fails} does not (proven)"


def _more(left: Remaining) -> str:
    fits = f"{left.more} more fit{'s' if left.more == 1 else ''} (proven)" if left.more else "none is proven to fit"
    if left.too_many is None or left.too_many == 0:
        return fits
    return f"{fits}, {left.too_many} {'does' if left.too_many == 1 else 'do'} not (proven)"
