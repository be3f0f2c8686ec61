"""Options for steps that are allocated in secret: batches of an epoch, and in how many of them a record takes part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpbounds.cli.printing.output import json_given, plain, plain_text
from dpbounds.cli.questions.options import missing, note, options, unfit, whole
from dpbounds.errors import InvalidValue

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import Mechanism

RANDOM_ALLOCATION, BALLS_IN_BINS = ALLOCATED = ("random-allocation", "balls-in-bins")

ALLOCATION_OPTIONS = options(
    click.option("--batches", callback=whole, metavar="M", help="Batches per epoch."),
    click.option(
        "--participations",
        callback=whole,
        metavar="K",
        help="With random-allocation: batches per epoch that a record is in (default 1).",
    ),
    click.option(
        "--redraw/--same-bins",
        default=None,
        help="With balls-in-bins: draw the bins anew in every epoch, or keep them.",
    ),
)


@dataclass(frozen=True, slots=True)
class Allocation:
    """The allocation of records to the batches of all epochs.

    Attributes:
        batches: Number of batches of an epoch; None if it is the unknown.
        participations: Number of participations of a record in an epoch.
        epochs: A part of an epoch counts the steps that are begun; None where they are solved for.
        redraw: Whether every epoch draws anew.
    """

    batches: int | None
    participations: int
    epochs: Fraction | None
    redraw: bool

    @property
    def steps(self) -> int | None:
        """The number of releases; None where it is solved for."""
        return None if self.epochs is None or self.batches is None else math.ceil(self.batches * self.epochs)

    def mechanism(self, release: Mechanism) -> Mechanism:
        """Return the mechanism of all epochs."""
        from dpbounds.privacy.mechanisms import BallsInBins, RandomlyAllocated

        assert self.epochs is not None
        assert self.batches is not None
        if self.redraw and self.epochs.denominator == 1:
            return RandomlyAllocated(release, self.batches, self.participations) ** int(self.epochs)
        return BallsInBins(release, self.batches, self.epochs, redraw=self.redraw)

    def in_words(self) -> str:
        """Describe the sampling scheme, without the noise."""
        each = "one" if self.participations == 1 else str(self.participations)
        of = "the" if self.batches is None else str(self.batches)
        often = "drawn anew every epoch" if self.redraw else "the same in every epoch"
        if self.epochs is None:
            return f"each record in {each} of {of} batches, {often}"
        epochs = "1 epoch" if self.epochs == 1 else f"{plain(self.epochs)} epochs, {often}"
        return f"each record in {each} of {of} batches, {epochs}"

    def as_json(self) -> dict[str, object]:
        """Return the allocation for JSON."""
        return {
            "batches": self.batches,
            "participations": self.participations,
            "epochs": json_given(self.epochs),
            "redraw": self.redraw,
        }


def read_allocation(given: dict[str, Any], scheme: str, unknown: str | None) -> Allocation | None:
    """Return the allocation that the options describe; None for other samplings.

    Raises:
        InvalidValue: Options that contradict each other.
        UsageError: Options that are missing.
    """
    if scheme not in ALLOCATED:
        refuse_allocation(given, f"--sampling {scheme}")
        return None
    if unknown not in (None, "noise", "steps", "batches"):
        raise InvalidValue("--solve", unknown, f"noise, epochs or batches with --sampling {scheme}")
    for what, name in (("steps", "epochs"), ("batches", "batches")):
        if unknown == what and given[name] is not None:
            raise unfit(_as_given(name, given[name]), f"is the unknown of --solve {what}")
    if given["batch_size"] is not None:
        if unknown == "batches":
            raise unfit(_as_given("batch_size", given["batch_size"]), "does not fit --solve batches, which finds it")
        if given["batches"] is not None:
            raise InvalidValue("--batch-size", given["batch_size"], "either --batches or --batch-size, not both")
        given = {**given, "batches": _batches_of(given, scheme), "batch_size": None}
    for name in ("sample_rate", "max_batch_size", "steps"):
        if given[name] is not None:
            why = f"does not fit --sampling {scheme}, in which every record has its own random batches"
            raise unfit(_as_given(name, given[name]), why, "give --batches M and --epochs N")
    for name, wanted in (("batches", "--batches M"), ("epochs", "--epochs N")):
        if given[name] is None and (name, unknown) not in (("epochs", "steps"), ("batches", "batches")):
            raise missing(f"--{name}", f"{wanted} with --sampling {scheme}")
    batches, participations, redraw = given["batches"], given["participations"] or 1, given["redraw"]
    if scheme == BALLS_IN_BINS:
        if participations > 1:
            raise unfit(f"--participations {participations}", f"does not fit --sampling {scheme}", _other(scheme))
        if redraw is None:
            raise missing("--redraw", "--redraw (bins drawn anew in every epoch) or --same-bins (which costs far more)")
    elif redraw is False:
        raise unfit("--same-bins", f"does not fit --sampling {scheme}, drawn anew in every epoch", _other(scheme))
    if unknown == "batches" and (participations > 1 or given["epochs"].denominator > 1):
        told = f"--participations {participations}" if participations > 1 else f"--epochs {plain_text(given['epochs'])}"
        raise unfit(told, "does not fit --solve batches: a record is in one batch of every whole epoch there")
    if batches is not None and participations > batches:
        raise InvalidValue("--participations", participations, f"at most --batches, {batches}")
    epochs = None if unknown == "steps" else _epochs(given["epochs"], participations)
    return Allocation(batches, participations, epochs, redraw is not False)


def refuse_allocation(given: dict[str, Any], where: str) -> None:
    """Refuse the options of this file where they do not apply."""
    for name in ("batches", "participations", "redraw"):
        if given[name] is not None:
            also = "shuffled, " if name == "batches" else ""
            why = f"does not fit {where}, but --sampling {also}{RANDOM_ALLOCATION} or {BALLS_IN_BINS}"
            raise unfit(_as_given(name, given[name]), why)


def _batches_of(given: dict[str, Any], scheme: str) -> int:
    """Return the number of batches of an expected size; if it is not whole, it is rounded down, for larger batches."""
    size, records = given["batch_size"], given["dataset_size"]
    if records is None:
        raise missing(
            "--dataset-size", f"--batch-size B and --dataset-size N, or --batches M, with --sampling {scheme}"
        )
    if size > records:
        raise InvalidValue("--batch-size", size, f"at most --dataset-size, {records}")
    return int(records * (given["participations"] or 1) // size)


def _epochs(epochs: Fraction, participations: int) -> Fraction:
    if epochs.denominator == 1 or participations == 1:
        return epochs
    note(f"--epochs {plain_text(epochs)}: a part of an epoch with several participations counts as a whole one")
    return Fraction(math.ceil(epochs))


def _as_given(name: str, value: object) -> str:
    if name == "redraw":
        return "--redraw" if value else "--same-bins"
    return f"--{name.replace('_', '-')} {plain_text(value)}"


def _other(scheme: str) -> str:
    return f"use --sampling {RANDOM_ALLOCATION if scheme == BALLS_IN_BINS else BALLS_IN_BINS}"
