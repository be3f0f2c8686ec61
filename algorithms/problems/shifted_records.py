"""A known function F spread over records: f(x, z_i) = F(x) + <z_i, x> with Σ z_i = 0 and ‖z_i‖ <= B."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_points, checked_rows, positive, reach
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShiftedRecords(ABC):
    """What every such sum has, whatever F is; what F is stands in the subclasses.

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
    def lipschitz(self) -> sympy.Expr | None:
        """sup‖∇F‖ + B."""

    @property
    @abstractmethod
    def minimum(self) -> sympy.Expr:
        """Inf F over R^p; the ball must reach a minimiser for it to be attained."""

    @property
    def initial_gap(self) -> sympy.Expr:
        """F(x₁) - inf F, rounded up by 1e-9 of itself plus what rounding may have done to F(x₁).

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

    @abstractmethod
    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """F and ∇F."""

    @abstractmethod
    def hessian(self, X: ArrayLike) -> Array:
        """∇²F, shape (R, p, p)."""

    def objective(self, X: ArrayLike) -> Array:
        """F at every row of ``X``; returns shape (R,)."""
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        """∇F, shape (R, p)."""
        return self.objective_and_gradient(X)[1]

    def objective_at(self, points: ArrayLike) -> Array:
        """F at N points, shape (N,)."""
        return self.objective(points)

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """∇F plus the mean shift of each repetition's own records, ``rows`` of shape (R, b); returns (R, p)."""
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        means: Array = self.gradient(points) + self.shifts[chosen].mean(axis=1)
        return means

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)


def shifts_in_pairs(records: int, dimension: int, shift_bound: ExactLike, seed: int) -> tuple[Array, Fraction]:
    """Return seeded ±z of norm B (a hair less, so that B is never exceeded), read-only, and B.

    Raises:
        InvalidValue: The number of records is odd, or B is not positive.
    """
    n, bound = positive_integer(records, "records"), positive(shift_bound, "shift_bound")
    if n % 2:
        raise InvalidValue("records", records, "an even number", "records come in pairs ±z so that they cancel")
    half = np.random.default_rng(seed).standard_normal((n // 2, dimension))
    half *= float(bound) * (1 - 1e-12) / np.linalg.norm(half, axis=1, keepdims=True)
    shifts = np.concatenate([half, -half])
    shifts.flags.writeable = False
    return shifts, bound
