"""The answer of `calibrate --target-tpr`: the least noise that keeps an attacker's true positive rate."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import waiting_line
from dpbounds.cli.questions.options import missing, unfit
from dpbounds.cli.questions.subjects import training_parameters, under_proven_relation
from dpbounds.cli.questions.training import Training, read_training
from dpbounds.expressions.exact import to_decimal

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.error_rates import ErrorRateCalibration

_DIGITS = 12
_OF_A_BUDGET = (
    *("target_epsilon", "target_delta", "target_advantage"),
    *("certificate", "explain", "plot", "report", "statement", "time_limit"),
)


def answer_error_rates(solve: str, given: dict[str, Any]) -> int:
    """Find the noise, and print it with what an attacker attains."""
    target, rate = given["target_tpr"], given["at_fpr"]
    if target is None or rate is None:
        name, other = ("--target-tpr", "--at-fpr") if target is None else ("--at-fpr", "--target-tpr")
        raise missing(name, f"{name}, a number greater than 0 and less than 1, with {other}")
    for name in _OF_A_BUDGET:
        if given[name]:
            raise unfit(f"--{name.replace('_', '-')}", "does not fit --target-tpr")
    if solve != "noise":
        raise unfit(f"--solve {solve}", "does not fit --target-tpr, for which the noise is found")
    if given["group_size"] != 1:
        raise unfit(f"--group-size {given['group_size']}", "does not fit --target-tpr, which is about one record")
    training, given = under_proven_relation(
        given, partial(read_training, unknown="noise"), lambda read: read.with_value("noise", Fraction(1))
    )
    from dpbounds.privacy.budgets.error_rates import calibrate_to_true_positive_rate

    with waiting_line(None):
        found = calibrate_to_true_positive_rate(
            lambda value: training.with_value("noise", value), target, rate, training.relation
        )
    if given["as_json"]:
        output.print_json(_as_json(found, training))
    else:
        output.print_rows(_as_rows(found, given["digits"] or _DIGITS))
    return 0


def _as_json(found: ErrorRateCalibration, training: Training) -> dict[str, object]:
    return {
        **training_parameters(training),
        "noise_multiplier": output.json_number(found.value, "up"),
        "fails_at": None if found.fails_at is None else output.json_number(found.fails_at, "down"),
        "true_positive_rate": output.json_ends(found.attained),
        "target_tpr": output.json_given(found.true_positive_rate),
        "at_fpr": output.json_given(found.false_positive_rate),
        "relation": str(found.relation),
        "certified": True,
    }


def _as_rows(found: ErrorRateCalibration, digits: int) -> dict[str, str]:
    from dpbounds.cli.printing.wording import described

    fails = "not known: less may do"
    if found.fails_at is not None:
        fails = f"{to_decimal(found.fails_at, digits, 'down')}  (proven)"
    return {
        "noise multiplier": f"{to_decimal(found.value, digits, 'up')}  (proven to suffice; rounded up)",
        "fails at": fails,
        "true positive rate": output.shown(found.attained, limit=found.true_positive_rate),
        "target": f"true positive rate {output.plain(found.true_positive_rate)} at false positive rate "
        f"{output.plain(found.false_positive_rate)}",
        "relation": str(found.relation),
        "mechanism": described(found.mechanism),
    }
