"""Poisson samples that are cut to a largest size."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling, demand_mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import positive_rate


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedPoisson(Sampling):
    """Run the mechanism on a Poisson sample, or, where that holds more than B records, on a uniform choice of B.

    Each record is sampled with probability ``sample_rate``, independently; the choice is uniform ("the first B" is not)
    and secret. Samplers with a fixed memory draw so.

    Args:
        mechanism: What runs on the batch: noise on sums, given per unit of the per-record bound.
        sample_rate: q, in (0, 1].
        max_batch_size: B, a positive whole number.
        dataset_size: n, public: under replace-one and zero-out-one the number of records, under add-or-remove-one an
            upper bound on the size of any data set (a lower bound is not enough, and B >= n means that nothing is cut).

    Raises:
        InvalidValue: The sample rate is not in (0, 1], or a size is not a positive whole number.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> TruncatedPoisson(Gaussian(1), "0.01", 150, 10_000).max_batch_size
    150
    """

    name = "truncated-poisson"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))
    max_batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike, max_batch_size: int, dataset_size: int) -> None:
        demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            sample_rate=positive_rate(sample_rate),
            max_batch_size=positive_integer(max_batch_size, "max_batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )

    @property
    def traits(self) -> frozenset[Trait]:
        """How likely a record takes part depends on how many there are."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How samples are drawn and cut."""
        many = "as many records as said, or fewer" if relation.counts_records else "exactly as many records as said"
        drawn = (
            "each record is sampled independently with exactly the rate given, a batch that would be too large is a "
            f"uniform choice of the sampled ones, both afresh and in secret, from {many}"
        )
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """The samples, and where they are cut."""
        cut = "Poisson samples at rate {sample_rate}, cut to at most {max_batch_size} of {dataset_size} records"
        return self.filled(cut, write)

    def draws(self, relation: Relation) -> str:
        """How samples are drawn and cut."""
        many = "at most so many records" if relation.counts_records else "so many records"
        return f"Poisson samples of {many}, each cut, where it is too large, to a uniform choice of that size"

    def divisor(self, records: int) -> Fraction:
        """The expected size of a sample, q n."""
        return self.sample_rate * records

    def records_read(self, records: int) -> Fraction | None:
        """The expected size of a sample, q n, or that to which it is cut, where that is smaller."""
        return min(self.divisor(records), Fraction(self.max_batch_size))

    @property
    def known_records(self) -> int | None:
        """n, or the most that there may be."""
        return self.dataset_size
