"""`dpbounds convert`: a guarantee, or the account of a training run, in another notion of privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import waiting_line
from dpbounds.cli.questions.options import (
    AT_LEAST_ZERO,
    FROM_0_TO_1,
    LEAST_RATE,
    LEDGER_OPTION,
    POSITIVE,
    PROBABILITY,
    PROBABILITY_OR_ZERO,
    RELATION_OPTION,
    Word,
    number,
    options,
    unfit,
)
from dpbounds.cli.questions.training import TRAINING_OPTIONS
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism

_NOTIONS = ("pure", "epsilon", "delta", "renyi", "zcdp", "gdp", "trade-off")
_NAMES = {
    "pure": "epsilon at delta 0",
    "renyi": "divergence",
    "zcdp": "rho",
    "gdp": "mu",
    "trade-off": "false negatives",
}
_PLACES = {"delta": "delta", "epsilon": "epsilon", "order": "order", "false_positive_rate": "false positives"}
_JSON = {"order": "renyi_order"}
_DIGITS = 10
_ABOVE_ONE = number("greater than 1", lambda x: x > 1)

Points = tuple[tuple[Fraction, Fraction], ...]


def _points(ctx: click.Context, option: click.Parameter, text: str | None) -> Points | None:
    """An option's callback: pairs of numbers A:B, with commas between them."""
    if text is None:
        return None
    name, found = option.opts[0], []
    for pair in text.split(","):
        first, colon, second = pair.partition(":")
        if not colon:
            raise InvalidValue(name, pair, "pairs A:B, with commas between them")
        found.append((exact(first.strip(), name), exact(second.strip(), name)))
    return tuple(found)


_TARGETS = options(
    click.option("--to", type=Word(_NOTIONS), required=True, help="The notion to convert to."),
    click.option("--delta", callback=PROBABILITY, metavar="D", help="With --to epsilon: the δ."),
    click.option("--epsilon", callback=AT_LEAST_ZERO, metavar="E", help="With --to delta: ε at which δ is computed."),
    click.option(
        "--renyi-order", callback=_ABOVE_ONE, metavar="L", help="With --to renyi: order of the divergence, above 1."
    ),
    click.option(
        "--false-positive-rate",
        callback=FROM_0_TO_1,
        metavar="A",
        help="With --to trade-off: false positive rate at which the false negative rate is bounded.",
    ),
    click.option(
        "--least-rate",
        callback=LEAST_RATE,
        metavar="R",
        help="With --to gdp: count only tests whose error rates are at least R.",
    ),
)
_GUARANTEES = options(
    click.option(
        "--from-epsilon",
        callback=AT_LEAST_ZERO,
        metavar="E",
        help="Guarantee to convert: pure ε, or (ε, δ) with --from-delta.",
    ),
    click.option(
        "--from-delta", callback=PROBABILITY_OR_ZERO, metavar="D", help="With --from-epsilon: δ of the guarantee."
    ),
    click.option(
        "--from-rho",
        callback=POSITIVE,
        metavar="R",
        help="Guarantee to convert: ρ-zCDP, or (ξ, ρ)-zCDP with --from-xi.",
    ),
    click.option("--from-xi", callback=AT_LEAST_ZERO, metavar="X", help="With --from-rho: ξ of the guarantee."),
    click.option("--from-mu", callback=POSITIVE, metavar="M", help="Guarantee to convert: μ-Gaussian DP."),
    click.option(
        "--from-renyi", callback=_points, metavar="L:E,L:E", help="A guarantee: Rényi divergences by their orders."
    ),
    click.option(
        "--from-profile", callback=_points, metavar="E:D,E:D", help="A guarantee: several (ε, δ), such as a trade-off."
    ),
)


@click.command("convert", short_help="Convert a guarantee between notions of privacy.")
@_TARGETS
@_GUARANTEES
@TRAINING_OPTIONS
@RELATION_OPTION
@LEDGER_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    to: Any,
    delta: Fraction | None,
    epsilon: Fraction | None,
    renyi_order: Fraction | None,
    false_positive_rate: Fraction | None,
    least_rate: Fraction | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Convert a guarantee, or what a training run spends, to another notion of privacy, with the theorem.

    Example: dpbounds convert --from-rho 0.1 --to epsilon --delta 1e-6
    """
    from dpbounds.cli.printing.wording import described
    from dpbounds.privacy.accountants.convert import convert

    places = {
        "delta": delta,
        "epsilon": epsilon,
        "order": renyi_order,
        "false_positive_rate": false_positive_rate,
        "least_rate": least_rate,
    }
    mechanism, relation, parameters = _subject(given)
    told = parameters.get("guarantee")
    with waiting_line(None):
        found = convert(mechanism, to, relation=relation, **places)
    arrow = found.arrow
    if as_json:
        output.print_json(
            {
                "to": to,
                **{
                    _JSON.get(name, name): output.json_given(value)
                    for name, value in places.items()
                    if value is not None
                },
                "value": output.json_ends(found.enclosure),
                "proven": output.json_number(found.proven, "down" if to == "trade-off" else "up"),
                "relation": relation,
                "certified": True,
                "theorem": None if arrow is None else arrow.theorem,
                "source": None if arrow is None else arrow.source,
                "tight": None if arrow is None else arrow.tight,
                **parameters,
            }
        )
        return 0
    output.print_rows(
        {
            _NAMES.get(to, to): _printed(found.enclosure, to == "trade-off"),
            **{
                _PLACES[name]: output.plain(value)
                for name, value in places.items()
                if value is not None and name in _PLACES
            },
            **({} if least_rate is None else {"tests": f"with error rates of at least {output.plain(least_rate)}"}),
            "relation": relation,
            **({"mechanism": described(mechanism)} if told is None else {"guarantee": str(told)}),
            **({} if arrow is None else {"theorem": arrow.theorem, "source": f"{arrow.source}; {arrow.proof}"}),
        }
    )
    return 0


def _printed(found: Any, from_below: bool) -> str:
    """Return the proven bound, and then the attained one."""
    if not from_below:
        return output.shown(found, _DIGITS, tight=found.width <= 1e-6 * found.upper)
    lower, upper = found.decimals(_DIGITS)
    return f"at least {lower}  (proven, rounded down; a test attains {upper})"


def _subject(given: dict[str, Any]) -> tuple[Mechanism, str, dict[str, object]]:
    """Return the mechanism, its relation, and its description in JSON."""
    guarantee = _guarantee(given)
    if guarantee is None:
        from dpbounds.cli.questions.subjects import read_subject, under_proven_relation

        if given["ledger"] is None:
            subject, given = under_proven_relation(given, read_subject, lambda read: read.mechanism)
        else:
            subject = read_subject(given)
        return subject.mechanism, given["relation"], subject.parameters
    context = click.get_current_context()
    trained = set(given) - {"relation"} - {name for name in given if name.startswith("from_")}
    for name in sorted(trained):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise unfit(f"--{name.replace('_', '-')}", "describes a training run, and a guarantee is given")
    return guarantee, given["relation"], {"guarantee": guarantee.in_words(lambda value, _: output.plain(value))}


def _guarantee(given: dict[str, Any]) -> Mechanism | None:
    """Return the guarantee that the options describe, or None."""
    from dpbounds.privacy.mechanisms import ZCDP, ApproximateDP, GaussianDP, ProfileDP, PureDP, RenyiDP

    relation = given["relation"]
    named = [
        name
        for name in ("from_epsilon", "from_rho", "from_mu", "from_renyi", "from_profile")
        if given[name] is not None
    ]
    if len(named) > 1:
        raise unfit(f"--{named[1].replace('_', '-')}", f"does not fit --{named[0].replace('_', '-')}")
    for name, owner in (("from_delta", "from_epsilon"), ("from_xi", "from_rho")):
        if given[name] is not None and named != [owner]:
            raise unfit(f"--{name.replace('_', '-')}", f"goes with --{owner.replace('_', '-')} only")
    match named:
        case ["from_epsilon"] if given["from_delta"] or given["from_epsilon"] == 0:
            return ApproximateDP(given["from_epsilon"], given["from_delta"] or 0, relation=relation)
        case ["from_epsilon"]:
            return PureDP(given["from_epsilon"], relation=relation)
        case ["from_rho"]:
            return ZCDP(given["from_rho"], relation=relation, xi=given["from_xi"])
        case ["from_mu"]:
            return GaussianDP(given["from_mu"], relation=relation)
        case ["from_renyi"]:
            return RenyiDP(given["from_renyi"], relation=relation)
        case ["from_profile"]:
            return ProfileDP(given["from_profile"], relation=relation)
    return None
