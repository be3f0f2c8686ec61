"""A mechanism that runs on a random part of the data, or each time on another part of it.

In every case the mechanism must answer with a sum, or a sum divided by a *public* constant: dividing by the realised
size of a random batch is another mechanism, whose sensitivity depends on the data. Batches cut from a shuffled data
set are a scheme of their own, :class:`Shuffled`.
"""

from __future__ import annotations

from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms.core import Loss, Mechanism, Writer
from dpbounds.privacy.mechanisms.parameters import parameters_of

BATCHES = "which records were in which batch, and how many"


def demand_mechanism(value: object) -> None:
    """Raise ``InvalidValue`` unless the value is a mechanism."""
    if not isinstance(value, Mechanism):
        raise InvalidValue("mechanism", value, "a mechanism")


def records_in_words(batch_size: int, dataset_size: int) -> str:
    """So many records of so many."""
    return f"{'one record' if batch_size == 1 else f'{batch_size} records'} of {dataset_size}"


def epochs_in_words(count: int) -> str:
    """So many epochs."""
    return "an epoch" if count == 1 else f"{count} epochs"


class Sampling(Mechanism):
    """A way in which records come into batches, with the mechanism that runs on each batch.

    Attributes:
        mechanism: What runs on a batch.
    """

    __slots__ = ()

    mechanism: Mechanism

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """What runs on a batch."""
        return (self.mechanism,)

    @property
    def noise(self) -> Mechanism:
        """That of what runs on a batch."""
        return self.mechanism.noise

    @property
    def secret(self) -> str:
        """Which records were in which batch."""
        return BATCHES

    def loss(self) -> Loss:
        """That of what runs on a batch; losses in secret batches do not add up."""
        found = self.mechanism.loss()
        drawn = (getattr(self, name) for name in parameters_of(self))
        return Loss((type(self), *drawn, *found.family), found.value, name=found.name)

    def in_words(self, write: Writer) -> str:
        """What runs on a batch."""
        return self.mechanism.in_words(write)
