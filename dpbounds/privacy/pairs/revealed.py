"""Products without secret draws that dominate products with them: the proofs are in ``revealed.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Combined,
    CrowdedGaussians,
    Diluted,
    Direction,
    Discrete,
    DrawnGaussians,
    MixedGaussians,
    OpposedGaussians,
    Pair,
    Product,
    ReplacedGaussians,
    ReplacedGroup,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    ShuffledBatches,
    Tagged,
    TaggedGaussians,
    TwoGuarantees,
    TwoPoints,
    UniformBalls,
    Zeroed,
    enlarged,
)


def revealed(product: Product) -> Product | None:
    """Return a product that dominates the given one, as if every draw were published; None where none is proven.

    All Gaussian releases in it are one ``ShiftedGaussians``.

    >>> from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians
    >>> revealed(((SampledGaussians(Direction.REMOVE, Fraction(1, 100), Fraction(4)), 1000),))
    ((ShiftedGaussians(squared_shift=Fraction(250, 1)), 1),)
    """
    squared_shift = Fraction(0)
    counts: Counter[Pair] = Counter()
    for pair, count in product:
        found = _revealed(pair)
        if found is None:
            return None
        for each, times in found:
            if isinstance(each, ShiftedGaussians):
                squared_shift += count * times * each.squared_shift
            else:
                counts[each] += count * times
    merged: Product = ((ShiftedGaussians(squared_shift), 1),) if squared_shift else ()
    return merged + tuple(counts.items())


def _revealed(pair: Pair) -> Product | None:
    """The same for one pair, by symmetric pairs only."""
    match pair:
        case SampledGaussians(direction=direction, variance=variance):
            return _gaussian(direction, 1 / variance)
        case MixedGaussians(direction=direction, parts=parts):
            return _gaussian(direction, max(squared for squared, _ in parts))
        case DrawnGaussians(draws=draws, squared_shift=squared) | ReplacedGaussians(draws=draws, squared_shift=squared):
            return ((ShiftedGaussians(draws.slots**2 * squared), 1),)
        case ReplacedGroup(chances=chances, squared_shift=squared):
            return ((ShiftedGaussians((len(chances) - 1) ** 2 * squared), 1),)
        case TaggedGaussians(atoms=atoms):
            return ((ShiftedGaussians(max(squared for squared, _ in atoms)), 1),)
        case SampledLaplaces(shift=shift):
            return ((ShiftedLaplaces(2 * shift), 1),)
        case SampledBalls(squared_shift=squared, dimension=dimension):
            return ((UniformBalls(4 * squared, dimension), 1),)
        case Sampled(draws=draws, base=base) | Zeroed(draws=draws, base=base):
            return _along(_revealed(base), draws.slots)
        case TwoGuarantees(replaced=base) | Diluted(base=base):
            return _revealed(base)
        case ShuffledBatches(base=base):
            return ((base, 1),)
        case Allocated(direction=direction, shares=shares):
            dearest = _dearest([_revealed(base) for base, _ in shares])
            return _along(dearest, 2 if direction is Direction.REPLACE else 1)
        case Tagged(parts=parts, others=()):
            return _dearest([_revealed(part) for _, part in parts])
        case Tagged(alike=Tagged() as alike):
            return _revealed(alike)
        case Combined(product=product):
            return revealed(product)
        case Tagged() | AllocatedTo() | CrowdedGaussians() | OpposedGaussians() | TwoPoints() | Discrete():
            return None
    return ((pair, 1),)


def _gaussian(direction: Direction, squared: Fraction) -> Product:
    """One shift; where a record is replaced, the two contributions point away from each other."""
    return ((ShiftedGaussians(4 * squared if direction is Direction.REPLACE else squared), 1),)


def _along(product: Product | None, links: int) -> Product | None:
    """Every pair enlarged; None where that is not proven."""
    if product is None:
        return None
    try:
        return tuple((enlarged(pair, links), count) for pair, count in product)
    except UnsupportedMechanism:
        return None


def _dearest(options: Sequence[Product | None]) -> Product | None:
    """The one of several products that dominates all of them; None unless they are one shift of one kind each."""
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
    """What grows with the cost of one noise: a distance, or its square."""
    assert isinstance(pair, ShiftedGaussians | ShiftedLaplaces)
    return pair.shift if isinstance(pair, ShiftedLaplaces) else pair.squared_shift
