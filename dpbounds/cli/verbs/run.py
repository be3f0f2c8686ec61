"""`dpbounds run`: one algorithm on one's own records, or on public ones: a private point, its ledger and statement."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import io
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbounds import documents
from dpbounds.cli.answers.demo_training import demand_data
from dpbounds.cli.answers.running import SQUARES, Ran, Records, Subject, ran, subject_of
from dpbounds.cli.printing import output as printing
from dpbounds.cli.questions.completion import ALGORITHMS
from dpbounds.cli.questions.drawing import DRAWING_OPTIONS, is_drawn
from dpbounds.cli.questions.options import (
    CENTRE_OPTION,
    FILE,
    POSITIVE,
    PROBABILITY,
    RECORDS_OPTIONS,
    REPORT_OPTION,
    Word,
    demand_place,
    make_directory,
    number_of_runs,
    relation_option,
    required,
    unfit,
    warn_if_delta_is_large,
    writing_before,
)
from dpbounds.cli.verbs.evaluate import assignments
from dpbounds.cli.verbs.plan import releases
from dpbounds.errors import CertificateError, InvalidValue, one_of
from dpbounds.expressions.json_numbers import json_text
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.accountants.certified import Account

LAST_ALONE = "-last-iterate"  # in names of files: the one of what the last iterate spends where it alone is published
_OF_FIT = ("classif", "regress", "logistic", "linear")  # words of what another verb does
_OUTSIDE = (
    "the preparation of the records, the step size and the number of steps, made from numbers taken to be public",
    "whatever else was run on the same records: each run is a release of its own",
)


def _known(ctx: click.Context, argument: click.Parameter, name: str) -> str:
    """Check the name before options that are missing are asked for."""
    from dpbounds.algorithms.verification.catalogue import example_names

    names = example_names()
    if name not in names:
        words = name.lower()
        linear = any(word in words for word in _OF_FIT)
        advice = "a classifier or a regressor of a CSV file is `dpbounds fit`" if linear else ""
        raise InvalidValue("ALGORITHM", name, one_of(name, names, "`dpbounds run --list`"), advice)
    return name


def _list(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print the names of all algorithms, with the title of the statement that each comes from."""
    if not wanted or ctx.resilient_parsing:
        return
    from dpbounds.algorithms.verification.catalogue import all_examples
    from dpbounds.theorems.index import listing

    titles = {entry.id: entry.title for entry in listing()}
    rows = {each.name: titles[each.theorems[0]] for each in all_examples() if not each.printed}
    width = max(map(len, rows))
    for name in sorted(rows):
        click.echo(f"{name:{width}}  {rows[name]}")
    ctx.exit()


@click.command("run", short_help="Run an algorithm on your own records or public ones, for a budget.")
@click.argument("name", metavar="ALGORITHM", shell_complete=ALGORITHMS, callback=_known)
@click.argument("words", metavar="[NAME=VALUE]...", nargs=-1)
@required("--epsilon", "E, a number greater than 0", POSITIVE, help="ε of the privacy budget.")
@required("--delta", "D, a number greater than 0 and less than 1", PROBABILITY, help="δ of the privacy budget.")
@relation_option(Relation.REPLACE_ONE)
@RECORDS_OPTIONS
@CENTRE_OPTION
@DRAWING_OPTIONS
@click.option(
    "--checkpoint",
    type=FILE,
    metavar="FILE",
    help="With training: a file written after every epoch; if it exists, the run resumes from it.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed to repeat an experiment; never for a release."
)
@click.option(
    "--repetitions",
    callback=number_of_runs,
    default="1",
    show_default=True,
    metavar="R",
    help="Number of repetitions, on public records.",
)
@click.option("--noise", type=Word(["gaussian", "secure"]), default="gaussian", show_default=True)
@click.option(
    "--guarded", is_flag=True, help="Check the run for leaks, and test its noise; repeat it on synthetic records, too."
)
@click.option(
    "--output", type=FILE, default=Path("dpbounds-run"), show_default=True, metavar="DIR", help="Directory to write to."
)
@REPORT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the algorithms and exit."
)
def command(
    name: str,
    words: tuple[str, ...],
    epsilon: Fraction,
    delta: Fraction,
    relation: str,
    data: Path | None,
    label: str | None,
    positive: str | None,
    ranges: Path | None,
    centre: Fraction | None,
    checkpoint: Path | None,
    seed: int | None,
    repetitions: int,
    noise: str,
    guarded: bool,
    output: Path,
    report: Path | None,
    as_json: bool,
    **draws: Any,
) -> int:
    """Run an algorithm for a budget, and write the private point, its ledger and the privacy statement to DIR.

    ALGORITHM is a name that --list prints. With --data, it trains on your records with the sigmoid loss, and prints and
    writes only the private output. With n=VALUE d=VALUE, and optionally lipschitz, smoothness, initial_gap, loss_range
    and hessian_lipschitz, it runs on synthetic records with these constants; otherwise on its example. Other words are
    parameters of the algorithm, such as steps=100.

    training and dp-sgd support the sampling schemes of data loaders (--sampling); training and dp-ftrl support
    correlated noise (--toeplitz, --matrix or --tree, with --participation).

    Example: dpbounds run dp-storm n=1000 d=5 steps=30 --epsilon 1 --delta 1e-6

    Shuffled batches: dpbounds run training step_size=0.5 --data FILE.csv --sampling shuffled --batches 20 --epochs 10
    --epsilon 2 --delta 1e-5
    """
    from dpbounds.algorithms.ledger import PrivacyBudget

    demand_data(data, label, positive, ranges, centre)
    if data is not None and repetitions > 1:
        raise unfit(f"--repetitions {repetitions}", "needs public records: each repetition is a release of its own")
    demand_place(output)
    budget = PrivacyBudget.of(epsilon, delta, relation)
    records = Records(data, label, positive, ranges, centre)
    asked = draws if is_drawn(draws) or draws["release"] is not None else None
    subject = subject_of(name, assignments(words), budget, noise, records, asked)
    _demand_checkpoints(subject, checkpoint)
    warn_if_delta_is_large(delta, getattr(subject.problem, "records", None), "--delta")
    found = ran(subject, seed, repetitions, guarded, checkpoint)
    make_directory(output)
    files = _write(found, output, partial(_write_report, report, found, budget))
    if as_json:
        printing.print_json({**_document(found), "files": [str(file) for file in files]})
    else:
        _print(found, files)
    return 0


def _demand_checkpoints(subject: Subject, checkpoint: Path | None) -> None:
    if checkpoint is not None and "checkpoint" not in inspect.signature(subject.algorithm.run).parameters:
        why = f"is not an option of {subject.name}, whose state between steps cannot be stored"
        raise unfit(f"--checkpoint {checkpoint}", why, "take training, or leave it out")


def _write_report(path: Path | None, found: Ran, budget: PrivacyBudget, files: Mapping[str, Path]) -> None:
    if path is None:
        return
    from dpbounds.algorithms.ledger_format import CONDITION
    from dpbounds.cli.answers import reports
    from dpbounds.render.report import Section

    spent = reports.rounded(found.spent.exact_upper, "up")
    kept = f"ε = {printing.plain(budget.epsilon)} at δ = {printing.plain(budget.delta)}"
    promised = {
        f"{name}, in the mean at most": reports.rounded(b.exact_upper, "up") for name, b in found.bounds.items()
    }
    names = {"certificate.json": "certificate", "ledger.json": "ledger"}
    report = reports.account_report(
        "Private training",
        f"The run keeps its budget, {kept}",
        found.spent.at_most(budget.epsilon),
        found.account,
        numbers={
            "algorithm": found.subject.name,
            "steps": str(found.run.steps),
            "budget": kept,
            "ε spent, at most": spent,
        },
        condition=None if found.run.seed is None else CONDITION,
        noise_drawn=found.run.noise_drawn,
        outside=_OUTSIDE,
        files={what: files[name] for name, what in names.items() if name in files},
        further=[
            Section(
                "How good is the result?",
                paragraphs=() if promised else (f"No bound applies: {found.why}.",),
                values=promised,
                points=found.subject.notes,
            )
        ],
    )
    reports.write(path, report)


def _document(found: Ran) -> dict[str, object]:
    subject, run, account = found.subject, found.run, found.account
    return {
        "algorithm": subject.name,
        "records": getattr(subject.problem, "records", None),
        "dimension": len(run.output[0]),
        "public": not subject.private,
        "preparation": list(subject.notes),
        "parameters": dict(run.parameters),
        "steps": run.steps,
        "seed": run.seed,
        "epsilon": printing.json_ends(found.spent),
        "delta": printing.json_given(found.budget.delta),
        "relation": str(account.relation),
        "release": run.release,
        "last_iterate_alone": None if found.alone is None else printing.json_ends(found.alone.enclosure),
        "metric": run.metric,
        "bounds": [
            {
                "metric": name,
                **printing.json_ends(bound),
                "trivial": _is_trivial(bound),
                "measured": found.measured(name),
            }
            for name, bound in found.bounds.items()
        ],
        "no_bound": None if found.bounds else found.why,
        "repetitions": run.repetitions,
        "point": [float(x) if math.isfinite(x) else None for x in run.output[0]],
        "noise_drawn": run.noise_drawn,
        "guarded": None if found.guarded is None else dataclasses.asdict(found.guarded),
        "ledger": documents.parsed(run.ledger.to_json(), "ledger"),
        "statement": _statement(found, found.account),
    }


def _statement(found: Ran, account: Account) -> str | None:
    """Return the privacy statement; None where there are no words for the mechanism."""
    from dpbounds.privacy.publishing.statements import statement

    try:
        return statement(account, noise_drawn=found.run.noise_drawn, outside=_OUTSIDE, chosen=found.run.chosen)
    except CertificateError:
        return None


def _write(found: Ran, directory: Path, write_report: Callable[[Mapping[str, Path]], None]) -> tuple[Path, ...]:
    """Write ledger, statement and certificate, the report, and the point last, so that it is never there alone."""
    accounts = {"": found.account, **({} if found.alone is None else {LAST_ALONE: found.alone})}
    statements = {which: _statement(found, account) for which, account in accounts.items()}
    certificates = {which: _certificate(account) for which, account in accounts.items()}
    evidence = {
        "ledger.json": found.run.ledger.to_json() + "\n",
        **{f"statement{which}.txt": text + "\n" for which, text in statements.items() if text is not None},
        **{f"certificate{which}.json": text for which, text in certificates.items() if text is not None},
    }
    released = {
        "point.csv": _point(found),
        "run.json": json_text(_document(found), indent=2) + "\n",
    }
    first, last = ({directory / name: text for name, text in texts.items()} for texts in (evidence, released))
    outdated = [
        directory / name for which in ("", LAST_ALONE) for name in (f"statement{which}.txt", f"certificate{which}.json")
    ]
    writing_before(first, last, partial(write_report, {path.name: path for path in first}), outdated)
    names = ("point.csv", *evidence, "run.json")
    return tuple(directory / name for name in sorted(names, key=lambda name: name.startswith("certificate")))


def _certificate(account: Account) -> str | None:
    from dpbounds.privacy.publishing.certificates import certificate_text

    try:
        return certificate_text(account)
    except CertificateError as reason:
        click.echo(f"note: {reason}\n", err=True)
        return None


def _point(found: Ran) -> str:
    """Return the released point of one repetition, one coordinate a line."""
    point = found.run.output[0]
    names = found.subject.names or tuple(f"x{number}" for number in range(1, len(point) + 1))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("coordinate", "value"))
    writer.writerows(zip(names, (repr(float(x)) for x in point), strict=True))
    return text.getvalue()


def _print(found: Ran, files: tuple[Path, ...]) -> None:
    from dpbounds.algorithms.run import ONLY_THE_LAST

    subject, run, account, budget = found.subject, found.run, found.account, found.budget
    whose = "private" if subject.private else "public"
    rows = {
        "algorithm": f"{subject.name}: {run.steps} steps",
        "records": f"{getattr(subject.problem, 'records', '-')} ({whose}), {len(run.output[0])} parameters",
        "parameters": ", ".join(f"{name} {value:.6g}" for name, value in run.parameters.items()) or "-",
        "epsilon": printing.shown(found.spent, limit=budget.epsilon),
        "delta": f"{printing.plain(budget.delta)}, {budget.relation}",
        "at most" if run.chosen else "released": "; ".join(
            f"{count} x {text}" for count, text in releases(account.mechanism)
        ),
        "bound": "; ".join(_bound(found, name) for name in found.bounds) or f"none: {found.why}",
        "noise": run.noise_drawn,
        **({} if found.guarded is None else {"guards": str(found.guarded)}),
    }
    if run.release == "last-iterate":
        rows["publish"] = ONLY_THE_LAST
    elif found.alone is not None:
        rows["last iterate"] = (
            f"alone {printing.shown(found.alone.enclosure)}, if nothing else is published: {ONLY_THE_LAST}"
        )
    printing.print_rows(rows)
    for line in subject.notes:
        click.echo(f"- {line}")
    click.echo(f"\n{_statement(found, account) or 'no statement: there are no words for such a mechanism'}\n")
    click.echo("Written: " + ", ".join(map(str, files)))


def _bound(found: Ran, name: str) -> str:
    bound, measured = found.bounds[name], found.measured(name)
    root = math.nextafter(math.sqrt(bound.upper), math.inf)
    rooted = f" (its root: {printing.rounded(root, 6, 'up')})" if name in SQUARES else ""
    trivial = " (trivial)" if _is_trivial(bound) else ""
    seen = "" if measured is None else f"; measured {measured:.6g}, not private"
    return f"mean of {name} <= {printing.rounded(bound.exact_upper, 6, 'up')}{rooted}{trivial}{seen}"


def _is_trivial(bound: Enclosure) -> bool:
    """Return whether it is the trivial bound for any point, which was smaller than the theorem's."""
    return bound.method.startswith("trivial")
