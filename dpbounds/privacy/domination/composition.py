"""Which mechanism is dominated by which pairs, under which relation; and which pairs an actual attack attains.

For every class of ordered neighbours there is one product of pairs that dominates the mechanism, and there are products
that some mechanism of the description, on some two data sets of the class, attains. Where the two are the same the
analysis is *tight*: what it proves is exactly what is spent. What has no proven pair is refused with
``UnsupportedMechanism``, which names what is missing and what could be asked instead.

The proofs are in ``pairs.md``, ``losses.md``, ``allocation.md`` and ``sampling.md``, whose section 9 says for each
attack which data sets attain it; the brute-force oracle of the tests tries to refute every line.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from dpbounds.errors import UnsupportedMechanism, shown
from dpbounds.privacy.domination.last_iterate import attained_cost, fixed_cost, kept_law, shuffled_law
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Composed,
    Gaussian,
    InParallel,
    Laplace,
    MatrixMechanism,
    Mechanism,
    MixtureOfGaussians,
    PoissonSampled,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.mechanisms.core import Trait
from dpbounds.privacy.mechanisms.refusals import refuse_without_positions
from dpbounds.privacy.mechanisms.schemes.last_iterate import LastIterate
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Combined,
    CrowdedGaussians,
    Diluted,
    Direction,
    DrawnGaussians,
    Draws,
    OpposedGaussians,
    Other,
    Pair,
    Product,
    RenyiProfile,
    ReplacedGaussians,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedDiscreteGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
    ShuffledBatches,
    Tagged,
    TaggedGaussians,
    TwoGuarantees,
    UniformBalls,
    Zeroed,
    enlarged,
)
from dpbounds.privacy.pairs.step_bounds import StepBound
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.pairs.truncation import Costs, Cut

_MOST_CLASSES = 64  # of blocks that a record may lie in
_MOST_SIZES = 12  # classes of sizes of data sets, where releases promise several largest sizes
_MOST_NAMED = 3  # of blocks alike
_MOST_PARTICIPATIONS = 6  # in one epoch, that an attack counts
_OFTEN = Fraction(1, 1000)  # of cuts: below it an attack by a crowd is not looked at
_LARGEST_SHIFT = 100  # squared, of a release whose attack by a crowd is looked at

_Measured = TypeVar("_Measured", Fraction, float)


Place = tuple[str, ...]  # where the record lies, in words, one entry per partition that tells; () where none does


@dataclass(frozen=True, slots=True)
class Key:
    """What tells one class of ordered neighbours from another: which data set holds the record, and in which blocks."""

    order: Order
    place: Place = ()


@dataclass(frozen=True, slots=True)
class NeighbourClass:
    """What is proven about one class of ordered neighbours, or about several that spend the same.

    Attributes:
        keys: The classes meant.
        name: "remove", "add", "replace", or "both orders" where they spend the same; with the blocks, if they matter.
        product: Dominates the mechanism for these classes.
        attacks: Products, each attained by some mechanism of this description and two data sets of one of the classes
            (or by what remains after leaving out some of the outputs). Empty where none is known.
    """

    keys: tuple[Key, ...]
    name: str
    product: Product
    attacks: tuple[Product, ...]

    @property
    def tight(self) -> bool:
        """Whether the dominating product is itself attained."""
        return self.product in self.attacks


@dataclass(frozen=True, slots=True)
class NeighbourClasses:
    """All classes of ordered neighbours of a mechanism; its privacy curve is at most the maximum of theirs.

    They have no positions, because no one of them speaks for the mechanism: ask for every class, for those of one
    order, for the class with a key, or for the largest value of a measure.
    """

    _distinct: tuple[NeighbourClass, ...]

    def every(self) -> Iterator[NeighbourClass]:
        """Yield each class once, those with equal products as one; one at least."""
        return iter(self._distinct)

    def along(self, order: Order) -> Iterator[NeighbourClass]:
        """Yield the classes of one order, whatever the blocks; those that spend the same both ways are in both."""
        return (each for each in self._distinct if any(key.order is order for key in each.keys))

    def with_key(self, key: Key) -> NeighbourClass | None:
        """The class with this key; None where there is none."""
        return next((each for each in self._distinct if key in each.keys), None)

    def largest(self, measure: Callable[[Product], _Measured]) -> _Measured:
        """Return the largest of what a measure says of the classes' dominating products."""
        return max(measure(each.product) for each in self._distinct)

    @property
    def tight(self) -> bool:
        """Whether every class's dominating product is attained."""
        return all(each.tight for each in self._distinct)


_Steps = tuple[tuple[StepBound, int], ...]  # of one class
_Choices = dict[Place, _Steps]  # by where the record lies


def neighbour_classes(mechanism: Mechanism, relation: Relation) -> NeighbourClasses:
    """Return, per class of ordered neighbours, the dominating product and products that are attained.

    Full-batch Gaussian parts are merged into one ``ShiftedGaussians``, equal parts are counted together, and classes
    with equal products are one.

    Raises:
        UnsupportedMechanism: A part has no proven pair under this relation.
    """
    if not isinstance(mechanism, Mechanism):
        raise UnsupportedMechanism(f"no dominating pair is proven here for {shown(mechanism)}, which is no mechanism")
    keys: dict[Product, list[Key]] = {}
    attacks: dict[Product, list[Product]] = {}
    for order in relation.orders:
        for place, steps in _classes(mechanism, order).items():
            product = _product((bound.pair, count) for bound, count in steps)
            keys.setdefault(product, []).append(Key(order, place))
            attacks.setdefault(product, []).extend(_attacks(steps, product))
    return NeighbourClasses(
        tuple(
            NeighbourClass(
                tuple(found),
                _name(found, product),
                product,
                tuple(dict.fromkeys(attacks[product])),
            )
            for product, found in keys.items()
        )
    )


def _name(keys: Sequence[Key], product: Product) -> str:
    """The keys in words: "remove, block 1", or "both orders" (as a product of shifted Gaussians always is)."""
    orders: dict[Place, list[Order]] = {}
    for key in keys:
        orders.setdefault(key.place, []).append(key.order)
    symmetric = all(isinstance(pair, ShiftedGaussians) for pair, _ in product)
    return "; or ".join(
        ", ".join(("both orders" if symmetric or len(ways) > 1 else str(ways[0]), *place))
        for place, ways in orders.items()
    )


def _usable(steps: _Steps) -> list[tuple[StepBound, int]]:
    """The data sets of an attack have one size; leaving out the outputs of the other steps is post-processing."""
    largest = max((bound.size for bound, _ in steps if bound.size is not None), default=None)
    return [(bound, count) for bound, count in steps if bound.attacks and bound.size in (None, largest)]


def _attacks(steps: _Steps, product: Product, *, on_its_own: bool = True) -> tuple[Product, ...]:
    usable = _usable(steps)
    if len(usable) == len(steps) and all(bound.tight for bound, _ in steps):
        return (product,)
    if on_its_own and len(steps) == 1 and steps[0][1] == 1 and steps[0][0].only_once:
        return (product,)
    most = max((len(bound.attacks) for bound, _ in usable), default=0)
    options = [
        _product((bound.attacks[min(index, len(bound.attacks) - 1)], count) for bound, count in usable)
        for index in range(most)
    ]
    return tuple(dict.fromkeys(option for option in options if option))


def _product(parts: Iterable[tuple[Pair, int]]) -> Product:
    """Merge what is one Gaussian, count equal pairs together."""
    squared_shift = Fraction(0)
    counts: Counter[Pair] = Counter()
    for pair, count in parts:
        if isinstance(pair, ShiftedGaussians):
            squared_shift += count * pair.squared_shift
        elif isinstance(pair, Combined):
            for inner, times in pair.product:
                counts[inner] += times * count
        else:
            counts[pair] += count
    merged: Product = ((ShiftedGaussians(squared_shift), 1),) if squared_shift else ()
    return merged + tuple(counts.items())


def _as_pair(product: Product) -> Pair:
    (pair, count), *others = product
    return pair if count == 1 and not others else Combined(product)


# --- One class at a time ----------------------------------------------------------------------------------------------


def _classes(mechanism: Mechanism, order: Order) -> _Choices:
    """The classes of ordered neighbours: one, unless blocks of a partition tell where the record may lie."""
    mechanism = mechanism.resolved()
    match mechanism:
        case Composed(parts=parts):
            return _composed(parts, order)
        case InParallel() | PoissonSampled() if (partition := _partition_of(mechanism)) is not None:
            return _in_parallel(blocks_of(partition, ((mechanism, 1),)), order)
        case MatrixMechanism():
            from dpbounds.privacy.domination import streams  # many lines: not where no matrix is

            return {(): streams.stream_steps(mechanism, order)}
        case PoissonSampled():
            return {(): ((_poisson(mechanism, order), 1),)}
        case SampledWithoutReplacement():
            return _without_replacement(mechanism, order)
        case SampledWithReplacement():
            return _with_replacement(mechanism, order)
        case TruncatedPoisson():
            (found,) = _all_truncated(((mechanism, 1),), order, _MOST_CLASSES)
            return found
        case Shuffled():
            return {(): ((_shuffled(mechanism, order), 1),)}
        case RandomlyAllocated():
            return _allocated(mechanism, order)
        case BallsInBins():
            return _in_bins(mechanism, order)
        case LastIterate():
            return {(): ((_last_iterate(mechanism, order), 1),)}
    return {(): ((mechanism.dominated_by(order), 1),)}


def _composed(parts: Sequence[tuple[Mechanism, int]], order: Order) -> _Choices:
    # The record stays in its block: all that runs on one partition, sampled or not, is one mechanism per block.
    groups = by_partition(parts)
    partitions = [key for key in groups if isinstance(key, InParallel)]
    options: list[_Choices] = []
    for key, members in groups.items():
        if isinstance(key, InParallel):
            number = f"partition {partitions.index(key) + 1}: " if len(partitions) > 1 else ""
            found = _in_parallel(blocks_of(key, members), order)
            options.append({tuple(number + entry for entry in place): steps for place, steps in found.items()})
        elif not isinstance(key, TruncatedPoisson):
            times = sum(count for _, count in members)
            options.append(
                {
                    place: tuple((bound, times * count) for bound, count in steps)
                    for place, steps in _classes(key, order).items()
                }
            )
    truncated = [
        (member, count)
        for members in groups.values()
        for member, count in members
        if isinstance(member, TruncatedPoisson)
    ]
    if truncated:
        options += _all_truncated(truncated, order, _MOST_CLASSES // max(1, math.prod(map(len, options))))
    return _bounded_product(options)


def by_partition(parts: Sequence[tuple[Mechanism, int]]) -> dict[Mechanism, list[tuple[Mechanism, int]]]:
    """What runs on one partition, sampled or not, under that partition; anything else under itself."""
    groups: dict[Mechanism, list[tuple[Mechanism, int]]] = {}
    for mechanism, count in parts:
        groups.setdefault(_partition_of(mechanism) or mechanism, []).append((mechanism, count))
    return groups


def _partition_of(mechanism: Mechanism) -> InParallel | None:
    """The partition that a mechanism runs on as a whole, possibly on a Poisson sample of each block."""
    if isinstance(mechanism, PoissonSampled):
        return _partition_of(mechanism.mechanism)
    return mechanism if isinstance(mechanism, InParallel) else None


def blocks_of(partition: InParallel, members: Sequence[tuple[Mechanism, int]]) -> InParallel:
    """What runs on one partition as one mechanism per block: a Poisson sample of all blocks is one of each block."""

    def block(mechanism: Mechanism, index: int) -> Mechanism:
        if isinstance(mechanism, PoissonSampled):
            return PoissonSampled(block(mechanism.mechanism, index), mechanism.sample_rate)
        assert isinstance(mechanism, InParallel)
        return mechanism.blocks[index]

    return InParallel(
        tuple(
            Composed(tuple((block(member, index), count) for member, count in members))
            for index in range(len(partition.blocks))
        ),
        partition.partition,
    )


def _bounded_product(options: Sequence[_Choices]) -> _Choices:
    number = math.prod(map(len, options))
    if number > _MOST_CLASSES:
        raise UnsupportedMechanism(
            f"{number} ways in which a record can lie in blocks are too many (at most {_MOST_CLASSES}): use one "
            "partition throughout (the same InParallel object counts once), or bound a partition by its worst block"
        )
    found: _Choices = {}
    for choice in itertools.product(*(some.items() for some in options)):
        place: Place = tuple(entry for part, _ in choice for entry in part)
        found[place] = tuple(step for _, steps in choice for step in steps)
    return found


def _in_parallel(mechanism: InParallel, order: Order) -> _Choices:
    if mechanism.partition == "index" and order in (Order.REMOVE, Order.ADD):
        refuse_without_positions("blocks by position (unlike blocks by the record's content)")
    if mechanism.partition == "record":
        _demand_no_fixed_size(mechanism, "a block whose size depends on the data", "blocks by index")
        if order in (Order.ZERO, Order.RESTORE):
            _demand_blind(
                mechanism, "in blocks by the record's content, of which one that contributes nothing has none"
            )
    blocks = tuple(enumerate(mechanism.blocks, start=1))
    found = [
        (", ".join((f"block {index}", *place)), steps)
        for index, block in blocks
        for place, steps in _classes(block, order).items()
    ]
    if order is Order.REPLACE and mechanism.partition == "record" and len(blocks) > 1:
        _demand_no_final_distance(
            mechanism, "a record that leaves one block and enters another moves their answers by other distances"
        )
        found += [
            (", ".join((f"from block {first}", *out, f"to block {second}", *into)), leaving + entering)
            for (first, one), (second, other) in itertools.permutations(blocks, 2)
            for out, leaving in _classes(one, Order.REMOVE).items()
            for into, entering in _classes(other, Order.ADD).items()
        ]
    return _alike(found)


def _alike(found: Sequence[tuple[str, _Steps]]) -> _Choices:
    """Places where the record spends the same are one; where all are, none is worth a word."""
    places: dict[_Steps, list[str]] = {}
    for place, steps in found:
        places.setdefault(steps, []).append(place)
    several = len(places) > 1
    return {(_listed(names),) if several else (): steps for steps, names in places.items()}


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{names[0]} or one of {len(names) - 1} others alike"
    return " or ".join(names)


# --- Only the last iterate --------------------------------------------------------------------------------------------


def _last_iterate(mechanism: LastIterate, order: Order) -> StepBound:
    """A Gaussian pair, whose shift depends on a draw that is given away where batches are random."""
    if order in (Order.REMOVE, Order.ADD):
        refuse_without_positions("batches by position, of which only the last iterate is published,")
    step = mechanism.mechanism.dominated_by(order).pair
    assert isinstance(step, ShiftedGaussians)
    one = step.squared_shift
    attained = one * attained_cost(mechanism)
    attacks = (ShiftedGaussians(attained),) if attained > 0 else ()
    if mechanism.order == "fixed" or mechanism.batches == 1:
        return StepBound(ShiftedGaussians(one * fixed_cost(mechanism)), attacks)
    law = kept_law(mechanism) if mechanism.order == "secret" else shuffled_law(mechanism, one)
    return StepBound(TaggedGaussians(tuple((one * cost, weight) for cost, weight in law)), attacks)


# --- What must not be inside ------------------------------------------------------------------------------------------


def _demand(trait: Trait, mechanism: Mechanism, says: Callable[[Mechanism], str]) -> None:
    """Refuse a mechanism of which a part lacks a trait, with what is said of that part."""
    for part in mechanism.nested():
        if trait not in part.traits:
            raise UnsupportedMechanism(says(part))


def _demand_no_fixed_size(mechanism: Mechanism, where: str, instead: str) -> None:
    _demand(
        Trait.PUBLIC_RATE,
        mechanism,
        lambda part: (
            f"{type(part).__name__} inside {where}: its rate is not public; use Poisson samples inside, or {instead}"
        ),
    )
    _demand(
        Trait.ANY_RECORDS,
        mechanism,
        lambda part: (
            f"{type(part).__name__} inside {where}: its batches are made of all records by their places, which a "
            "sample does not keep; run it on the whole data set"
        ),
    )


def _demand_no_final_distance(mechanism: Mechanism, because: str) -> None:
    _demand(
        Trait.PER_RECORD,
        mechanism,
        lambda part: (
            f"{because}, so that the final distance given for {type(part).__name__} says too little: it needs "
            "the per-record bound C; give the noise per unit of C (noise_multiplier, or radius), no sensitivity"
        ),
    )


def is_blind(mechanism: Mechanism) -> bool:
    """Whether it is known not to see a record that contributes nothing: only sums with noise are."""
    return all(Trait.BLIND in part.traits for part in mechanism.nested())


def _demand_blind(mechanism: Mechanism, where: str) -> None:
    _demand(
        Trait.BLIND,
        mechanism,
        lambda part: (
            f"{part!r} under zero-out-one {where}, may tell whether the record is there: if it does not, the two "
            "relations are the same, so ask under add-or-remove-one"
        ),
    )


def _demand_noise_on_sums(inner: Mechanism) -> None:
    """Of a truncated sample nothing may be known but a sum with noise, each record's term within its own bound."""
    _demand(
        Trait.NOISY_SUM,
        inner,
        lambda part: (
            f"{part!r} on a truncated Poisson sample has no proven pair here: only noise on sums (Gaussian, Laplace, "
            "UniformBall) has one; draw batches of a fixed size (SampledWithoutReplacement)"
        ),
    )
    _demand_no_final_distance(inner, "a record of a truncated Poisson sample joins it alone, or displaces another one")


def _demand_no_blocks(mechanism: Mechanism, where: str) -> None:
    _demand(
        Trait.UNDIVIDED,
        mechanism,
        lambda part: (
            f"a matrix mechanism inside {where}: it says itself in which steps a record takes part, and how these are "
            "drawn; take it out, with participation cyclic-poisson where its batches are drawn"
            if part.whole
            else f"blocks in parallel inside {where} have no proven pair here: sample inside the blocks with Poisson "
            "sampling, or run the blocks one after the other"
        ),
    )


def _demand_no_allocation(mechanism: Mechanism, where: str) -> None:
    _demand(
        Trait.UNALLOCATED,
        mechanism,
        lambda _: (
            f"steps allocated in secret inside {where} have no proven pair here: allocate the records of the data set "
            "itself, and let what runs at each step be a single release, a composition or a Poisson sample"
        ),
    )


def _base(mechanism: Mechanism, order: Order) -> tuple[Pair, tuple[Pair, ...]]:
    """What runs on a sample: the pair that dominates it, and pairs that are attained."""
    (steps,) = _classes(mechanism, order).values()  # one class: there are no blocks inside
    product = _product((bound.pair, count) for bound, count in steps)
    # of an attained product each pair is attained, the others left out
    attained = [pair for attack in _attacks(steps, product, on_its_own=False) for pair, _ in attack]
    return _as_pair(product), tuple(dict.fromkeys(attained))


# --- Samples ----------------------------------------------------------------------------------------------------------


def _poisson(mechanism: PoissonSampled, order: Order) -> StepBound:
    rate, inner = mechanism.sample_rate, mechanism.mechanism
    _demand_no_fixed_size(inner, "a Poisson sample, whose size is random", "a fixed-size sample of the whole data set")
    _demand_no_blocks(inner, "a sample together with other releases")
    _demand_no_allocation(inner, "a Poisson sample")
    if order is Order.REPLACE:
        return _poisson_replace(inner, rate)
    if order in (Order.ZERO, Order.RESTORE) and not is_blind(inner):
        return _diluted(inner, rate, order)
    present = Order.REMOVE if order in (Order.REMOVE, Order.ADD) else Order.ZERO
    (base, attained), direction = _base(inner, present), Direction.of(order)
    return StepBound(
        _sampled(direction, Draws(rate), base), tuple(_sampled(direction, Draws(rate), pair) for pair in attained)
    )


def _diluted(inner: Mechanism, rate: Fraction, order: Order) -> StepBound:
    """Whether the sample holds the record's place may be published; neighbours' samples have equally many records."""
    base, attained = _base(inner, order)
    return StepBound(Diluted(rate, base), tuple(Diluted(rate, pair) for pair in attained))


def _sampled(direction: Direction, draws: Draws, base: Pair) -> Pair:
    """The mixture ((1-q)Q + qP, Q) of a base pair, or its mirror image."""
    if isinstance(base, ShiftedGaussians):
        return SampledGaussians(direction, draws.rate, 1 / base.squared_shift)
    return Sampled(direction, draws, base)


def _poisson_replace(inner: Mechanism, rate: Fraction) -> StepBound:
    if not _covers_presence(inner):
        return _diluted(inner, rate, Order.REPLACE)
    parts = parts_of(inner)
    if all(isinstance(part, Gaussian) for part, _ in parts):  # several, even chosen one by one, are as good as one
        ((shift, _),) = _product((part.dominated_by(Order.REMOVE).pair, count) for part, count in parts)
        assert isinstance(shift, ShiftedGaussians)
        return StepBound.attained(SampledGaussians(Direction.REPLACE, rate, 1 / shift.squared_shift))
    (only, count), *others = parts
    match only:
        case Laplace(noise_multiplier=multiplier, dimension=dimension) if count == 1 and not others:
            assert multiplier is not None
            tight = SampledLaplaces(rate, 1 / multiplier)
            if dimension == 1:
                return StepBound.attained(tight)
            loose = TwoGuarantees(rate, ShiftedLaplaces(1 / multiplier), ShiftedLaplaces(2 / multiplier))
            return StepBound(loose, (tight,))
        case UniformBall(radius=radius, dimension=dimension) if count == 1 and not others:
            return StepBound.attained(SampledBalls(rate, 1 / radius**2, dimension))
    present, attained = _base(inner, Order.REMOVE)
    replaced, _ = _base(inner, Order.REPLACE)
    attacks = tuple(_sampled(Direction.REMOVE, Draws(rate), pair) for pair in attained)
    return StepBound(TwoGuarantees(rate, present, replaced), attacks)


def _covers_presence(inner: Mechanism) -> bool:
    """Whether everything inside is private also when a record comes or goes, as it does in a Poisson sample."""
    return all(Trait.PRESENCE in part.traits for part in inner.nested())


def _without_replacement(mechanism: SampledWithoutReplacement, order: Order) -> _Choices:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    if b == n and order not in (Order.REMOVE, Order.ADD):
        return _classes(inner, order)
    _demand_a_plain_batch(inner, order)
    draws = Draws(Fraction(b, n))
    if order in (Order.ZERO, Order.RESTORE):
        return {(): ((_zeroed(inner, draws, n, order), 1),)}
    base, attained = _base(inner, Order.REPLACE)
    # An attack lets the other records act like one of the two; that suits no attack on what is left to chance.
    sampled = any(isinstance(part, PoissonSampled | MixtureOfGaussians) for part in inner.nested())
    if order is Order.REPLACE:
        tight = attained == (base,) and not sampled
        attacks = tuple(
            _sampled(direction, draws, pair) for direction in (Direction.REMOVE, Direction.ADD) for pair in attained
        )
        pair = Sampled(Direction.REPLACE, draws, base)
        return {(): ((StepBound(pair, () if sampled else attacks, tight, n), 1),)}
    _demand_room(b, n, "batch_size")
    direction = Direction.of(order)
    attacks = tuple(_sampled(direction, draws, pair) for pair in attained)
    return {(): ((StepBound(_sampled(direction, draws, base), () if sampled else attacks, size=n), 1),)}


def _with_replacement(mechanism: SampledWithReplacement, order: Order) -> _Choices:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    if b == 1:
        return _without_replacement(SampledWithoutReplacement(inner, 1, n), order)
    _demand_a_plain_batch(inner, order)
    draws, direction = Draws(Fraction(1, n), b), Direction.of(order)
    if order in (Order.ZERO, Order.RESTORE):
        return {(): ((_zeroed(inner, draws, n, order), 1),)}
    base, _ = _base(inner, Order.REPLACE)
    enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
    if order is not Order.REPLACE:
        _demand_room(1, n, "dataset_size")
        if isinstance(base, ShiftedGaussians):
            return {(): ((StepBound.attained(DrawnGaussians(direction, draws, base.squared_shift), n), 1),)}
        return {(): ((StepBound(Sampled(direction, draws, base), ()), 1),)}
    if isinstance(base, ShiftedGaussians) and n > 1:
        attacks = tuple(DrawnGaussians(way, draws, base.squared_shift) for way in (Direction.REMOVE, Direction.ADD))
        return {(): ((StepBound(ReplacedGaussians(draws, base.squared_shift), attacks, size=n), 1),)}
    return {(): ((StepBound(Sampled(direction, draws, base), (), size=n), 1),)}


def ranges_of_sizes(
    members: Sequence[tuple[TruncatedPoisson, int]], most: int = _MOST_SIZES
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Where records are added or removed: which sizes of data sets are one class, for each largest size promised.

    Where the promises differ, nothing says that it is one data set: every choice of a range for each is a class
    (``truncated.md``, section 3). Ranges suit the release that is run most often. Where there would be more classes
    than ``most``, all sizes of a promise are taken together, in the order of the steps.
    """
    from dpbounds.privacy.pairs.truncation import size_ranges

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
        _demand_noise_on_sums(often.mechanism)
        roughly = _costs_of(often.mechanism, Order.REMOVE, steps).squared_shift
        ranges = size_ranges(often.sample_rate, often.max_batch_size, size, roughly, steps)
        if len(by_size) == 1 or len(ranges) * math.prod(map(len, found.values())) <= min(most, _MOST_SIZES):
            found[size] = ranges
    return found


def _all_truncated(members: Sequence[tuple[TruncatedPoisson, int]], order: Order, most: int) -> list[_Choices]:
    """Releases on Poisson samples of which a uniform choice is kept; at most so many classes in all.

    The size of the data set is public but where records are added or removed: there each range of sizes is a class.
    """
    steps = sum(count for _, count in members)
    if order not in (Order.REMOVE, Order.ADD):
        return [{(): tuple((_cut(each, order, each.dataset_size, count=steps), count) for each, count in members)}]
    ranges = ranges_of_sizes(members, most)
    apart: list[_Choices] = []
    for size, of_size in ranges.items():
        some = [(member, count) for member, count in members if member.dataset_size == size]
        choices: _Choices = {
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


def _allowed(bound: StepBound, largest: int) -> StepBound:
    """Without attacks by data sets that another release's promise excludes (up to B records, one does as well)."""
    return bound if bound.size is None or bound.size <= largest else replace(bound, attacks=(), size=None)


def _cut(
    mechanism: TruncatedPoisson, order: Order, smallest: int, largest: int | None = None, count: int = 1
) -> StepBound:
    """One of so many releases, for data sets of ``smallest`` to ``largest`` records (None: as many as may be)."""
    from dpbounds.privacy.pairs.truncation import cut_of, least_rate, moved_of

    rate, most, inner = mechanism.sample_rate, mechanism.max_batch_size, mechanism.mechanism
    _demand_noise_on_sums(inner)
    largest = largest or mechanism.dataset_size
    whole = _poisson(PoissonSampled(inner, rate), order)
    if largest <= most:
        return whole
    cut = cut_of(rate, most, smallest, largest)
    pair = _tagged_cut(inner, rate, order, cut, moved_of(cut, rate, _costs_of(inner, order, count)))
    if order in (Order.REMOVE, Order.ADD) and smallest > 1 and largest < mechanism.dataset_size:
        return StepBound(pair, ())  # what is attained by fewer, or by most, is attained
    if smallest > most and cut.at_most > _OFTEN and (crowd := _crowd(mechanism, order, largest, count)) is not None:
        return StepBound(pair, (crowd,), size=largest)
    # the others contribute nothing, and whoever is displaced does not show; with few others nobody is
    size = most if smallest <= most else smallest
    kept = least_rate(rate, most, size)
    attacks = _poisson(PoissonSampled(inner, kept), order).attacks if kept else ()
    return StepBound(pair, attacks, size=size)


def _tagged_cut(inner: Mechanism, rate: Fraction, order: Order, cut: Cut, moved: Fraction) -> Tagged:
    """The pair for a range of sizes; ``moved`` of the mass is compared with batches that just are not cut.

    Any ``moved`` from 0 to below ``cut.surely`` will do (``truncated.md``, section 3).
    """

    def joining(chance: Fraction) -> Pair:
        return _poisson(PoissonSampled(inner, chance), order).pair

    by_size = order in (Order.REMOVE, Order.ADD)  # of the sizes that are cut more often than the smallest, too
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
    if not by_size:  # the tag has one law
        return Tagged(tuple((first, part) for first, _, part in parts if first))
    if order is Order.ADD:
        parts = [(second, first, part) for first, second, part in parts]
    kept = [each for each in parts if each[0]]
    of_first = tuple((first, part) for first, _, part in kept)
    if not moved:
        return Tagged(of_first)
    alike = _tagged_cut(inner, rate, order, cut, Fraction(0))
    return Tagged(of_first, tuple(second for _, second, _ in kept), alike)


def _costs_of(inner: Mechanism, order: Order, count: int) -> Costs:
    """What a choice of how much to move looks at; for other noise than Gaussian as if it were, of shift 1."""
    from dpbounds.privacy.pairs.truncation import Costs

    (shift, _), *_ = _product((part.dominated_by(Order.REMOVE).pair, n) for part, n in parts_of(inner))
    roughly = float(shift.squared_shift) if isinstance(shift, ShiftedGaussians) else 1.0
    return Costs(roughly, count, order is Order.REPLACE, order in (Order.ZERO, Order.RESTORE))


_OTHERS = {Order.REMOVE: Other.NOTHING, Order.ZERO: Other.NULL, Order.REPLACE: Other.OPPOSITE}  # the dearer orders


def _crowd(mechanism: TruncatedPoisson, order: Order, size: int, count: int) -> Pair | None:
    """The attack by a crowd, where it promises more than the Poisson pair that others who contribute nothing attain."""
    from dpbounds.privacy.pairs.crowds import best_crowd
    from dpbounds.privacy.pairs.truncation import least_rate

    if order not in _OTHERS or not all(isinstance(part, Gaussian) for part, _ in parts_of(mechanism.mechanism)):
        return None
    ((shift, _),) = _product((part.dominated_by(Order.REMOVE).pair, n) for part, n in parts_of(mechanism.mechanism))
    assert isinstance(shift, ShiftedGaussians)
    rate, most, squared = mechanism.sample_rate, mechanism.max_batch_size, shift.squared_shift
    if squared > _LARGEST_SHIFT or rate == 1:
        return None
    alone = rate if order is Order.REMOVE else least_rate(rate, most, size)
    plain = float(alone) ** 2 * math.expm1(float(squared))
    if order is Order.REPLACE:
        plain *= 4
    return best_crowd(
        CrowdedGaussians(Direction.REMOVE, rate, most, size, 1 / squared, Fraction(0), _OTHERS[order]), plain, count
    )


def _displacing(inner: Mechanism, rate: Fraction, order: Order) -> Pair:
    """A record that is in the batch with chance ``rate`` displaces another one: as in a batch of fixed size."""
    if order in (Order.ZERO, Order.RESTORE):
        return _zeroed(inner, Draws(rate), 1, order).pair
    base, _ = _base(inner, Order.REPLACE)
    if order is Order.REPLACE:
        return Sampled(Direction.REPLACE, Draws(rate), base)
    return _sampled(Direction.of(order), Draws(rate), base)


def _zeroed(inner: Mechanism, draws: Draws, size: int, order: Order) -> StepBound:
    """A record of a batch of fixed size is zeroed, and the batches without it hold another (``zero_out.md``)."""
    (base, attained), direction = _base(inner, Order.ZERO), Direction.of(order)
    if draws.slots > 1:
        base = _of_whole_vectors(base)
        enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
    if any(isinstance(part, MixtureOfGaussians) for part in inner.nested()):
        raise UnsupportedMechanism(
            "a mixture of Gaussians on batches of a fixed size under zero-out-one is not worked out here: ask under "
            "replace-one (--relation replace-one), of which zeroing a record is a case"
        )
    sampled = any(isinstance(part, PoissonSampled) for part in inner.nested())  # suits no attack on the others
    mixture = Direction.REMOVE  # others zero (zero), or like the record (restore)
    match base:
        case ShiftedGaussians(squared_shift=squared) if draws.slots == 1:
            attacks: tuple[Pair, ...] = (
                *((OpposedGaussians(direction, draws.rate, squared),) if direction is Direction.REMOVE else ()),
                _sampled(mixture, draws, base),
            )
            return StepBound(Zeroed(direction, draws, base), attacks, only_once=True, size=size)
        case ShiftedGaussians(squared_shift=squared):
            drawn = DrawnGaussians(mixture, draws, squared)
            return StepBound(Zeroed(direction, draws, base), (drawn,) if draws.rate < 1 else (), size=size)
        case UniformBalls():
            # whatever the others do, only the record's slot tells, and it tells for sure or not at all: (0, γτ)-DP
            pair = Sampled(Direction.REPLACE, draws, base)
            return StepBound(pair, (_sampled(mixture, draws, base),) if draws.slots == 1 else (), size=size)
    attacks = tuple(_sampled(mixture, draws, pair) for pair in attained) if draws.slots == 1 and not sampled else ()
    return StepBound(Zeroed(direction, draws, base), attacks, size=size)


def _of_whole_vectors(base: Pair) -> Pair:
    """Coordinates that move by one, as what holds for any whole vectors, several records of which add up."""
    match base:
        case Combined(product=((ShiftedDiscreteGaussians(variance=variance, distance=1, scalar=False), moved),)):
            return RenyiProfile((), moved / (2 * variance))
    return base


def _shuffled(mechanism: Shuffled, order: Order) -> StepBound:
    """An epoch over shuffled batches: no more than the batch that holds the record, and less (``shuffled.md``)."""
    if order in (Order.REMOVE, Order.ADD):
        refuse_without_positions("shuffled batches of one size")
    inner, where = mechanism.mechanism, "a shuffled batch"
    _demand_no_fixed_size(inner, where, "shuffle the data set itself")
    _demand_no_blocks(inner, where)
    _demand_no_allocation(inner, where)
    base, attained = _base(inner, order)
    if mechanism.batches == 1 and mechanism.rest == 0:
        return StepBound(base, attained if attained == (base,) else ())
    if not isinstance(base, ShiftedGaussians):
        return StepBound(base, ())
    centred = order is Order.REPLACE and all(Trait.PER_RECORD in part.traits for part in inner.nested())
    pair = ShuffledBatches(Direction.of(order), base, mechanism.batches, mechanism.rest, centred)
    attack: Pair = AllocatedTo(Direction.REMOVE, mechanism.batches, 1, base)
    if mechanism.rest > 0:  # the smaller batch's output is left out
        attack = Allocated(Direction.REMOVE, mechanism.batches + 1, ((base, mechanism.batches),))
    return StepBound(pair, (attack,))


def _demand_a_plain_batch(inner: Mechanism, order: Order) -> None:
    _demand_no_fixed_size(inner, "a fixed-size sample of another size", "draw from the data set itself")
    _demand_no_blocks(inner, "a fixed-size sample")
    _demand_no_allocation(inner, "a fixed-size sample")
    if order in (Order.REMOVE, Order.ADD):
        _demand_no_final_distance(
            inner, "a fixed-size sample under add-or-remove-one swaps one record of the batch for another"
        )


def _demand_room(b: int, n: int, name: str) -> None:
    if b >= n:
        raise UnsupportedMechanism(
            f"{name}: under add-or-remove-one the smaller of two neighbours must still hold a whole batch of {b}, and "
            f"dataset_size {n} (a lower bound on the larger one) does not promise that; take a smaller batch"
        )


# --- Steps that are allocated in secret -------------------------------------------------------------------------------


def _allocated(mechanism: RandomlyAllocated, order: Order) -> _Choices:
    """One epoch, the record in k of t steps: from above k independent groups of steps, one step of each."""
    t, k, inner = mechanism.steps, mechanism.participations, mechanism.mechanism
    if k == 1:
        return {(): ((_one_bin(inner, t, ((1, t),), order), 1),)}
    (base, attained), direction = _at_a_step(inner, order), Direction.of(order)
    groups: list[tuple[Pair, int]] = []
    for size, count in ((t // k + 1, t % k), (t // k, k - t % k)):
        pair = Allocated(direction, size, ((base, size),)) if size > 1 else _base(inner, order)[0]
        groups += [(pair, count)] if count else []
    if order is Order.REPLACE:  # a record in the place of which another one contributes nothing
        direction = Direction.REMOVE
    attacks: tuple[Pair, ...] = tuple(AllocatedTo(direction, t, k, pair) for pair in attained)
    if k > _MOST_PARTICIPATIONS:  # who sees a single step
        attacks = tuple(_sampled(Direction.of(order), Draws(Fraction(k, t)), pair) for pair in attained)
    if isinstance(base, ShiftedGaussians):  # who sees the sum of all steps alone: k of them moved it
        moved = Fraction((2 * k if order is Order.REPLACE else k) ** 2, t)
        attacks += (ShiftedGaussians(base.squared_shift * moved),)
    return {(): ((StepBound(Combined(_product(groups)), attacks), 1),)}


def _in_bins(mechanism: BallsInBins, order: Order) -> _Choices:
    """Bins drawn anew are independent epochs; kept bins are one choice among steps of several visits each."""
    inner, bins, whole, last = mechanism.mechanism, mechanism.bins, mechanism.whole_epochs, mechanism.last_visits
    if not mechanism.redraw:
        return {(): ((_one_bin(inner, bins, mechanism.visits, order), 1),)}
    epochs = [(_one_bin(inner, bins, ((1, bins),), order), whole)] if whole else []
    return {(): (*epochs, *([(_one_bin(inner, bins, ((1, last),), order), 1)] if last else []))}


def _one_bin(inner: Mechanism, bins: int, visits: Iterable[tuple[int, int]], order: Order) -> StepBound:
    """One of two or more bins holds the record; ``visits``: how often bins are visited, and how many that often."""
    found = [(_at_a_step(Composed(((inner, times),)), order), count) for times, count in visits]
    shares = tuple((base, count) for (base, _), count in found)
    options = [tuple((pair, count) for pair in attained) for (_, attained), count in found]
    attacks = tuple(
        tuple(each[min(index, len(each) - 1)] for each in options)
        for index in range(max(map(len, options)) if all(options) else 0)
    )
    direction = Direction.of(order)
    return StepBound(
        Allocated(direction, bins, shares), tuple(Allocated(direction, bins, attack) for attack in attacks)
    )


def _at_a_step(inner: Mechanism, order: Order) -> tuple[Pair, tuple[Pair, ...]]:
    """The pair of a step with the record (first) and without it, and pairs that are attained.

    Under replace-one a step with either record; both attain it at once, with opposite vectors.
    """
    where = "steps allocated in secret"
    _demand_no_fixed_size(
        inner, f"{where}, whose batches have random sizes", "a fixed-size sample of the whole data set"
    )
    _demand_no_blocks(inner, where)
    _demand_no_allocation(inner, where)
    if order in (Order.ZERO, Order.RESTORE):
        _demand_blind(inner, f"at {where}, which hold the record or not")
    if order is Order.REPLACE:  # ± the record's vector; several releases, even chosen one by one, are as good as one
        if not all(isinstance(part, Gaussian) for part, _ in parts_of(inner)):
            raise UnsupportedMechanism(
                f"{where} have a proven pair under replace-one for Gaussian noise alone: ask under add-or-remove-one "
                "or zero-out-one (--relation add-or-remove-one or --relation zero-out-one)"
            )
        _demand_no_final_distance(inner, f"in {where} a record and its replacement are hardly ever at the same one")
    present = Order.ZERO if order in (Order.ZERO, Order.RESTORE) else Order.REMOVE
    ((_, steps),) = _classes(inner, present).items()  # one class: there are no blocks inside
    product = _product((bound.pair, count) for bound, count in steps)
    return _as_pair(product), tuple(map(_as_pair, _attacks(steps, product, on_its_own=False)))
