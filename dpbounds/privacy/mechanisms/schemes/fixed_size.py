"""Batches of a fixed size, drawn with or without replacement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import Classes, base_of, classes_of, mixture, single_pair
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.demands import (
    demand_no_allocation,
    demand_no_blocks,
    demand_no_final_distance,
    demand_no_fixed_size,
    has,
)
from dpbounds.privacy.mechanisms.parameters import COUNT, parameter
from dpbounds.privacy.mechanisms.schemes.group_draws import hypergeometric_chances
from dpbounds.privacy.mechanisms.schemes.poisson import PoissonSampled
from dpbounds.privacy.mechanisms.schemes.sampling import OneBatch, Sampling, demand_mechanism, records_in_words
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source


class _FixedSize(Sampling):
    """Batches of a fixed size, drawn afresh from a public number of records."""

    __slots__ = ()

    batch_size: int
    dataset_size: int

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties: the probability of a record depends on the number of records."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    @property
    def secret(self) -> str:
        """The assignment of records to batches; their number is public."""
        return "which records were in which batch"

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the batches."""
        lower = " (or a public lower bound on the larger of two neighbours)" if relation.counts_records else ""
        drawn = f"each batch is drawn afresh and uniformly, in secret, from as many records as said{lower}"
        return (Assumption(LOADER, drawn),)

    def _demand_enough(self, records: int) -> None:
        if records < self.dataset_size:
            raise InvalidValue("records", records, f"at least dataset_size, {self.dataset_size}")

    def divisor(self, records: int) -> Fraction:
        """Return the size of a batch, b."""
        return Fraction(self.batch_size)

    def as_poisson(self) -> tuple[PoissonSampled, int] | None:
        """Return a Poisson sample at rate b/n; None where more records are drawn than there are."""
        if self.batch_size > self.dataset_size:
            return None
        return PoissonSampled(self.mechanism, Fraction(self.batch_size, self.dataset_size)), 1

    def _left(self, k: int, least: int) -> int:
        """Return the number of records without a group of k; a batch needs at least ``least`` of them."""
        left = self.dataset_size - k
        if left < least:
            raise UnsupportedMechanism(
                f"without a group of {k}, {left} of dataset_size {self.dataset_size} records are left, and no batch of "
                f"{self.batch_size} can be drawn: ask for fewer records, smaller batches, or under replace-one"
            )
        return left

    def records_read(self, records: int) -> Fraction | None:
        """Return the size of a batch, b."""
        return self.divisor(records)

    @property
    def one_batch(self) -> OneBatch:
        """``batch_size`` records."""
        return OneBatch(None, self.batch_size)

    @property
    def known_records(self) -> int | None:
        """The size of the dataset, n."""
        return self.dataset_size


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(_FixedSize):
    """Run the mechanism on a uniformly random subset of exactly ``batch_size`` records.

    ``batch_size`` 1 is one random record.

    Args:
        mechanism: The mechanism on the batch.
        batch_size: b, a positive whole number.
        dataset_size: n, public: the number of records, or a lower bound on it. Under replace-one and zero-out-one, on
            the size that both neighbours have; under add-or-remove-one, on the size of the larger of any two neighbours
            (so the number of records of your dataset is allowed), and the smaller one must still hold a whole batch: b
            < n.

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
        """Return the same in simplest form: a batch of b' of a batch of b of n records is one of b' of n."""
        inner = self.mechanism
        if isinstance(inner, SampledWithoutReplacement) and inner.dataset_size == self.batch_size:
            return SampledWithoutReplacement(inner.mechanism, inner.batch_size, self.dataset_size).resolved()
        return self

    def classes(self, order: Order) -> Classes:
        """Return one class; a batch of all records is the full batch, where every place is kept."""
        if self.batch_size == self.dataset_size and not order.counts_records:
            return classes_of(self.mechanism, order)
        return Sampling.classes(self, order)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of a batch that holds the record with probability b/n, else another one (``sampling.md``)."""
        b, n, inner = self.batch_size, self.dataset_size, self.mechanism
        _demand_a_plain_batch(inner, order)
        draws = pairs.Draws(Fraction(b, n))
        if order.zeroes:
            return zeroed(inner, draws, n, order)
        base, attained = base_of(inner, Order.REPLACE)
        # An attack lets the other records act like one of the two, which requires contributions that are not random.
        certain = has(Trait.CERTAIN, inner)
        if order is Order.REPLACE:
            ways = (pairs.Direction.REMOVE, pairs.Direction.ADD)
            attacks = tuple(mixture(way, draws, pair) for way in ways for pair in attained) if certain else ()
            tight = attained == (base,) and certain
            return pairs.StepBound(pairs.Sampled(pairs.Direction.REPLACE, draws, base), attacks, tight, n)
        _demand_room(b, n, "batch_size")
        direction = pairs.Direction.of(order)
        attacks = tuple(mixture(direction, draws, pair) for pair in attained) if certain else ()
        return pairs.StepBound(mixture(direction, draws, base), attacks, size=n)

    def group_pair(self, order: Order, k: int) -> pairs.Pair | None:
        """Return the pair of k records for Gaussian noise; a batch has a hypergeometric number (``groups.md``)."""
        b, n = self.batch_size, self.dataset_size
        base = single_pair(self.mechanism, Order.REPLACE)  # in the batch, one record replaces another
        if not isinstance(base, pairs.ShiftedGaussians) or n - k < b or order.zeroes:
            return None  # the smaller dataset holds a whole batch
        chances = hypergeometric_chances(n, k, b)
        if order is Order.REPLACE:
            return pairs.ReplacedGroup(chances, base.squared_shift)
        return pairs.mixed(pairs.Direction.of(order), chances, base.squared_shift)

    def at_last_removal(self, k: int) -> Mechanism:
        """Return a batch of as many, from fewer records."""
        return SampledWithoutReplacement(self.mechanism, self.batch_size, self._left(k, self.batch_size) + 1)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Yield one batch: a uniformly random set of b records."""
        self._demand_enough(records)
        yield source.subset(self.batch_size, records)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the batches."""
        return f"{records_in_words(self.batch_size, self.dataset_size)} drawn without replacement"

    def draws(self, relation: Relation) -> str:
        """Describe the batches."""
        return "batches drawn uniformly, without replacement, afresh in every step, from no fewer records than stated"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(_FixedSize):
    """Run the mechanism on ``batch_size`` records drawn one by one, uniformly, a record possibly several times.

    Args:
        mechanism: The mechanism on the batch, in which a record that was drawn k times counts k times.
        batch_size: b, the number of draws.
        dataset_size: n, public, with the same meaning as for :class:`SampledWithoutReplacement`; under
            add-or-remove-one n >= 2, so that the smaller dataset is not empty.

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

    def classes(self, order: Order) -> Classes:
        """Return one class; a single draw is a batch of one record."""
        if self.batch_size == 1:
            return SampledWithoutReplacement(self.mechanism, 1, self.dataset_size).classes(order)
        return Sampling.classes(self, order)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of a record that is drawn, and moves the sum, Binomial(b, 1/n) times (``sampling.md``)."""
        b, n, inner = self.batch_size, self.dataset_size, self.mechanism
        _demand_a_plain_batch(inner, order)
        draws, direction = pairs.Draws(Fraction(1, n), b), pairs.Direction.of(order)
        if order.zeroes:
            return zeroed(inner, draws, n, order)
        base, _ = base_of(inner, Order.REPLACE)
        pairs.enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
        if order is not Order.REPLACE:
            _demand_room(1, n, "dataset_size")
            if isinstance(base, pairs.ShiftedGaussians):
                return pairs.StepBound.attained(pairs.DrawnGaussians(direction, draws, base.squared_shift), n)
            return pairs.StepBound(pairs.Sampled(direction, draws, base), ())
        if isinstance(base, pairs.ShiftedGaussians) and n > 1:
            ways = (pairs.Direction.REMOVE, pairs.Direction.ADD)
            attacks = tuple(pairs.DrawnGaussians(way, draws, base.squared_shift) for way in ways)
            return pairs.StepBound(pairs.ReplacedGaussians(draws, base.squared_shift), attacks, size=n)
        return pairs.StepBound(pairs.Sampled(direction, draws, base), (), size=n)

    def group_pair(self, order: Order, k: int) -> pairs.Pair | None:
        """Return the pair of b draws, each of the group with probability k/n (Gaussian noise; ``pairs/groups.md``)."""
        b, n = self.batch_size, self.dataset_size
        base = single_pair(self.mechanism, Order.REPLACE)  # in the batch, one record replaces another
        if not isinstance(base, pairs.ShiftedGaussians) or n <= k or order.zeroes:
            return None  # the smaller dataset is not empty
        if b == 1:
            return SampledWithoutReplacement(self.mechanism, 1, n).group_pair(order, k)
        draws = pairs.Draws(Fraction(k, n), b)
        if order is Order.REPLACE:
            return pairs.ReplacedGaussians(draws, base.squared_shift)
        return pairs.DrawnGaussians(pairs.Direction.of(order), draws, base.squared_shift)

    def at_last_removal(self, k: int) -> Mechanism:
        """Return the same number of draws from fewer records."""
        return SampledWithReplacement(self.mechanism, self.batch_size, self._left(k, 1) + 1)

    @property
    def one_batch(self) -> OneBatch:
        """``batch_size`` draws."""
        return OneBatch(None, self.batch_size, repeats=True)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Yield one batch: b independent draws."""
        self._demand_enough(records)
        yield source.numbers(records, self.batch_size)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the batches."""
        return f"{records_in_words(self.batch_size, self.dataset_size)} drawn with replacement"

    def draws(self, relation: Relation) -> str:
        """Describe the batches."""
        return "batches drawn uniformly, with replacement, afresh in every step, from no fewer records than stated"


def zeroed(inner: Mechanism, draws: pairs.Draws, size: int, order: Order) -> pairs.StepBound:
    """Return the pair of a zeroed record in batches of fixed size: another one takes its place (``zero_out.md``)."""
    (base, attained), direction = base_of(inner, Order.ZERO), pairs.Direction.of(order)
    if draws.slots > 1:
        base = _of_whole_vectors(base)
        pairs.enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
    factors = base.product if isinstance(base, pairs.Combined) else ((base, 1),)
    if any(isinstance(pair, pairs.MixedGaussians) for pair, _ in factors):
        raise UnsupportedMechanism(
            "a mixture of Gaussians on batches of a fixed size under zero-out-one has no bound here: ask under "
            "replace-one (--relation replace-one), which includes the replacement by a null record"
        )
    certain = has(Trait.CERTAIN, inner)  # an attack needs contributions of the others that are not random
    way = pairs.Direction.REMOVE  # others zero (zero), or like the record (restore)
    match base:
        case pairs.ShiftedGaussians(squared_shift=squared) if draws.slots == 1:
            attacks: tuple[pairs.Pair, ...] = (mixture(way, draws, base),)
            if direction is way:
                attacks = (pairs.OpposedGaussians(way, draws.rate, squared), *attacks)
            return pairs.StepBound(pairs.Zeroed(direction, draws, base), attacks, only_once=True, size=size)
        case pairs.ShiftedGaussians(squared_shift=squared):
            drawn = pairs.DrawnGaussians(way, draws, squared)
            return pairs.StepBound(pairs.Zeroed(direction, draws, base), (drawn,) if draws.rate < 1 else (), size=size)
        case pairs.UniformBalls():
            # only the record's slot is informative, either completely or not at all: (0, γτ)-DP
            pair = pairs.Sampled(pairs.Direction.REPLACE, draws, base)
            return pairs.StepBound(pair, (mixture(way, draws, base),) if draws.slots == 1 else (), size=size)
    attacks = tuple(mixture(way, draws, pair) for pair in attained) if draws.slots == 1 and certain else ()
    return pairs.StepBound(pairs.Zeroed(direction, draws, base), attacks, size=size)


def _of_whole_vectors(base: pairs.Pair) -> pairs.Pair:
    """Return pairs of coordinates that move by 1 as bounds for any integer vectors, also of several records."""
    match base:
        case pairs.Combined(product=((pairs.ShiftedDiscreteGaussians(distance=1, scalar=False) as one, moved),)):
            return pairs.DiscreteGaussianVectors(one.variance, Fraction(moved), moved)
    return base


def _demand_a_plain_batch(inner: Mechanism, order: Order) -> None:
    demand_no_fixed_size(inner, "a fixed-size sample of another size", "draw from the dataset itself")
    demand_no_blocks(inner, "a fixed-size sample")
    demand_no_allocation(inner, "a fixed-size sample")
    if order.counts_records:
        demand_no_final_distance(
            inner, "a fixed-size sample under add-or-remove-one swaps one record of the batch for another"
        )


def _demand_room(b: int, n: int, name: str) -> None:
    if b >= n:
        raise UnsupportedMechanism(
            f"{name}: under add-or-remove-one the smaller of two neighbours must still hold a whole batch of {b}, and "
            f"dataset_size {n} (a lower bound on the larger one) does not promise that; take a smaller batch"
        )
