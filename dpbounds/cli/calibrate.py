"""`dpbounds calibrate`: the smallest noise, the most steps or the largest rate within a budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import click

from dpbounds.cli import output
from dpbounds.cli.options import (
    POSITIVE,
    PROBABILITY,
    PUBLISHING_OPTIONS,
    RELATION_OPTION,
    TRAINING_OPTIONS,
    Training,
    missing,
    read_training,
    warn_if_delta_is_large,
)
from dpbounds.cli.spending import write_publications
from dpbounds.expressions.exact import Direction, to_decimal

if TYPE_CHECKING:
    from dpbounds.privacy.calibration import Calibration

_FIELDS = {"noise": "noise_multiplier", "steps": "steps", "sample-rate": "sample_rate"}
_DIGITS = 12


@click.command("calibrate", short_help="How much noise a budget needs.")
@click.option("--target-epsilon", callback=POSITIVE, metavar="E", help="The ε to keep.")
@click.option("--target-delta", callback=PROBABILITY, metavar="D", help="The δ to keep.")
@click.option(
    "--solve",
    type=click.Choice(list(_FIELDS)),
    default="noise",
    show_default=True,
    help="Find the smallest noise, the most steps, or the largest rate.",
)
@TRAINING_OPTIONS
@RELATION_OPTION
@PUBLISHING_OPTIONS
def command(
    target_epsilon: Fraction | None,
    target_delta: Fraction | None,
    solve: Literal["noise", "steps", "sample-rate"],
    **given: Any,
) -> int:
    """How much noise a budget needs (or how many steps, or which rate it allows), proven from both sides.

    Example: dpbounds calibrate --target-epsilon 1 --target-delta 1e-6 --sample-rate 0.01 --steps 10000
    """
    if target_epsilon is None:
        raise missing("--target-epsilon", "--target-epsilon E, a number greater than 0")
    if target_delta is None:
        raise missing("--target-delta", "--target-delta D, a number greater than 0 and less than 1")
    training = read_training(given, unknown=solve)
    warn_if_delta_is_large(target_delta, training.dataset_size, "--target-delta")

    from dpbounds.privacy.calibration import calibrate

    found = calibrate(
        lambda value: training.with_value(solve, value),
        target_epsilon,
        target_delta,
        training.relation,
        solve=solve,
    )
    statement = write_publications(found, given)
    if given["as_json"]:
        output.print_json({**_as_json(found, training), **({} if statement is None else {"statement": statement})})
        return 0
    output.print_rows(_as_rows(found, training))
    if statement is not None:
        click.echo(f"\n{statement}")
    return 0


def _directions(solve: str) -> tuple[Direction, Direction]:
    """Where the sufficient and the failing value may be rounded to and stay what they are."""
    return ("up", "down") if solve == "noise" else ("down", "up")


def _as_json(found: Calibration, training: Training) -> dict[str, object]:
    safe, unsafe = _directions(found.solve)
    whole = found.solve == "steps"

    def number(value: Fraction, direction: Direction) -> float | int | str:
        return int(value) if whole else output.json_number(value, direction)

    field = _FIELDS[found.solve]
    context: dict[str, object] = {
        "noise_multiplier": output.json_given(training.noise_multiplier),
        "sample_rate": output.json_given(training.sample_rate),
        "steps": training.steps,
    }
    return {
        field: number(found.value, safe),
        "fails_at": None if found.fails_at is None else number(found.fails_at, unsafe),
        "epsilon": output.json_ends(found.epsilon),
        "target_epsilon": output.json_given(found.target_epsilon),
        "target_delta": output.json_given(found.target_delta),
        "relation": str(found.relation),
        "sampling": training.sampling,
        "certified": True,
        **{name: value for name, value in context.items() if name != field},
    }


def _as_rows(found: Calibration, training: Training) -> dict[str, str]:
    safe, unsafe = _directions(found.solve)
    if found.solve == "steps":
        value, failing = str(found.value), str(found.fails_at)
    else:
        value = to_decimal(found.value, _DIGITS, safe)
        failing = (
            "nothing: even rate 1 suffices" if found.fails_at is None else to_decimal(found.fails_at, _DIGITS, unsafe)
        )
    rounded = "" if found.solve == "steps" else f"; rounded {safe}"
    return {
        _FIELDS[found.solve].replace("_", " "): f"{value}  (proven to suffice{rounded})",
        "fails at": f"{failing}  (proven)" if found.fails_at is not None else failing,
        "epsilon": output.shown(found.epsilon),
        "budget": f"epsilon {output.plain(found.target_epsilon)}, delta {output.plain(found.target_delta)}",
        "relation": str(found.relation),
        "training": _rest(found.solve, training),
    }


def _rest(solve: str, training: Training) -> str:
    """What was given, in one line."""
    parts = []
    if solve != "steps":
        parts.append("a single release" if training.steps == 1 else f"{training.steps} releases")
    if training.sampling == "full-batch":
        parts.append("the full batch")
    elif training.sample_rate is not None:
        parts.append(f"Poisson samples at rate {output.plain(training.sample_rate)}")
    else:
        parts.append("Poisson samples")
    if training.noise_multiplier is not None:
        parts.append(f"Gaussian noise multiplier {output.plain(training.noise_multiplier)}")
    return ", ".join(parts)
