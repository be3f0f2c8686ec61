"""Subjects of `epsilon`, `delta` and `remaining`: a training run, or the releases in a ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from dpbounds.cli.printing import output
from dpbounds.cli.questions.local_reports import read_reports
from dpbounds.cli.questions.matrices import MATRIX_OPTIONS, stream_parameters
from dpbounds.cli.questions.options import names_of, note, reading, unfit
from dpbounds.cli.questions.training import (
    FIXED_SIZE,
    GAUSSIAN,
    LAST_ITERATE,
    SHUFFLED,
    TRAINING_OPTIONS,
    TRUNCATED,
    Epochs,
    Training,
    read_training,
)
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import (
    Gaussian,
    Mechanism,
    PoissonSampled,
    parts_of,
)
from dpbounds.privacy.mechanisms.schemes.last_iterate import CONDITION as ONLY_THE_LAST
from dpbounds.privacy.relations import Relation

Read = TypeVar("Read")

_MATRIX = names_of(MATRIX_OPTIONS)
# those of a run that are None where they are not given; a ledger says nothing of the number of records
_TRAINING = tuple(
    name for name in names_of(TRAINING_OPTIONS) if name not in (*_MATRIX, "noise", "redraw", "release", "dataset_size")
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism, with the parameters that describe it.

    Attributes:
        parameters: The parameters as given, for JSON.
        dataset_size: Public; None where it was not given.
        condition: The condition of the guarantee, in words; None without one.
    """

    mechanism: Mechanism
    parameters: dict[str, object]
    dataset_size: int | None
    condition: str | None = None


def under_proven_relation(
    given: dict[str, Any], read: Callable[[dict[str, Any]], Read], mechanism_of: Callable[[Read], Mechanism]
) -> tuple[Read, dict[str, Any]]:
    """Read options; if nothing is proven under the default relation, read them under another one.

    Args:
        given: The values of the options, ``relation`` among them.
        read: Reads the options.
        mechanism_of: The mechanism of what was made.

    Returns:
        What was read, and the values with the relation that it was read under.

    Raises:
        UnsupportedMechanism: Nothing is proven under the relation that was typed, or under any.
    """
    from dpbounds.privacy.domination.composition import neighbour_classes

    def under(relation: Relation) -> tuple[Read, dict[str, Any]]:
        asked = {**given, "relation": str(relation)}
        found = read(asked)
        neighbour_classes(mechanism_of(found), relation)
        return found, asked

    default = Relation(given["relation"])
    try:
        return under(default)
    except UnsupportedMechanism as refused:
        if click.get_current_context().get_parameter_source("relation") is not ParameterSource.DEFAULT:
            raise
        for relation in (each for each in Relation if each is not default):
            try:
                found = under(relation)
            except UnsupportedMechanism:
                continue
            why = str(refused).partition("; ")[0]
            note(f"--relation {relation} was taken, as none was given and the default is refused: {why}")
            return found
        raise


def read_subject(given: dict[str, Any]) -> Subject:
    """Return the training run that the options describe, or the ledger that one of them names.

    Raises:
        InvalidValue: Options that contradict each other, or a file that is not a ledger.
        UsageError: Options that are missing.
    """
    reports = read_reports(given, (*_TRAINING, *_MATRIX))
    if reports is not None:
        return Subject(*reports, given["batches"])
    if given["ledger"] is None:
        training = read_training(given)
        condition = None if training.hidden is None else ONLY_THE_LAST
        return Subject(training.mechanism(), training_parameters(training), training.dataset_size, condition)
    if given["noise"] != GAUSSIAN:
        raise unfit(f"--noise {given['noise']}", "does not fit --ledger, which contains this choice")
    if given["redraw"] is not None:
        raise unfit(
            "--redraw" if given["redraw"] else "--same-bins", "does not fit --ledger, which contains this choice"
        )
    for name in _TRAINING:
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {output.plain_text(given[name])}"
            raise unfit(option, "does not fit --ledger, which contains this choice")
    for name in _MATRIX:
        if given[name]:
            raise unfit(f"--{name.replace('_', '-')}", "does not fit --ledger, which holds releases of single sums")
    return read_ledger(given["ledger"], given["dataset_size"], given["release"] == LAST_ITERATE)


def read_ledger(path: Path, dataset_size: int | None = None, last_alone: bool = False) -> Subject:
    """Return the releases in a ledger file, or the last iterate alone of the run that wrote it."""
    from dpbounds.algorithms.ledger_format import CONDITION, read

    text = reading(path, "--ledger")
    try:
        mechanism, seeded = read(text)
    except InvalidValue as error:
        raise InvalidValue("--ledger", path, "a ledger that dpbounds wrote", str(error)) from None
    size = dataset_size or max((part.known_records or 0 for part, _ in parts_of(mechanism)), default=0) or None
    told: dict[str, object] = {"ledger": str(path)}
    conditions = [CONDITION] if seeded else []
    if last_alone:
        from dpbounds.algorithms.ledger import Ledger  # takes NumPy, which other questions need not wait for

        mechanism = Ledger.from_json(text).last_iterate()
        told["release"] = LAST_ITERATE
        conditions.append(ONLY_THE_LAST)
    if seeded:
        note(f"the noise in {path} came from a given seed: its guarantee is {CONDITION}")
    if not conditions:
        return Subject(mechanism, told, size)
    condition = "; ".join(conditions)
    return Subject(mechanism, {**told, "condition": condition}, size, condition)


def training_parameters(training: Training) -> dict[str, object]:
    """Return a training run for JSON."""
    if training.hidden is not None:
        return {
            "noise_multiplier": output.json_given(training.noise_multiplier),
            "release": LAST_ITERATE,
            **hidden_parameters(training.hidden),
            "condition": ONLY_THE_LAST,
        }
    fixed = {"batch_size": training.batch_size, "dataset_size": training.dataset_size}
    truncated = {"max_batch_size": training.max_batch_size, "dataset_size": training.dataset_size}
    if training.sampling == SHUFFLED:
        return {
            "noise_multiplier": output.json_given(training.noise_multiplier),
            "sampling": training.sampling,
            "batches": training.batches,
            "epochs": training.steps,
            **({name: value for name, value in fixed.items() if value is not None}),
        }
    return {
        "noise_multiplier": output.json_given(training.noise_multiplier),
        **({} if training.noise_variance is None else {"noise_variance": output.json_given(training.noise_variance)}),
        **({} if training.noise == GAUSSIAN else {"noise": training.noise, "bound": training.bound}),
        "sampling": training.sampling,
        "sample_rate": output.json_given(training.sample_rate),
        "steps": training.steps,
        **(fixed if training.sampling in FIXED_SIZE else {}),
        **({} if training.stream is None else stream_parameters(training.stream)),
        **(truncated if training.sampling == TRUNCATED else {}),
        **({} if training.allocation is None else training.allocation.as_json()),
    }


def hidden_parameters(hidden: Epochs) -> dict[str, object]:
    """Return the parameters of training for the last iterate alone, for JSON."""
    steps = hidden.smoothness_step
    told = [output.json_given(each) for each in steps] if isinstance(steps, tuple) else output.json_given(steps)
    decay = output.json_given(hidden.weight_decay_step)
    return {**asdict(hidden), "smoothness_step": told, "weight_decay_step": decay}


def demand_publishable(mechanism: Mechanism, relation: Relation, given: dict[str, Any]) -> None:
    """Refuse a statement or a certificate that cannot describe the subject, before any work is done."""
    if given["statement"]:
        from dpbounds.privacy.publishing.statements import why_no_statement

        if (reason := why_no_statement(mechanism, relation)) is not None:
            raise click.UsageError(f"--statement is not possible here: {reason}, or leave the option out")
    for name in ("certificate", "kernel_certificate"):
        if given.get(name):
            from dpbounds.privacy.publishing.certificates import why_no_certificate

            option = f"--{name.replace('_', '-')}"
            for part, _ in parts_of(mechanism):
                if (reason := why_no_certificate(part, relation, int(given["group_size"]))) is not None:
                    raise click.UsageError(f"{option} is not possible here: {reason}, or leave the option out")


def _is_gaussian(part: Mechanism) -> bool:
    return isinstance(part.mechanism if isinstance(part, PoissonSampled) else part, Gaussian)


def is_gaussian(mechanism: Mechanism) -> bool:
    """Return whether it is made of Gaussian noise on the full batch or on Poisson samples only."""
    return all(_is_gaussian(part) for part, _ in parts_of(mechanism))
