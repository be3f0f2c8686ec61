"""Sparse vectors in an l2 ball: closed and bounded, but not convex."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.sets.base import OfRadius, checked_radius, checked_tolerance, directions_of, row_norms
from dpbounds.algorithms.problems.sets.scaled import between, enclosed, times
from dpbounds.algorithms.problems.sets.widths import mean_largest_magnitude, mean_norm
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import positive_integer, to_float


def _sparsity(sparsity: object) -> int:
    return positive_integer(sparsity, "sparsity")


@frozen
class SparseVectors(OfRadius):
    """C = {x in R^p: at most s entries are not 0, ‖x‖₂ <= r}.

    Attributes:
        sparsity: s, from 1 to p.

    >>> SparseVectors(3, 1, radius=2).project([[1.0, -5.0, 3.0]])
    array([[ 0., -2.,  0.]])
    """

    sparsity: int = field(converter=_sparsity)
    radius: Fraction = field(default=Fraction(1), converter=checked_radius)

    def __attrs_post_init__(self) -> None:
        if self.sparsity > self.dimension:
            raise InvalidValue("sparsity", self.sparsity, f"at most the dimension, {self.dimension}")

    @property
    def symmetric(self) -> bool:
        """No: C = -C, but C is convex only for s = p, where ``L2Ball`` is the same set."""
        return False

    @property
    def vertices(self) -> Array | None:
        """None: the hull of C has infinitely many extreme points for s > 1; for s = 1 it is ``L1Ball``."""
        return None

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """r√s, by the Cauchy-Schwarz inequality on the support, with equality for s equal entries."""
        return self.norm_bound * sympy.sqrt(self.sparsity)

    @property
    def gaussian_width(self) -> Enclosure:
        """The width r E M, M = max ‖g_S‖₂ over supports S of size s, between proven bounds.

        Below: (1) one fixed S gives E‖g_S‖₂, in closed form. (2) Cut ⌊p/s⌋ s coordinates into s blocks and take the
        largest magnitude m_b of each block: M >= ‖(m_1, ..., m_s)‖₂ >= Σ m_b/√s, whose mean is √s E max |g_i| over one
        block. Above: (1) the fixed-support norms are 1-Lipschitz functions of g, so E exp(t(‖g_S‖ - E‖g_S‖)) <=
        exp(t²/2), and the largest of N = C(p, s) of them has mean at most E‖g_S‖ + √(2 ln N). (2) M <= ‖g‖₂.
        (3) M <= √s max |g_i|. The ends meet for s = 1 and for s = p.
        """
        count, size = self.dimension, self.sparsity
        root, fixed = sympy.sqrt(size), mean_norm(size)
        supports = sympy.Integer(math.comb(count, size))
        blocks = times(root, mean_largest_magnitude(count // size))
        above = [
            enclosed(fixed + sympy.sqrt(2 * sympy.log(supports))),
            enclosed(mean_norm(count)),
            times(root, mean_largest_magnitude(count)),
        ]
        return times(self.norm_bound, between([enclosed(fixed), blocks], above, "bounds on the width"))

    def project(self, points: ArrayLike) -> Array:
        """Keep the s largest magnitudes and scale the result back to the ball: a nearest point.

        For a fixed support S the nearest point is the projection of v_S on the ball, at squared distance
        ‖v‖² - q(‖v_S‖) with q(a) = a² for a <= r and 2ar - r² beyond: increasing, so the best S has the largest
        ‖v_S‖. Where magnitudes are tied, which of them is kept is arbitrary but depends on the row only.
        """
        rows = self._hard_threshold(self._rows(points))
        radius = to_float(self.radius, "down")
        return np.where(row_norms(rows) <= radius, rows, radius * directions_of(rows))

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return -r g_S/‖g_S‖₂ with S the s largest magnitudes (Cauchy-Schwarz on each support), and 0 for g = 0."""
        rows = self._hard_threshold(self._rows(directions, "directions"))
        return -to_float(self.radius, "down") * directions_of(rows)

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        del points
        advice = "its convex hull is L1Ball for s = 1 and L2Ball for s = p"
        raise InvalidValue("set", "the sparse vectors", "a convex symmetric set, for a Minkowski norm", advice)

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether at most s entries exceed the tolerance in magnitude and ‖x‖₂ <= r + tolerance."""
        rows, slack = self._rows(points), checked_tolerance(tolerance)
        sparse: NDArray[np.bool_] = np.count_nonzero(np.abs(rows) > slack, axis=1) <= self.sparsity
        return sparse & (row_norms(rows)[:, 0] <= float(self.radius) + slack)

    def _hard_threshold(self, rows: Array) -> Array:
        kept = np.argpartition(-np.abs(rows), self.sparsity - 1, axis=1)[:, : self.sparsity]
        result = np.zeros_like(rows)
        np.put_along_axis(result, kept, np.take_along_axis(rows, kept, axis=1), axis=1)
        return result
