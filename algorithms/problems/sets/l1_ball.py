"""The l1 ball around 0."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.sets.base import (
    Array,
    checked_dimension,
    checked_radius,
    checked_rows,
    checked_tolerance,
)
from dpbounds.algorithms.problems.sets.scaled import times
from dpbounds.algorithms.problems.sets.sorting import project_on_l1_ball
from dpbounds.algorithms.problems.sets.widths import mean_largest_magnitude
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, to_float


@dataclass(frozen=True, slots=True, init=False)
class L1Ball:
    """C = {x in R^p: ‖x‖₁ <= r}.

    Args:
        dimension: p >= 1.
        radius: r > 0, in the unit of the points, taken exactly.

    Raises:
        InvalidValue: An argument is not allowed.

    >>> L1Ball(3, 1).project([[2.0, -1.5, 0.0]])
    array([[ 0.75, -0.25,  0.  ]])
    """

    dimension: int
    radius: Fraction

    def __init__(self, dimension: int, radius: ExactLike = 1) -> None:
        object.__setattr__(self, "dimension", checked_dimension(dimension))
        object.__setattr__(self, "radius", checked_radius(radius))

    @property
    def symmetric(self) -> bool:
        """Yes."""
        return True

    @property
    def vertices(self) -> Array:
        """The vertices r e_1, ..., r e_p, -r e_1, ..., -r e_p, shape (2p, p)."""
        corners = to_float(self.radius, "down") * np.eye(self.dimension)
        return np.concatenate([corners, -corners])

    @property
    def diameter(self) -> sympy.Expr:
        """2r: ‖x - y‖₂ <= ‖x - y‖₁ <= 2r, with equality at opposite vertices."""
        return 2 * self.norm_bound

    @property
    def l1_diameter(self) -> sympy.Expr:
        """2r, at opposite vertices."""
        return 2 * self.norm_bound

    @property
    def norm_bound(self) -> sympy.Expr:
        """The radius r: ‖x‖₂ <= ‖x‖₁ <= r, with equality at a vertex."""
        return sympy.Rational(self.radius)

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """The radius r."""
        return sympy.Rational(self.radius)

    @property
    def gaussian_width(self) -> Enclosure:
        """The width r E max |g_i|: <g, x> is largest at a vertex, r max |g_i|. Proven by ball arithmetic."""
        return times(self.norm_bound, mean_largest_magnitude(self.dimension))

    def project(self, points: ArrayLike) -> Array:
        """Soft thresholding at the level that brings the l1 norm to r; rows inside stay as they are."""
        return project_on_l1_ball(checked_rows(points, self.dimension), to_float(self.radius, "down"))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """The vertex -r sign(g_j) e_j at the first j with the largest |g_j|."""
        rows = checked_rows(directions, self.dimension, "directions")
        columns = np.abs(rows).argmax(axis=1)[:, None]
        corner = -np.copysign(to_float(self.radius, "down"), np.take_along_axis(rows, columns, axis=1))
        chosen = np.zeros_like(rows)
        np.put_along_axis(chosen, columns, corner, axis=1)
        return chosen

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """‖x‖₁/r."""
        rows = checked_rows(points, self.dimension)
        norms: Array = (np.abs(rows) / float(self.radius)).sum(axis=1)
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Whether ‖x‖₁ <= r + tolerance, in double precision."""
        rows = checked_rows(points, self.dimension)
        inside: NDArray[np.bool_] = np.abs(rows).sum(axis=1) <= float(self.radius) + checked_tolerance(tolerance)
        return inside
