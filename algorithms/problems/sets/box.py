"""Boxes: an interval for every coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.sets.base import (
    Array,
    ConstraintSet,
    checked_dimension,
    checked_radius,
    checked_tolerance,
)
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, to_float

_MOST_VERTICES_EXPONENT = 12


def _lower(ends: Sequence[ExactLike], name: str = "lower") -> tuple[Fraction, ...]:
    return tuple(exact(end, f"{name}[{i}]") for i, end in enumerate(ends))


def _upper(ends: Sequence[ExactLike]) -> tuple[Fraction, ...]:
    return _lower(ends, "upper")


@frozen
class Box(ConstraintSet):
    """C = {x in R^p: l_i <= x_i <= u_i for all i}.

    Attributes:
        lower: l, one number per coordinate, taken exactly.
        upper: u, with l_i < u_i.

    Raises:
        InvalidValue: The ends do not fit together; the first coordinate where they do not is named.

    >>> Box([0, -1], [1, 1]).project([[3.0, -0.5]])
    array([[ 1. , -0.5]])
    """

    lower: tuple[Fraction, ...] = field(converter=_lower)
    upper: tuple[Fraction, ...] = field(converter=_upper)

    def __attrs_post_init__(self) -> None:
        sizes = len(self.lower), len(self.upper)
        if not self.lower or sizes[0] != sizes[1]:
            raise InvalidValue("lower, upper", sizes, "as many lower as upper bounds, at least one")
        for i, (left, right) in enumerate(zip(self.lower, self.upper, strict=True)):
            if not to_float(left, "up") < to_float(right, "down"):
                advice = "leave a fixed coordinate out of the problem" if left == right else "the box would be empty"
                raise InvalidValue(f"lower[{i}], upper[{i}]", f"{left}, {right}", "lower < upper as doubles", advice)
            if max(abs(left), abs(right)) > 10**100:
                raise InvalidValue(f"lower[{i}], upper[{i}]", f"{left}, {right}", "ends of magnitude at most 1e100")

    @classmethod
    def cube(cls, dimension: int, half_width: ExactLike = 1) -> Box:
        """Return [-h, h]^p, the ball of the maximum norm.

        Args:
            dimension: p >= 1.
            half_width: h > 0, in the unit of the points.
        """
        count, half = checked_dimension(dimension), checked_radius(half_width)
        return cls([-half] * count, [half] * count)

    @property
    def dimension(self) -> int:
        """The number of coordinates p."""
        return len(self.lower)

    @property
    def symmetric(self) -> bool:
        """Whether l = -u."""
        return all(left == -right for left, right in zip(self.lower, self.upper, strict=True))

    @property
    def vertices(self) -> Array | None:
        """All 2^p corners, shape (2^p, p), for p <= 12; None beyond."""
        if self.dimension > _MOST_VERTICES_EXPONENT:
            return None
        bits = np.arange(2**self.dimension)[:, None] >> np.arange(self.dimension) & 1
        return np.where(bits == 1, self._ends[1], self._ends[0])

    @property
    def diameter(self) -> sympy.Expr:
        """√Σ (u_i - l_i)², between opposite corners."""
        return sympy.sqrt(sympy.Rational(sum(side**2 for side in self._sides)))

    @property
    def l1_diameter(self) -> sympy.Expr:
        """Σ (u_i - l_i), between opposite corners."""
        return sympy.Rational(sum(self._sides))

    @property
    def norm_bound(self) -> sympy.Expr:
        """√Σ max(|l_i|, |u_i|)²: every coordinate is largest in magnitude at one of its ends."""
        return sympy.sqrt(sympy.Rational(sum(far**2 for far in self._farthest)))

    @property
    def l1_norm_bound(self) -> sympy.Expr:
        """Σ max(|l_i|, |u_i|)."""
        return sympy.Rational(sum(self._farthest))

    @property
    def gaussian_width(self) -> sympy.Expr:
        """Σ (u_i - l_i)/√(2π).

        The maximum over one coordinate is max(l g, u g) = (l+u)g/2 + (u-l)|g|/2, with E g = 0 and E|g| = √(2/π).
        """
        return self.l1_diameter / sympy.sqrt(2 * sympy.pi)

    def project(self, points: ArrayLike) -> Array:
        """Cut every coordinate at its ends, which are rounded inwards: the result lies in the exact box."""
        return np.clip(self._rows(points), *self._ends)

    def linear_minimiser(self, directions: ArrayLike) -> Array:
        """Return l_i where g_i >= 0, u_i where g_i < 0."""
        rows = self._rows(directions, "directions")
        return np.where(rows < 0, self._ends[1], self._ends[0])

    def minkowski_norm(self, points: ArrayLike) -> Array:
        """Return max |x_i|/u_i for a symmetric box; raise ``InvalidValue`` for any other."""
        if not self.symmetric:
            raise InvalidValue("set", "a box with lower != -upper", "a centrally symmetric set, for a Minkowski norm")
        half = np.array([float(end) for end in self.upper])
        norms: Array = np.abs(self._rows(points) / half).max(axis=1)
        return norms

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
        """Return whether every coordinate is within its ends, enlarged by the tolerance, in double precision."""
        rows, slack = self._rows(points), checked_tolerance(tolerance)
        low = np.array([float(end) for end in self.lower]) - slack
        high = np.array([float(end) for end in self.upper]) + slack
        excess: Array = np.maximum(low - rows, rows - high).max(axis=1)
        return excess <= 0

    @property
    def _ends(self) -> tuple[Array, Array]:
        low = np.array([to_float(end, "up") for end in self.lower])
        return low, np.array([to_float(end, "down") for end in self.upper])

    @property
    def _sides(self) -> list[Fraction]:
        return [right - left for left, right in zip(self.lower, self.upper, strict=True)]

    @property
    def _farthest(self) -> list[Fraction]:
        return [max(abs(left), abs(right)) for left, right in zip(self.lower, self.upper, strict=True)]
