"""Nets of an l2 ball: finitely many public points, one of them near every point of the ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from dpbounds.algorithms.planning import root_above
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.problems.sets.base import checked_dimension, checked_radius
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, to_float

LARGEST_NET = 5_000_000
# How far, relative to the radius, the points are kept inside the ball, so that none is outside after rounding.
_MARGIN = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """A net of the ball {‖x‖₂ <= R} in R^p: every point of the ball is within ``covering_radius`` of one of the net.

    Attributes:
        points: In the ball, shape (N, p), read-only.
        centres: Centres of the cubes whose union covers the ball, shape (N, p), read-only: a point is its cube's
            centre, moved to the nearest point of the ball.
        side: Side of these cubes, in the unit of the points.
        radius: R.
        covering_radius: r, proven; also how far any point of the ball is from the point of a cube that it is in.
    """

    points: Array
    centres: Array
    side: float
    radius: Fraction
    covering_radius: Fraction

    @property
    def size(self) -> int:
        """The number of points, N."""
        return len(self.points)

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return int(self.points.shape[1])

    @property
    def diameter(self) -> sympy.Rational:
        """At least the largest distance between two points: 2R."""
        return sympy.Rational(2 * self.radius)


def grid(dimension: int, radius: ExactLike, covering_radius: ExactLike, largest: int = LARGEST_NET) -> Net:
    """Return a net of the ball around 0: a cubic lattice, its outermost points moved onto the ball.

    Cubes of side s = 2r/√p around the points of the lattice cover R^p, and none of their points is farther than r from
    its centre. Those that meet the ball cover it, and the nearest point of the ball to such a centre is not farther
    from any point of the ball than the centre: projection on a convex set is a contraction. The points stay within R (1
    - 2^-40), and what that adds to r was taken off s before, rounding included.

    From r = R on a single point, 0, is the net. It is chosen without looking at any data.

    Raises:
        InvalidValue: A number is not allowed, or there would be more than ``largest`` points.
    """
    p, R = checked_dimension(dimension), checked_radius(radius)
    r, most = exact(covering_radius, "covering_radius"), positive_integer(largest, "largest")
    if r <= 0:
        raise InvalidValue("covering_radius", covering_radius, "greater than 0")
    if r >= R:
        only = _frozen(np.zeros((1, p)))
        return Net(only, only, to_float(2 * R, "up"), R, R)
    _demand_room(p, R, r, most)
    side = to_float((r - 4 * _MARGIN * R) * 2 / root_above(p), "down")
    centres = _cells(p, to_float(R, "up"), side, most, r)
    points = L2Ball(p, R * (1 - _MARGIN)).project(centres)
    return Net(_frozen(points), _frozen(centres), side, R, r)


def _cells(dimension: int, radius: float, side: float, most: int, covering_radius: Fraction) -> Array:
    """Return the centres of the cubes that meet the ball, and of a few near it, one coordinate after the other.

    A partial centre whose cube still meets the ball has at least one completion (zeros), so the number only grows.
    """
    budget = (radius * (1 + 2.0**-30)) ** 2
    found, left = np.zeros((1, 0)), np.array([budget])
    for _ in range(dimension):
        # the coordinate k s may have |k| s - s/2 <= √left
        reach = np.floor(np.sqrt(left) / side + 0.5).astype(np.int64)
        counts = 2 * reach + 1
        if counts.sum() > most:
            raise _too_large(int(counts.sum()), most, covering_radius)
        parents = np.repeat(np.arange(len(found)), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        steps = np.arange(len(parents)) - first - reach[parents]
        nearest = np.maximum(np.abs(steps) * side - side / 2, 0.0)
        left = np.maximum(left[parents] - nearest**2, 0.0)
        found = np.column_stack([found[parents], steps * side])
    return found


def _demand_room(p: int, R: Fraction, r: Fraction, most: int) -> None:
    """Refuse at once, by the volume of the ball over that of a cube, which no such net can have fewer points than."""
    ratio = math.log(R.numerator) - math.log(R.denominator) - math.log(r.numerator) + math.log(r.denominator)
    logarithm = p * (0.5 * math.log(math.pi * p / 4) + ratio) - math.lgamma(p / 2 + 1)
    if logarithm > math.log(most) + 1e-6:
        size = math.exp(logarithm) if logarithm < 700 else math.inf
        raise _too_large(size, most, r)


def _too_large(size: float, most: int, r: Fraction) -> InvalidValue:
    found = f"{float(r):.6g}, a net of at least {size:.4g} points"
    advice = "a net grows like (1/covering_radius)^dimension; use a larger one, or a smaller ball"
    return InvalidValue("covering_radius", found, f"a net of at most {most} points", advice)


def _frozen(values: Array) -> Array:
    values.flags.writeable = False
    return values
