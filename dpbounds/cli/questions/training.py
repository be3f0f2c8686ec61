"""The training run that options describe: noise, how batches are drawn, how many steps, for which neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import plain_text
from dpbounds.cli.questions.options import POSITIVE, RATE, missing, note, options, unfit, whole
from dpbounds.errors import InvalidValue
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism

POISSON, WITHOUT_REPLACEMENT, WITH_REPLACEMENT, FULL_BATCH = SAMPLINGS = (
    "poisson",
    "without-replacement",
    "with-replacement",
    "full-batch",
)
FIXED_SIZE = (WITHOUT_REPLACEMENT, WITH_REPLACEMENT)


def sampling(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """An option's callback: a sampling scheme whose analysis is proven here; others are refused with the reason."""
    if text is None or text in SAMPLINGS:
        return text
    from dpbounds.privacy.mechanisms.refusals import refuse

    name = option.opts[0]
    try:
        refuse(text, f"{name} {text}")
    except InvalidValue:
        raise InvalidValue(name, text, "one of " + ", ".join(SAMPLINGS)) from None


TRAINING_OPTIONS = options(
    click.option("--noise-multiplier", callback=POSITIVE, metavar="Z", help="Noise, per unit of the per-record bound."),
    click.option("--sample-rate", callback=RATE, metavar="Q", help="Chance of each record to be in a batch."),
    click.option("--steps", callback=whole, metavar="T", help="Number of noisy releases."),
    click.option("--epochs", callback=POSITIVE, metavar="N", help="Instead of --steps: N / sample rate, rounded up."),
    click.option(
        "--sampling",
        callback=sampling,
        metavar="NAME",
        help="poisson (where there is a rate), without-replacement, with-replacement, full-batch (otherwise).",
    ),
    click.option("--dataset-size", callback=whole, metavar="N", help="Number of records (public)."),
    click.option(
        "--batch-size", callback=whole, metavar="B", help="Records per batch; with poisson, expected: the rate is B/N."
    ),
)


@dataclass(frozen=True, slots=True)
class Training:
    """A training run as the options describe it; what is to be solved for is None.

    Attributes:
        noise_multiplier: Noise per unit of the per-record bound, or None.
        sampling: One of ``SAMPLINGS``.
        sample_rate: Of Poisson samples; None for other samplings, or when it is solved for.
        batch_size: Of batches of a fixed size; None for other samplings.
        dataset_size: Public, or None where it was not given.
    """

    noise_multiplier: Fraction | None
    sampling: str
    sample_rate: Fraction | None
    steps: int | None
    batch_size: int | None
    dataset_size: int | None
    relation: Relation

    def with_value(self, unknown: str, value: Fraction) -> Mechanism:
        """The mechanism with ``value`` for "noise", "steps" or "sample-rate"."""
        match unknown:
            case "noise":
                return replace(self, noise_multiplier=value).mechanism()
            case "steps":
                return replace(self, steps=int(value)).mechanism()
        return replace(self, sample_rate=value).mechanism()

    def mechanism(self) -> Mechanism:
        """The mechanism, where nothing is left open."""
        from dpbounds.privacy import mechanisms

        if self.noise_multiplier is None or self.steps is None:
            raise InvalidValue(
                "training", f"noise {self.noise_multiplier}, steps {self.steps}", "given together with the other"
            )
        release: Mechanism = mechanisms.Gaussian(self.noise_multiplier)
        if self.batch_size is not None and self.dataset_size is not None:
            without = self.sampling == WITHOUT_REPLACEMENT
            kind = mechanisms.SampledWithoutReplacement if without else mechanisms.SampledWithReplacement
            release = kind(release, self.batch_size, self.dataset_size)
        elif self.sample_rate is not None:
            release = mechanisms.PoissonSampled(release, self.sample_rate)
        return release**self.steps


def read_training(given: dict[str, Any], unknown: str | None = None) -> Training:
    """Turn the options of a verb into a training run.

    Args:
        given: The values of ``TRAINING_OPTIONS`` and ``relation``.
        unknown: What is solved for: "noise", "steps", "sample-rate" or None.

    Raises:
        InvalidValue: Options that contradict each other.
        UsageError: Options that are missing.
    """
    scheme = _sampling(given, unknown)
    relation = Relation(given["relation"])
    batch = _fixed_batch(given, scheme, relation, unknown) if scheme in FIXED_SIZE else None
    rate = None if scheme in FIXED_SIZE else _sample_rate(given, scheme, unknown)
    share = Fraction(batch, given["dataset_size"]) if batch is not None else rate
    return Training(
        noise_multiplier=_noise(given, unknown),
        sampling=scheme,
        sample_rate=rate,
        steps=_steps(given, share, scheme, unknown),
        batch_size=batch,
        dataset_size=given["dataset_size"],
        relation=relation,
    )


def _noise(given: dict[str, Any], unknown: str | None) -> Fraction | None:
    noise: Fraction | None = given["noise_multiplier"]
    if unknown == "noise":
        _refuse_what_is_solved_for(given, unknown, "noise_multiplier")
    elif noise is None:
        raise missing("--noise-multiplier", "--noise-multiplier Z, a number greater than 0")
    return noise


def _sampling(given: dict[str, Any], unknown: str | None) -> str:
    if given["sampling"] is not None:
        return str(given["sampling"])
    if given["batch_size"] is not None:
        allowed = (
            f"--batch-size together with --sampling {POISSON}, {WITHOUT_REPLACEMENT} or {WITH_REPLACEMENT} "
            f"(or --sampling {FULL_BATCH} and no batch size)"
        )
        advice = "batches are drawn in several ways, which differ in privacy"
        raise InvalidValue("--batch-size", given["batch_size"], allowed, advice)
    return POISSON if given["sample_rate"] is not None or unknown == "sample-rate" else FULL_BATCH


def _fixed_batch(given: dict[str, Any], scheme: str, relation: Relation, unknown: str | None) -> int:
    """The batch size, where it and the data set's size make sense together."""
    batch: int | None = given["batch_size"]
    size: int | None = given["dataset_size"]
    if given["sample_rate"] is not None:
        option = f"--sample-rate {plain_text(given['sample_rate'])}"
        raise unfit(option, f"does not fit --sampling {scheme}, which draws --batch-size of --dataset-size records")
    if unknown == "sample-rate":
        advice = (
            f"give --batch-size B, and --solve noise or steps; or let --sampling {POISSON} --solve sample-rate find a "
            "rate, and draw Poisson samples"
        )
        raise InvalidValue("--solve", unknown, f"noise or steps with --sampling {scheme}", advice)
    for name, value in (("--batch-size", batch), ("--dataset-size", size)):
        if value is None:
            raise missing(name, f"--batch-size B and --dataset-size N with --sampling {scheme}")
    assert batch is not None
    assert size is not None
    if scheme == WITHOUT_REPLACEMENT and batch > size:
        raise InvalidValue("--batch-size", batch, f"at most --dataset-size, {size}")
    if relation is Relation.ADD_OR_REMOVE_ONE:
        if scheme == WITHOUT_REPLACEMENT and batch == size:
            advice = "the data set without the record must still hold a whole batch"
            raise InvalidValue("--batch-size", batch, f"less than --dataset-size, {size}, under {relation}", advice)
        if size == 1:
            advice = "the data set without the record must not be empty"
            raise InvalidValue("--dataset-size", size, f"at least 2 under {relation}", advice)
    return batch


def _sample_rate(given: dict[str, Any], scheme: str, unknown: str | None) -> Fraction | None:
    rate: Fraction | None = given["sample_rate"]
    batch: int | None = given["batch_size"]
    size: int | None = given["dataset_size"]
    if unknown == "sample-rate":
        _refuse_what_is_solved_for(given, unknown, "sample_rate", "batch_size")
    if scheme == FULL_BATCH:
        for name, value in (("--sample-rate", rate), ("--batch-size", batch)):
            if value is not None:
                option = f"{name} {plain_text(value)}"
                raise unfit(option, f"does not fit --sampling {FULL_BATCH}, which uses every record")
        if unknown == "sample-rate":
            raise InvalidValue("--sampling", FULL_BATCH, f"{POISSON} with --solve sample-rate")
        return None
    if unknown == "sample-rate":
        return None
    if batch is None:
        if rate is None:
            raise missing("--sample-rate", "--sample-rate Q, or --batch-size B with --dataset-size N")
        return rate
    if rate is not None:
        raise InvalidValue("--batch-size", batch, "either --sample-rate or --batch-size, not both")
    if size is None:
        raise missing("--dataset-size", "--dataset-size N with --batch-size: the sample rate is B/N")
    if batch > size:
        raise InvalidValue("--batch-size", batch, f"at most --dataset-size, {size}")
    return Fraction(batch, size)


def _steps(given: dict[str, Any], share: Fraction | None, scheme: str, unknown: str | None) -> int | None:
    """The number of steps; an epoch is as many as it takes to draw, in expectation, as many records as there are."""
    steps: int | None = given["steps"]
    epochs: Fraction | None = given["epochs"]
    if unknown == "steps":
        _refuse_what_is_solved_for(given, unknown, "steps", "epochs")
        return None
    if epochs is not None:
        if steps is not None:
            raise InvalidValue("--epochs", plain_text(epochs), "either --steps or --epochs, not both")
        if unknown == "sample-rate":
            why = "does not fit --solve sample-rate, as the number of steps would change with the rate"
            raise unfit(f"--epochs {plain_text(epochs)}", why, "give --steps T")
        return math.ceil(epochs / (share or 1))
    if steps is None and scheme != FULL_BATCH:
        raise missing("--steps", "--steps T or --epochs N")
    if steps is None:
        note("neither --steps nor --epochs is given: a single release")
    return steps or 1


def _refuse_what_is_solved_for(given: dict[str, Any], unknown: str, *names: str) -> None:
    for name in names:
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {plain_text(given[name])}"
            raise unfit(option, f"does not fit --solve {unknown}, which finds it")
