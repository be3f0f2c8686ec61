"""Answers of the verbs `epsilon` and `delta`: one question, for a training run or for a ledger."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import click

from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import waiting_line
from dpbounds.cli.questions import options as given_options
from dpbounds.cli.questions.local_reports import REPORT_OPTIONS
from dpbounds.cli.questions.training import TRAINING_OPTIONS
from dpbounds.errors import InvalidValue
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.cli.answers.cheaper import Cheaper
    from dpbounds.cli.answers.curves import ProvenCurve
    from dpbounds.cli.answers.methods import Answer, Question
    from dpbounds.cli.questions.subjects import Subject
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.accountants.certified import Account
    from dpbounds.privacy.budgets.calibration import Calibration
    from dpbounds.privacy.mechanisms import Mechanism

_OF_ONE_RECORD = ("curve", "trade_off", "statement", "report", "plot", "kernel_certificate")
_ALL_ORDERS_ONLY = (*_OF_ONE_RECORD, "certificate", "after")
_ONE_RECORD_ONLY = ("tolerance", "time_limit", "after", "neighbour_order", *_OF_ONE_RECORD)
_CERTIFIED_ONLY = (*_ONE_RECORD_ONLY, "certificate", "explain", "group_size")

SPENDING_OPTIONS = given_options.options(
    TRAINING_OPTIONS,
    REPORT_OPTIONS,
    given_options.RELATION_OPTION,
    click.option(
        "--neighbour-order",
        type=given_options.Word(map(str, Order)),
        help="Count one order of neighbours only, which is not privacy: remove (the first dataset holds the record) or "
        "add; zero or restore under zero-out-one.",
    ),
    given_options.LEDGER_OPTION,
    click.option(
        "--group-size",
        callback=given_options.whole,
        default="1",
        metavar="K",
        help="Group size: number of records that differ together.",
    ),
    click.option(
        "--method",
        callback=given_options.method,
        default="certified",
        show_default=True,
        metavar="NAME",
        help="certified, rdp, zcdp, zcdp-classical, gdp (an approximation), optimal, advanced, basic; or all.",
    ),
    click.option(
        "--tolerance", callback=given_options.PROBABILITY, metavar="W", help="Relative width to aim at (default 1e-9)."
    ),
    given_options.TIME_LIMIT_OPTION,
    click.option("--digits", type=click.IntRange(1, 1000), metavar="N", help="Digits to print; text in JSON above 15."),
    click.option(
        "--after",
        callback=given_options.whole_numbers,
        metavar="N,N,...",
        help="Also print what is spent after these numbers of steps (of epochs, if they are shuffled).",
    ),
    click.option(
        "--explain", is_flag=True, help="Print the proof, its assumptions, and what would improve the result."
    ),
    click.option(
        "--curve",
        type=given_options.FILE,
        callback=given_options.data_or_picture,
        metavar="FILE",
        help="Write the certified curve δ(ε): numbers (.csv, .json) or a picture (.png, .svg, .pdf).",
    ),
    click.option(
        "--trade-off",
        type=given_options.FILE,
        callback=given_options.data_or_picture,
        metavar="FILE",
        help="Write a certified lower bound on an attacker's error rates, in the same formats.",
    ),
    PLOT_OPTION,
    given_options.REPORT_OPTION,
    given_options.PUBLISHING_OPTIONS,
    click.option(
        "--kernel-certificate",
        type=given_options.FILE,
        callback=given_options.writable,
        metavar="FILE",
        help="Write integers that a checker proven in Coq accepts: `dpbounds check --kernel`.",
    ),
    click.option(
        "--probable",
        callback=given_options.PROBABILITY,
        metavar="CONFIDENCE",
        help="Monte Carlo bound that holds with this confidence, in place of a certified one.",
    ),
    click.option("--samples", callback=given_options.whole, metavar="N", help="Number of samples, with --probable."),
    click.option(
        "--sampling-seed",
        type=click.IntRange(0),
        metavar="N",
        help="Seed to repeat a --probable run; not for publication.",
    ),
)


def answer(wanted: Literal["epsilon", "delta"], target: Fraction, given: dict[str, Any]) -> int:
    """Compute ε(δ) or δ(ε), print it, and write the requested files."""
    from dpbounds.cli.answers.cheaper import cheaper_epsilon
    from dpbounds.cli.answers.methods import Question, certified
    from dpbounds.cli.questions.subjects import demand_publishable, read_subject, under_proven_relation

    asked = [name for name in _CERTIFIED_ONLY if given[name] and not (name == "group_size" and given[name] == 1)]
    for names, wrong, told in (
        (_ONE_RECORD_ONLY, given["group_size"] > 1, "is not possible with --group-size above 1"),
        (_CERTIFIED_ONLY, given["method"] != "certified", "needs --method certified"),
        (_ALL_ORDERS_ONLY, given["neighbour_order"] is not None, "is not possible with --neighbour-order"),
    ):
        if wrong and (both := [name for name in names if name in asked]):
            raise click.UsageError(f"--{both[0].replace('_', '-')} {told}: leave one of the two out")
    _demand_fitting_probable(given, asked)
    if given["ledger"] is None and given["probable"] is None:
        subject, given = under_proven_relation(given, read_subject, lambda read: read.mechanism)
    else:
        subject = read_subject(given)
    if given["probable"] is not None:
        from dpbounds.cli.answers.probable import answer_probably

        return answer_probably(wanted, target, subject, given)
    order = _order(given)
    demand_publishable(subject.mechanism, Relation(given["relation"]), given)
    tolerance = None if given["tolerance"] is None else _as_float(given["tolerance"])
    question = Question(
        wanted,
        target,
        subject.mechanism,
        Relation(given["relation"]),
        tolerance,
        int(given["group_size"]),
        given["time_limit"],
        order,
    )
    if given["method"] != "certified":
        from dpbounds.cli.answers.side_by_side import answer_by

        return answer_by(question, subject, given)
    step = None if given["after"] is None else _repeated(question.mechanism, given["after"])
    with waiting_line(given["time_limit"]):
        found = certified(question)
        complete = found.account is None or found.account.complete
        cheaper = cheaper_epsilon(question, found.enclosure.exact_upper) if complete and order is None else None
    _warn(question, found, subject, given["digits"])
    curve = _write_files(question, found, given)
    statement = write_publications(found.account or question.of_group(found.enclosure), given, subject.condition)
    if given["kernel_certificate"] is not None and found.account is not None:
        from dpbounds.privacy.publishing.kernel.writing import write_kernel_certificate

        write_kernel_certificate(given["kernel_certificate"], found.account)
        output.print_written(given["kernel_certificate"], err=True)
    if given["report"] is not None and found.account is not None:
        _write_report(question, found.account, subject, given, curve)
    advantage = certified(question.at_zero()).enclosure if given["explain"] else None
    after = {} if step is None else _after(question, step, given["after"])
    if given["as_json"]:
        document = _as_json(question, found, subject, given, advantage, statement, cheaper)
        spent = [
            {"steps": count, question.wanted: output.json_ends(ends, given["digits"])} for count, ends in after.items()
        ]
        output.print_json(document | ({"after": spent} if spent else {}))
        return 0
    _print(question, found, subject, given, cheaper)
    if after:
        click.echo()
        digits = given["digits"] or output.DEFAULT_DIGITS
        rows = ((str(count), ends.decimals(digits)[1]) for count, ends in after.items())
        output.print_table([("steps", f"{question.wanted} (proven, rounded up)"), *rows])
    if advantage is not None:
        from dpbounds.cli.answers.explanation import print_explanation

        print_explanation(question, found, advantage)
    if statement is not None:
        click.echo(f"\n{statement}")
    return 0


def _repeated(mechanism: Mechanism, counts: Sequence[int]) -> Mechanism:
    """Return the step of a run of equal steps, of which there are as many as asked for."""
    from dpbounds.privacy.mechanisms import parts_of

    (step, steps), *others = parts_of(mechanism)
    if others or step.whole:
        told = ",".join(map(str, counts))
        raise InvalidValue("--after", told, "left out where steps differ, or are not released one by one")
    if max(counts) > steps:
        raise InvalidValue("--after", max(counts), f"at most the number of steps, {steps}")
    return step


def _after(question: Question, step: Mechanism, counts: Sequence[int]) -> dict[int, Enclosure]:
    from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
    from dpbounds.privacy.accountants.rounds import after_rounds

    return after_rounds(
        step,
        counts,
        delta=question.delta,
        epsilon=question.epsilon,
        relation=question.relation,
        tolerance=question.tolerance or DEFAULT_TOLERANCE,
        time_limit=question.time_limit,
    )


def _order(given: dict[str, Any]) -> Order | None:
    """Return the only order of neighbours that counts; None for all."""
    if given["neighbour_order"] is None:
        return None
    order, relation = Order(given["neighbour_order"]), Relation(given["relation"])
    if order not in relation.orders:
        told = f"must be {' or '.join(relation.orders)} under --relation {relation}, not {order}"
        raise click.UsageError(f"--neighbour-order {told}")
    return order


def _demand_fitting_probable(given: dict[str, Any], certified_only: list[str]) -> None:
    if given["probable"] is None:
        if alone := [name for name in ("samples", "sampling_seed") if given[name] is not None]:
            raise click.UsageError(f"--{alone[0].replace('_', '-')} needs --probable: leave it out, or give both")
        return
    others = [*certified_only, *(["method"] if given["method"] != "certified" else [])]
    if others:
        told = "is not possible with --probable, whose bound is not certified: leave one of the two out"
        raise click.UsageError(f"--{others[0].replace('_', '-')} {told}")


def _warn(question: Question, found: Answer, subject: Subject, digits: int | None) -> None:
    """Warn on standard error of deviations from the request, and of bad choices."""
    bound = found.bound
    given_options.note_if_stopped(found.account is None or found.account.complete)
    delta_in_use = question.delta if question.delta is not None else bound.exact_upper
    given_options.warn_if_delta_is_large(delta_in_use, subject.dataset_size)
    if digits is not None and bound.digits < digits and bound.width > 0:
        given_options.note(f"{bound.digits} digits are proven, fewer than the {digits} that are printed")
    if question.tolerance is not None and bound.width > question.tolerance * bound.upper:
        reached = bound.width / bound.upper
        given_options.note(f"the relative width reached is {reached:.2g}, not the {question.tolerance:.2g} aimed at")


def _write_files(question: Question, found: Answer, given: dict[str, Any]) -> ProvenCurve | None:
    """Write curves as numbers and pictures; returns the curve, where any of them needed it."""
    if all(given[name] is None for name in ("curve", "trade_off", "plot")):
        return None
    from dpbounds.cli.answers.curves import PICTURE_TOLERANCE, proven_curve, write_curve, write_trade_off
    from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE

    centre = found.bound.exact_upper if question.wanted == "epsilon" else question.target
    only_seen = given["curve"] is None and given["trade_off"] is None
    tolerance = question.tolerance or (PICTURE_TOLERANCE if only_seen else DEFAULT_TOLERANCE)
    curve = proven_curve(question.mechanism, question.relation, centre, tolerance)
    if given["curve"] is not None:
        write_curve(given["curve"], curve)
    if given["trade_off"] is not None:
        write_trade_off(given["trade_off"], curve)
    if given["plot"] is not None:
        from dpbounds.cli.answers import plots

        plots.write(given["plot"], plots.spending(curve))
    return curve


def _write_report(
    question: Question, found: Account, subject: Subject, given: dict[str, Any], curve: ProvenCurve | None
) -> None:
    from dpbounds.cli.answers import reports

    epsilon, delta = reports.ends_of(found)
    spent, at = reports.rounded(epsilon.exact_upper, "up"), reports.rounded(delta.exact_upper, "up")
    finite = isinstance(epsilon.exact_upper, Fraction)
    verdict = f"ε = {spent} is spent at most, at δ = {at}" if finite else f"No finite ε is proven at δ = {at}"
    numbers = {
        f"{question.wanted}, proven to suffice": spent if question.wanted == "epsilon" else at,
        f"{question.wanted}, proven to be needed": reports.rounded(found.enclosure.exact_lower, "down"),
        f"{found.given}, as asked": output.plain(found.target),
    }
    files = {name: given[name] for name in ("certificate", "ledger") if given[name] is not None}
    report = reports.account_report(
        "Privacy spent",
        verdict,
        None if finite else False,
        found,
        numbers=numbers,
        condition=subject.condition,
        files=files,
        curve=curve,
    )
    reports.write(given["report"], report)


def _as_json(
    question: Question,
    found: Answer,
    subject: Subject,
    given: dict[str, Any],
    advantage: Enclosure | None,
    statement: str | None,
    cheaper: Cheaper | None,
) -> dict[str, object]:
    other = "delta" if question.wanted == "epsilon" else "epsilon"
    document: dict[str, object] = {
        question.wanted: output.json_ends(found.enclosure, given["digits"]),
        other: output.json_given(question.target),
        "relation": given["relation"],
        "method": given["method"],
        "certified": True,
        "digits": found.bound.digits,
        "route": found.enclosure.method,
    }
    if question.time_limit is not None and found.account is not None:
        document["complete"] = found.account.complete
    if found.tight is not None:
        document["tight"] = found.tight
    if found.tight is False:
        document["attained"] = None if found.attained is None else output.json_ends(found.attained, given["digits"])
    if question.group_size > 1:
        document["group_size"] = question.group_size
    if question.order is not None:
        document["neighbour_order"] = str(question.order)
    document |= subject.parameters
    if advantage is not None:
        document["total_variation"] = output.json_ends(advantage)
        proven = found.account
        document["explain"] = (
            []
            if proven is None
            else output.explained(proven.proofs, "dominates") + output.explained(proven.attacks, "attack")
        )
    if remark := _remark(question):
        document["note"] = remark
    if cheaper is not None:
        document["cheaper"] = cheaper.as_json()
    if statement is not None:
        document["statement"] = statement
    return document


def _remark(question: Question) -> str:
    """Return what its mechanisms remark on themselves, such as that an order gains nothing; empty if nothing."""
    from dpbounds.privacy.mechanisms import parts_of

    remarks = dict.fromkeys(part.remark(question.relation) for part, _ in parts_of(question.mechanism))
    return "; ".join(filter(None, remarks))


def _print(question: Question, found: Answer, subject: Subject, given: dict[str, Any], cheaper: Cheaper | None) -> None:
    from dpbounds.cli.printing.wording import described

    other = "delta" if question.wanted == "epsilon" else "epsilon"
    group = {"group size": str(question.group_size)} if question.group_size > 1 else {}
    remark = _remark(question)
    output.print_rows(
        {
            question.wanted: output.shown(found.enclosure, given["digits"], tight=found.tight),
            other: output.plain(question.target),
            "relation": given["relation"],
            **({} if question.order is None else {"order": f"{question.order} only, which is not privacy"}),
            **group,
            "mechanism": described(question.mechanism),
            "method": f"{given['method']} ({found.enclosure.method})",
            **({"note": remark} if remark else {}),
            **({} if subject.condition is None else {"provided": subject.condition}),
            **({} if cheaper is None else {"cheaper": cheaper.in_words()}),
        }
    )


def write_publications(found: Account | Calibration, given: dict[str, Any], condition: str | None = None) -> str | None:
    """Write the requested certificate, and return the requested statement, under a condition."""
    if given["certificate"] is not None:
        from dpbounds.privacy.publishing.certificates import write_certificate

        write_certificate(given["certificate"], found)
        output.print_written(given["certificate"], err=True)
    if not given["statement"]:
        return None
    from dpbounds.algorithms.ledger_format import CONDITION
    from dpbounds.privacy.publishing.statements import IDEAL_NOISE, statement

    of_noise = CONDITION in (condition or "")  # what a last iterate rests on a statement says by itself
    noise = f"{IDEAL_NOISE}, {CONDITION}" if of_noise else IDEAL_NOISE
    return statement(found, noise_drawn=noise, form=given["statement"])


def _as_float(tolerance: Fraction) -> float:
    # a double that is not 0, however small the number is
    return max(float(tolerance), sys.float_info.min)
