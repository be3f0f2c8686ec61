"""The classes of ordered neighbours of a mechanism, with their dominating pairs and attained pairs.

For every class there is one product of pairs that dominates the mechanism, and there are products that some mechanism
of the description, on some two datasets of the class, attains. Where the two are the same the analysis is *tight*: the
proven value is exactly the spent one. A mechanism without a proven pair raises ``UnsupportedMechanism``, with the
missing proof and an alternative.

Which pairs these are is said by the class of each mechanism; how those of a composition follow, by
``mechanisms/bounds.py``. The brute-force oracle of the tests tries to refute every line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from dpbounds.errors import UnsupportedMechanism, shown
from dpbounds.privacy.mechanisms.bounds import Place, attacks_on, classes_of, product_of
from dpbounds.privacy.mechanisms.core import Mechanism
from dpbounds.privacy.pairs.pairs import Product, ShiftedGaussians
from dpbounds.privacy.relations import Order, Relation, orders_of

_Measured = TypeVar("_Measured", Fraction, float)


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a class of ordered neighbours: which dataset holds the record, and in which blocks."""

    order: Order
    place: Place = ()


@dataclass(frozen=True, slots=True)
class NeighbourClass:
    """The proven pairs of one class of ordered neighbours, or of several that spend the same.

    Attributes:
        keys: The classes meant.
        name: "remove", "add", "replace", or "both orders" where they spend the same; with the blocks, if they matter.
        product: Dominates the mechanism for these classes.
        attacks: Products, each attained by some mechanism of this description and two datasets of one of the classes
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
        """Yield the classes of one order, for all blocks; symmetric classes are in both orders."""
        return (each for each in self._distinct if any(key.order is order for key in each.keys))

    def with_key(self, key: Key) -> NeighbourClass | None:
        """Return the class with this key; None where there is none."""
        return next((each for each in self._distinct if key in each.keys), None)

    def largest(self, measure: Callable[[Product], _Measured]) -> _Measured:
        """Return the largest value of a measure over the classes' dominating products."""
        return max(measure(each.product) for each in self._distinct)

    @property
    def tight(self) -> bool:
        """Whether every class's dominating product is attained."""
        return all(each.tight for each in self._distinct)


def neighbour_classes(mechanism: Mechanism, relation: Relation, order: Order | None = None) -> NeighbourClasses:
    """Return, per class of ordered neighbours, the dominating product and products that are attained.

    Full-batch Gaussian parts are merged into one ``ShiftedGaussians``, equal parts are counted together, and classes
    with equal products are one.

    Args:
        mechanism: The mechanism.
        relation: The neighbouring relation.
        order: The only order of neighbours whose classes are returned; None for all of the relation.

    Raises:
        UnsupportedMechanism: A part has no proven pair under this relation.
    """
    if not isinstance(mechanism, Mechanism):
        raise UnsupportedMechanism(
            f"no dominating pair is proven here for {shown(mechanism)}, which is not a mechanism"
        )
    keys: dict[Product, list[Key]] = {}
    attacks: dict[Product, list[Product]] = {}
    for each in orders_of(relation, order):
        for place, steps in classes_of(mechanism, each).items():
            product = product_of((bound.pair, count) for bound, count in steps)
            keys.setdefault(product, []).append(Key(each, place))
            attacks.setdefault(product, []).extend(attacks_on(steps, product))
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
    """Return the keys in words: "remove, block 1", or "both orders" (as a product of shifted Gaussians always is)."""
    orders: dict[Place, list[Order]] = {}
    for key in keys:
        orders.setdefault(key.place, []).append(key.order)
    symmetric = all(isinstance(pair, ShiftedGaussians) for pair, _ in product)
    return "; or ".join(
        ", ".join(("both orders" if symmetric or len(ways) > 1 else str(ways[0]), *place))
        for place, ways in orders.items()
    )
