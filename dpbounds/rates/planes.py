"""Regions in the plane of exponents: n = d^a and ε = d^(-b), with d growing.

A region is a cone in the logarithms of n, d and ε; the plane of exponents is its slice where log d = 1. Vertices and
inequalities stay exact. What happens while d is constant lies at infinity and is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sympy import Symbol

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import dataset_size, dimension, epsilon, gaussian_width, rank
from dpbounds.rates.cones import Cone, primitive
from dpbounds.rates.spaces import Space

Point = tuple[Fraction, Fraction]
_NAMES = {dataset_size: ("a", 1), epsilon: ("b", -1), rank: ("c", 1), gaussian_width: ("w", 1)}


def exponent_inequalities(cone: Cone, space: Space) -> tuple[str, ...]:
    """Return the inequalities of a region in the exponents: n = d^a, ε = d^(-b), rank = d^c, width = d^w.

    >>> from dpbounds.rates.spaces import standard
    >>> exponent_inequalities(Cone.where([(1, 0, 0), (0, 1, 0), (0, 0, -1), (1, -1, 1)]), standard())
    ('a - b >= 1',)
    """
    known = {primitive(space.form(one)) for one in space.at_least_one}
    return tuple(_inequality(facet, space.axes) for facet in sorted(cone.facets - known, reverse=True))


def _inequality(facet: Sequence[int], axes: Sequence[Symbol]) -> str:
    terms: list[tuple[int, str]] = []
    constant = 0
    for entry, axis in zip(facet, axes, strict=True):
        if axis == dimension:
            constant = -entry
        elif entry:
            name, sign = _NAMES[axis]
            terms.append((sign * entry, name))
    first = terms[0][0] if terms else 1
    if first < 0:
        terms, constant = [(-factor, name) for factor, name in terms], -constant
    left = " ".join(
        f"{'- ' if factor < 0 else '+ ' if index else ''}{'' if abs(factor) == 1 else f'{abs(factor)}'}{name}"
        for index, (factor, name) in enumerate(terms)
    )
    return f"{left or '0'} {'>=' if first > 0 else '<='} {constant}"


def polygon(cone: Cone, space: Space, largest: Sequence[Fraction | int]) -> tuple[Point, ...]:
    """The vertices of a region's slice in the plane of a and b, in order around it, cut off at the largest a and b.

    Raises:
        InvalidValue: The space is not that of n, d and ε.
    """
    if space.axes != (dataset_size, dimension, epsilon):
        raise InvalidValue("space", space.axes, "n, d and ε, for a map")
    widest, highest = (Fraction(one) for one in largest)
    cut: Cone | None = cone
    for facet in ((-1, widest, 0), (0, highest, 1)):
        if cut is not None:
            cut = cut.cut(facet)[0]
    if cut is None:
        return ()
    corners = {(Fraction(n, d), Fraction(-e, d)) for n, d, e in cut.rays if d > 0}
    return _around(corners)


def _around(corners: set[Point]) -> tuple[Point, ...]:
    """Convex position is given; the order is that of the angle about the middle."""
    if len(corners) < 3:
        return ()
    middle = tuple(sum(values, Fraction(0)) / len(corners) for values in zip(*corners, strict=True))

    def angle(corner: Point) -> tuple[bool, Fraction]:
        """Something exact that grows with it."""
        across, up = corner[0] - middle[0], corner[1] - middle[1]
        cosine = across / (abs(across) + abs(up))
        is_below = up < 0 or (up == 0 and across <= 0)
        return is_below, cosine if is_below else -cosine

    return tuple(sorted(corners, key=angle))
