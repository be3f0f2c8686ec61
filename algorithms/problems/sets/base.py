"""Base class of constraint sets, and checks of their input."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array as Array
from dpbounds.algorithms.problems.points import demand_finite
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact, positive_integer

Width: TypeAlias = sympy.Expr | Enclosure

# Outside this range squared lengths would leave the range of doubles.
_SMALLEST_LENGTH, _LARGEST_LENGTH = Fraction(10) ** -100, Fraction(10) ** 100


class ConstraintSet(Protocol):
    """A closed bounded set C in R^p, all methods batched over repetitions (one point per row, shape (R, p)).

    Sizes are exact SymPy numbers in the unit of length of the points: they depend on the set only, never on data.
    """

    __slots__ = ()

    @property
    def dimension(self) -> int:
        """The dimension p."""

    @property
    def symmetric(self) -> bool:
        """Whether C = -C, convex: then ``minkowski_norm`` exists."""

    @property
    def vertices(self) -> Array | None:
        """The finitely many points whose hull is C, shape (N, p); None where there are infinitely or too many."""

    @property
    def diameter(self) -> sympy.Expr:
        """Max ‖x - y‖₂ over C."""

    @property
    def l1_diameter(self) -> sympy.Expr:
        """Max ‖x - y‖₁ over C."""

    @property
    def norm_bound(self) -> sympy.Expr:
        """Max ‖x‖₂ over C."""

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """Max ‖x‖₁ over C."""

    @property
    def gaussian_width(self) -> Width:
        """E max <g, x> over C for g ~ N(0, I): a closed form, or a proven enclosure."""

    def project(self, points: ArrayLike) -> Array:
        """Return the point of C nearest to each row in l2."""

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return a point of C with the least <g, v> for each row g."""

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Return min {t >= 0: x in tC} for each row, shape (R,)."""

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether each row violates no constraint by more than ``tolerance``, shape (R,)."""

    def _rows(self, rows: ArrayLike, name: str = "points") -> Array:
        return checked_rows(rows, self.dimension, name)


def support(constraint: ConstraintSet, directions: ArrayLike) -> Array:
    """Return max <g, v> over the set for each row g, shape (R,): the dual Minkowski norm of a symmetric set."""
    rows = checked_rows(directions, constraint.dimension, "directions")
    products: Array = np.einsum("rp,rp->r", rows, constraint.linear_minimiser(-rows))
    return products


def checked_rows(rows: ArrayLike, dimension: int, name: str = "points") -> Array:
    """Return ``rows`` as an (R, p) array of finite doubles, or raise ``InvalidValue``."""
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(name, type(rows).__name__, "an (R, p) array of numbers") from None
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        advice = "one point per row; write x[None, :] for a single point" if matrix.ndim == 1 else "one point per row"
        raise InvalidValue(f"{name}.shape", matrix.shape, f"(R, {dimension})", advice)
    demand_finite(matrix, name, "an iterate that diverged? use a smaller step size")
    return matrix


def checked_tolerance(tolerance: float) -> float:
    """Return the tolerance, or raise ``InvalidValue`` where it is not a finite number at least 0."""
    if not 0 <= tolerance < np.inf:
        raise InvalidValue("tolerance", tolerance, "a finite number at least 0, in the unit of the points")
    return float(tolerance)


def checked_dimension(dimension: object) -> int:
    """Return the dimension p >= 1, or raise ``InvalidValue``."""
    return positive_integer(dimension, "dimension")


def checked_radius(radius: ExactLike) -> Fraction:
    """Return the radius as an exact number, or raise ``InvalidValue``."""
    length = exact(radius, "radius")
    if not _SMALLEST_LENGTH <= length <= _LARGEST_LENGTH:
        raise InvalidValue("radius", radius, "greater than 0 (1e-100 to 1e100)", "the set would be empty")
    return length


@frozen
class OfRadius(ConstraintSet):
    """A set that its dimension and a radius describe; its farthest points are at that distance from 0.

    Attributes:
        dimension: p >= 1.
        radius: r > 0, in the unit of the points, taken exactly.

    Raises:
        InvalidValue: An argument is not allowed.
    """

    dimension: int = field(converter=checked_dimension)
    radius: Fraction = field(default=Fraction(1), converter=checked_radius)

    @property
    def symmetric(self) -> bool:
        """Yes."""
        return True

    @property
    def diameter(self) -> sympy.Expr:
        """2r: ‖x - y‖ <= ‖x‖ + ‖y‖, with equality at y = -x for x of norm r."""
        return 2 * self.norm_bound

    @property
    def l1_diameter(self) -> sympy.Expr:
        """Twice the largest l1 norm, in the same way."""
        return 2 * self.l1_norm_bound

    @property
    def norm_bound(self) -> sympy.Expr:
        """The radius r."""
        return sympy.Rational(self.radius)

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """The radius r, for sets in the l1 ball: ‖x‖₂ <= ‖x‖₁ <= r, with equality at a vertex."""
        return sympy.Rational(self.radius)


def row_norms(rows: Array) -> Array:
    """Return l2 norms, shape (R, 1), without overflow or underflow of the squares."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1.0)
    lengths: Array = largest * np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return lengths


def directions_of(rows: Array) -> Array:
    """Return rows scaled to l2 norm 1; a row of zeros stays as it is."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1.0)
    units: Array = scaled / np.maximum(np.sqrt((scaled * scaled).sum(axis=1, keepdims=True)), 1.0)
    return units
