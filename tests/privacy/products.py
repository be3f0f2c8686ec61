"""The products of pairs that dominate a mechanism, for tests that look at each of them."""

from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.relations import Relation


def products_of(mechanism: Mechanism, relation: Relation) -> tuple[Product, ...]:
    """One per class of ordered neighbours."""
    return tuple(each.product for each in neighbour_classes(mechanism, relation).every())
