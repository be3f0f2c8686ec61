"""Batches of a fixed size, drawn with or without replacement."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.parameters import COUNT, parameter
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling, demand_mechanism, records_in_words
from dpbounds.privacy.relations import Relation


class _FixedSize(Sampling):
    """Batches of a fixed size, drawn afresh from a public number of records."""

    __slots__ = ()

    batch_size: int
    dataset_size: int

    @property
    def traits(self) -> frozenset[Trait]:
        """How likely a record takes part depends on how many there are."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    @property
    def secret(self) -> str:
        """Which records were in which batch; how many is public."""
        return "which records were in which batch"

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How batches are drawn."""
        lower = " (or a public lower bound on the larger of two neighbours)" if relation.counts_records else ""
        drawn = f"each batch is drawn afresh and uniformly, in secret, from as many records as said{lower}"
        return (Assumption(LOADER, drawn),)

    def divisor(self, records: int) -> Fraction:
        """The size of a batch, b."""
        return Fraction(self.batch_size)

    def records_read(self, records: int) -> Fraction | None:
        """The size of a batch, b."""
        return self.divisor(records)

    @property
    def known_records(self) -> int | None:
        """The size of the data set, n."""
        return self.dataset_size


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(_FixedSize):
    """Run the mechanism on a uniformly random subset of exactly ``batch_size`` records.

    ``batch_size`` 1 is one random record.

    Args:
        mechanism: What runs on the batch.
        batch_size: b, a positive whole number.
        dataset_size: n, public: the number of records, or a lower bound on it. Under replace-one and zero-out-one, on
            the size that both neighbours have; under add-or-remove-one, on the size of the larger of any two neighbours
            (so the number of records in the data set at hand will do), and the smaller one must still hold a whole
            batch: b < n.

    Raises:
        InvalidValue: A size is not a positive whole number, or b > n.
    """

    name = "without-replacement"

    mechanism: Mechanism
    batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        demand_mechanism(mechanism)
        b, n = positive_integer(batch_size, "batch_size"), positive_integer(dataset_size, "dataset_size")
        if b > n:
            raise InvalidValue("batch_size", batch_size, f"at most dataset_size, {n}")
        self._hold(mechanism=mechanism, batch_size=b, dataset_size=n)

    def resolved(self) -> Mechanism:
        """A batch of b' of a batch of b of n records is one of b' of n."""
        inner = self.mechanism
        if isinstance(inner, SampledWithoutReplacement) and inner.dataset_size == self.batch_size:
            return SampledWithoutReplacement(inner.mechanism, inner.batch_size, self.dataset_size).resolved()
        return self

    def drawn_in_words(self, write: Writer) -> str:
        """The batches."""
        return f"{records_in_words(self.batch_size, self.dataset_size)} drawn without replacement"

    def draws(self, relation: Relation) -> str:
        """How batches are drawn."""
        return "batches drawn uniformly, without replacement, afresh in every step, from at least so many records"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(_FixedSize):
    """Run the mechanism on ``batch_size`` records drawn one by one, uniformly, a record possibly several times.

    Args:
        mechanism: What runs on the batch, in which a record that was drawn k times counts k times.
        batch_size: b, the number of draws.
        dataset_size: n, public, with the same meaning as for :class:`SampledWithoutReplacement`; under
            add-or-remove-one n >= 2, so that the smaller data set is not empty.

    Raises:
        InvalidValue: A size is not a positive whole number.
    """

    name = "with-replacement"

    mechanism: Mechanism
    batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            batch_size=positive_integer(batch_size, "batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )

    def drawn_in_words(self, write: Writer) -> str:
        """The batches."""
        return f"{records_in_words(self.batch_size, self.dataset_size)} drawn with replacement"

    def draws(self, relation: Relation) -> str:
        """How batches are drawn."""
        return "batches drawn uniformly, with replacement, afresh in every step, from at least so many records"
