"""Many releases of bounded range, dominated by one Gaussian: the proof is in ``many_choices.md``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.domination.composition import NeighbourClass, NeighbourClasses
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import BoundedRangeProfile, Pair, Product, ShiftedGaussians, TwoPoints

# smallest number of equal releases, and their largest range: otherwise the profiles may spend less
FEWEST, WIDEST = 20, 4
_ATTACKED = 256  # largest number of choices in an attack beside Gaussian noise
_PRECISION = 64


def with_reserve(count: int) -> Fraction:
    """Return N + 3 + log N, rounded up: that many Gaussian releases dominate N of bounded range, in any order.

    >>> float(with_reserve(1000))
    1009.9...
    """
    assert count >= 1
    with working(_PRECISION):
        return ball_end(count + 3 + ball(count).log(), "up")


def with_gaussian_choices(product: Product) -> Product:
    """Return a dominating product in which many equal releases of bounded range are one Gaussian."""
    squared, kept = Fraction(0), list[tuple[Pair, int]]()
    for pair, count in product:
        if isinstance(pair, BoundedRangeProfile) and count >= FEWEST and pair.span <= WIDEST:
            squared += pair.span**2 / 4 * with_reserve(count)
        else:
            kept.append((pair, count))
    if squared == 0:
        return product
    noise = sum((pair.squared_shift * count for pair, count in kept if isinstance(pair, ShiftedGaussians)), squared)
    return (ShiftedGaussians(noise), 1), *(one for one in kept if not isinstance(one[0], ShiftedGaussians))


def classes_with_gaussian_choices(classes: NeighbourClasses) -> NeighbourClasses:
    """Bound every class by Gaussian releases, without slow attacks; return the same object if nothing changes."""
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
