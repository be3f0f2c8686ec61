"""What `epsilon`, `delta` and `remaining` are asked about: a training run, or the releases in a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import reading, unfit
from dpbounds.cli.questions.training import FIXED_SIZE, Training, read_training
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import (
    Gaussian,
    Mechanism,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    parts_of,
)

_TRAINING = ("noise_multiplier", "sample_rate", "steps", "epochs", "sampling", "batch_size")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked about.

    Attributes:
        parameters: How it was given, for JSON.
        dataset_size: Public; None where it was not given.
    """

    mechanism: Mechanism
    parameters: dict[str, object]
    dataset_size: int | None


def read_subject(given: dict[str, Any]) -> Subject:
    """The training run that the options describe, or the ledger that one of them names.

    Raises:
        InvalidValue: Options that contradict each other, or a file that is no ledger.
        UsageError: Options that are missing.
    """
    if given["ledger"] is None:
        training = read_training(given)
        return Subject(training.mechanism(), training_parameters(training), training.dataset_size)
    for name in _TRAINING:
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {output.plain_text(given[name])}"
            raise unfit(option, "does not fit --ledger, which holds it")
    return read_ledger(given["ledger"], given["dataset_size"])


def read_ledger(path: Path, dataset_size: int | None = None) -> Subject:
    """The releases in a ledger file."""
    from dpbounds.algorithms.ledger_format import read_releases

    text = reading(path, "--ledger")
    try:
        mechanism = read_releases(text)
    except InvalidValue as error:
        raise InvalidValue("--ledger", path, "a ledger that dpbounds wrote", str(error)) from None
    sizes = [
        part.dataset_size
        for part, _ in parts_of(mechanism)
        if isinstance(part, SampledWithoutReplacement | SampledWithReplacement)
    ]
    return Subject(mechanism, {"ledger": str(path)}, dataset_size or max(sizes, default=None))


def training_parameters(training: Training) -> dict[str, object]:
    """A training run for JSON."""
    fixed = {"batch_size": training.batch_size, "dataset_size": training.dataset_size}
    return {
        "noise_multiplier": output.json_given(training.noise_multiplier),
        "sampling": training.sampling,
        "sample_rate": output.json_given(training.sample_rate),
        "steps": training.steps,
        **(fixed if training.sampling in FIXED_SIZE else {}),
    }


def demand_publishable(mechanism: Mechanism, given: dict[str, Any]) -> None:
    """Refuse a statement or a certificate of what they cannot describe, before any work is done."""
    for name in ("certificate", "statement"):
        if given[name] and not is_gaussian(mechanism):
            raise click.UsageError(
                f"--{name} is not possible here: statements and certificates describe Gaussian noise on the full batch "
                "or on Poisson samples, and nothing else yet; leave the option out"
            )


def _is_gaussian(part: Mechanism) -> bool:
    return isinstance(part.mechanism if isinstance(part, PoissonSampled) else part, Gaussian)


def is_gaussian(mechanism: Mechanism) -> bool:
    """Whether it is made of Gaussian noise on the full batch or on Poisson samples only."""
    return all(_is_gaussian(part) for part, _ in parts_of(mechanism))
