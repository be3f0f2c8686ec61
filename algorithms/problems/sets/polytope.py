"""Polytopes, given by their vertices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import scipy.sparse
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from dpbounds.algorithms.problems.points import numbers
from dpbounds.algorithms.problems.sets.base import Array, ConstraintSet, checked_rows, checked_tolerance
from dpbounds.algorithms.problems.sets.nearest_in_hull import nearest_in_hull
from dpbounds.algorithms.problems.sets.scaled import between, times
from dpbounds.algorithms.problems.sets.widths import mean_largest, mean_norm
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure

_ROOT_TWO = sympy.sqrt(2)


def _distinct(vertices: ArrayLike) -> Array:
    points = numbers(vertices, "vertices", "an (N, p) array of numbers")
    if points.ndim != 2 or 0 in points.shape:
        raise InvalidValue("vertices.shape", points.shape, "(N, p) with N >= 1 and p >= 1", "one row per vertex")
    checked_rows(points, points.shape[1], "vertices")
    if np.abs(points).max() > 1e100:
        raise InvalidValue("vertices", np.abs(points).max(), "entries of magnitude at most 1e100")
    if len(np.unique(points, axis=0)) < len(points):
        raise InvalidValue("vertices", "a point that comes twice", "each vertex once")
    points.flags.writeable = False
    return points


@frozen(eq=False)
class Polytope(ConstraintSet):
    """C = the convex hull of finitely many points; meant for tens of vertices (a step decomposes N x p matrices).

    Attributes:
        vertices: The points as given, shape (N, p), finite, read-only; every double is taken to be the binary number it
            holds. Points of the hull's inside do no harm.

    Raises:
        InvalidValue: Not an array of finite points, or a point comes twice.

    >>> Polytope([[0, 0], [2, 0], [0, 2]]).project([[3.0, 1.0], [0.5, 0.5]]).round(12)
    array([[2. , 0. ],
           [0.5, 0.5]])
    """

    vertices: Array = field(converter=_distinct)
    _exact: tuple[tuple[Fraction, ...], ...] = field(init=False, repr=False)

    @_exact.default
    def _as_fractions(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(tuple(map(Fraction, row)) for row in self.vertices.tolist())

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return int(self.vertices.shape[1])

    @property
    def symmetric(self) -> bool:
        """Whether the given points are their own mirror image, exactly."""
        points = set(self._exact)
        return all(tuple(-x for x in point) in points for point in points)

    @property
    def diameter(self) -> sympy.Expr:
        """The largest l2 distance of two vertices: a norm of x - y is convex in (x, y), so largest at vertices."""
        return sympy.sqrt(sympy.Rational(max(self._squared_distances, default=Fraction(0))))

    @property
    def l1_diameter(self) -> sympy.Expr:
        """The largest l1 distance of two vertices."""
        pairs = combinations(self._exact, 2)
        distances = (sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs)
        return sympy.Rational(max(distances, default=0))

    @property
    def norm_bound(self) -> sympy.Expr:
        """The largest l2 norm of a vertex."""
        return sympy.sqrt(sympy.Rational(max(sum(x * x for x in point) for point in self._exact)))

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """The largest l1 norm of a vertex."""
        return sympy.Rational(max(sum(abs(x) for x in point) for point in self._exact))

    @property
    def gaussian_width(self) -> Enclosure:
        """E max <g, v_i> over the N vertices, between proven bounds (they meet where all distances are equal).

        By the comparison of Sudakov and Fernique, the mean of a maximum of centred Gaussians grows with E(X_i - X_j)² =
        ‖v_i - v_j‖². Against N independent Gaussians of variance a²/2, where that is a², this gives d_min m/√2 <= w <=
        d_max m/√2 with m = E max of N standard Gaussians. Also w >= E max over the two farthest vertices =
        d_max/√(2π), and w <= E‖g‖₂ max ‖v_i - c‖ for any centre c (E <g, c> = 0): here the mean of the vertices.
        """
        if len(self._exact) == 1:
            return Enclosure.exactly(0)
        mean = times(1 / _ROOT_TWO, mean_largest(len(self._exact)))
        closest = sympy.sqrt(sympy.Rational(min(self._squared_distances)))
        centre = [sum(column, Fraction(0)) / len(self._exact) for column in zip(*self._exact, strict=True)]
        reach = max(sum(((x - c) ** 2 for x, c in zip(v, centre, strict=True)), Fraction(0)) for v in self._exact)
        below = [times(closest, mean), times(self.diameter, 1 / sympy.sqrt(2 * sympy.pi))]
        above = [times(self.diameter, mean), times(sympy.sqrt(sympy.Rational(reach)), mean_norm(self.dimension))]
        return between(below, above, "bounds on the width")

    def project(self, points: ArrayLike) -> Array:
        """Return the nearest point of the hull, by Wolfe's active-set method (see there for accuracy and errors)."""
        return nearest_in_hull(self.vertices, self._rows(points))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return the first vertex with the least <g, v>."""
        rows = self._rows(directions, "directions")
        chosen: Array = self.vertices[(rows @ self.vertices.T).argmin(axis=1)]
        return chosen

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Return min Σ λ_i over λ >= 0 with Σ λ_i v_i = x, by one sparse linear programme for all rows (HiGHS).

        Infinite for a point outside the span of the vertices (further than rounding). Raises ``InvalidValue`` for a set
        that is not symmetric.
        """
        rows = self._rows(points)
        if not self.symmetric:
            advice = "list -v beside every vertex v"
            raise InvalidValue("set", "a polytope", "a centrally symmetric set, for a Minkowski norm", advice)
        sizes = np.abs(rows).max(axis=1)
        norms = np.zeros(len(rows))
        scale = np.abs(self.vertices).max()
        if scale == 0:  # the polytope is the point 0
            return np.where(sizes > 0, np.inf, 0.0)
        corners, units = self.vertices / scale, rows / np.where(sizes > 0, sizes, 1.0)[:, None]
        residuals = np.abs(units - units @ np.linalg.pinv(corners) @ corners).max(axis=1)
        outside = residuals > 1e-9
        norms[outside] = np.inf
        solved = np.flatnonzero(~outside & (sizes > 0))
        if len(solved):
            count = len(corners)
            equations = scipy.sparse.kron(scipy.sparse.eye_array(len(solved)), corners.T, format="csc")
            answer = linprog(np.ones(count * len(solved)), A_eq=equations, b_eq=units[solved].ravel(), method="highs")
            if answer.status != 0:
                raise NotCertified(f"the linear programme of the Minkowski norm was not solved: {answer.message}")
            norms[solved] = answer.x.reshape(len(solved), count).sum(axis=1) * sizes[solved] / scale
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether the distance to the nearest point of the hull is at most the tolerance, up to rounding."""
        rows, slack = self._rows(points), checked_tolerance(tolerance)
        size = np.abs(rows).max(axis=1) + np.abs(self.vertices).max()
        rounding = 64 * self.dimension * 2.0**-53 * size
        distances = np.sqrt(((rows - self.project(rows)) ** 2).sum(axis=1))
        inside: NDArray[np.bool_] = distances <= slack + rounding
        return inside

    @property
    def _squared_distances(self) -> list[Fraction]:
        return [
            sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0)) for a, b in combinations(self._exact, 2)
        ]
