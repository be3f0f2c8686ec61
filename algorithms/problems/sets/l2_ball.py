"""The l2 ball around 0."""

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
    directions_of,
    row_norms,
)
from dpbounds.algorithms.problems.sets.widths import mean_norm
from dpbounds.expressions.exact import ExactLike, to_float


@dataclass(frozen=True, slots=True, init=False)
class L2Ball:
    """C = {x in R^p: ‖x‖₂ <= r}.

    Args:
        dimension: p >= 1.
        radius: r > 0, in the unit of the points, taken exactly.

    Raises:
        InvalidValue: An argument is not allowed.

    >>> L2Ball(2, 1).project([[3.0, 4.0], [0.5, 0.0]])
    array([[0.6, 0.8],
           [0.5, 0. ]])
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
    def vertices(self) -> Array | None:
        """The ends of the interval for p = 1; infinitely many otherwise."""
        return np.array([[1.0], [-1.0]]) * float(self.radius) if self.dimension == 1 else None

    @property
    def diameter(self) -> sympy.Expr:
        """2r: ‖x - y‖ <= ‖x‖ + ‖y‖, with equality at y = -x on the sphere."""
        return 2 * self.norm_bound

    @property
    def l1_diameter(self) -> sympy.Expr:
        """2r√p: the l1 norm of x - y is at most √p ‖x - y‖₂, with equality for x = -y along (1, ..., 1)."""
        return 2 * self.l1_norm_bound

    @property
    def norm_bound(self) -> sympy.Expr:
        """The radius r."""
        return sympy.Rational(self.radius)

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """r√p, by the Cauchy-Schwarz inequality, with equality along (1, ..., 1)."""
        return self.norm_bound * sympy.sqrt(self.dimension)

    @property
    def gaussian_width(self) -> sympy.Expr:
        """The width r E‖g‖₂ = r √2 Γ((p+1)/2)/Γ(p/2): the maximum of <g, x> over the ball is r‖g‖₂."""
        return self.norm_bound * mean_norm(self.dimension)

    def project(self, points: ArrayLike) -> Array:
        """Scale rows that are longer than r back to the sphere; rows inside stay as they are."""
        rows = checked_rows(points, self.dimension)
        radius = to_float(self.radius, "down")
        return np.where(row_norms(rows) <= radius, rows, radius * directions_of(rows))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """-r g/‖g‖₂ (Cauchy-Schwarz), and 0 for g = 0."""
        return -to_float(self.radius, "down") * directions_of(checked_rows(directions, self.dimension, "directions"))

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """‖x‖₂/r."""
        norms: Array = row_norms(checked_rows(points, self.dimension))[:, 0] / float(self.radius)
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Whether ‖x‖₂ <= r + tolerance, in double precision."""
        lengths = row_norms(checked_rows(points, self.dimension))[:, 0]
        inside: NDArray[np.bool_] = lengths <= float(self.radius) + checked_tolerance(tolerance)
        return inside
