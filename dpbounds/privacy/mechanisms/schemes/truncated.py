"""Poisson samples that are cut to a largest size."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import MOST_CLASSES, Classes, Members, base_of, mixture, product_of
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer, parts_of
from dpbounds.privacy.mechanisms.demands import demand_noise_on_sums, has
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.fixed_size import zeroed
from dpbounds.privacy.mechanisms.schemes.poisson import PoissonSampled
from dpbounds.privacy.mechanisms.schemes.sampling import OneBatch, Sampling, demand_mechanism
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive_rate

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source

_MOST_SIZES = 12  # classes of sizes of datasets, where releases promise several largest sizes
_OFTEN = Fraction(1, 1000)  # probability of truncation below which attacks by a crowd are not tried
_LARGEST_SHIFT = 100  # largest squared shift of a release whose attack by a crowd is tried


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedPoisson(Sampling):
    """Run the mechanism on a Poisson sample, or on a uniform choice of B records if the sample has more.

    Each record is sampled with probability ``sample_rate``, independently; the choice is uniform ("the first B" is not)
    and secret. Samplers with limited memory draw batches in this way.

    Args:
        mechanism: The mechanism on the batch: noise on sums, given as a noise multiplier.
        sample_rate: q, in (0, 1].
        max_batch_size: B, a positive whole number.
        dataset_size: n, public: under replace-one and zero-out-one the number of records, under add-or-remove-one an
            upper bound on the size of any dataset (a lower bound is not enough, and B >= n means no truncation).

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
        """Properties: the probability of a record depends on the number of records."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    @property
    def one_batch(self) -> OneBatch:
        """Every record by itself, up to a number."""
        return OneBatch(self.sample_rate, self.max_batch_size)

    @property
    def group_key(self) -> Hashable:
        """All releases on truncated samples, of one dataset, have the ranges of its sizes in common."""
        return TruncatedPoisson

    def classes(self, order: Order) -> Classes:
        """Return a class for each range of sizes, if records are added or removed; else one."""
        (found,) = _classes_of(((self, 1),), order, MOST_CLASSES)
        return found

    def classes_together(self, members: Members, order: Order, most: int) -> list[Classes]:
        """Return the classes of releases with the same declared largest size."""
        releases = tuple((each, count) for each, count in members if isinstance(each, TruncatedPoisson))
        return _classes_of(releases, order, most)

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the samples."""
        many = "as many records as said, or fewer" if relation.counts_records else "exactly as many records as said"
        drawn = (
            "each record is sampled independently with exactly the rate given, a batch that would be too large is a "
            f"uniform choice of the sampled ones, both afresh and in secret, from {many}"
        )
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the samples, and where they are cut."""
        cut = "Poisson samples at rate {sample_rate}, cut to at most {max_batch_size} of {dataset_size} records"
        return self.filled(cut, write)

    def draws(self, relation: Relation) -> str:
        """Describe the samples."""
        many = "no more records than stated" if relation.counts_records else "as many records as stated"
        return f"Poisson samples of {many}, each cut, where it is too large, to a uniform choice of that size"

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Yield one sample, or a uniform choice of B of its records if it has more."""
        if records > self.dataset_size:
            raise InvalidValue("records", records, f"at most dataset_size, {self.dataset_size}")
        drawn = source.coins(records, self.sample_rate)
        most = self.max_batch_size
        yield drawn if len(drawn) <= most else drawn[source.subset(most, len(drawn))]

    def divisor(self, records: int) -> Fraction:
        """Return the expected size of a sample, q n."""
        return self.sample_rate * records

    def records_read(self, records: int) -> Fraction | None:
        """Return the expected size of a sample, q n, or that to which it is cut, where that is smaller."""
        return min(self.divisor(records), Fraction(self.max_batch_size))

    @property
    def known_records(self) -> int | None:
        """n, or the most that there may be."""
        return self.dataset_size


_Releases = Sequence[tuple[TruncatedPoisson, int]]


def ranges_of_sizes(members: _Releases, most: int = _MOST_SIZES) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return, under add-or-remove-one, the ranges of dataset sizes of one class, for each declared largest size.

    Where the promises differ, nothing says that it is one dataset: every choice of a range for each is a class
    (``truncated.md``, section 3). Ranges suit the release that is run most often. Where there would be more classes
    than ``most``, all sizes of a promise are taken together, in the order of the steps.
    """
    by_size: dict[int, list[tuple[TruncatedPoisson, int]]] = {}
    for member, count in members:
        by_size.setdefault(member.dataset_size, []).append((member, count))
    steps, found = sum(count for _, count in members), dict[int, tuple[tuple[int, int], ...]]()
    for size, some in sorted(by_size.items(), key=lambda item: -sum(count for _, count in item[1])):
        found[size] = ((1, size),)
        cut = [(member, count) for member, count in some if member.max_batch_size < size]
        if not cut:
            continue
        often, _ = max(cut, key=lambda each: each[1])
        demand_noise_on_sums(often.mechanism)
        roughly = _costs_of(often.mechanism, Order.REMOVE, steps).squared_shift
        ranges = pairs.truncation.size_ranges(often.sample_rate, often.max_batch_size, size, roughly, steps)
        if len(by_size) == 1 or len(ranges) * math.prod(map(len, found.values())) <= min(most, _MOST_SIZES):
            found[size] = ranges
    return found


def _classes_of(members: _Releases, order: Order, most: int) -> list[Classes]:
    """Return the classes of releases on truncated Poisson samples, at most ``most`` in all.

    The size of the dataset is public except under add-or-remove-one, where each range of sizes is a class.
    """
    steps = sum(count for _, count in members)
    if not order.counts_records:
        return [{(): tuple((_cut(each, order, each.dataset_size, count=steps), count) for each, count in members)}]
    ranges = ranges_of_sizes(members, most)
    apart: list[Classes] = []
    for size, of_size in ranges.items():
        some = [(member, count) for member, count in members if member.dataset_size == size]
        choices: Classes = {
            (f"{low} to {high} records",) if len(of_size) > 1 else (): tuple(
                (_cut(member, order, low, high, steps), count) for member, count in some
            )
            for low, high in of_size
        }
        if len(ranges) == 1:
            return [choices]
        apart.append(
            {
                tuple(f"{entry} of at most {size}" for entry in place): tuple(
                    (_allowed(bound, max(min(ranges), member.max_batch_size)), count)
                    for (bound, count), (member, _) in zip(bounds, some, strict=True)
                )
                for place, bounds in choices.items()
            }
        )
    return apart


def _allowed(bound: pairs.StepBound, largest: int) -> pairs.StepBound:
    """Drop attacks by datasets that another release's declared size excludes (up to B records, one suffices)."""
    return bound if bound.size is None or bound.size <= largest else replace(bound, attacks=(), size=None)


def _cut(
    mechanism: TruncatedPoisson, order: Order, smallest: int, largest: int | None = None, count: int = 1
) -> pairs.StepBound:
    """Return the pair of one of ``count`` releases, for dataset sizes from ``smallest`` to ``largest`` (None: any)."""
    rate, most, inner = mechanism.sample_rate, mechanism.max_batch_size, mechanism.mechanism
    demand_noise_on_sums(inner)
    largest = largest or mechanism.dataset_size
    whole = PoissonSampled(inner, rate).dominated_by(order)
    if largest <= most:
        return whole
    cut = pairs.truncation.cut_of(rate, most, smallest, largest)
    pair = _tagged_cut(inner, rate, order, cut, pairs.truncation.moved_of(cut, rate, _costs_of(inner, order, count)))
    if order.counts_records and smallest > 1 and largest < mechanism.dataset_size:
        return pairs.StepBound(pair, ())  # what is attained by fewer, or by most, is attained
    if smallest > most and cut.at_most > _OFTEN and (crowd := _crowd(mechanism, order, largest, count)) is not None:
        return pairs.StepBound(pair, (crowd,), size=largest)
    # the others contribute 0, so that displacement does not show; with few others, none is displaced
    size = most if smallest <= most else smallest
    kept = pairs.truncation.least_rate(rate, most, size)
    attacks = PoissonSampled(inner, kept).dominated_by(order).attacks if kept else ()
    return pairs.StepBound(pair, attacks, size=size)


def _tagged_cut(
    inner: Mechanism, rate: Fraction, order: Order, cut: pairs.truncation.Cut, moved: Fraction
) -> pairs.Tagged:
    """Return the pair for a range of sizes; ``moved`` of the mass is compared with batches that just are not cut.

    Any ``moved`` from 0 to below ``cut.surely`` is sound (``truncated.md``, section 3).
    """

    def joining(chance: Fraction) -> pairs.Pair:
        return PoissonSampled(inner, chance).dominated_by(order).pair

    by_size = order.counts_records  # also for sizes that are truncated more often than the smallest
    just, rest = cut.just if moved else Fraction(0), cut.at_most - cut.at_least
    share = moved / cut.at_least if moved and by_size else Fraction(0)
    arrives = moved + share * rest
    parts = [
        (1 - cut.at_most - just, 1 - cut.at_most - just, joining(rate)),
        (rest * (1 - share), rest, _displacing(inner, (rate - share) / (1 - share), order)),
    ]
    if cut.at_least > moved:
        chance = (cut.kept * cut.at_least - moved) / (cut.at_least - moved)
        parts.append((cut.at_least - moved, cut.at_least, _displacing(inner, chance, order)))
    if moved:
        parts.append((just + arrives, just, joining((just * rate + arrives) / (just + arrives))))
    if not by_size:  # the tag has one distribution
        return pairs.Tagged(tuple((first, part) for first, _, part in parts if first))
    if order is Order.ADD:
        parts = [(second, first, part) for first, second, part in parts]
    kept = [each for each in parts if each[0]]
    of_first = tuple((first, part) for first, _, part in kept)
    if not moved:
        return pairs.Tagged(of_first)
    alike = _tagged_cut(inner, rate, order, cut, Fraction(0))
    return pairs.Tagged(of_first, tuple(second for _, second, _ in kept), alike)


def _costs_of(inner: Mechanism, order: Order, count: int) -> pairs.truncation.Costs:
    """Return the costs that choose how much mass to move; other noise than Gaussian counts as Gaussian with shift 1."""
    (shift, _), *_ = product_of((part.dominated_by(Order.REMOVE).pair, n) for part, n in parts_of(inner))
    roughly = float(shift.squared_shift) if isinstance(shift, pairs.ShiftedGaussians) else 1.0
    return pairs.truncation.Costs(roughly, count, order is Order.REPLACE, order.zeroes)


def _crowd(mechanism: TruncatedPoisson, order: Order, size: int, count: int) -> pairs.Pair | None:
    """Return the attack by a crowd, if it is expected to exceed the Poisson pair of others who contribute 0."""
    nothing, null, opposite = pairs.Other.NOTHING, pairs.Other.NULL, pairs.Other.OPPOSITE
    # in the orders that spend more
    others = {Order.REMOVE: nothing, Order.ZERO: null, Order.REPLACE: opposite}.get(order)
    if others is None or not has(Trait.ADDS_UP, mechanism.mechanism):
        return None
    ((shift, _),) = product_of((part.dominated_by(Order.REMOVE).pair, n) for part, n in parts_of(mechanism.mechanism))
    assert isinstance(shift, pairs.ShiftedGaussians)
    rate, most, squared = mechanism.sample_rate, mechanism.max_batch_size, shift.squared_shift
    if squared > _LARGEST_SHIFT or rate == 1:
        return None
    alone = rate if order is Order.REMOVE else pairs.truncation.least_rate(rate, most, size)
    plain = float(alone) ** 2 * math.expm1(float(squared))
    if order is Order.REPLACE:
        plain *= 4
    return pairs.crowds.best_crowd(
        pairs.CrowdedGaussians(pairs.Direction.REMOVE, rate, most, size, 1 / squared, Fraction(0), others), plain, count
    )


def _displacing(inner: Mechanism, rate: Fraction, order: Order) -> pairs.Pair:
    """Return the pair of a record that joins the batch with probability ``rate`` and displaces another one."""
    if order.zeroes:
        return zeroed(inner, pairs.Draws(rate), 1, order).pair
    base, _ = base_of(inner, Order.REPLACE)
    if order is Order.REPLACE:
        return pairs.Sampled(pairs.Direction.REPLACE, pairs.Draws(rate), base)
    return mixture(pairs.Direction.of(order), pairs.Draws(rate), base)
