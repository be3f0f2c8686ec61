"""Options of the shuffle model: every record sends a report by a local randomiser, in a secret order."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import json_given, plain_text
from dpbounds.cli.questions.options import POSITIVE, missing, options, unfit, whole
from dpbounds.cli.questions.training import GAUSSIAN, SHUFFLED
from dpbounds.errors import InvalidValue

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism

_LOCAL = "--local-epsilon"
REPORT_OPTIONS = options(
    click.option(
        _LOCAL,
        callback=POSITIVE,
        metavar="E",
        help="Shuffle model, in place of noise: each record sends a report of pure ε E, in a secret order; --batches "
        "is the number of reports.",
    ),
    click.option(
        "--answers",
        callback=whole,
        metavar="K",
        help="With --local-epsilon: reports are randomised responses of K answers (default: any local randomiser).",
    ),
)


def read_reports(given: Mapping[str, Any], others: tuple[str, ...]) -> tuple[Mechanism, dict[str, object]] | None:
    """Return epochs of shuffled reports, and what describes them; None where the options ask for something else.

    Args:
        given: The values of the options.
        others: The names of all options of training runs.

    Raises:
        InvalidValue: A number out of its domain.
        UsageError: Options that do not fit the shuffle model, or are missing.
    """
    from dpbounds.privacy.mechanisms import PureDP, RandomizedResponse, Shuffled

    epsilon: Fraction | None = given.get("local_epsilon")
    answers: int | None = given.get("answers")
    if epsilon is None:
        if answers is not None:
            raise missing(_LOCAL, f"{_LOCAL} E, a number greater than 0, with --answers")
        return None
    taken = {"batches", "epochs", *(["sampling"] if given["sampling"] == SHUFFLED else [])}
    for name in (*others, "ledger"):
        if name not in taken and (given[name] or isinstance(given[name], Fraction)):
            raise unfit(f"--{name.replace('_', '-')}", f"does not fit {_LOCAL}, which takes --batches and --epochs")
    if given["redraw"] is not None:
        raise unfit("--redraw" if given["redraw"] else "--same-bins", f"does not fit {_LOCAL}")
    if given["noise"] != GAUSSIAN:
        raise unfit(f"--noise {given['noise']}", f"does not fit {_LOCAL}, which is in place of noise")
    if given["batches"] is None:
        raise missing("--batches", f"--batches N, the number of reports, with {_LOCAL}")
    epochs = Fraction(1) if given["epochs"] is None else given["epochs"]
    if epochs.denominator != 1:
        raise InvalidValue("--epochs", plain_text(epochs), f"a whole number with {_LOCAL}")
    if answers == 1:
        raise InvalidValue("--answers", answers, "at least 2")
    report: Mechanism = PureDP(epsilon, relation=given["relation"])
    if answers is not None:
        report = RandomizedResponse(epsilon, answers)
    described = {
        "local_epsilon": json_given(epsilon),
        "answers": answers,
        "batches": given["batches"],
        "epochs": int(epochs),
    }
    return Shuffled(report, given["batches"]) ** int(epochs), {"sampling": SHUFFLED, **described}
