"""Results of other accounting methods: of one method, or of all beside the certified value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions import options

if TYPE_CHECKING:
    from dpbounds.cli.answers.methods import Question
    from dpbounds.cli.questions.subjects import Subject
    from dpbounds.privacy.accountants.side_by_side import Method, MethodValue


def answer_by(question: Question, subject: Subject, given: dict[str, Any]) -> int:
    """Print the value of one method, or of all; return the exit status, 0."""
    from dpbounds.privacy.accountants.side_by_side import all_methods, by_method

    delta, epsilon, relation = question.delta, question.epsilon, question.relation
    if given["method"] == "all":
        values = all_methods(question.mechanism, delta=delta, epsilon=epsilon, relation=relation)
    else:
        chosen: Method = given["method"]
        values = (by_method(chosen, question.mechanism, delta=delta, epsilon=epsilon, relation=relation),)
    for value in values:
        if value.value is not None and given["method"] != "all":
            options.note(f"{value.method} is {value.why}: do not publish it")
    if subject.condition is not None:
        options.note(f"every value holds provided that {subject.condition}")
    if question.delta is not None:
        options.warn_if_delta_is_large(question.delta, subject.dataset_size)
    if given["as_json"]:
        output.print_json(_as_json(question, subject, given, values))
    else:
        _print(question, given, values)
    return 0


def _as_json(
    question: Question, subject: Subject, given: dict[str, Any], values: tuple[MethodValue, ...]
) -> dict[str, object]:
    other = "delta" if question.wanted == "epsilon" else "epsilon"
    told = {other: output.json_given(question.target), "relation": given["relation"]}
    if given["method"] == "all":
        return {"methods": [_entry(question, value, given["digits"]) for value in values], **told, **subject.parameters}
    (value,) = values
    entry = _entry(question, value, given["digits"])
    digits = None if value.enclosure is None else value.enclosure.digits
    return {**entry, **told, "digits": digits, **subject.parameters}


def _entry(question: Question, value: MethodValue, digits: int | None) -> dict[str, object]:
    entry: dict[str, object] = {"method": value.method}
    if value.enclosure is not None:
        entry[question.wanted] = output.json_ends(value.enclosure, digits)
    else:
        entry["value"] = None if value.value is None else output.json_number(value.value, "up")
    entry |= {"certified": value.certified, "ratio": value.ratio, "why": value.why}
    return entry


def _print(question: Question, given: dict[str, Any], values: tuple[MethodValue, ...]) -> None:
    from dpbounds.cli.printing.wording import described

    other = "delta" if question.wanted == "epsilon" else "epsilon"
    rows = {
        other: output.plain(question.target),
        "relation": given["relation"],
        "mechanism": described(question.mechanism),
    }
    if given["method"] != "all":
        (value,) = values
        kind = "proven, rounded up" if value.certified else "an approximation, not proven"
        number = _number(value, given["digits"])
        output.print_rows({question.wanted: f"{number}  ({kind})", **rows, "method": f"{value.method}: {value.why}"})
        return
    output.print_rows(rows)
    click.echo()
    head = ("method", question.wanted, "ratio", "why it is larger")
    output.print_table([head, *((v.method, _number(v, given["digits"]), _ratio(v), v.why) for v in values)])


def _number(value: MethodValue, digits: int | None) -> str:
    if value.enclosure is not None:
        return value.enclosure.decimals(digits or 8)[1]
    return "-" if value.value is None else f"~{value.value:.{digits or 6}g}"


def _ratio(value: MethodValue) -> str:
    return "" if value.ratio is None else f"{value.ratio:.4g}"
