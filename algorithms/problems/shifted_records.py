"""A known function F spread over records: f(x, z_i) = F(x) + <z_i, x> with Σ z_i = 0 and ‖z_i‖ <= B."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.problems.points import checked_points, checked_rows, checked_start, positive, reach
from dpbounds.algorithms.problems.records import within_norm
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer

ConstantOn = Callable[..., sympy.Expr | None]  # from a radius, or None for all of R^p; None where none is finite


class Shape(Protocol):
    """The constants of F on a ball around 0, see ``Profile`` and ``Surface``."""

    @property
    def largest_slope(self) -> ConstantOn:
        """Sup ‖∇F‖."""

    @property
    def largest_curvature(self) -> ConstantOn:
        """Sup ‖∇²F‖, operator norm."""

    @property
    def largest_third_derivative(self) -> ConstantOn:
        """The Lipschitz constant of ∇²F, operator norm against l2 norm."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShiftedRecords(FiniteSum):
    """Base class of sums of one function F, shifted for each record; subclasses define F.

    One record's gradient has norm at most ‖∇F‖ + B, and its Hessian is that of F. Records are ±z in pairs.

    Outside the ball the constants, by which noise is calibrated, do not hold: points there are refused. They do hold up
    to R(1 + 1e-9), so that a point projected in floating point is none of those.

    Attributes:
        shifts: z_i, shape (n, p), read-only.
        shift_bound: B >= 0.
        radius: R > 0 of the l2 ball around 0, or None for all of R^p.
        start: x₁, within the ball.
    """

    shifts: Array
    shift_bound: Fraction
    radius: Fraction | None
    start: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", within_norm(self.shifts, self.shift_bound, "shifts"))
        object.__setattr__(self, "start", checked_start(self.start, self.radius))
        shifts = self.shifts if self.shifts.strides[0] else self.shifts[:1]  # one row, shown many times
        half = (len(shifts) + 1) // 2
        if not np.array_equal(shifts[:half], -shifts[len(shifts) - half :]):
            raise InvalidValue("shifts", "others", "pairs ±z, the second half minus the first", "F is their mean")
        if self.start.shape != (self.dimension,):
            raise InvalidValue("start.shape", self.start.shape, f"({self.dimension},)")

    @property
    def records(self) -> int:
        """n, even."""
        return int(self.shifts.shape[0])

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return int(self.shifts.shape[1])

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), a copy."""
        return self.start.copy()

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The constants of F."""

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """sup‖∇F‖ + B."""
        slope = self.shape.largest_slope(self._reach)
        return None if slope is None else slope + sympy.Rational(self.shift_bound)

    @property
    def smoothness(self) -> sympy.Expr | None:
        """sup‖∇²F‖, or None where F is not smooth."""
        return self.shape.largest_curvature(self._reach)

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """The Lipschitz constant of ∇²F, or None where F is not smooth."""
        return self.shape.largest_third_derivative(self._reach)

    @property
    @abstractmethod
    def minimum(self) -> sympy.Expr:
        """Inf F over R^p; the ball must reach a minimiser for it to be attained."""

    @property
    def initial_gap(self) -> sympy.Expr:
        """F(x₁) - inf F, rounded up by 1e-9 of itself plus the rounding error of F(x₁).

        F(x₁) is a sum of terms that may cancel, as in w⁴/4 - a w²/2, whose terms are up to 32 times the depth a²/4 or
        in proportion to F: 2^-40 of these sizes is far above what summing in doubles loses.
        """
        start = Fraction(float(self.objective(self.start[None])[0]))
        least = Fraction(self.minimum.p, self.minimum.q)
        lost = (abs(start) + 32 * abs(least)) / 2**40 + Fraction(1, 10**12)
        return sympy.Rational((start - least) * (1 + Fraction(1, 10**9)) + lost)

    @property
    def loss_range(self) -> sympy.Expr | None:
        """A bound, not the supremum: 2R times the Lipschitz constant: the ball's diameter times the steepest slope."""
        if self.radius is None or self.lipschitz is None:
            return None
        return 2 * reach(self.radius) * self.lipschitz

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return ∇F plus the mean shift of each repetition's own records, ``rows`` of shape (R, b); returns (R, p)."""
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        means: Array = self.gradient(points) + self.shifts[chosen].mean(axis=1)
        return means

    def record_gradients(self, x: Array, rows: NDArray[np.int64]) -> Array:
        """Return ∇F + z_i of these records at one point, shape (b, p); its bits do not depend on the position."""
        gradients: Array = self.gradient(x[None]) + self.shifts[rows]
        return gradients

    def record_losses(self, points: Array, rows: NDArray[np.int64]) -> Array:
        """Return F + <z_i, ·> of these records at N points, shape (b, N); its bits do not depend on the position."""
        losses = np.tile(self.objective(points), (len(rows), 1))
        for column, weights in zip(self.shifts[rows].T, points.T, strict=True):
            losses += column[:, None] * weights
        return losses

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)

    @property
    def _reach(self) -> sympy.Expr | None:
        return None if self.radius is None else reach(self.radius)


def shifts_in_pairs(records: int, dimension: int, shift_bound: ExactLike, seed: int) -> tuple[Array, Fraction]:
    """Return seeded ±z of norm B > 0 (a hair less, so that B is never exceeded), read-only, and B."""
    n, bound = positive_integer(records, "records"), positive(shift_bound, "shift_bound")
    if n % 2:
        raise InvalidValue("records", records, "an even number", "records come in pairs ±z so that they cancel")
    half = np.random.default_rng(seed).standard_normal((n // 2, dimension))
    half *= float(bound) * (1 - 1e-12) / np.linalg.norm(half, axis=1, keepdims=True)
    shifts = np.concatenate([half, -half])
    shifts.flags.writeable = False
    return shifts, bound
