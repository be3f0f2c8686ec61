"""Poisson samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import NotCertified
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import (
    base_of,
    mixture,
    product_of,
    single_pair,
)
from dpbounds.privacy.mechanisms.core import (
    LOADER,
    ON_SUMS,
    Assumption,
    InParallel,
    Mechanism,
    Trait,
    Writer,
    parts_of,
)
from dpbounds.privacy.mechanisms.demands import (
    demand_no_allocation,
    demand_no_blocks,
    demand_no_fixed_size,
    has,
)
from dpbounds.privacy.mechanisms.noises.mixture import MixtureOfGaussians
from dpbounds.privacy.mechanisms.parameters import NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.group_draws import binomial_chances
from dpbounds.privacy.mechanisms.schemes.sampling import OneBatch, Sampling, demand_mechanism
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive_rate

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source

_LARGEST_GROUP = 1_000  # largest group whose number of draws is summed over


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonSampled(Sampling):
    """Run the mechanism on a random subset: each record is in it with probability ``sample_rate``, independently.

    A composition inside uses the same subset in all its steps; ``PoissonSampled(m, q) ** T`` draws a new one each time.

    Args:
        mechanism: The mechanism on the subset.
        sample_rate: In (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> PoissonSampled(Gaussian(1), "0.01").sample_rate
    Fraction(1, 100)
    """

    name = "poisson"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        demand_mechanism(mechanism)
        self._hold(mechanism=mechanism, sample_rate=positive_rate(sample_rate))

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties of noise on sums, except that participation is random."""
        return ON_SUMS - {Trait.CERTAIN}

    def resolved(self) -> Mechanism:
        """Return the same in simplest form: no sample of a sample, at rate 1, or of a mixture of Gaussians."""
        inner = self.mechanism
        if isinstance(inner, PoissonSampled):
            return PoissonSampled(inner.mechanism, inner.sample_rate * self.sample_rate).resolved()
        if self.sample_rate == 1:
            return inner.resolved()
        return inner.thinned(self.sample_rate) if isinstance(inner, MixtureOfGaussians) else self

    @property
    def one_batch(self) -> OneBatch:
        """Every record by itself."""
        return OneBatch(self.sample_rate)

    @property
    def group_key(self) -> Hashable:
        """The partition whose blocks are sampled; else the mechanism itself."""
        partition = self.mechanism.group_key
        return partition if isinstance(partition, InParallel) else self

    def in_block(self, index: int) -> Mechanism:
        """Return the sample of the block: a Poisson sample of all blocks is one of each block."""
        return PoissonSampled(self.mechanism.in_block(index), self.sample_rate)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the mixture of the distributions with and without the record, or either record (``sampling.md``)."""
        rate, inner = self.sample_rate, self.mechanism
        demand_no_fixed_size(
            inner, "a Poisson sample, whose size is random", "a fixed-size sample of the whole dataset"
        )
        demand_no_blocks(inner, "a sample together with other releases")
        demand_no_allocation(inner, "a Poisson sample")
        if order is Order.REPLACE:
            return _replaced(inner, rate)
        if order.zeroes and not has(Trait.BLIND, inner):
            return _diluted(inner, rate, order)
        present = Order.REMOVE if order.counts_records else Order.ZERO
        (base, attained), direction = base_of(inner, present), pairs.Direction.of(order)
        draws = pairs.Draws(rate)
        return pairs.StepBound(
            mixture(direction, draws, base), tuple(mixture(direction, draws, pair) for pair in attained)
        )

    def group_pair(self, order: Order, k: int) -> pairs.Pair | None:
        """Return the pair of k records, each drawn independently: Binomial(k, q) take part (``pairs/groups.md``)."""
        if order is Order.REPLACE:
            pair = single_pair(self, order)
            if isinstance(pair, pairs.SampledGaussians) and pair.sample_rate < 1:  # not if the draw is revealed
                chances = binomial_chances(k, pair.sample_rate)
                return pairs.mixed(pairs.Direction.REPLACE, chances, 1 / pair.variance)
            return None
        if self.sample_rate == 1 or not (order.counts_records or has(Trait.BLIND, self)):
            return None
        base, direction = single_pair(self.mechanism, order), pairs.Direction.of(order)
        if k > _LARGEST_GROUP:
            raise NotCertified(
                f"groups of more than {_LARGEST_GROUP} records on Poisson samples are not summed here; the full batch "
                "spends no less: ask for it"
            )
        base.enlarged(k)  # refuses what has no proven pair for several records
        draws = pairs.Draws(self.sample_rate, k)
        if isinstance(base, pairs.ShiftedGaussians):
            return pairs.DrawnGaussians(direction, draws, base.squared_shift)
        return pairs.Sampled(direction, draws, base)

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the samples."""
        drawn = "each record enters each sample independently with exactly the rate given, in secret"
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the samples."""
        return self.filled("Poisson samples at rate {sample_rate}", write)

    def draws(self, relation: Relation) -> str:
        """Describe the samples."""
        return "Poisson sampling (each record enters each step's sample independently, and the samples stay secret)"

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Yield one sample, drawing one coin for each record."""
        yield source.coins(records, self.sample_rate)

    def divisor(self, records: int) -> Fraction:
        """Return the expected size of a sample, q n."""
        return self.sample_rate * records

    def records_read(self, records: int) -> Fraction | None:
        """Return the expected size of a sample, q n."""
        return self.divisor(records)


def _diluted(inner: Mechanism, rate: Fraction, order: Order) -> pairs.StepBound:
    """Return the pair that publishes whether the record's place is sampled; neighbours' samples have equal sizes."""
    base, attained = base_of(inner, order)
    return pairs.StepBound(pairs.Diluted(rate, base), tuple(pairs.Diluted(rate, pair) for pair in attained))


def _replaced(inner: Mechanism, rate: Fraction) -> pairs.StepBound:
    if not has(Trait.PRESENCE, inner):
        return _diluted(inner, rate, Order.REPLACE)
    (only, count), *others = parts_of(inner)
    if has(Trait.ADDS_UP, inner):
        ((shift, _),) = product_of((part.dominated_by(Order.REMOVE).pair, times) for part, times in parts_of(inner))
        assert isinstance(shift, pairs.ShiftedGaussians)
        both = pairs.SampledGaussians(pairs.Direction.REPLACE, rate, 1 / shift.squared_shift)
        return pairs.StepBound.attained(both)
    if count == 1 and not others and (known := only.poisson_replaced(rate)) is not None:
        return known
    present, attained = base_of(inner, Order.REMOVE)
    replaced, _ = base_of(inner, Order.REPLACE)
    attacks = tuple(mixture(pairs.Direction.REMOVE, pairs.Draws(rate), pair) for pair in attained)
    return pairs.StepBound(pairs.TwoGuarantees(rate, present, replaced), attacks)
