"""Dominating pairs of a composition, from those of its parts.

For every class of ordered neighbours there is one product of pairs that dominates the mechanism, and there are products
that some mechanism of the description, on some two datasets of the class, attains. There is one class, unless blocks of
a partition or ranges of dataset sizes distinguish where the record may lie.

The proofs are in ``pairs.md`` and ``sampling.md``, whose section 9 says for each attack which datasets attain it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Composed, InParallel, Mechanism
from dpbounds.privacy.mechanisms.demands import (
    demand_blind,
    demand_no_final_distance,
    demand_no_fixed_size,
    refuse_without_positions,
)
from dpbounds.privacy.relations import Order, Relation

MOST_CLASSES = 64  # classes of ordered neighbours
_MOST_NAMED = 3  # largest number of equal blocks that are named

Place = tuple[str, ...]  # the place of the record, in words, one entry per partition that has one; () if there is none
Steps = tuple[tuple["pairs.StepBound", int], ...]  # steps of one class
Classes = dict[Place, Steps]  # by where the record lies
Members = Sequence[tuple[Mechanism, int]]  # mechanisms with how often each is run


def classes_of(mechanism: Mechanism, order: Order) -> Classes:
    """Return the steps of a mechanism for each class of ordered neighbours.

    Raises:
        UnsupportedMechanism: A part has no proven pair in this order.
    """
    mechanism = mechanism.resolved()
    if isinstance(mechanism, Composed):
        return classes_of_composition(mechanism.parts, order)
    if isinstance(partition := mechanism.group_key, InParallel):
        return classes_of_partition(blocks_of(partition, ((mechanism, 1),)), order)
    return mechanism.classes(order)


def base_of(mechanism: Mechanism, order: Order) -> tuple[pairs.Pair, tuple[pairs.Pair, ...]]:
    """Return, for a mechanism on a sample, its dominating pair, and attained pairs."""
    (steps,) = classes_of(mechanism, order).values()  # one class: there are no blocks inside
    product = product_of((bound.pair, count) for bound, count in steps)
    # of an attained product each pair is attained, the others left out
    attained = [pair for attack in attacks_on(steps, product, on_its_own=False) for pair, _ in attack]
    return as_pair(product), tuple(dict.fromkeys(attained))


def single_pair(mechanism: Mechanism, order: Order) -> pairs.Pair:
    """Return the one pair of a mechanism that is a single release on all it is given, the same in both orders.

    Raises:
        UnsupportedMechanism: It has several.
    """
    if any(isinstance(part.group_key, InParallel) for part in mechanism.nested()):
        raise UnsupportedMechanism("records of a group that lie in different blocks of one sample are not one pair")
    (relation,) = (each for each in Relation if order in each.orders)
    found = dict.fromkeys(
        product_of((bound.pair, count) for bound, count in steps)
        for each in relation.orders
        for steps in classes_of(mechanism, each).values()
    )
    match [*found]:
        case [((pair, 1),)]:
            return pair
    raise UnsupportedMechanism(f"what {mechanism!r} spends on several records together is not known as one pair")


def mixture(direction: pairs.Direction, draws: pairs.Draws, base: pairs.Pair) -> pairs.Pair:
    """Return the mixture ((1-q)Q + qP, Q) of a base pair, or its mirror image."""
    if isinstance(base, pairs.ShiftedGaussians):
        return pairs.SampledGaussians(direction, draws.rate, 1 / base.squared_shift)
    return pairs.Sampled(direction, draws, base)


# --- Products ---------------------------------------------------------------------------------------------------------


def product_of(parts: Iterable[tuple[pairs.Pair, int]]) -> pairs.Product:
    """Return the product of the pairs, with combinations expanded, shifted Gaussians merged and equal pairs counted."""
    return pairs.together(
        (each, times * count)
        for pair, count in parts
        for each, times in (pair.product if isinstance(pair, pairs.Combined) else ((pair, 1),))
    )


def as_pair(product: pairs.Product) -> pairs.Pair:
    """Return a product as one pair."""
    (pair, count), *others = product
    return pair if count == 1 and not others else pairs.Combined(product)


def attacks_on(steps: Steps, product: pairs.Product, *, on_its_own: bool = True) -> tuple[pairs.Product, ...]:
    """Return the products that are attained, of steps that this product dominates.

    Args:
        steps: The steps of one class of neighbours.
        product: Dominates all steps together.
        on_its_own: Whether nothing else is released: what is attained in a single step only counts then.
    """
    usable = _usable(steps)
    if len(usable) == len(steps) and all(bound.tight for bound, _ in steps):
        return (product,)
    if on_its_own and len(steps) == 1 and steps[0][1] == 1 and steps[0][0].only_once:
        return (product,)
    most = max((len(bound.attacks) for bound, _ in usable), default=0)
    options = [
        product_of((bound.attacks[min(index, len(bound.attacks) - 1)], count) for bound, count in usable)
        for index in range(most)
    ]
    return tuple(dict.fromkeys(option for option in options if option))


def _usable(steps: Steps) -> list[tuple[pairs.StepBound, int]]:
    """Return the steps with attacks on datasets of one size; leaving out the others is post-processing."""
    largest = max((bound.size for bound, _ in steps if bound.size is not None), default=None)
    return [(bound, count) for bound, count in steps if bound.attacks and bound.size in (None, largest)]


# --- Compositions -----------------------------------------------------------------------------------------------------


def classes_of_composition(parts: Members, order: Order) -> Classes:
    """Return the classes of a composition: mechanisms with common classes together, the rest in every combination."""
    groups = grouped(parts)
    partitions = [key for key in groups if isinstance(key, InParallel)]
    options: list[Classes] = []
    # parts that can use fewer classes come last, as they need the number that is left
    for key, members in sorted(groups.items(), key=lambda group: isinstance(group[0], type)):
        if isinstance(key, InParallel):
            number = f"partition {partitions.index(key) + 1}: " if len(partitions) > 1 else ""
            found = classes_of_partition(blocks_of(key, members), order)
            options.append({tuple(number + entry for entry in place): steps for place, steps in found.items()})
        elif isinstance(key, type):
            most = MOST_CLASSES // max(1, math.prod(map(len, options)))
            options += members[0][0].classes_together(members, order, most)
        else:
            times = sum(count for _, count in members)
            found = classes_of(members[0][0], order)
            options.append({place: tuple((bound, times * n) for bound, n in steps) for place, steps in found.items()})
    bounded = any(inner.known_records is not None for part, _ in parts for inner in part.nested())
    in_the_limit = sum(any(bound.in_the_limit for steps in some.values() for bound, _ in steps) for some in options)
    if bounded or (in_the_limit > 1 and order is Order.REPLACE):
        options = [_without_limits(some) for some in options]
    return _combined(options)


def _without_limits(classes: Classes) -> Classes:
    """Return the same classes without attacks that need ever more records.

    No dataset attains them where another release bounds the number of records. Where users are drawn in blocks of a
    partition and outside, there are combinations in which a record stays with its user in one of them and not in the
    other (``by_user.md``, section 2).
    """
    return {
        place: tuple((replace(bound, attacks=()) if bound.in_the_limit else bound, count) for bound, count in steps)
        for place, steps in classes.items()
    }


def grouped(parts: Members) -> dict[Hashable, list[tuple[Mechanism, int]]]:
    """Group the parts of a composition by the origin of their classes: a partition, or the mechanism itself."""
    groups: dict[Hashable, list[tuple[Mechanism, int]]] = {}
    for mechanism, count in parts:
        groups.setdefault(mechanism.group_key, []).append((mechanism, count))
    return groups


def _combined(options: Sequence[Classes]) -> Classes:
    number = math.prod(map(len, options))
    if number > MOST_CLASSES:
        raise UnsupportedMechanism(
            f"{number} ways in which a record can lie in blocks are too many (at most {MOST_CLASSES}): use one "
            "partition throughout (the same InParallel object counts once), or bound a partition by its worst block"
        )
    found: Classes = {}
    for choice in itertools.product(*(some.items() for some in options)):
        place: Place = tuple(entry for part, _ in choice for entry in part)
        found[place] = tuple(step for _, steps in choice for step in steps)
    return found


# --- Blocks of a partition --------------------------------------------------------------------------------------------


def blocks_of(partition: InParallel, members: Members) -> InParallel:
    """Return the mechanisms of one partition as one mechanism per block: a record stays in its block."""
    return InParallel(
        tuple(
            Composed(tuple((member.in_block(index), count) for member, count in members))
            for index in range(len(partition.blocks))
        ),
        partition.partition,
    )


def classes_of_partition(mechanism: InParallel, order: Order) -> Classes:
    """Return a class for each block that the record may lie in, and for each two between which it may move."""
    if mechanism.partition == "index" and order.counts_records:
        refuse_without_positions("blocks by position (unlike blocks by the record's content)")
    if mechanism.partition == "record":
        demand_no_fixed_size(mechanism, "a block whose size depends on the data", "blocks by index")
        if order.zeroes:
            demand_blind(mechanism, "in blocks by the record's content, of which one that contributes nothing has none")
    blocks = tuple(enumerate(mechanism.blocks, start=1))
    found = [
        (", ".join((f"block {index}", *place)), steps)
        for index, block in blocks
        for place, steps in classes_of(block, order).items()
    ]
    if order is Order.REPLACE and mechanism.partition == "record" and len(blocks) > 1:
        demand_no_final_distance(
            mechanism, "a record that leaves one block and enters another moves their answers by other distances"
        )
        found += [
            (", ".join((f"from block {first}", *out, f"to block {second}", *into)), leaving + entering)
            for (first, one), (second, other) in itertools.permutations(blocks, 2)
            for out, leaving in classes_of(one, Order.REMOVE).items()
            for into, entering in classes_of(other, Order.ADD).items()
        ]
    return _alike(found)


def _alike(found: Sequence[tuple[str, Steps]]) -> Classes:
    """Merge places at which the record spends the same; if all are merged, the place is left unnamed."""
    places: dict[Steps, list[str]] = {}
    for place, steps in found:
        places.setdefault(steps, []).append(place)
    several = len(places) > 1
    return {(_listed(names),) if several else (): steps for steps, names in places.items()}


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{names[0]} or one of {len(names) - 1} others alike"
    return " or ".join(names)
