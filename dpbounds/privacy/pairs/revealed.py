"""Products without secret draws that dominate products with secret draws (proofs: ``revealed.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.pairs.core import Pair, Product
from dpbounds.privacy.pairs.gaussian import ShiftedGaussians, together
from dpbounds.privacy.pairs.laplace import ShiftedLaplaces


def revealed(product: Product) -> Product | None:
    """Return a product that dominates the given one, as if every draw were published; None where none is proven.

    All Gaussian releases in it are one ``ShiftedGaussians``.

    >>> from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians
    >>> revealed(((SampledGaussians(Direction.REMOVE, Fraction(1, 100), Fraction(4)), 1000),))
    ((ShiftedGaussians(squared_shift=Fraction(250, 1)), 1),)
    """
    every: list[tuple[Pair, int]] = []
    for pair, count in product:
        found = pair.revealed()
        if found is None:
            return None
        every += [(each, count * times) for each, times in found]
    return together(every)


def along(product: Product | None, links: int) -> Product | None:
    """Return every pair enlarged; None where that is not proven."""
    if product is None:
        return None
    try:
        return tuple((pair.enlarged(links), count) for pair, count in product)
    except UnsupportedMechanism:
        return None


def dearest(options: Sequence[Product | None]) -> Product | None:
    """Return the product that dominates all given ones; None unless each is one shift of the same kind."""
    singles = [option[0][0] for option in options if option is not None and len(option) == 1 and option[0][1] == 1]
    if len(singles) < len(options):
        return None
    first, *others = singles
    if all(each == first for each in others):
        return ((first, 1),)
    for kind in (ShiftedGaussians, ShiftedLaplaces):
        if all(isinstance(each, kind) for each in singles):
            return ((max(singles, key=_shift), 1),)
    return None


def _shift(pair: Pair) -> Fraction:
    """Return a quantity that grows with the cost of one noise: a distance, or its square."""
    assert isinstance(pair, ShiftedGaussians | ShiftedLaplaces)
    return pair.shift if isinstance(pair, ShiftedLaplaces) else pair.squared_shift
