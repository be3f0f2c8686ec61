"""The l1 ball around 0."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.sets.base import Array, OfRadius, checked_tolerance
from dpbounds.algorithms.problems.sets.scaled import times
from dpbounds.algorithms.problems.sets.sorting import project_on_l1_ball
from dpbounds.algorithms.problems.sets.widths import mean_largest_magnitude
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float


@frozen
class L1Ball(OfRadius):
    """C = {x in R^p: ‖x‖₁ <= r}.

    >>> L1Ball(3, 1).project([[2.0, -1.5, 0.0]])
    array([[ 0.75, -0.25,  0.  ]])
    """

    @property
    def vertices(self) -> Array:
        """The vertices r e_1, ..., r e_p, -r e_1, ..., -r e_p, shape (2p, p)."""
        corners = to_float(self.radius, "down") * np.eye(self.dimension)
        return np.concatenate([corners, -corners])

    @property
    def gaussian_width(self) -> Enclosure:
        """The width r E max |g_i|: <g, x> is largest at a vertex, r max |g_i|. Proven by ball arithmetic."""
        return times(self.norm_bound, mean_largest_magnitude(self.dimension))

    def project(self, points: ArrayLike) -> Array:
        """Return rows soft-thresholded at the level that brings the l1 norm to r; rows inside stay as they are."""
        return project_on_l1_ball(self._rows(points), to_float(self.radius, "down"))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return the vertex -r sign(g_j) e_j at the first j with the largest |g_j|."""
        rows = self._rows(directions, "directions")
        columns = np.abs(rows).argmax(axis=1)[:, None]
        corner = -np.copysign(to_float(self.radius, "down"), np.take_along_axis(rows, columns, axis=1))
        chosen = np.zeros_like(rows)
        np.put_along_axis(chosen, columns, corner, axis=1)
        return chosen

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Return ‖x‖₁/r."""
        rows = self._rows(points)
        norms: Array = (np.abs(rows) / float(self.radius)).sum(axis=1)
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether ‖x‖₁ <= r + tolerance, in double precision."""
        rows = self._rows(points)
        inside: NDArray[np.bool_] = np.abs(rows).sum(axis=1) <= float(self.radius) + checked_tolerance(tolerance)
        return inside
