"""What the verbs `epsilon` and `delta` have in common: one question, answered for a training run or for a ledger."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from dpbounds.cli import options as given_options
from dpbounds.cli import output
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.accountants import Account
    from dpbounds.privacy.calibration import Calibration
    from dpbounds.privacy.mechanisms import Mechanism

_STEPS_OF_A_CURVE = 20  # a divisor of 1000, so that the grid consists of short decimals
_DIGITS_OF_A_CURVE = 17
_TRAINING = ("noise_multiplier", "sample_rate", "steps", "epochs", "sampling", "batch_size")

SPENDING_OPTIONS = given_options.options(
    given_options.TRAINING_OPTIONS,
    given_options.RELATION_OPTION,
    click.option("--ledger", type=given_options.FILE, metavar="FILE", help="Releases of a run, instead of the above."),
    click.option(
        "--method", callback=given_options.method, default="certified", show_default=True, help="Only this one."
    ),
    click.option(
        "--tolerance", callback=given_options.PROBABILITY, metavar="W", help="Relative width to aim at (default 1e-9)."
    ),
    click.option("--digits", type=click.IntRange(1, 1000), metavar="N", help="Digits to print; text in JSON above 15."),
    click.option("--explain", is_flag=True, help="Say how it was proven: route, parameters, error budget."),
    click.option(
        "--curve",
        type=given_options.FILE,
        callback=given_options.writable,
        metavar="FILE",
        help="Write the certified curve δ(ε) as CSV.",
    ),
    given_options.PUBLISHING_OPTIONS,
)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is asked about: a mechanism, and how to describe it."""

    mechanism: Mechanism
    description: str
    parameters: dict[str, object]


def answer(wanted: Literal["epsilon", "delta"], target: Fraction, given: dict[str, Any]) -> int:
    """Compute ε(δ) or δ(ε), print it, and write what else was asked for.

    Args:
        wanted: What to compute.
        target: The other one.
        given: The values of ``SPENDING_OPTIONS``.

    Returns:
        The exit status, 0.
    """
    from dpbounds.privacy.accountants import DEFAULT_TOLERANCE, account

    subject = _subject(given)
    other = "delta" if wanted == "epsilon" else "epsilon"
    digits: int | None = given["digits"]
    tolerance = DEFAULT_TOLERANCE if given["tolerance"] is None else _as_float(given["tolerance"])
    found = account(
        subject.mechanism,
        delta=target if other == "delta" else None,
        epsilon=target if other == "epsilon" else None,
        relation=given["relation"],
        tolerance=tolerance,
    )
    delta_in_use = target if other == "delta" else found.enclosure.exact_upper
    given_options.warn_if_delta_is_large(delta_in_use, given["dataset_size"])
    if digits is not None and found.enclosure.digits < digits and found.enclosure.width > 0:
        given_options.note(f"{found.enclosure.digits} digits are proven, fewer than the {digits} that are printed")
    if given["tolerance"] is not None and found.enclosure.width > tolerance * found.enclosure.upper:
        reached = found.enclosure.width / found.enclosure.upper
        given_options.note(f"the relative width reached is {reached:.2g}, not the {tolerance:.2g} aimed at")
    if given["curve"] is not None:
        _write_curve(given["curve"], subject.mechanism, Relation(given["relation"]), found, tolerance)
    statement = write_publications(found, given)

    if given["as_json"]:
        output.print_json(
            {
                wanted: output.json_ends(found.enclosure, digits),
                other: output.json_given(target),
                "relation": given["relation"],
                "method": given["method"],
                "certified": True,
                "digits": found.enclosure.digits,
                "route": found.enclosure.method,
                **subject.parameters,
                **({"explain": output.explained(found.proofs)} if given["explain"] else {}),
                **({} if statement is None else {"statement": statement}),
            }
        )
        return 0
    output.print_rows(
        {
            wanted: output.shown(found.enclosure, digits),
            other: output.plain(target),
            "relation": given["relation"],
            "mechanism": subject.description,
            "method": f"{given['method']} ({found.enclosure.method})",
        }
    )
    if given["explain"]:
        output.print_explained(found.proofs)
    if statement is not None:
        click.echo(f"\n{statement}")
    return 0


def write_publications(found: Account | Calibration, given: dict[str, Any]) -> str | None:
    """Write the certificate that was asked for, and return the statement that was asked for."""
    if given["certificate"] is not None:
        from dpbounds.privacy.certificates import write_certificate

        write_certificate(given["certificate"], found)
        click.echo(f"wrote {given['certificate']}", err=True)
    if not given["statement"]:
        return None
    from dpbounds.privacy.certificates import statement

    return statement(found)


def _subject(given: dict[str, Any]) -> _Subject:
    if given["ledger"] is None:
        training = given_options.read_training(given)
        return _Subject(
            training.mechanism(),
            output.described(training),
            {
                "noise_multiplier": output.json_given(training.noise_multiplier),
                "sampling": training.sampling,
                "sample_rate": output.json_given(training.sample_rate),
                "steps": training.steps,
            },
        )
    for name in _TRAINING:
        if given[name] is not None:
            option = "--" + name.replace("_", "-")
            raise InvalidValue(option, output.plain_text(given[name]), "no such option with --ledger, which holds it")
    from algorithms.ledger import Ledger

    path: Path = given["ledger"]
    text = given_options.reading(path, "--ledger")
    try:
        ledger = Ledger.from_json(text)
    except InvalidValue as error:
        raise InvalidValue("--ledger", path, "a ledger that dpbounds wrote", str(error)) from None
    if not ledger.releases:
        raise InvalidValue("--ledger", path, "a ledger with at least one release", "this one is empty")
    return _Subject(ledger.mechanism(), "; ".join(map(str, ledger.releases)), {"ledger": str(path)})


def _as_float(tolerance: Fraction) -> float:
    # a double that is not 0, however small the number is
    return max(float(tolerance), sys.float_info.min)


def _write_curve(path: Path, mechanism: Mechanism, relation: Relation, found: Account, tolerance: float) -> None:
    """Proven ends of δ(ε) on a grid that reaches twice as far as the ε of the answer.

    δ(ε) never increases, so the smallest upper end so far bounds it, too; and so does the largest lower end to come.
    """
    from dpbounds.privacy.accountants import delta

    centre = found.enclosure.exact_upper if found.given == "delta" else found.target
    grid = list(_grid(Fraction(centre)))
    curve = []
    for done, epsilon in enumerate(grid):
        if sys.stderr.isatty():
            click.echo(f"\rcurve: point {done + 1} of {len(grid)} ", err=True, nl=done + 1 == len(grid))
        curve.append(delta(mechanism, epsilon, relation, tolerance=tolerance))
    uppers, lowers = [curve[0].exact_upper], [curve[-1].exact_lower]
    for point in curve[1:]:
        uppers.append(min(uppers[-1], point.exact_upper))
    for point in reversed(curve[:-1]):
        lowers.append(max(lowers[-1], point.exact_lower))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["epsilon", "delta_lower", "delta_upper"])
    for epsilon, lower, upper in zip(grid, reversed(lowers), uppers, strict=True):
        low, high = (to_decimal(lower, _DIGITS_OF_A_CURVE, "down"), to_decimal(upper, _DIGITS_OF_A_CURVE, "up"))
        writer.writerow([to_decimal(epsilon, _DIGITS_OF_A_CURVE, "down"), low, high])
    given_options.writing(path, text.getvalue(), "--curve")
    click.echo(f"wrote {path}", err=True)


def _grid(centre: Fraction) -> Iterator[Fraction]:
    """0, ..., about 2 centre: equal steps that are short decimals."""
    reach = 2 * centre if centre > 0 else Fraction(1)
    two_digits = Fraction(Decimal(to_decimal(reach, 2, "up")))
    return (two_digits * k / _STEPS_OF_A_CURVE for k in range(_STEPS_OF_A_CURVE + 1))
