"""The answer of `calibrate --target-tpr` and `--target-mu`: the least noise that keeps an attacker's success."""

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
    from dpbounds.privacy.budgets.attacker_targets import AttackerCalibration

_DIGITS = 12
_LEAST_RATE = Fraction(1, 10**6)
_OF_A_BUDGET = (
    *("target_epsilon", "target_delta", "target_advantage"),
    *("certificate", "explain", "plot", "report", "statement", "time_limit"),
)


def answer_attacker_target(solve: str, given: dict[str, Any]) -> int:
    """Find the noise, and print it with what an attacker attains."""
    target = _target(given)
    for name in _OF_A_BUDGET:
        if given[name]:
            raise unfit(f"--{name.replace('_', '-')}", f"does not fit {target}")
    if solve != "noise":
        raise unfit(f"--solve {solve}", f"does not fit {target}, for which the noise is found")
    if given["group_size"] != 1:
        raise unfit(f"--group-size {given['group_size']}", f"does not fit {target}, which is about one record")
    training, given = under_proven_relation(
        given, partial(read_training, unknown="noise"), lambda read: read.with_value("noise", Fraction(1))
    )
    from dpbounds.privacy.budgets.attacker_targets import calibrate_to_gdp, calibrate_to_true_positive_rate

    at = partial(training.with_value, "noise")
    with waiting_line(None):
        if target == "--target-mu":
            rate = given["least_rate"] or _LEAST_RATE
            found = calibrate_to_gdp(at, given["target_mu"], training.relation, least_rate=rate)
        else:
            found = calibrate_to_true_positive_rate(at, given["target_tpr"], given["at_fpr"], training.relation)
    if given["as_json"]:
        output.print_json(_as_json(found, training))
    else:
        output.print_rows(_as_rows(found, given["digits"] or _DIGITS))
    return 0


def _target(given: dict[str, Any]) -> str:
    """Return the option with the target; refuse two targets, and half of one."""
    of_a_rate = [name for name in ("target_tpr", "at_fpr") if given[name] is not None]
    if given["target_mu"] is not None:
        if of_a_rate:
            raise unfit(f"--{of_a_rate[0].replace('_', '-')}", "does not fit --target-mu", "leave one of the two out")
        return "--target-mu"
    if given["least_rate"] is not None:
        raise missing("--target-mu", "--target-mu MU, a number greater than 0, with --least-rate")
    if len(of_a_rate) == 1:
        name, other = ("--at-fpr", "--target-tpr") if of_a_rate == ["target_tpr"] else ("--target-tpr", "--at-fpr")
        raise missing(name, f"{name}, a number greater than 0 and less than 1, with {other}")
    return "--target-tpr"


def _as_json(found: AttackerCalibration, training: Training) -> dict[str, object]:
    names = ("true_positive_rate", "target_tpr", "at_fpr")
    if found.measure == "mu":
        names = ("gdp_parameter", "target_mu", "least_rate")
    attained, target, rate = names
    return {
        **training_parameters(training),
        "noise_multiplier": output.json_number(found.value, "up"),
        "fails_at": None if found.fails_at is None else output.json_number(found.fails_at, "down"),
        attained: output.json_ends(found.attained),
        target: output.json_given(found.target),
        rate: output.json_given(found.rate),
        "relation": str(found.relation),
        "certified": True,
    }


def _as_rows(found: AttackerCalibration, digits: int) -> dict[str, str]:
    from dpbounds.cli.printing.wording import described

    fails = "not known: less may do"
    if found.fails_at is not None:
        fails = f"{to_decimal(found.fails_at, digits, 'down')}  (proven)"
    where = f"at false positive rate {output.plain(found.rate)}"
    if found.measure == "mu":
        where = f"for error rates of at least {output.plain(found.rate)}"
    return {
        "noise multiplier": f"{to_decimal(found.value, digits, 'up')}  (proven to suffice; rounded up)",
        "fails at": fails,
        found.measure: output.shown(found.attained, limit=found.target),
        "target": f"{found.measure} {output.plain(found.target)} {where}",
        "relation": str(found.relation),
        "mechanism": described(found.mechanism),
    }
