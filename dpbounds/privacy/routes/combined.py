"""Pairs in a product, replaced by simpler ones that dominate them: combinations, and tags of very many values."""

from __future__ import annotations

from dpbounds.privacy.mechanisms.schemes.last_iterate_costs import coarser
from dpbounds.privacy.pairs.pairs import Pair, Product, TaggedGaussians

_TAGS = 24  # in a product of several pairs, whose route adds up all of their tails at very many losses


def resolved(product: Product) -> Product:
    """Return the same product with every combination in it replaced by a discrete pair that dominates it."""
    found = tuple((pair.resolved(_as_discrete), count) for pair, count in product)
    alone = len(found) == 1 and found[0][1] == 1
    return found if alone else tuple((_with_fewer_tags(pair), count) for pair, count in found)


def _with_fewer_tags(pair: Pair) -> Pair:
    return TaggedGaussians(coarser(pair.atoms, _TAGS)) if isinstance(pair, TaggedGaussians) else pair


def _as_discrete(product: Product) -> Pair:
    from dpbounds.privacy.routes.lattice.combination import as_discrete

    return as_discrete(resolved(product))
