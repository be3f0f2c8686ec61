"""The training run that options describe: noise, how batches are drawn, how many steps, for which neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import plain_text
from dpbounds.cli.questions.allocation import (
    ALLOCATED,
    ALLOCATION_OPTIONS,
    BALLS_IN_BINS,
    RANDOM_ALLOCATION,
    Allocation,
    read_allocation,
    refuse_allocation,
)
from dpbounds.cli.questions.matrices import CORRELATED, MATRICES, MATRIX_OPTIONS, read_stream
from dpbounds.cli.questions.options import POSITIVE, RATE, Word, missing, note, number, options, unfit, whole
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms.demands import refuse_without_positions
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import MatrixMechanism, Mechanism
    from dpbounds.privacy.mechanisms.schemes.last_iterate import BatchOrder

Schedule = Fraction | tuple[Fraction, ...]  # a number for all epochs, or one for each
# those that have options of their own
POISSON, WITHOUT_REPLACEMENT, WITH_REPLACEMENT, SHUFFLED, FULL_BATCH, TRUNCATED, *_ = SAMPLINGS = (
    "poisson",
    "without-replacement",
    "with-replacement",
    "shuffled",
    "full-batch",
    "truncated-poisson",
    RANDOM_ALLOCATION,
    BALLS_IN_BINS,
)
NOISES = {  # and what each is called
    "gaussian": "Gaussian",
    "laplace": "Laplace",
    "discrete-gaussian": "discrete Gaussian",
    "discrete-laplace": "discrete Laplace",
}
GAUSSIAN, LAPLACE, DISCRETE_GAUSSIAN, DISCRETE_LAPLACE = NOISES
FIXED_SIZE = (WITHOUT_REPLACEMENT, WITH_REPLACEMENT)
EVERY_ITERATE, LAST_ITERATE = "every-iterate", "last-iterate"
ORDERS = ("fixed", "shuffled", "secret")


@dataclass(frozen=True, slots=True)
class SchemeOptions:
    """Options that describe one way of drawing batches, by their names without dashes.

    Attributes:
        first: Options that are enough for most runs.
        other: Options in place of these, or beside them.
        batch: A batch, in one sentence.
    """

    first: tuple[str, ...]
    other: tuple[str, ...] = ()
    batch: str = ""


_AT_A_RATE = (("sample-rate", "steps"), ("batch-size", "dataset-size", "epochs"))
_OF_ONE_SIZE = (("batch-size", "dataset-size", "steps"), ("epochs",))
_BY_SIZE = ("batch-size", "dataset-size")  # in place of the number of batches
_SCHEMES = {
    POISSON: SchemeOptions(*_AT_A_RATE, "Each record is in a batch with the sample rate, independently."),
    FULL_BATCH: SchemeOptions(("steps",), ("epochs", "dataset-size"), "Each batch is the whole dataset."),
    TRUNCATED: SchemeOptions(
        ("sample-rate", "max-batch-size", "dataset-size", "steps"),
        ("batch-size", "epochs"),
        "A batch is a Poisson sample; of a sample that is too large, some records are chosen uniformly.",
    ),
    WITHOUT_REPLACEMENT: SchemeOptions(*_OF_ONE_SIZE, "Each batch is a uniform choice of this many records."),
    WITH_REPLACEMENT: SchemeOptions(
        *_OF_ONE_SIZE, "The records of a batch are drawn one by one, uniformly; a record may be drawn several times."
    ),
    SHUFFLED: SchemeOptions(
        ("batches", "epochs"), _BY_SIZE, "Each epoch cuts a new random order into batches, as most data loaders do."
    ),
    RANDOM_ALLOCATION: SchemeOptions(
        ("batches", "epochs"),
        ("participations", *_BY_SIZE),
        "In each epoch, each record is in one batch, or in several, that are chosen uniformly.",
    ),
    BALLS_IN_BINS: SchemeOptions(
        ("batches", "epochs", "redraw", "same-bins"), _BY_SIZE, "Each record is in one random batch of an epoch."
    ),
    CORRELATED: SchemeOptions(
        ("steps", "participation", "separation"),
        ("sample-rate", "epochs", "dataset-size", "bands", "at-most", "groups", "error"),
    ),
    LAST_ITERATE: SchemeOptions(("batches", "epochs", "smoothness-step", "order"), ("weight-decay-step", *_BY_SIZE)),
}
_FOUND_BY = {
    "noise": ("noise-multiplier", "noise-stddev", "clipping-norm"),
    "steps": ("steps", "epochs"),
    "epochs": ("steps", "epochs"),
    "sample-rate": ("sample-rate", "batch-size"),
    "batches": ("batches", "batch-size"),
}


def scheme_options(scheme: str) -> SchemeOptions:
    """Return the options of a sampling scheme, of correlated noise, or of a last iterate."""
    if scheme in _SCHEMES:
        return _SCHEMES[scheme]
    from dpbounds.privacy.mechanisms import descriptions

    kind = descriptions.SAMPLINGS.get(scheme)
    about = "" if kind is None else (kind.__doc__ or "").partition("\n")[0].replace("``", "").replace("_", " ")
    return SchemeOptions(*_AT_A_RATE, about)


def options_without_use(scheme: str, noise: str = GAUSSIAN, unknown: str | None = None) -> frozenset[str]:
    """Return the options for which a training run has no use: ``read_training`` refuses them.

    Args:
        scheme: One of ``samplings()``, ``CORRELATED`` or ``LAST_ITERATE``.
        noise: One of ``NOISES``.
        unknown: What is found: a choice of ``--solve``; None where everything is given.
    """
    every = {name for one in _SCHEMES.values() for name in (*one.first, *one.other)}
    fitting = scheme_options(scheme)
    found = every - {*fitting.first, *fitting.other} | {*_FOUND_BY.get(unknown or "", ())}
    if scheme in (CORRELATED, LAST_ITERATE):
        found |= {"sampling"}
    if scheme == LAST_ITERATE or noise != GAUSSIAN:
        found |= {*MATRICES}
    if noise not in (DISCRETE_GAUSSIAN, DISCRETE_LAPLACE):
        found |= {"bound"}
    if noise != GAUSSIAN:
        found |= {"noise-stddev", "clipping-norm"}
    return frozenset(found)


_ALIASES = {"shuffle": SHUFFLED, "shuffling": SHUFFLED, "shuffled-batches": SHUFFLED}


def samplings() -> tuple[str, ...]:
    """Return the names of all sampling schemes; those that are not in ``SAMPLINGS`` have a sample rate only."""
    from dpbounds.privacy.mechanisms import descriptions

    return *SAMPLINGS, *(name for name in descriptions.SAMPLINGS if name not in SAMPLINGS)


def sampling(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """An option's callback: a sampling scheme whose analysis is proven here; others are refused with the reason."""
    if text is None or text in SAMPLINGS:
        return text
    if text in _ALIASES:
        return _ALIASES[text]
    if text in samplings():
        return text
    from dpbounds.privacy.mechanisms.refusals import refuse

    name = option.opts[0]
    try:
        refuse(text, f"{name} {text}")
    except InvalidValue:
        raise InvalidValue(name, text, "one of " + ", ".join(samplings())) from None


def _steps_of(ctx: click.Context, option: click.Parameter, text: str | None) -> Schedule | None:
    if text is None or "," not in text:
        return POSITIVE(ctx, option, text)
    found = (POSITIVE(ctx, option, part) for part in text.split(","))
    return tuple(each for each in found if each is not None)


SAMPLE_RATE_OPTION = click.option(
    "--sample-rate", callback=RATE, metavar="Q", help="Probability of each record to be in a batch."
)
BATCH_SIZE_OPTIONS = options(
    click.option(
        "--batch-size",
        callback=whole,
        metavar="B",
        help="Records per batch (the expected number, if it is random).",
    ),
    click.option(
        "--max-batch-size",
        callback=whole,
        metavar="B",
        help="With truncated-poisson: largest batch; of a larger sample, B records are chosen uniformly.",
    ),
)
TRAINING_OPTIONS = options(
    click.option(
        "--noise-multiplier",
        callback=POSITIVE,
        metavar="Z",
        help="Noise multiplier: scale of the noise divided by the clipping norm.",
    ),
    click.option(
        "--noise-stddev",
        callback=POSITIVE,
        metavar="S",
        help="Standard deviation of Gaussian noise, in place of --noise-multiplier.",
    ),
    click.option(
        "--noise-variance",
        callback=POSITIVE,
        metavar="V",
        help="With discrete-gaussian noise: its squared parameter, exact, in place of --noise-multiplier.",
    ),
    click.option(
        "--clipping-norm",
        callback=POSITIVE,
        metavar="C",
        help="With --noise-stddev: the norm to which each record's contribution is clipped.",
    ),
    click.option(
        "--noise",
        type=Word(list(NOISES)),
        default=GAUSSIAN,
        show_default=True,
        help="Noise distribution; the discrete ones need integer-valued sums.",
    ),
    click.option("--bound", callback=whole, metavar="C", help="Clipping norm, with discrete noise only (default 1)."),
    SAMPLE_RATE_OPTION,
    click.option("--steps", callback=whole, metavar="T", help="Number of steps."),
    click.option(
        "--epochs",
        callback=POSITIVE,
        metavar="N",
        help="Number of epochs, in place of --steps (N / sample rate, rounded up).",
    ),
    click.option(
        "--sampling",
        callback=sampling,
        metavar="NAME",
        help="Sampling scheme: poisson (default with a sample rate), full-batch (default without), truncated-poisson, "
        "without-replacement, with-replacement, shuffled (in each epoch, then cut into batches), random-allocation, "
        "balls-in-bins, poisson-by-user (users are drawn with all of their records).",
    ),
    click.option("--dataset-size", callback=whole, metavar="N", help="Number of records (public)."),
    BATCH_SIZE_OPTIONS,
    MATRIX_OPTIONS,
    ALLOCATION_OPTIONS,
    click.option(
        "--release",
        type=Word([EVERY_ITERATE, LAST_ITERATE]),
        help="What is published: every-iterate (default), or last-iterate and nothing else.",
    ),
    click.option(
        "--smoothness-step",
        callback=_steps_of,
        metavar="H",
        help="With last-iterate: step size times smoothness of one record's loss; or a list, one for each epoch.",
    ),
    click.option(
        "--weight-decay-step",
        callback=number("between 0 and 1", lambda x: 0 <= x <= 1),
        metavar="W",
        help="With last-iterate: step size times weight decay, if fixed; above H, earlier steps are forgotten.",
    ),
    click.option(
        "--order",
        type=Word(ORDERS),
        help="With last-iterate: order of the batches, fixed (default), shuffled in each epoch, or secret and kept.",
    ),
)


_MOST_RUNS = 10**9  # batches and epochs of a last iterate


@dataclass(frozen=True, slots=True)
class Epochs:
    """Epochs of which only the last iterate is published (``LastIterate``); None for the unknown."""

    batches: int | None
    epochs: int | None
    smoothness_step: Schedule
    order: BatchOrder
    weight_decay_step: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Training:
    """A training run as the options describe it; None for the unknown.

    Attributes:
        noise_multiplier: Noise per unit of the per-record bound, or None.
        sampling: One of ``SAMPLINGS``.
        sample_rate: Rate of Poisson samples; None for other schemes, or if it is the unknown.
        batch_size: Size of fixed-size batches; None for other schemes.
        dataset_size: Public, or None where it was not given.
        stream: The matrix mechanism with noise 1, where the noise is correlated.
        max_batch_size: Largest size of truncated Poisson samples; None for other schemes.
        batches: Number of batches of one size, per epoch of a shuffled run, whose ``steps`` are epochs; None for other
            schemes.
        rest: The share of the records that are in a smaller batch at the end of such an epoch.
        noise: One of ``NOISES``.
        bound: Bound on one record's norm, a whole number; for discrete noise.
        allocation: Random allocation; None for other schemes.
        hidden: The training before the last iterate, if this alone is published.
        noise_variance: σ² of discrete Gaussian noise, in place of the noise multiplier; else None.
    """

    noise_multiplier: Fraction | None
    sampling: str
    sample_rate: Fraction | None
    steps: int | None
    batch_size: int | None
    dataset_size: int | None
    relation: Relation
    stream: MatrixMechanism | None = None
    max_batch_size: int | None = None
    batches: int | None = None
    rest: Fraction = Fraction(0)
    noise: str = GAUSSIAN
    bound: int = 1
    allocation: Allocation | None = None
    hidden: Epochs | None = None
    noise_variance: Fraction | None = None

    def with_value(self, unknown: str, value: Fraction) -> Mechanism:
        """Return the mechanism with ``value`` for "noise", "steps", "batches" or "sample-rate"."""
        match unknown:
            case "noise":
                return replace(self, noise_multiplier=value).mechanism()
            case "steps" if self.allocation is not None:  # epochs
                allocated = replace(self.allocation, epochs=Fraction(int(value)))
                return replace(self, allocation=allocated, steps=allocated.steps).mechanism()
            case "batches" if self.allocation is not None:
                allocated = replace(self.allocation, batches=int(value))
                return replace(self, allocation=allocated, steps=allocated.steps).mechanism()
            case "steps" | "batches" if self.hidden is not None:
                number = min(int(value), _MOST_RUNS)  # beyond, nothing changes: a search that gets there has failed
                hidden = self.hidden
                found = replace(hidden, epochs=number) if unknown == "steps" else replace(hidden, batches=number)
                return replace(self, hidden=found, steps=1).mechanism()
            case "steps":
                return replace(self, steps=int(value)).mechanism()
            case "batches":
                return replace(self, batches=int(value)).mechanism()
        return replace(self, sample_rate=value).mechanism()

    def mechanism(self) -> Mechanism:
        """Return the mechanism, if nothing is left open."""
        from dpbounds.privacy import mechanisms
        from dpbounds.privacy.mechanisms import descriptions

        if self.steps is None or (self.noise_multiplier is None and self.noise_variance is None):
            raise InvalidValue(
                "training", f"noise {self.noise_multiplier}, steps {self.steps}", "given together with the other"
            )
        if self.stream is not None and self.noise_multiplier is not None:
            return self.stream.with_noise(self.noise_multiplier)
        release = self._release()
        if self.allocation is not None:
            return self.allocation.mechanism(release)
        if self.hidden is not None:
            return mechanisms.LastIterate(mechanisms.Gaussian(self.noise_multiplier), **asdict(self.hidden))
        if self.batches is not None:
            release = mechanisms.Shuffled(release, self.batches, self.rest)
        elif self.batch_size is not None and self.dataset_size is not None:
            without = self.sampling == WITHOUT_REPLACEMENT
            kind = mechanisms.SampledWithoutReplacement if without else mechanisms.SampledWithReplacement
            release = kind(release, self.batch_size, self.dataset_size)
        elif self.max_batch_size is not None and self.sample_rate is not None and self.dataset_size is not None:
            release = mechanisms.TruncatedPoisson(release, self.sample_rate, self.max_batch_size, self.dataset_size)
        elif self.sample_rate is not None:
            release = descriptions.SAMPLINGS[self.sampling].at_rate(release, self.sample_rate)
        return release**self.steps

    def _release(self) -> Mechanism:
        """Return one release on all records."""
        from dpbounds.privacy import mechanisms

        if self.noise_multiplier is None:
            return mechanisms.DiscreteGaussian(noise_variance=self.noise_variance, bound=self.bound)
        match self.noise:
            case "laplace":
                return mechanisms.Laplace(self.noise_multiplier)
            case "discrete-gaussian":
                return mechanisms.DiscreteGaussian(self.noise_multiplier * self.bound, self.bound)
            case "discrete-laplace":
                return mechanisms.DiscreteLaplace(self.noise_multiplier * self.bound, self.bound)
        return mechanisms.Gaussian(self.noise_multiplier)


def read_training(given: dict[str, Any], unknown: str | None = None) -> Training:
    """Turn the options of a verb into a training run.

    Args:
        given: The values of ``TRAINING_OPTIONS`` and ``relation``.
        unknown: The unknown: "noise", "steps", "sample-rate", "batches" or None.

    Raises:
        InvalidValue: Options that contradict each other.
        UsageError: Options that are missing.
    """
    if given["release"] == LAST_ITERATE:
        return _last_iterate(given, unknown)
    _refuse_without_last_iterate(given)
    stream, scheme = read_stream(given, unknown), _sampling(given, unknown)
    if stream is not None:
        if given["noise"] != GAUSSIAN:
            raise unfit(f"--noise {given['noise']}", "does not fit correlated noise, which is Gaussian")
        refuse_allocation(given, "correlated noise")
    if unknown == "batches" and (stream is not None or scheme not in (SHUFFLED, *ALLOCATED)):
        where = f"--sampling {SHUFFLED}, {' or '.join(ALLOCATED)}, or --release {LAST_ITERATE}"
        raise unfit("--solve batches", f"does not fit --sampling {scheme}", f"use it with {where}")
    allocation = None if stream is not None or scheme == SHUFFLED else read_allocation(given, scheme, unknown)
    made = partial(  # all options, for every sampling scheme: no option is lost
        Training,
        noise_multiplier=_noise(given, unknown),
        dataset_size=given["dataset_size"],
        relation=Relation(given["relation"]),
        max_batch_size=None if stream is not None else _max_batch_size(given, scheme),
        noise=given["noise"],
        bound=_bound(given),
        noise_variance=given["noise_variance"],
    )
    if stream is not None:
        rate, steps = stream.sample_rate, stream.matrix.steps
        return made(sampling=CORRELATED, sample_rate=rate, steps=steps, batch_size=None, stream=stream)
    if scheme == SHUFFLED:
        return _read_shuffled(given, made, unknown)
    if allocation is not None:
        return made(sampling=scheme, sample_rate=None, steps=allocation.steps, batch_size=None, allocation=allocation)
    relation = Relation(given["relation"])
    batch = _fixed_batch(given, scheme, relation, unknown) if scheme in FIXED_SIZE else None
    rate = None if scheme in FIXED_SIZE else _sample_rate(given, scheme, unknown)
    share = Fraction(batch, given["dataset_size"]) if batch is not None else rate
    return made(sampling=scheme, sample_rate=rate, steps=_steps(given, share, scheme, unknown), batch_size=batch)


def _max_batch_size(given: dict[str, Any], scheme: str) -> int | None:
    most: int | None = given["max_batch_size"]
    if scheme != TRUNCATED:
        if most is not None:
            raise unfit(f"--max-batch-size {most}", f"does not fit --sampling {scheme}", f"give --sampling {TRUNCATED}")
        return None
    for name, value in (("--max-batch-size", most), ("--dataset-size", given["dataset_size"])):
        if value is None:
            raise missing(name, f"--max-batch-size B and --dataset-size N with --sampling {TRUNCATED}")
    return most


def _read_shuffled(given: dict[str, Any], made: Callable[..., Training], unknown: str | None) -> Training:
    """Epochs over shuffled batches: the number of batches of one size, and the remaining records."""
    if Relation(given["relation"]).counts_records:
        from dpbounds.privacy.mechanisms.demands import refuse_without_positions

        refuse_without_positions("shuffled batches of one size")
    for name in ("participations", "redraw"):
        if given[name] is not None:
            raise unfit(f"--{name.replace('_', '-')}", f"does not fit --sampling {SHUFFLED}")
    for name, instead in (("sample_rate", "give --batches M"), ("steps", "give --epochs E")):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {plain_text(given[name])}"
            raise unfit(option, f"does not fit --sampling {SHUFFLED}", instead)
    if unknown == "sample-rate":
        raise InvalidValue("--solve", unknown, f"noise, batches or steps (epochs) with --sampling {SHUFFLED}")
    epochs = given["epochs"]
    batches, rest = (None, Fraction(0)) if unknown == "batches" else _batches(given, f"--sampling {SHUFFLED}")
    if unknown == "batches":
        _refuse_what_is_solved_for(given, unknown, "batches", "batch_size")
    if unknown == "steps":
        _refuse_what_is_solved_for(given, unknown, "epochs")
    elif epochs is None:
        raise missing("--epochs", f"--epochs E, a whole number, with --sampling {SHUFFLED}")
    elif epochs.denominator != 1:
        advice = "a part of an epoch may hold any record: round up"
        raise InvalidValue("--epochs", plain_text(epochs), f"a whole number with --sampling {SHUFFLED}", advice)
    return made(
        sampling=SHUFFLED,
        sample_rate=None,
        steps=None if epochs is None else int(epochs),
        batch_size=given["batch_size"],
        batches=batches,
        rest=rest,
    )


def _batches(given: dict[str, Any], asked: str) -> tuple[int, Fraction]:
    """Return the number of batches of one size, and the share of the records in a smaller last one."""
    batch: int | None = given["batch_size"]
    size: int | None = given["dataset_size"]
    if given["batches"] is not None:
        if batch is not None:
            raise InvalidValue("--batch-size", batch, "either --batches or --batch-size, not both")
        return int(given["batches"]), Fraction(0)
    if batch is None or size is None:
        raise missing("--batches", f"--batches M, or --batch-size B with --dataset-size N, with {asked}")
    if batch > size:
        raise InvalidValue("--batch-size", batch, f"at most --dataset-size, {size}")
    return size // batch, Fraction(size % batch, size)


def _bound(given: dict[str, Any]) -> int:
    if given["bound"] is not None and given["noise"] not in (DISCRETE_GAUSSIAN, DISCRETE_LAPLACE):
        why = f"does not fit --noise {given['noise']}, whose multiplier is per unit of the bound"
        raise unfit(f"--bound {given['bound']}", why)
    return given["bound"] or 1


def _last_iterate(given: dict[str, Any], unknown: str | None) -> Training:
    if read_stream(given, unknown) is not None:
        raise unfit(f"--release {LAST_ITERATE}", "does not fit correlated noise", "every row of it counts as published")
    if given["noise"] != GAUSSIAN:
        raise unfit(f"--noise {given['noise']}", f"does not fit --release {LAST_ITERATE}, whose noise is Gaussian")
    relation = Relation(given["relation"])
    hidden = _hidden(given, relation, unknown)
    return Training(
        noise_multiplier=_noise(given, unknown),
        sampling=FULL_BATCH,
        sample_rate=None,
        steps=None if hidden.batches is None or hidden.epochs is None else hidden.batches * hidden.epochs,
        batch_size=given["batch_size"],
        dataset_size=given["dataset_size"],
        relation=relation,
        hidden=hidden,
    )


def _refuse_without_last_iterate(given: dict[str, Any]) -> None:
    for name in ("smoothness_step", "weight_decay_step", "order"):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {plain_text(given[name])}"
            raise unfit(option, f"needs --release {LAST_ITERATE}", "every other question has no use for it")


def _hidden(given: dict[str, Any], relation: Relation, unknown: str | None) -> Epochs:
    """Describe the training, if only the last iterate is published."""
    asked = f"--release {LAST_ITERATE}"
    if unknown == "sample-rate":
        raise InvalidValue("--solve", unknown, f"noise, epochs or batches with {asked}")
    if relation.counts_records:
        refuse_without_positions("batches by position, of which only the last iterate is published,")
    for name, instead in (
        ("sampling", "set --order to fixed, shuffled or secret"),
        ("sample_rate", "give --batches M, or --batch-size B with --dataset-size N"),
        ("steps", "give --epochs N, a whole number"),
        ("max_batch_size", "its batches are fixed"),
        ("bound", "its noise is per unit of the bound"),
        ("participations", "a record is in one batch of every epoch"),
        ("redraw", "--order says how batches are made"),
    ):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {plain_text(given[name])}"
            raise unfit(option, f"does not fit {asked}", instead)
    step: Schedule | None = given["smoothness_step"]
    if step is None:
        wanted = "--smoothness-step H, the step size times a bound on how fast one record's gradient changes"
        raise missing("--smoothness-step", f"{wanted}, with {asked}")
    if unknown == "steps":
        _refuse_what_is_solved_for(given, "epochs", "epochs")
        if isinstance(step, tuple):
            raise unfit("--smoothness-step", "is a list, one number per epoch", "give one number with --solve epochs")
    epochs: Fraction = given["epochs"] or Fraction(1)
    if epochs.denominator > 1:
        raise InvalidValue("--epochs", plain_text(epochs), f"a whole number with {asked}")
    if isinstance(step, tuple) and len(step) != epochs:
        raise InvalidValue("--smoothness-step", f"{len(step)} numbers", f"one number, or one per epoch ({epochs})")
    decay: Fraction = given["weight_decay_step"] or Fraction(0)
    if decay and isinstance(step, tuple):
        raise InvalidValue("--weight-decay-step", plain_text(decay), "0 where --smoothness-step is a list")
    order: BatchOrder = given["order"] or "fixed"
    known = None if unknown == "steps" else int(epochs)
    if unknown == "batches":
        _refuse_what_is_solved_for(given, unknown, "batches", "batch_size")
        return Epochs(None, known, step, order, decay)
    whole_ones, _ = _batches(given, asked)  # records beyond them are left out, or a smaller batch, which costs no more
    return Epochs(whole_ones, known, step, order, decay)


def _noise(given: dict[str, Any], unknown: str | None) -> Fraction | None:
    """Return the noise multiplier; None if it is the unknown, or a variance is given in its place."""
    noise: Fraction | None = given["noise_multiplier"]
    stddev, norm, variance = given["noise_stddev"], given["clipping_norm"], given["noise_variance"]
    if unknown == "noise":
        ways = ("noise_multiplier", "noise_stddev", "clipping_norm", "noise_variance")
        _refuse_what_is_solved_for(given, unknown, *ways)
        return None
    if variance is not None:
        option = f"--noise-variance {plain_text(variance)}"
        if given["noise"] != DISCRETE_GAUSSIAN:
            raise unfit(option, f"does not fit --noise {given['noise']}", f"it is for --noise {DISCRETE_GAUSSIAN}")
        for name in ("noise_multiplier", "noise_stddev", "clipping_norm"):
            if given[name] is not None:
                raise unfit(option, f"does not fit --{name.replace('_', '-')}", "give the noise once")
        return None
    if noise is None and stddev is None:
        wanted = "--noise-multiplier Z, a number greater than 0, or --noise-stddev S with --clipping-norm C"
        raise missing("--noise-multiplier", wanted)
    if noise is not None:
        for name, value in (("--noise-stddev", stddev), ("--clipping-norm", norm)):
            if value is not None:
                raise unfit(f"{name} {plain_text(value)}", "does not fit --noise-multiplier, which is their ratio")
        return noise
    if given["noise"] != GAUSSIAN:
        why = f"does not fit --noise {given['noise']}, which is not described by a standard deviation"
        raise unfit(
            f"--noise-stddev {plain_text(stddev)}",
            why,
            "give --noise-multiplier; with discrete noise --bound is the clipping norm",
        )
    if norm is None:
        raise missing("--clipping-norm", "--clipping-norm C, a number greater than 0, with --noise-stddev")
    return Fraction(stddev / norm)


def _sampling(given: dict[str, Any], unknown: str | None) -> str:
    if given["sampling"] is not None:
        return str(given["sampling"])
    if given["batch_size"] is not None:
        raise click.UsageError(
            f"--batch-size {given['batch_size']} needs --sampling {POISSON}, {WITHOUT_REPLACEMENT}, "
            f"{WITH_REPLACEMENT}, {SHUFFLED}, {RANDOM_ALLOCATION} or {BALLS_IN_BINS}; they differ in privacy"
        )
    return POISSON if given["sample_rate"] is not None or unknown == "sample-rate" else FULL_BATCH


def _fixed_batch(given: dict[str, Any], scheme: str, relation: Relation, unknown: str | None) -> int:
    """Return the batch size, where it and the dataset's size make sense together."""
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
    if relation.counts_records:
        if scheme == WITHOUT_REPLACEMENT and batch == size:
            advice = "the dataset without the record must still hold a whole batch"
            raise InvalidValue("--batch-size", batch, f"less than --dataset-size, {size}, under {relation}", advice)
        if size == 1:
            advice = "the dataset without the record must not be empty"
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
