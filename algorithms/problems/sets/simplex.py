"""The simplex of weights."""

from __future__ import annotations

import numpy as np
import sympy
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.sets.base import Array, OfRadius, checked_tolerance
from dpbounds.algorithms.problems.sets.scaled import times
from dpbounds.algorithms.problems.sets.sorting import project_on_simplex
from dpbounds.algorithms.problems.sets.widths import mean_largest
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure


@frozen
class Simplex(OfRadius):
    """C = {x in R^p: x >= 0, Σ x_i = r}, where ``radius`` is r.

    >>> Simplex(3).project([[1.0, 0.5, -1.0]])
    array([[0.75, 0.25, 0.  ]])
    """

    @property
    def symmetric(self) -> bool:
        """No."""
        return False

    @property
    def vertices(self) -> Array:
        """The vertices r e_1, ..., r e_p, shape (p, p)."""
        return float(self.radius) * np.eye(self.dimension)

    @property
    def diameter(self) -> sympy.Expr:
        """r√2, the distance of any two vertices (a distance is convex, so largest at vertices); 0 for p = 1."""
        return self.norm_bound * sympy.sqrt(2) if self.dimension > 1 else sympy.Integer(0)

    @property
    def l1_diameter(self) -> sympy.Expr:
        """2r, the l1 distance of any two vertices; 0 for p = 1."""
        return self.norm_bound * 2 if self.dimension > 1 else sympy.Integer(0)

    @property
    def gaussian_width(self) -> Enclosure:
        """The width r E max g_i: the maximum of <g, x> is at a vertex. Proven by ball arithmetic; 0 for p = 1."""
        return times(self.norm_bound, mean_largest(self.dimension))

    def project(self, points: ArrayLike) -> Array:
        """Return max(v - θ, 0) with the level θ that brings the sum to r."""
        return project_on_simplex(self._rows(points), float(self.radius))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return the vertex r e_j at the first j with the smallest g_j."""
        rows = self._rows(directions, "directions")
        chosen = np.zeros_like(rows)
        np.put_along_axis(chosen, rows.argmin(axis=1)[:, None], float(self.radius), axis=1)
        return chosen

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        del points
        advice = "its symmetric hull is the l1 ball: use L1Ball of the same radius"
        raise InvalidValue("set", "a simplex", "a centrally symmetric set, for a Minkowski norm", advice)

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether x_i >= -tolerance and |Σ x_i - r| <= tolerance, in double precision."""
        rows, slack = self._rows(points), checked_tolerance(tolerance)
        excess: Array = np.maximum(-rows.min(axis=1), np.abs(rows.sum(axis=1) - float(self.radius)))
        return excess <= slack
