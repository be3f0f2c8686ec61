"""Polyhedral cones in a few dimensions, exactly: by integer rays and integer facets.

A region in which one order of growth is at most another is a cone in the logarithms of n, d, 1/ε, ...: multiply all
logarithms by the same factor, and every comparison stays. Cones here are pointed and full-dimensional; what has no
interior (a boundary between regions) is not kept. Dimensions are at most five or so, and rays few, so that the extreme
rays of {y: <a, y> >= 0 for all a} are found by solving every choice of dim - 1 of the equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import gcd, lcm

from flint import fmpz_mat

Vector = tuple[int, ...]


def primitive(vector: Iterable[Fraction | int]) -> Vector:
    """Return the shortest integer vector in the same direction (the zero vector stays).

    >>> primitive((Fraction(1, 2), Fraction(-1, 3)))
    (3, -2)
    """
    entries = [Fraction(entry) for entry in vector]
    denominators = lcm(*(entry.denominator for entry in entries))
    whole = [int(entry * denominators) for entry in entries]
    divisor = gcd(*whole)
    return tuple(entry // divisor for entry in whole) if divisor else tuple(whole)


def product(left: Sequence[Fraction | int], right: Sequence[Fraction | int]) -> Fraction | int:
    """Return the inner product."""
    return sum(a * b for a, b in zip(left, right, strict=True))


@cache
def extreme(vectors: frozenset[Vector]) -> frozenset[Vector]:
    """Return the extreme rays of {y: <v, y> >= 0 for all v}; equally, the facets of the cone that the vectors generate.

    Empty if that cone has no interior, or is not pointed.
    """
    dimension = len(next(iter(vectors)))
    found = set()
    for chosen in combinations(sorted(vectors), dimension - 1):
        orthogonal, nullity = fmpz_mat(chosen).nullspace()
        if nullity > 1:
            continue
        normal = primitive(int(orthogonal[row, 0]) for row in range(dimension))
        signs = [product(normal, vector) for vector in vectors]
        if all(sign >= 0 for sign in signs):
            found.add(normal)
        elif all(sign <= 0 for sign in signs):
            found.add(tuple(-entry for entry in normal))
    return frozenset(found)


def _spans(vectors: Iterable[Vector]) -> bool:
    """Return whether they span the space; no vector does not."""
    rows = list(vectors)
    return bool(rows) and int(fmpz_mat(rows).rank()) == len(rows[0])


@dataclass(frozen=True, slots=True)
class Cone:
    """A pointed cone with interior.

    Attributes:
        rays: Its extreme rays, primitive.
        facets: Inner normals of its facets, primitive: the points y with <facet, y> >= 0 for all of them.
    """

    rays: frozenset[Vector]
    facets: frozenset[Vector]

    @classmethod
    def where(cls, constraints: Iterable[Sequence[Fraction | int]]) -> Cone | None:
        """Return all points at which every constraint is >= 0; None if they have no interior."""
        wanted = frozenset(vector for one in constraints if any(vector := primitive(one)))
        rays = extreme(wanted)
        return cls(rays, extreme(rays)) if _spans(rays) else None

    @classmethod
    def spanned(cls, rays: Iterable[Vector]) -> Cone | None:
        """Return the smallest cone that holds the rays; None if it has no interior, or is not pointed."""
        facets = extreme(frozenset(rays))
        return cls.where(facets) if _spans(facets) else None

    @property
    def inside(self) -> Vector:
        """A point of the interior: the sum of the rays."""
        return tuple(sum(entries) for entries in zip(*self.rays, strict=True))

    def contains(self, point: Sequence[Fraction | int]) -> bool:
        """Return whether a point lies in the cone, boundary included."""
        return all(product(facet, point) >= 0 for facet in self.facets)

    def cut(self, normal: Sequence[Fraction | int]) -> tuple[Cone | None, Cone | None]:
        """Return the parts where <normal, y> >= 0, and where <= 0; None for a side without interior."""
        plane = primitive(normal)
        signs = [product(plane, ray) for ray in self.rays]
        if all(sign >= 0 for sign in signs):
            return (self, None) if any(signs) else (self, self)
        if all(sign <= 0 for sign in signs):
            return None, self
        return Cone.where((*self.facets, plane)), Cone.where((*self.facets, tuple(-entry for entry in plane)))

    def meet(self, other: Cone) -> Cone | None:
        """Return the intersection of both."""
        if other.rays == self.rays:
            return self
        if any(all(product(facet, ray) <= 0 for ray in other.rays) for facet in self.facets):
            return None
        return Cone.where(self.facets | other.facets)

    def without(self, hole: Cone) -> list[Cone]:
        """Return the part that lies outside another cone, in convex pieces."""
        if self.meet(hole) is None:
            return [self]
        found = []
        rest: Cone | None = self
        for facet in sorted(hole.facets):
            if rest is None:
                break
            inner, outer = rest.cut(facet)
            if outer is not None and outer is not inner:
                found.append(outer)
            rest = inner
        return found


def joined(cones: Sequence[Cone]) -> tuple[Cone, ...]:
    """Return the same union in fewer convex pieces: two of them are put together where nothing else lies in their hull.

    The cones must not overlap (except in boundaries).
    """
    for first, second in combinations(cones, 2):
        hull = Cone.spanned(first.rays | second.rays)
        if hull is not None:
            inside = [piece for piece in cones if all(hull.contains(ray) for ray in piece.rays)]
            if not outside(hull, inside):
                return joined([*(piece for piece in cones if piece not in inside), hull])
    return tuple(cones)


def outside(cone: Cone, region: Iterable[Cone]) -> list[Cone]:
    """Return the rest of a cone outside of several others, in convex pieces."""
    left = [cone]
    for hole in region:
        left = [rest for piece in left for rest in piece.without(hole)]
    return left
