"""Pairs in a product, replaced by simpler ones that dominate them: combinations, and tags of very many values."""

from __future__ import annotations

from dataclasses import replace

from dpbounds.privacy.mechanisms.schemes.last_iterate_costs import coarser
from dpbounds.privacy.pairs.pairs import (
    Combined,
    Diluted,
    Pair,
    Product,
    Sampled,
    Tagged,
    TaggedGaussians,
    TwoGuarantees,
    Zeroed,
)

_TAGS = 24  # in a product of several pairs, whose route adds up all of their tails at very many losses


def resolved(product: Product) -> Product:
    """The same product with every combination in it replaced by a discrete pair that dominates it."""
    found = tuple((_resolved(pair), count) for pair, count in product)
    alone = len(found) == 1 and found[0][1] == 1
    return found if alone else tuple((_with_fewer_tags(pair), count) for pair, count in found)


def _with_fewer_tags(pair: Pair) -> Pair:
    return TaggedGaussians(coarser(pair.atoms, _TAGS)) if isinstance(pair, TaggedGaussians) else pair


def _resolved(pair: Pair) -> Pair:
    match pair:
        case Combined(product=product):
            from dpbounds.privacy.routes.lattice.combination import as_discrete

            return as_discrete(resolved(product))
        case Sampled(base=base) | Zeroed(base=base) | Diluted(base=base):
            return replace(pair, base=_resolved(base))
        case TwoGuarantees(present=present, replaced=replaced):
            return replace(pair, present=_resolved(present), replaced=_resolved(replaced))
        case Tagged(parts=parts):
            return replace(pair, parts=tuple((weight, _resolved(part)) for weight, part in parts))
    return pair
