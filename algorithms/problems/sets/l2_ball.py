"""The l2 ball around 0."""

from __future__ import annotations

import numpy as np
import sympy
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.sets.base import Array, OfRadius, checked_tolerance, directions_of, row_norms
from dpbounds.algorithms.problems.sets.widths import mean_norm
from dpbounds.expressions.exact import to_float


@frozen
class L2Ball(OfRadius):
    """C = {x in R^p: ‖x‖₂ <= r}.

    >>> L2Ball(2, 1).project([[3.0, 4.0], [0.5, 0.0]])
    array([[0.6, 0.8],
           [0.5, 0. ]])
    """

    @property
    def vertices(self) -> Array | None:
        """The ends of the interval for p = 1; infinitely many otherwise."""
        return np.array([[1.0], [-1.0]]) * float(self.radius) if self.dimension == 1 else None

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
        rows = self._rows(points)
        radius = to_float(self.radius, "down")
        return np.where(row_norms(rows) <= radius, rows, radius * directions_of(rows))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return -r g/‖g‖₂ (Cauchy-Schwarz), and 0 for g = 0."""
        return -to_float(self.radius, "down") * directions_of(self._rows(directions, "directions"))

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Return ‖x‖₂/r."""
        norms: Array = row_norms(self._rows(points))[:, 0] / float(self.radius)
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether ‖x‖₂ <= r + tolerance, in double precision."""
        lengths = row_norms(self._rows(points))[:, 0]
        inside: NDArray[np.bool_] = lengths <= float(self.radius) + checked_tolerance(tolerance)
        return inside
