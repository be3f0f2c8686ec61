"""Which mechanism is dominated by which pairs, under which relation; and which pairs an actual attack attains.

For every class of ordered neighbours there is one product of pairs that dominates the mechanism, and there are products
that some mechanism of the description, on some two data sets of the class, attains. Where the two are the same the
analysis is *tight*: what it proves is exactly what is spent. What has no proven pair is refused with
``UnsupportedMechanism``, which names what is missing and what could be asked instead.

The proofs are in ``pairs.md``, ``laws.md`` and ``sampling.md``, whose section 9 says for each attack which data sets
attain it; the brute-force oracle of the tests tries to refute every line.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    InParallel,
    Laplace,
    Mechanism,
    PoissonSampled,
    RandomizedResponse,
    SampledWithoutReplacement,
    SampledWithReplacement,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.pairs.pairs import (
    Combined,
    Direction,
    DrawnGaussians,
    Draws,
    Pair,
    Product,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoGuarantees,
    enlarged,
)
from dpbounds.privacy.pairs.single_releases import StepBound, single_release
from dpbounds.privacy.relations import Relation

_MOST_CLASSES = 64  # of blocks that a record may lie in
_MOST_NAMED = 3  # of blocks alike

_Measured = TypeVar("_Measured", Fraction, float)


Place = tuple[str, ...]  # where the record lies, in words, one entry per partition that tells; () where none does


@dataclass(frozen=True, slots=True)
class Key:
    """What tells one class of ordered neighbours from another: which data set holds the record, and in which blocks."""

    direction: Direction
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
    direction, for the class with a key, or for the largest value of a measure.
    """

    _distinct: tuple[NeighbourClass, ...]

    def every(self) -> Iterator[NeighbourClass]:
        """Yield each class once, those with equal products as one; one at least."""
        return iter(self._distinct)

    def along(self, direction: Direction) -> Iterator[NeighbourClass]:
        """Yield the classes of one direction, whatever the blocks; those that spend the same both ways are in both."""
        return (each for each in self._distinct if any(key.direction is direction for key in each.keys))

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
    keys: dict[Product, list[Key]] = {}
    attacks: dict[Product, list[Product]] = {}
    for order in orders_of(relation):
        for place, steps in _classes(mechanism, order).items():
            product = _product((bound.pair, count) for bound, count in steps)
            keys.setdefault(product, []).append(Key(order, place))
            attacks.setdefault(product, []).extend(_attacks(steps, product))
    return NeighbourClasses(
        tuple(
            NeighbourClass(tuple(found), _name(found, product), product, tuple(dict.fromkeys(attacks[product])))
            for product, found in keys.items()
        )
    )


def orders_of(relation: Relation) -> tuple[Direction, ...]:
    """The directions in which two neighbours can stand: remove and add, or replace, which is its own reversal."""
    return (Direction.REMOVE, Direction.ADD) if relation is Relation.ADD_OR_REMOVE_ONE else (Direction.REPLACE,)


def _name(keys: Sequence[Key], product: Product) -> str:
    """The keys in words: "remove, block 1", or "both orders" (as a product of shifted Gaussians always is)."""
    orders: dict[Place, list[Direction]] = {}
    for key in keys:
        orders.setdefault(key.place, []).append(key.direction)
    symmetric = all(isinstance(pair, ShiftedGaussians) for pair, _ in product)
    return "; or ".join(
        ", ".join(("both orders" if symmetric or len(ways) > 1 else str(ways[0]), *place))
        for place, ways in orders.items()
    )


def _attacks(steps: _Steps, product: Product, *, on_its_own: bool = True) -> tuple[Product, ...]:
    largest = max((bound.size for bound, _ in steps if bound.size is not None), default=None)
    # the data sets of an attack have one size; leaving out the outputs of the other steps is post-processing
    usable = [(bound, count) for bound, count in steps if bound.attacks and bound.size in (None, largest)]
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


def _classes(mechanism: Mechanism, direction: Direction) -> _Choices:
    """The classes of ordered neighbours: one, unless blocks of a partition tell where the record may lie."""
    match mechanism:
        case Composed(parts=parts):
            return _composed(parts, direction)
        case PoissonSampled(mechanism=PoissonSampled(mechanism=inner, sample_rate=first), sample_rate=second):
            return _classes(PoissonSampled(inner, first * second), direction)
        case PoissonSampled(mechanism=inner, sample_rate=rate) if rate == 1:
            return _classes(inner, direction)
        case InParallel() | PoissonSampled() if (partition := _partition_of(mechanism)) is not None:
            return _in_parallel(blocks_of(partition, ((mechanism, 1),)), direction)
        case PoissonSampled():
            return {(): ((_poisson(mechanism, direction), 1),)}
        case SampledWithoutReplacement():
            return _without_replacement(mechanism, direction)
        case SampledWithReplacement():
            return _with_replacement(mechanism, direction)
    return {(): ((single_release(mechanism, direction), 1),)}


def _composed(parts: Sequence[tuple[Mechanism, int]], direction: Direction) -> _Choices:
    # The record stays in its block: all that runs on one partition, sampled or not, is one mechanism per block.
    groups = by_partition(parts)
    partitions = [key for key in groups if isinstance(key, InParallel)]
    options: list[_Choices] = []
    for key, members in groups.items():
        if isinstance(key, InParallel):
            number = f"partition {partitions.index(key) + 1}: " if len(partitions) > 1 else ""
            found = _in_parallel(blocks_of(key, members), direction)
            options.append({tuple(number + entry for entry in place): steps for place, steps in found.items()})
        else:
            times = sum(count for _, count in members)
            options.append(
                {
                    place: tuple((bound, times * count) for bound, count in steps)
                    for place, steps in _classes(key, direction).items()
                }
            )
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


def _in_parallel(mechanism: InParallel, direction: Direction) -> _Choices:
    if mechanism.partition == "index" and direction is not Direction.REPLACE:
        raise UnsupportedMechanism(
            "blocks by position under add-or-remove-one: removing one record shifts all later ones into other blocks; "
            "partition by the record's content, or ask under replace-one"
        )
    if mechanism.partition == "record":
        _demand_no_fixed_size(mechanism, "a block whose size depends on the data", "blocks by index")
    blocks = tuple(enumerate(mechanism.blocks, start=1))
    found = [
        (", ".join((f"block {index}", *place)), steps)
        for index, block in blocks
        for place, steps in _classes(block, direction).items()
    ]
    if direction is Direction.REPLACE and mechanism.partition == "record" and len(blocks) > 1:
        _demand_no_final_distance(
            mechanism, "a record that leaves one block and enters another moves their answers by other distances"
        )
        found += [
            (", ".join((f"from block {first}", *out, f"to block {second}", *into)), leaving + entering)
            for (first, one), (second, other) in itertools.permutations(blocks, 2)
            for out, leaving in _classes(one, Direction.REMOVE).items()
            for into, entering in _classes(other, Direction.ADD).items()
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


# --- What must not be inside ------------------------------------------------------------------------------------------


def nested(mechanism: Mechanism) -> Iterator[Mechanism]:
    """The mechanism and everything inside it."""
    yield mechanism
    match mechanism:
        case PoissonSampled() | SampledWithoutReplacement() | SampledWithReplacement():
            yield from nested(mechanism.mechanism)
        case InParallel(blocks=blocks):
            for block in blocks:
                yield from nested(block)
        case Composed(parts=parts):
            for part, _ in parts:
                yield from nested(part)


def _demand_no_fixed_size(mechanism: Mechanism, where: str, instead: str) -> None:
    if any(isinstance(part, SampledWithoutReplacement | SampledWithReplacement) for part in nested(mechanism)):
        raise UnsupportedMechanism(
            f"fixed-size samples inside {where}: the rate is not public; use Poisson samples inside, or {instead}"
        )


def _demand_no_final_distance(mechanism: Mechanism, because: str) -> None:
    for part in nested(mechanism):
        if getattr(part, "sensitivity", None) is not None:
            raise UnsupportedMechanism(
                f"{because}, so that the final distance given for {type(part).__name__} says too little: it needs "
                "the per-record bound C; give the noise per unit of C (noise_multiplier, or radius), no sensitivity"
            )


def _demand_no_blocks(mechanism: Mechanism, where: str) -> None:
    if any(isinstance(part, InParallel) for part in nested(mechanism)):
        raise UnsupportedMechanism(
            f"blocks in parallel inside {where} have no proven pair here: sample inside the blocks with Poisson "
            "sampling, or run the blocks one after the other"
        )


def _base(mechanism: Mechanism, direction: Direction) -> tuple[Pair, tuple[Pair, ...]]:
    """What runs on a sample: the pair that dominates it, and pairs that are attained."""
    (steps,) = _classes(mechanism, direction).values()  # one class: there are no blocks inside
    product = _product((bound.pair, count) for bound, count in steps)
    # of an attained product each pair is attained, the others left out
    attained = [pair for attack in _attacks(steps, product, on_its_own=False) for pair, _ in attack]
    return _as_pair(product), tuple(dict.fromkeys(attained))


# --- Samples ----------------------------------------------------------------------------------------------------------


def _poisson(mechanism: PoissonSampled, direction: Direction) -> StepBound:
    rate, inner = mechanism.sample_rate, mechanism.mechanism
    _demand_no_fixed_size(inner, "a Poisson sample, whose size is random", "a fixed-size sample of the whole data set")
    _demand_no_blocks(inner, "a sample together with other releases")
    if direction is Direction.REPLACE:
        return _poisson_replace(inner, rate)
    base, attained = _base(inner, Direction.REMOVE)
    return StepBound(
        _sampled(direction, Draws(rate), base), tuple(_sampled(direction, Draws(rate), pair) for pair in attained)
    )


def _sampled(direction: Direction, draws: Draws, base: Pair) -> Pair:
    """The mixture ((1-q)Q + qP, Q) of a base pair, or its mirror image."""
    if isinstance(base, ShiftedGaussians):
        return SampledGaussians(direction, draws.rate, 1 / base.squared_shift)
    return Sampled(direction, draws, base)


def _poisson_replace(inner: Mechanism, rate: Fraction) -> StepBound:
    _demand_no_final_distance(
        inner, "on a Poisson sample under replace-one one sample holds the record and another does not"
    )
    parts = parts_of(inner)
    if all(isinstance(part, Gaussian) for part, _ in parts):  # several, even chosen one by one, are as good as one
        ((shift, _),) = _product((single_release(part, Direction.REMOVE).pair, count) for part, count in parts)
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
    _demand_presence(inner)
    present, attained = _base(inner, Direction.REMOVE)
    replaced, _ = _base(inner, Direction.REPLACE)
    attacks = tuple(_sampled(Direction.REMOVE, Draws(rate), pair) for pair in attained)
    return StepBound(TwoGuarantees(rate, present, replaced), attacks)


def _demand_presence(inner: Mechanism) -> None:
    """A Poisson sample may hold the record or not, whatever the relation: presence must be covered, too."""
    for part in nested(inner):
        declared = getattr(part, "relation", None)
        if declared is Relation.REPLACE_ONE or isinstance(part, RandomizedResponse):
            raise UnsupportedMechanism(
                f"{part!r} on a Poisson sample needs a guarantee under add-or-remove-one even where the question is "
                "about replace-one: one sample holds the record and another does not; declare it under "
                "add-or-remove-one, or sample a fixed number of records without replacement"
            )


def _without_replacement(mechanism: SampledWithoutReplacement, direction: Direction) -> _Choices:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    if isinstance(inner, SampledWithoutReplacement) and inner.dataset_size == b:  # b' of b of n are b' of n
        return _classes(SampledWithoutReplacement(inner.mechanism, inner.batch_size, n), direction)
    if direction is Direction.REPLACE and b == n:
        return _classes(inner, direction)
    _demand_a_plain_batch(inner, direction)
    draws, (base, attained) = Draws(Fraction(b, n)), _base(inner, Direction.REPLACE)
    # An attack lets the other records act like one of the two; that suits no attack on a further sample.
    sampled = any(isinstance(part, PoissonSampled) for part in nested(inner))
    if direction is Direction.REPLACE:
        tight = attained == (base,) and not sampled
        attacks = tuple(
            _sampled(direction, draws, pair) for direction in (Direction.REMOVE, Direction.ADD) for pair in attained
        )
        return {(): ((StepBound(Sampled(direction, draws, base), () if sampled else attacks, tight, n), 1),)}
    _demand_room(b, n, "batch_size")
    attacks = tuple(_sampled(direction, draws, pair) for pair in attained)
    return {(): ((StepBound(_sampled(direction, draws, base), () if sampled else attacks, size=n), 1),)}


def _with_replacement(mechanism: SampledWithReplacement, direction: Direction) -> _Choices:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    if b == 1:
        return _without_replacement(SampledWithoutReplacement(inner, 1, n), direction)
    _demand_a_plain_batch(inner, direction)
    base, _ = _base(inner, Direction.REPLACE)
    enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
    draws = Draws(Fraction(1, n), b)
    if direction is not Direction.REPLACE:
        _demand_room(1, n, "dataset_size")
        if isinstance(base, ShiftedGaussians):
            return {(): ((StepBound.attained(DrawnGaussians(direction, draws, base.squared_shift), n), 1),)}
        return {(): ((StepBound(Sampled(direction, draws, base), ()), 1),)}
    attacks: tuple[Pair, ...] = ()
    if isinstance(base, ShiftedGaussians) and n > 1:
        attacks = tuple(
            DrawnGaussians(direction, draws, base.squared_shift) for direction in (Direction.REMOVE, Direction.ADD)
        )
    return {(): ((StepBound(Sampled(direction, draws, base), attacks, size=n), 1),)}


def _demand_a_plain_batch(inner: Mechanism, direction: Direction) -> None:
    _demand_no_fixed_size(inner, "a fixed-size sample of another size", "draw from the data set itself")
    _demand_no_blocks(inner, "a fixed-size sample")
    if direction is not Direction.REPLACE:
        _demand_no_final_distance(
            inner, "a fixed-size sample under add-or-remove-one swaps one record of the batch for another"
        )


def _demand_room(b: int, n: int, name: str) -> None:
    if b >= n:
        raise UnsupportedMechanism(
            f"{name}: under add-or-remove-one the smaller of two neighbours must still hold a whole batch of {b}, and "
            f"dataset_size {n} (a lower bound on the larger one) does not promise that; take a smaller batch"
        )
