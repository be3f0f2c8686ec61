"""Many releases of bounded range, dominated by one Gaussian: the proof is in ``many_choices.md``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.domination import NeighbourClass, NeighbourClasses
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import BoundedRangeProfile, Pair, Product, ShiftedGaussians, TwoPoints

_WIDEST = 1  # of a range, and
_LARGEST = Fraction(1, 25)  # of the reserve in all μ²: elsewhere the profiles or their divergences may promise less
_ATTACKED = 256  # choices in an attack beside Gaussian noise, at most
_PRECISION = 64


def choices_as_gaussian(span: Fraction, count: int) -> Fraction:
    """μ² of a Gaussian that dominates so many releases of a range, in any order and among any others; rounded up.

    Args:
        span: η, the length of the interval in which the privacy loss of one of them lies; at most 4.
        count: N, at least 1.

    >>> float(choices_as_gaussian(Fraction(1, 10), 1000)) / (1000 * 0.1**2 / 4)
    1.0099...
    """
    assert 0 < span <= 4
    assert count >= 1
    with working(_PRECISION):
        return ball_end(ball(span) ** 2 / 4 * (count + 3 + ball(count).log()), "up")


def with_gaussian_choices(product: Product) -> Product:
    """A product that dominates what the given one stands for: many equal releases of bounded range as a Gaussian."""
    noise = sum(
        (pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians)), Fraction(0)
    )
    replaced: dict[Pair, Fraction] = {}
    for pair, count in product:
        if isinstance(pair, BoundedRangeProfile) and pair.span <= _WIDEST:
            plain, whole = count * pair.span**2 / 4, choices_as_gaussian(pair.span, count)
            if whole - plain <= _LARGEST * (noise + plain):
                replaced[pair] = whole
    if not replaced:
        return product
    kept = (one for one in product if one[0] not in replaced and not isinstance(one[0], ShiftedGaussians))
    return (ShiftedGaussians(noise + sum(replaced.values())), 1), *kept


def classes_with_gaussian_choices(classes: NeighbourClasses) -> NeighbourClasses:
    """The same of every class, with attacks that leave out what takes long; the given object if nothing changes."""
    every = tuple(classes.every())
    changed = tuple(map(_rewritten, every))
    return classes if changed == every else NeighbourClasses(changed)


def _rewritten(each: NeighbourClass) -> NeighbourClass:
    product = with_gaussian_choices(each.product)
    if product is each.product:
        return each
    return replace(each, product=product, attacks=tuple(dict.fromkeys(map(_shortened, each.attacks))))


def _shortened(attack: Product) -> Product:
    choices = sum(count for pair, count in attack if isinstance(pair, TwoPoints))
    rest = tuple((pair, count) for pair, count in attack if not isinstance(pair, TwoPoints))
    return rest if choices > _ATTACKED and rest else attack
