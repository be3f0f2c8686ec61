"""What the verbs about privacy have in common: exact numbers as options, and the training run they describe."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpbounds.cli.output import plain_text
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact, positive_integer
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism

POISSON, FULL_BATCH = "poisson", "full-batch"
_UNPROVEN_SAMPLING = ("without-replacement", "with-replacement")
_LATER_METHODS = ("rdp", "zcdp", "gdp", "optimal", "advanced", "basic", "all")

Callback = TypeVar("Callback", bound=Callable[..., Any])


def number(
    allowed: str, within: Callable[[Fraction], bool]
) -> Callable[[click.Context, click.Parameter, str | None], Fraction | None]:
    """An option's callback: an exact number within a domain; text such as 0.1, 1e-6, 1/3 or 2**-20 is exact."""

    def read(ctx: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
        if text is None:
            return None
        value = exact(text, option.opts[0])
        if not within(value):
            raise InvalidValue(option.opts[0], text, allowed)
        return value

    return read


POSITIVE = number("a number greater than 0", lambda x: x > 0)
AT_LEAST_ZERO = number("a number that is at least 0", lambda x: x >= 0)
PROBABILITY = number("a number greater than 0 and less than 1", lambda x: 0 < x < 1)
RATE = number("a number greater than 0 and at most 1", lambda x: 0 < x <= 1)


def whole(ctx: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """An option's callback: a positive whole number; 1e4 is one."""
    return None if text is None else positive_integer(text, option.opts[0])


def sampling(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """An option's callback: a sampling scheme whose analysis is proven here."""
    if text in (None, POISSON, FULL_BATCH):
        return text
    advice = f"{text} has no proven analysis in this version" if text in _UNPROVEN_SAMPLING else ""
    raise InvalidValue(option.opts[0], text, f"{POISSON} or {FULL_BATCH}", advice)


def method(ctx: click.Context, option: click.Parameter, text: str) -> str:
    """An option's callback: how ε or δ is computed."""
    if text == "certified":
        return text
    advice = f"{text} is not yet available in this version" if text in _LATER_METHODS else ""
    raise InvalidValue(option.opts[0], text, "certified", advice)


FILE = click.Path(path_type=Path)


def writable(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """An option's callback: a file that can probably be written, so that no work is done in vain."""
    if path is not None and path.is_dir():
        raise InvalidValue(option.opts[0], path, "a file that can be written", "this is a directory")
    if path is not None and not path.parent.is_dir():
        raise InvalidValue(option.opts[0], path, "a file that can be written", f"there is no directory {path.parent}")
    return path


def options(*decorators: Callable[[Callback], Callback]) -> Callable[[Callback], Callback]:
    """Several options as one decorator, listed in the order of the help text."""

    def decorate(function: Callback) -> Callback:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


TRAINING_OPTIONS = options(
    click.option("--noise-multiplier", callback=POSITIVE, metavar="Z", help="Noise, per unit of the per-record bound."),
    click.option("--sample-rate", callback=RATE, metavar="Q", help="Chance of each record to be in a batch."),
    click.option("--steps", callback=whole, metavar="T", help="Number of noisy releases."),
    click.option("--epochs", callback=POSITIVE, metavar="N", help="Instead of --steps: N / sample rate, rounded up."),
    click.option(
        "--sampling", callback=sampling, metavar="NAME", help="poisson where there is a rate, full-batch otherwise."
    ),
    click.option("--dataset-size", callback=whole, metavar="N", help="Number of records (public)."),
    click.option("--batch-size", callback=whole, metavar="B", help="Expected batch: the rate is B / dataset size."),
)
RELATION_OPTION = click.option(
    "--relation",
    type=click.Choice([str(relation) for relation in Relation]),
    default=str(Relation.ADD_OR_REMOVE_ONE),
    show_default=True,
    help="Which data sets must be hard to tell apart.",
)
PUBLISHING_OPTIONS = options(
    click.option("--statement", is_flag=True, help="Also write the privacy statement to publish."),
    click.option(
        "--certificate",
        type=FILE,
        callback=writable,
        metavar="FILE",
        help="Write a certificate that `dpbounds check` verifies.",
    ),
    click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output."),
)


@dataclass(frozen=True, slots=True)
class Training:
    """A training run as the options describe it; what is to be solved for is None.

    Attributes:
        noise_multiplier: Noise per unit of the per-record bound, or None.
        sampling: "poisson" or "full-batch".
        sample_rate: None for the full batch, or when it is solved for.
        steps: Number of releases, or None.
        dataset_size: Public, or None where it was not given.
        relation: The neighbouring relation.
    """

    noise_multiplier: Fraction | None
    sampling: str
    sample_rate: Fraction | None
    steps: int | None
    dataset_size: int | None
    relation: Relation

    def with_value(self, unknown: str, value: Fraction) -> Mechanism:
        """The mechanism with ``value`` for "noise", "steps" or "sample-rate"."""
        noise = value if unknown == "noise" else self.noise_multiplier
        steps = int(value) if unknown == "steps" else self.steps
        return _mechanism(noise, value if unknown == "sample-rate" else self.sample_rate, steps)

    def mechanism(self) -> Mechanism:
        """The mechanism, where nothing is left open."""
        return _mechanism(self.noise_multiplier, self.sample_rate, self.steps)


def _mechanism(noise: Fraction | None, rate: Fraction | None, steps: int | None) -> Mechanism:
    from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled

    if noise is None or steps is None:
        raise InvalidValue("training", f"noise {noise}, steps {steps}", "both")
    release = Gaussian(noise)
    return (release if rate is None else PoissonSampled(release, rate)) ** steps


def read_training(given: dict[str, Any], unknown: str | None = None) -> Training:
    """Turn the options of a verb into a training run.

    Args:
        given: The values of ``TRAINING_OPTIONS`` and ``relation``.
        unknown: What is solved for: "noise", "steps", "sample-rate" or None.

    Raises:
        InvalidValue: Options that contradict each other.
        UsageError: Options that are missing.
    """
    sampling = _sampling(given, unknown)
    rate = _sample_rate(given, sampling, unknown)
    return Training(
        noise_multiplier=_noise(given, unknown),
        sampling=sampling,
        sample_rate=rate,
        steps=_steps(given, rate, sampling, unknown),
        dataset_size=given["dataset_size"],
        relation=Relation(given["relation"]),
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
        allowed = f"--batch-size together with --sampling {POISSON} (or --sampling {FULL_BATCH} and no batch size)"
        unproven = " and ".join(_UNPROVEN_SAMPLING)
        advice = f"batches are drawn in several ways, which differ in privacy; {unproven} are not proven here"
        raise InvalidValue("--batch-size", given["batch_size"], allowed, advice)
    return POISSON if given["sample_rate"] is not None or unknown == "sample-rate" else FULL_BATCH


def _sample_rate(given: dict[str, Any], sampling: str, unknown: str | None) -> Fraction | None:
    rate: Fraction | None = given["sample_rate"]
    batch: int | None = given["batch_size"]
    size: int | None = given["dataset_size"]
    if unknown == "sample-rate":
        _refuse_what_is_solved_for(given, unknown, "sample_rate", "batch_size")
    if sampling == FULL_BATCH:
        for name, value in (("--sample-rate", rate), ("--batch-size", batch)):
            if value is not None:
                raise InvalidValue(
                    name, plain_text(value), f"no such option with --sampling {FULL_BATCH}, which uses every record"
                )
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


def _steps(given: dict[str, Any], rate: Fraction | None, sampling: str, unknown: str | None) -> int | None:
    steps: int | None = given["steps"]
    epochs: Fraction | None = given["epochs"]
    if unknown == "steps":
        _refuse_what_is_solved_for(given, unknown, "steps", "epochs")
        return None
    if epochs is not None:
        if steps is not None:
            raise InvalidValue("--epochs", plain_text(epochs), "either --steps or --epochs, not both")
        if unknown == "sample-rate":
            advice = "give --steps T: with epochs, the number of steps would change with the rate"
            raise InvalidValue("--epochs", plain_text(epochs), "no such option with --solve sample-rate", advice)
        return math.ceil(epochs / (rate or 1))
    if steps is None and sampling == POISSON:
        raise missing("--steps", "--steps T or --epochs N")
    if steps is None:
        note("neither --steps nor --epochs is given: a single release")
    return steps or 1


def _refuse_what_is_solved_for(given: dict[str, Any], unknown: str, *names: str) -> None:
    for name in names:
        if given[name] is not None:
            allowed = f"no such option with --solve {unknown}, which finds it"
            raise InvalidValue("--" + name.replace("_", "-"), plain_text(given[name]), allowed)


def missing(option: str, wanted: str) -> click.UsageError:
    """The error for an option that has to be given."""
    return click.UsageError(f"{option} is missing: give {wanted}")


def note(text: str) -> None:
    """Tell the person something that is no error, on standard error."""
    click.echo(f"note: {text}", err=True)


def warn_if_delta_is_large(delta: Fraction | float, dataset_size: int | None, what: str = "delta") -> None:
    """Warn on standard error where δ is at or above 1/n: publishing one whole record would keep such a budget."""
    if dataset_size is not None and delta * dataset_size >= 1:
        click.echo(
            f"warning: {what} = {float(delta):.6g} is at or above 1/{dataset_size}, one over the number of records: "
            "publishing a whole record at random would be allowed by it; choose a much smaller one",
            err=True,
        )


def reading(path: Path, what: str) -> str:
    """The text of a file that an option names, or ``InvalidValue``."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidValue(what, path, "a text file in UTF-8") from None
    except OSError as error:
        raise InvalidValue(what, path, "a file that can be read", error.strerror or "") from None


def writing(path: Path, text: str, what: str) -> None:
    """Write a file that an option names, or raise ``InvalidValue``."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidValue(what, path, "a file that can be written", error.strerror or "") from None
