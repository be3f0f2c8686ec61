"""`dpbounds attacker`: how well an attacker can guess whether a record is in the data."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import waiting_line
from dpbounds.cli.questions.options import (
    FROM_0_TO_1,
    LEAST_RATE,
    LEDGER_OPTION,
    RELATION_OPTION,
    TIME_LIMIT_OPTION,
    note_if_stopped,
    unfit,
)
from dpbounds.cli.questions.training import TRAINING_OPTIONS
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.expressions.time_limit import TimeIsUp, time_limited
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.accountants.trade_off import TradeOff
    from dpbounds.privacy.mechanisms import Mechanism

_RATES = "0.001,0.01,0.1"
_DIGITS = 6


def _rates(ctx: click.Context, option: click.Parameter, text: str) -> tuple[Fraction, ...]:
    """An option's callback: probabilities between commas."""
    found = tuple(exact(each.strip(), option.opts[0]) for each in text.split(","))
    for rate in found:
        if not 0 <= rate <= 1:
            raise InvalidValue(option.opts[0], output.plain(rate), "numbers from 0 to 1, with commas between them")
    return found


@click.command("attacker", short_help="Compute how well an attacker can guess membership.")
@click.option(
    "--false-positive-rate",
    "rates",
    callback=_rates,
    default=_RATES,
    show_default=True,
    metavar="A,B",
    help="False positive rates at which the error rates of the best test are asked for.",
)
@click.option(
    "--prior",
    callback=FROM_0_TO_1,
    default="1/2",
    show_default=True,
    metavar="P",
    help="Probability that the record is in the data, before the attacker sees the release.",
)
@click.option(
    "--baseline",
    callback=FROM_0_TO_1,
    metavar="P",
    help="Probability of reconstructing a record without the release; prints the largest probability with it, too.",
)
@click.option(
    "--least-rate",
    callback=LEAST_RATE,
    metavar="R",
    help="Add the smallest mu of Gaussian privacy, for tests whose error rates are at least R, such as 1e-6.",
)
@TRAINING_OPTIONS
@RELATION_OPTION
@LEDGER_OPTION
@TIME_LIMIT_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    rates: tuple[Fraction, ...],
    prior: Fraction,
    baseline: Fraction | None,
    least_rate: Fraction | None,
    **given: Any,
) -> int:
    """Compute how well an attacker who sees every release can infer membership, or reconstruct a record.

    Example: dpbounds attacker --noise-multiplier 1 --sample-rate 0.01 --steps 1000
    """
    from dpbounds.cli.printing.wording import described
    from dpbounds.cli.questions.subjects import read_subject, under_proven_relation
    from dpbounds.privacy.accountants.gaussian_dp import gdp_parameter

    if given["time_limit"] is not None and least_rate is not None:
        raise unfit(f"--time-limit {output.plain(given['time_limit'])}", "does not fit --least-rate")
    if given["ledger"] is None:
        subject, given = under_proven_relation(given, read_subject, lambda read: read.mechanism)
    else:
        subject = read_subject(given)
    mechanism, relation = subject.mechanism, given["relation"]
    with waiting_line(given["time_limit"]):
        success, complete = _success(mechanism, Relation(relation), rates, prior, baseline, given["time_limit"])
        found, advantage, risk, rebuilt = success
        mu = None if least_rate is None else gdp_parameter(mechanism, relation, least_rate=least_rate)
    note_if_stopped(complete)
    if given["as_json"]:
        output.print_json(
            {
                "relation": relation,
                "certified": True,
                **({} if complete else {"complete": False}),
                "advantage": output.json_ends(advantage),
                "prior": output.json_given(prior),
                "bayes_risk": output.json_ends(risk),
                "rates": [
                    {
                        "false_positive_rate": output.json_given(rate),
                        "true_positive_rate": output.json_ends(best),
                        "false_negative_rate": output.json_ends(1 - best),
                    }
                    for rate, best in found.items()
                ],
                **(
                    {}
                    if rebuilt is None
                    else {
                        "baseline": output.json_given(baseline),
                        "reconstruction_risk": output.json_number(rebuilt, "up"),
                    }
                ),
                **(
                    {}
                    if mu is None
                    else {"least_rate": output.json_given(least_rate), "gdp_parameter": output.json_ends(mu)}
                ),
                **subject.parameters,
            }
        )
        return 0
    output.print_rows(
        {
            **{f"true positives at {output.plain(rate)}": _at_most(best) for rate, best in found.items()},
            "advantage": _at_most(advantage),
            "wrong guesses": f"at least {_at_least(risk)}, where the record is in the data with probability "
            f"{output.plain(prior)}",
            **(
                {}
                if rebuilt is None
                else {
                    "reconstruction": f"at most {output.rounded(rebuilt, _DIGITS, 'up')}, for a guess of probability "
                    f"{output.plain(baseline or Fraction(0))} without the release"
                }
            ),
            **(
                {}
                if mu is None or least_rate is None
                else {"Gaussian privacy": f"mu {_at_most(mu)}, for error rates of at least {output.plain(least_rate)}"}
            ),
            "relation": relation,
            "mechanism": described(mechanism),
            **({} if subject.condition is None else {"provided": subject.condition}),
        }
    )
    return 0


class _Success(NamedTuple):
    """Certified bounds of an attacker's success; ``reconstruction`` is an upper bound, None without a baseline."""

    true_positive_rates: dict[Fraction, Enclosure]
    advantage: Enclosure
    bayes_risk: Enclosure
    reconstruction: Fraction | None


def _success(
    mechanism: Mechanism,
    relation: Relation,
    rates: tuple[Fraction, ...],
    prior: Fraction,
    baseline: Fraction | None,
    seconds: Fraction | None,
) -> tuple[_Success, bool]:
    """Return the bounds, and whether they are complete: half of a time limit is for quick bounds, which may be kept."""
    from dpbounds.privacy.accountants import attackers, trade_off

    quick = None if seconds is None else trade_off.TradeOff.within(mechanism, seconds / 2, relation)
    try:
        with time_limited(None if seconds is None else seconds / 2) as limit:
            success = _Success(
                {rate: attackers.true_positive_rate(mechanism, rate, relation) for rate in rates},
                trade_off.membership_advantage(mechanism, relation),
                attackers.bayes_risk(mechanism, prior, relation),
                None if baseline is None else attackers.reconstruction_risk(mechanism, baseline, relation),
            )
        if quick is None or not limit.passed:
            return success, True
    except (TimeIsUp, NotCertified):
        if quick is None:
            raise
    return _from_points(quick, rates, prior, baseline), False


def _from_points(curve: TradeOff, rates: tuple[Fraction, ...], prior: Fraction, baseline: Fraction | None) -> _Success:
    """Return bounds that follow from points of δ(ε); the others are of a guess without the release."""
    advantage = min((delta for epsilon, delta in curve.points if epsilon == 0), default=Fraction(1))
    least = min(prior, 1 - prior)
    return _Success(
        {rate: Enclosure(rate, 1 - curve(rate)) for rate in rates},
        Enclosure(Fraction(0), advantage),
        Enclosure(least * (1 - advantage), least),
        None if baseline is None else 1 - curve(baseline),
    )


def _at_most(found: Enclosure) -> str:
    upper = output.rounded(found.exact_upper, _DIGITS, "up")
    lower = output.rounded(found.exact_lower, _DIGITS, "down")
    attained = "" if lower == upper or found.width < 10**-_DIGITS * found.upper else f"; {lower} is attained"
    return f"at most {upper}  (proven{attained})"


def _at_least(found: Enclosure) -> str:
    return output.rounded(found.exact_lower, _DIGITS, "down")
