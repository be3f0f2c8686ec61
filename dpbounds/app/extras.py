"""Additions to a page beside the printed answer, computed in the same process from the same words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpbounds.app.controls import command
from dpbounds.cli.answers.commands import exactly
from dpbounds.cli.questions.options import budget_of
from dpbounds.cli.questions.subjects import read_ledger, read_subject
from dpbounds.cli.questions.training import Training, read_training
from dpbounds.errors import DpboundsError
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled, parts_of

if TYPE_CHECKING:
    from dpbounds.rates.promises import Promise
    from dpbounds.rates.spaces import Space

# stand for what is solved for; no one gives such a number
_UNKNOWN = {
    "noise": Fraction(1000003, 999983),
    "steps": Fraction(999983),
    "batches": Fraction(999983),
    "sample-rate": Fraction(1, 999983),
}
_LONGEST = 2000  # characters of a line of code that is shown

Rows = Sequence[tuple[str, str, str]]  # name, value and remark, as the command printed them


def _given(argv: Sequence[str]) -> dict[str, Any]:
    """Return the values of all options, as the verb gets them."""
    verb, *rest = argv
    context: click.Context = command(verb).make_context(verb, list(rest))
    return context.params


# --- Lines of Python -------------------------------------------------------------------------------------------------


def code(argv: Sequence[str], rows: Rows) -> dict[str, str]:
    """Return code that computes the same in Python, trains with Opacus, and accounts with JAX-privacy.

    Args:
        argv: A `calibrate`, `epsilon`, `delta` or `remaining`.
        rows: Its answer, the first value of which is what was solved for, as it is printed: rounded to the safe side.
    """
    about = next((value for name, value, _ in rows if name == "relation"), None)
    given = _given(argv) | ({} if about is None else {"relation": about})  # the answer's, where none was given
    if argv[0] == "calibrate":
        given["solve"] = "steps" if given["solve"] == "epochs" else given["solve"]  # as the verb does
        training = read_training(given, unknown=given["solve"])
        found = training.with_value(given["solve"], Fraction(rows[0][1]))
        python = _calibration(given, training)
    elif argv[0] == "remaining":
        asked = f'"{exactly(given["target_epsilon"])}", "{exactly(given["target_delta"])}", "{given["relation"]}"'
        found = read_ledger(given["ledger"], given["dataset_size"]).mechanism
        return _short({"Python": f"import dpbounds as dp\n\nprint(dp.remaining({expression(found)}, {asked}))"})
    else:
        found = read_subject(given).mechanism
        python = _account(argv[0], given, found)
    return _short({"Python": python, "Opacus": _opacus(found), "JAX-privacy": _jax(found, given)})


def attacker(argv: Sequence[str], rows: Rows) -> dict[str, str]:
    """Return Python code that computes the error rates of `attacker`.

    Args:
        argv: An `attacker`.
        rows: Its answer, from which the relation is taken.
    """
    given = _given(argv)
    relation = next((value for name, value, _ in rows if name == "relation"), given["relation"])
    found = read_subject({**given, "relation": relation}).mechanism
    asked = f'"{exactly(given["rates"][0])}", "{relation}"'
    prior = f'"{exactly(given["prior"])}", "{relation}"'
    lines = [
        "import dpbounds as dp\n",
        f"mechanism = {expression(found)}",
        f"print(dp.true_positive_rate(mechanism, {asked}))",
        f'print(dp.membership_advantage(mechanism, "{relation}"))',
        f"print(dp.bayes_risk(mechanism, {prior}))",
    ]
    if given["baseline"] is not None:
        baseline = f'"{exactly(given["baseline"])}", "{relation}"'
        lines.append(f"print(dp.reconstruction_risk(mechanism, {baseline}))")
    return _short({"Python": "\n".join(lines), "JAX-privacy": _jax(found, {**given, "relation": relation})})


def _short(lines: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in lines.items() if text and len(text) < _LONGEST}


def expression(mechanism: Mechanism) -> str:
    """Return a mechanism as Python that makes it.

    >>> expression(PoissonSampled(Gaussian(1), "0.01") ** 10)
    'dp.PoissonSampled(dp.Gaussian(1), sample_rate="0.01") ** 10'
    """
    parts = parts_of(mechanism)
    return " @ ".join(_written(part) + (f" ** {count}" if count > 1 else "") for part, count in parts)


def _written(value: Any) -> str:
    match value:
        case Enum() | str():
            return f'"{value}"'
        case Fraction():
            return exactly(value) if value.denominator == 1 else f'"{exactly(value)}"'
        case tuple():
            return f"[{', '.join(map(_written, value))}]"
        case Composed():
            return f"({expression(value)})"
    if not is_dataclass(value):
        return repr(value)
    positional: list[str] = []
    named: list[str] = []
    for field in fields(value):
        inner = getattr(value, field.name)
        default = field.default
        if inner is None or (default is not MISSING and inner == default):
            continue
        if not positional:
            positional.append(_written(inner))
        else:
            named.append(f"{field.name}={_written(inner)}")
    return f"dp.{type(value).__name__}({', '.join((*positional, *named))})"


def _account(verb: str, given: dict[str, Any], mechanism: Mechanism) -> str:
    at = "delta" if verb == "epsilon" else "epsilon"
    asked = f'{at}="{exactly(given[at])}", relation="{given["relation"]}"'
    if given["group_size"] != 1:
        call = f"dp.group_account(mechanism, {given['group_size']}, {asked})"
    else:
        call = f"dp.{verb}(mechanism, {asked})"
    return f"import dpbounds as dp\n\nmechanism = {expression(mechanism)}\nprint({call})"


def _calibration(given: dict[str, Any], training: Training) -> str:
    solve = given["solve"]
    unknown = _UNKNOWN[solve]
    text = expression(training.with_value(solve, unknown))
    scaled = f'"{exactly(unknown * training.bound)}"'
    if solve == "noise" and scaled in text:
        factory = text.replace(scaled, "value" if training.bound == 1 else f"value * {training.bound}")
    elif solve == "sample-rate":
        factory = text.replace(f'"{exactly(unknown)}"', "value")
    else:
        factory = text.replace(exactly(unknown), "int(value)")
    call, printed = _call(given, solve, factory)
    return f"import dpbounds as dp\n\nfound = {call}\nprint({printed})"


def _call(given: dict[str, Any], solve: str, factory: str) -> tuple[str, str]:
    """Return the call that calibrates to the target that was given, and the values to print."""
    relation = f'"{given["relation"]}"'
    values = "found.value, found.fails_at"
    if given["target_tpr"] is not None:
        rates = f'"{exactly(given["target_tpr"])}", "{exactly(given["at_fpr"])}"'
        call = f"dp.calibrate_to_true_positive_rate(lambda value: {factory}, {rates}, {relation})"
        return call, f"{values}, found.attained"
    if given["target_mu"] is not None:
        rate = f', least_rate="{exactly(given["least_rate"])}"' if given["least_rate"] else ""
        call = f'dp.calibrate_to_gdp(lambda value: {factory}, "{exactly(given["target_mu"])}", {relation}{rate})'
        return call, f"{values}, found.attained"
    if given["target_advantage"] is not None and solve == "noise" and given["group_size"] == 1:
        advantage = f'"{exactly(given["target_advantage"])}"'
        call = f"dp.calibrate_to_total_variation(lambda value: {factory}, {advantage}, {relation})"
        return call, f"{values}, found.epsilon"
    epsilon, delta = (exactly(number) for number in budget_of(given))
    more = (f', solve="{solve}"' if solve != "noise" else "") + (
        f", group_size={given['group_size']}" if given["group_size"] != 1 else ""
    )
    call = f'dp.calibrate(lambda value: {factory}, "{epsilon}", "{delta}", {relation}{more})'
    return call, f"{values}, found.epsilon"


def _opacus(mechanism: Mechanism) -> str:
    """Training by Opacus' Poisson samples; "" where its engine does something else."""
    (part, _), *others = parts_of(mechanism)
    mechanism = mechanism if others else part
    if not (isinstance(mechanism, PoissonSampled) and isinstance(mechanism.mechanism, Gaussian)):
        return ""
    noise = mechanism.mechanism.noise_multiplier
    if noise is None:
        return ""
    return (
        "from dpbounds.opacus import PrivacyEngine\n\n"
        f"# a loader of {math.ceil(1 / mechanism.sample_rate)} batches, so that a record is in a batch with "
        f"probability {exactly(mechanism.sample_rate)} at most\n"
        "model, optimizer, loader = PrivacyEngine(public_dataset_size=n).make_private(\n"
        "    module=model, optimizer=optimizer, data_loader=loader,\n"
        f"    noise_multiplier={exactly(noise)}, max_grad_norm=1.0,\n)"
    )


def _jax(mechanism: Mechanism, given: dict[str, Any]) -> str:
    """Return the event as JAX-privacy and dp-accounting write it; "" where they have none, or are not installed."""
    from dpbounds.privacy.publishing.interoperability import to_dp_event

    try:
        event = repr(to_dp_event(mechanism, given["relation"]))
    except (DpboundsError, ImportError):
        return ""
    event = re.sub(r"([A-Z]\w*DpEvent)\(", r"dp_accounting.\1(", event)
    relation = {"zero-out-one": "REPLACE_SPECIAL"}.get(given["relation"], given["relation"].replace("-", "_").upper())
    delta = given.get("delta") or given.get("target_delta")
    end = "accountant.account" if delta is None else f"print(accountant.get_epsilon({float(delta)!r}))"
    neighbours = f"dp_accounting.NeighboringRelation.{relation}"
    return (
        "import dp_accounting\nimport dpbounds as dp\n\n"
        f"event = {event}\n"
        f"accountant = dp.CertifiedPrivacyAccountant({neighbours}).compose(event)\n{end}"
    )


# --- What a statement may be asked -----------------------------------------------------------------------------------


def statement(argv: Sequence[str], rows: Rows) -> dict[str, Any]:
    """Return the parts of a statement that can be evaluated, and the quantities of its formulas.

    Args:
        argv: A `show`.
        rows: Not used.
    """
    from dpbounds.theorems.registry import theorem
    from dpbounds.theorems.wording import letters_of, sense

    found = theorem(_given(argv)["name"])
    return {
        "parts": [{"name": found.name_of(part), "sense": sense(part)} for part in found.parts],
        "quantities": [{"letter": shown, "name": name} for shown, name, _ in letters_of(found)],
    }


# --- Regimes ---------------------------------------------------------------------------------------------------------


def regimes(argv: Sequence[str], rows: Rows) -> dict[str, Any]:
    """The corners of each region of the map, and every order of growth as powers of n, d and ε, for a point on it.

    Args:
        argv: A `regimes`, over the space of n, d and ε.
        rows: Not used.
    """
    from dpbounds.cli.verbs.evaluate import assignments
    from dpbounds.rates.planes import polygon
    from dpbounds.rates.promises import ACCEPTED, compared, promises
    from dpbounds.rates.regimes import by_winner
    from dpbounds.rates.spaces import in_letters, standard

    given = _given(argv)
    if given["axis"] is not None or given["power"] is not None:
        return {}
    space = standard()
    known = promises(
        given["metric"],
        space=space,
        statuses=given["statuses"] or ACCEPTED,
        assuming=given["assuming"],
        values=assignments(given["words"]),
    )
    return {
        "regions": [
            {
                "best": list(one.best),
                "value": in_letters(one.value),
                "corners": [[float(a), float(b)] for a, b in polygon(one.cone, space, _LARGEST)],
            }
            for one in by_winner(compared(known, space))
        ],
        "orders": [one for promise in known.uppers for one in _pieces(promise, space)],
    }


_LARGEST = (4, 2)  # where the map ends: the largest a and b


def _pieces(promise: Promise, space: Space) -> Iterator[dict[str, Any]]:
    """Yield an order's powers of n, d and ε if it is one monomial, and the facets of that region."""
    from dpbounds.rates.spaces import in_letters

    for piece in promise.order.pieces(space):
        yield {
            "id": promise.id,
            "status": str(promise.standing),
            "value": in_letters(space.reduced(piece.monomial)),
            "powers": [float(power) for power in space.form(piece.monomial)],
            "facets": [list(facet) for facet in piece.cone.facets],
        }
