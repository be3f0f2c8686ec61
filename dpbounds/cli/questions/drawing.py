"""Sampling options of `run`, and the scheme or the matrix that they describe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import plain, plain_text
from dpbounds.cli.questions.allocation import ALLOCATED, ALLOCATION_OPTIONS
from dpbounds.cli.questions.matrices import MATRIX_OPTIONS
from dpbounds.cli.questions.options import POSITIVE, Word, missing, names_of, options, unfit
from dpbounds.cli.questions.training import (
    BATCH_SIZE_OPTIONS,
    EVERY_ITERATE,
    FULL_BATCH,
    LAST_ITERATE,
    POISSON,
    SAMPLE_RATE_OPTION,
    SAMPLINGS,
    SHUFFLED,
    TRAINING_OPTIONS,
    TRUNCATED,
    WITH_REPLACEMENT,
    Training,
    read_training,
    sampling,
)
from dpbounds.errors import InvalidValue
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.oracles import Scheme
    from dpbounds.algorithms.sampling import Correlated, Visited
    from dpbounds.privacy.mechanisms import MatrixMechanism

CYCLIC = "cyclic"
_ORDERS = ("fixed", "secret")
_VISITED = (SHUFFLED, CYCLIC)
_CHOSEN = ("sample_rate", "batch_size", "max_batch_size", "batches", "participations", "redraw", "epochs", "order")


def _sampling(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    found = text if text == CYCLIC else sampling(ctx, option, text)
    if found is not None and found not in (CYCLIC, *SAMPLINGS):
        raise unfit(f"--sampling {found}", "is accounted for, but no algorithm here draws it")
    return found


DRAWING_OPTIONS = options(
    click.option(
        "--sampling",
        callback=_sampling,
        metavar="NAME",
        help=f"How batches are drawn: {', '.join(SAMPLINGS)}, or {CYCLIC} (the same ones in every epoch).",
    ),
    SAMPLE_RATE_OPTION,
    BATCH_SIZE_OPTIONS,
    ALLOCATION_OPTIONS,
    click.option("--epochs", callback=POSITIVE, metavar="N", help="Number of epochs, in place of steps=T."),
    click.option(
        "--order", type=Word(_ORDERS), help="With cyclic: batches by position (default), or shuffled once, in secret."
    ),
    MATRIX_OPTIONS,
    click.option(
        "--release",
        type=Word([EVERY_ITERATE, LAST_ITERATE]),
        help="What is published: every-iterate (default), or last-iterate and nothing else, ever.",
    ),
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """The sampling scheme of a run.

    Attributes:
        scheme: None for all records.
        steps: Number of batches; None if the algorithm chooses it.
        notes: Differences from the usual meaning, in words.
    """

    scheme: Scheme | Correlated
    steps: int | None
    notes: tuple[str, ...] = ()


def is_drawn(given: Mapping[str, Any]) -> bool:
    """Return whether any option describes how batches are drawn."""
    return given["redraw"] is False or any(value for name, value in given.items() if name != "release")


def read_drawing(given: Mapping[str, Any], records: int, relation: Relation, steps: int | None) -> Drawing:
    """Return the sampling scheme that the options describe, for a number of records.

    Args:
        given: The values of ``DRAWING_OPTIONS``.
        records: The number of records, public.
        relation: The neighbouring relation of the account.
        steps: T, if given.

    Raises:
        InvalidValue: Options that contradict each other.
        UsageError: Options that are missing, or do not apply.
    """
    correlated = any(given[name] for name in ("matrix", "toeplitz", "tree"))
    if given["sampling"] is None and not correlated and (told := _left_over(given)):
        raise missing("--sampling", f"--sampling NAME, which says what {told[0]} means")
    if given["order"] is not None and given["sampling"] != CYCLIC:
        raise unfit(f"--order {given['order']}", f"needs --sampling {CYCLIC}")
    if given["sampling"] in _VISITED:
        return _by_epochs(given, records, relation, steps)
    asked = {name: value for name, value in given.items() if name not in ("release", "order")}
    known = {**dict.fromkeys(names_of(TRAINING_OPTIONS)), **asked, "noise": "gaussian", "relation": relation}
    known |= {"dataset_size": records, "steps": steps}
    if steps is None and given["epochs"] is None and not correlated and given["sampling"] not in ALLOCATED:
        known["steps"] = 1  # the algorithm chooses, and only the scheme is read
    training = read_training(known, "noise")
    if training.stream is not None:
        return _correlated(training.stream)
    chosen = None if known["steps"] != steps else training.steps
    return Drawing(_drawn(training, records), chosen)


def _by_epochs(given: Mapping[str, Any], records: int, relation: Relation, steps: int | None) -> Drawing:
    """Return the scheme of shuffled or cyclic batches, given their number per epoch."""
    from dpbounds.algorithms.sampling import Cyclic, Shuffle
    from dpbounds.privacy.mechanisms.demands import refuse_without_positions

    name = given["sampling"]
    if relation.counts_records:
        refuse_without_positions(f"{name} batches")
    for other in ("sample_rate", "max_batch_size", "participations", "redraw"):
        if given[other] is not None:
            raise unfit(_as_given(other, given[other]), f"does not fit --sampling {name}", "give --batches M")
    if (given["batches"] is None) == (given["batch_size"] is None):
        raise missing("--batches", f"--batches M or --batch-size B, one of the two, with --sampling {name}")
    size: int | None = given["batch_size"]
    if size is not None and size > records:
        raise InvalidValue("--batch-size", size, f"at most the number of records, {records}")
    m = given["batches"] if size is None else (records // size if name == SHUFFLED else -(-records // size))
    if m > records:
        raise InvalidValue("--batches", m, f"at most the number of records, {records}")
    scheme: Visited = Shuffle(m) if name == SHUFFLED else Cyclic(m, given["order"] or "fixed")
    note = f"batches of {records // m} records, {m} an epoch"
    if name == SHUFFLED and records % m:
        note += f"; in every epoch {records % m} others, drawn at random, are left out"
    return Drawing(scheme, _steps(given, m, steps), (note,))


def _steps(given: Mapping[str, Any], batches: int, steps: int | None) -> int | None:
    epochs: Fraction | None = given["epochs"]
    if epochs is None:
        return steps
    if steps is not None:
        raise InvalidValue("--epochs", plain_text(epochs), "either steps=T or --epochs, not both")
    return math.ceil(epochs * batches)


def _drawn(training: Training, records: int) -> Scheme:
    from dpbounds.algorithms.sampling import Allocated, Batch, Bins, Poisson, Truncated

    if training.allocation is not None:
        assert training.allocation.batches is not None
        if training.allocation.participations > 1:
            return Allocated(training.allocation.batches, training.allocation.participations)
        return Bins(training.allocation.batches, training.allocation.redraw)
    if training.sampling == FULL_BATCH:
        return None
    if training.batch_size is not None:
        return Batch(training.batch_size, records, replacement=training.sampling == WITH_REPLACEMENT)
    assert training.sample_rate is not None
    if training.sampling == TRUNCATED:
        assert training.max_batch_size is not None
        return Truncated(training.sample_rate, training.max_batch_size, records)
    assert training.sampling == POISSON
    return Poisson(training.sample_rate)


def _correlated(stream: MatrixMechanism) -> Drawing:
    from dpbounds.algorithms.sampling import Correlated

    draws = stream.participation
    if draws not in ("fixed-order", "cyclic-poisson", "balls-in-bins"):
        advice = "fixed-order, cyclic-poisson or balls-in-bins"
        raise InvalidValue("--participation", draws, f"one that an algorithm here draws: {advice}")
    groups = "independent" if draws == "balls-in-bins" else "position"
    if stream.groups not in (None, groups):
        raise InvalidValue("--groups", stream.groups, f"{groups} with --participation {draws}, as records are grouped")
    assert stream.separation is not None
    return Drawing(Correlated(stream.matrix, stream.separation, draws, stream.sample_rate), stream.matrix.steps)


def _left_over(given: Mapping[str, Any]) -> list[str]:
    """Return the options that were given beside ``--sampling``."""
    return [_as_given(name, given[name]) for name in _CHOSEN if given[name] is not None]


def _as_given(name: str, value: object) -> str:
    if name == "redraw":
        return "--redraw" if value else "--same-bins"
    return f"--{name.replace('_', '-')} {plain(value) if isinstance(value, Fraction) else value}"
