"""A mechanism that runs on a random part of the data, or each time on another part of it.

A mechanism that answers with an average must divide by a *public* constant: dividing by the realised size of a random
batch is another mechanism, whose sensitivity depends on the data. Batches cut from a shuffled
dataset are a scheme of their own, :class:`Shuffled`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms.core import Loss, Mechanism, Writer
from dpbounds.privacy.mechanisms.parameters import parameters_of

if TYPE_CHECKING:  # NumPy costs time where nothing is drawn
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source
    from dpbounds.privacy.mechanisms.schemes.encoders import Encoder

BATCHES = "which records were in which batch, and how many"


def demand_mechanism(value: object) -> None:
    """Raise ``InvalidValue`` unless the value is a mechanism."""
    if not isinstance(value, Mechanism):
        raise InvalidValue("mechanism", value, "a mechanism")


def records_in_words(batch_size: int, dataset_size: int) -> str:
    """Return the sizes of a batch and of the dataset, in words."""
    return f"{'one record' if batch_size == 1 else f'{batch_size} records'} of {dataset_size}"


def epochs_in_words(count: int) -> str:
    """Return a number of epochs, in words."""
    return "an epoch" if count == 1 else f"{count} epochs"


@dataclass(frozen=True, slots=True)
class OneBatch:
    """How a batch is drawn, independently of all others: each record by itself, or a fixed number of records.

    Attributes:
        rate: The probability of each record, drawn by itself; None where the number of records is fixed.
        most: With a rate, how many records are kept at most, of those drawn, uniformly; without one, how many are
            drawn. None: all that are drawn.
        repeats: Whether a record may be drawn several times.
    """

    rate: Fraction | None
    most: int | None = None
    repeats: bool = False


class Sampling(Mechanism):
    """A sampling scheme, with the mechanism that runs on each batch.

    Attributes:
        mechanism: The mechanism on a batch.
    """

    __slots__ = ()

    mechanism: Mechanism

    @classmethod
    def at_rate(cls, mechanism: Mechanism, sample_rate: Fraction) -> Sampling:
        """Return the scheme where a sample rate is its only parameter.

        Raises:
            InvalidValue: The scheme has other parameters.
        """
        if [*parameters_of(cls)] != ["sample_rate"]:
            raise InvalidValue("sampling", cls.name, "a scheme with a sample rate and no other parameter")
        return cls(mechanism, sample_rate)  # type: ignore[call-arg] # as its only parameter

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """Return the mechanism that runs on a batch."""
        return (self.mechanism,)

    @property
    def noise(self) -> Mechanism:
        """The noise of the mechanism inside."""
        return self.mechanism.noise

    @property
    def secret(self) -> str:
        """The assignment of records to batches."""
        return BATCHES

    @property
    def one_batch(self) -> OneBatch | None:
        """The draw of each batch; None if batches depend on each other, or records on each other."""
        return None

    def loss(self) -> Loss:
        """Return the loss of the mechanism inside; losses in secret batches do not add up."""
        found = self.mechanism.loss()
        drawn = (getattr(self, name) for name in parameters_of(self))
        return Loss((type(self), *drawn, *found.family), found.value, name=found.name)

    def in_words(self, write: Writer) -> str:
        """Return the mechanism inside."""
        return self.mechanism.in_words(write)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Draw the batches of one release, in order: the positions of their records, in an arbitrary order.

        Args:
            records: The number of records.
            source: The source of randomness. A sample rate has to be one at which it can draw (``drawable_rate``).

        Raises:
            UnsupportedMechanism: There is no sampler for the scheme.
        """
        raise UnsupportedMechanism(f"there is no sampler for {self.name}: draw its batches as its assumptions say")


class InTurn(Mechanism):
    """A mechanism that answers about the batches of an epoch in turn, and then about those of the next epoch."""

    __slots__ = ()

    @property
    @abstractmethod
    def batches(self) -> int:
        """The number of batches of an epoch, not counting a smaller last one."""

    def answers(self, count: int) -> int:
        """Return the number of answers of ``count`` releases, each computed from one batch."""
        return count * self.batches

    @property
    def redraws(self) -> bool:
        """Whether every epoch deals anew."""
        return True

    @property
    def one_by_one(self) -> bool:
        """Whether every record draws its batches by itself, so that the sizes of batches are random."""
        return False

    @property
    def participations(self) -> int | None:
        """Number of batches of an epoch that each record is in; None if it is one."""
        return None

    @property
    def group_rate(self) -> Fraction | None:
        """The probability that a record of a batch's group takes part; None if all of them do."""
        return None

    @property
    def matrix(self) -> Encoder | None:
        """Return the matrix that correlates the noise of the answers; None where it is independent."""
        return None


class Dealing(Sampling, InTurn):
    """A scheme that deals all records to the batches of an epoch at once."""

    __slots__ = ()

    @abstractmethod
    def deal(self, records: int, source: Source) -> Rows:
        """Return each record's batch in an epoch, from 0, or -1 for none, shape (n,); or its K batches, (n, K)."""
