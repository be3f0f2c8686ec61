"""`dpbounds calibrate`: the smallest noise, the most steps or the largest rate within a budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import click

from dpbounds.cli.answers.spending import write_publications
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import (
    PUBLISHING_OPTIONS,
    RELATION_OPTION,
    TARGET_OPTIONS,
    TIME_LIMIT_OPTION,
    note_if_stopped,
    warn_if_delta_is_large,
)
from dpbounds.cli.questions.training import FIXED_SIZE, FULL_BATCH, TRAINING_OPTIONS, Training, read_training
from dpbounds.expressions.exact import Direction, to_decimal

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.calibration import Calibration

_FIELDS = {"noise": "noise_multiplier", "steps": "steps", "sample-rate": "sample_rate"}
_DIGITS = 12
_NEAR = Fraction(1, 10**6)  # relative: closer than that, what fails is a neighbour of what suffices


@click.command("calibrate", short_help="How much noise a budget needs.")
@TARGET_OPTIONS
@click.option(
    "--solve",
    type=click.Choice(list(_FIELDS)),
    default="noise",
    show_default=True,
    help="Find the smallest noise, the most steps, or the largest rate.",
)
@TRAINING_OPTIONS
@RELATION_OPTION
@TIME_LIMIT_OPTION
@PUBLISHING_OPTIONS
def command(
    target_epsilon: Fraction,
    target_delta: Fraction,
    solve: Literal["noise", "steps", "sample-rate"],
    **given: Any,
) -> int:
    """How much noise a budget needs (or how many steps, or which rate it allows), proven from both sides.

    Example: dpbounds calibrate --target-epsilon 1 --target-delta 1e-6 --sample-rate 0.01 --steps 10000
    """
    training = read_training(given, unknown=solve)
    warn_if_delta_is_large(target_delta, training.dataset_size, "--target-delta")

    from dpbounds.cli.questions.subjects import demand_publishable
    from dpbounds.privacy.budgets.calibration import calibrate

    demand_publishable(training.with_value(solve, Fraction(1)), given)
    found = calibrate(
        lambda value: training.with_value(solve, value),
        target_epsilon,
        target_delta,
        training.relation,
        solve=solve,
        time_limit=given["time_limit"],
    )
    note_if_stopped(found.complete)
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
    if training.sampling in FIXED_SIZE:
        context |= {"batch_size": training.batch_size, "dataset_size": training.dataset_size}
    return {
        field: number(found.value, safe),
        "fails_at": None if found.fails_at is None else number(found.fails_at, unsafe),
        "epsilon": output.json_ends(found.epsilon),
        "target_epsilon": output.json_given(found.target_epsilon),
        "target_delta": output.json_given(found.target_delta),
        "relation": str(found.relation),
        "sampling": training.sampling,
        "certified": True,
        **({} if found.complete else {"complete": False}),
        "tight": _is_tight(found),
        **{name: value for name, value in context.items() if name != field},
    }


def _is_tight(found: Calibration) -> bool:
    """Whether what suffices is also what is needed: an attack attains it, or breaks what lies next to it."""
    from dpbounds.privacy.pairs.domination import neighbour_classes

    if found.fails_at is not None and abs(found.value - found.fails_at) <= _grain(found):
        return True
    return neighbour_classes(found.mechanism, found.relation).tight


def _grain(found: Calibration) -> Fraction:
    return Fraction(1) if found.solve == "steps" else _NEAR * found.value


def _as_rows(found: Calibration, training: Training) -> dict[str, str]:
    safe, _ = _directions(found.solve)
    whole = found.solve == "steps"
    value = str(found.value) if whole else to_decimal(found.value, _DIGITS, safe)
    return {
        _FIELDS[found.solve].replace("_", " "): f"{value}  (proven to suffice{'' if whole else f'; rounded {safe}'})",
        "fails at": _failing(found),
        "epsilon": output.shown(found.epsilon, tight=_is_tight(found), limit=found.target_epsilon),
        "budget": f"epsilon {output.plain(found.target_epsilon)}, delta {output.plain(found.target_delta)}",
        "relation": str(found.relation),
        "training": _rest(found.solve, training),
    }


def _failing(found: Calibration) -> str:
    """The neighbour that fails, in words where there is none or it lies at a distance."""
    if found.fails_at is None and found.solve == "sample-rate" and found.value == 1:
        return "nothing: even rate 1 suffices"
    if found.fails_at is None:
        if not found.complete:
            return "not known: the time limit ended the search"
        return f"not known: no attack is known, so that {'less' if found.solve == 'noise' else 'more'} may do"
    _, unsafe = _directions(found.solve)
    value = str(found.fails_at) if found.solve == "steps" else to_decimal(found.fails_at, _DIGITS, unsafe)
    if _is_tight(found):
        return f"{value}  (proven)"
    return f"{value}  (proven, by an explicit attack; what lies in between is not decided)"


def _rest(solve: str, training: Training) -> str:
    """What was given, in one line."""
    from dpbounds.cli.printing.wording import batches

    parts = []
    if solve != "steps":
        parts.append("a single release" if training.steps == 1 else f"{training.steps} releases")
    if training.sampling == FULL_BATCH:
        parts.append("the full batch")
    elif training.batch_size is not None and training.dataset_size is not None:
        how = training.sampling.replace("-", " ")
        parts.append(f"{batches(training.batch_size, training.dataset_size)} {how}")
    elif training.sample_rate is not None:
        parts.append(f"Poisson samples at rate {output.plain(training.sample_rate)}")
    else:
        parts.append("Poisson samples")
    if training.noise_multiplier is not None:
        parts.append(f"Gaussian noise multiplier {output.plain(training.noise_multiplier)}")
    return ", ".join(parts)
