"""Empirical risk F(x) = (1/n) Σ φ(<a_i, x>, t_i) of losses whose derivatives are bounded on a ball only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems import linear_sums
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.linear_model import checked_targets
from dpbounds.algorithms.problems.points import checked_points, checked_rows, checked_start, positive, reach
from dpbounds.algorithms.problems.problem import checked_bound, checked_features, clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, to_float

Constant = Callable[[sympy.Expr, sympy.Expr], sympy.Expr]


@dataclass(frozen=True, slots=True)
class BallLoss:
    """φ(u, t) >= 0 of a product u = <a, x> and a target t, with its constants over |u| <= ρ and all targets up to Y.

    Attributes:
        name: What it is called.
        derivatives: (u, t) -> (φ, φ', φ''), elementwise; derivatives in u.
        largest_slope: (ρ, Y) -> sup |φ'|.
        largest_curvature: (ρ, Y) -> sup |φ''|.
        largest_third_derivative: (ρ, Y) -> the Lipschitz constant of φ''.
        supremum: (ρ, Y) -> sup φ; inf φ is 0 and attained, whatever ρ.
        negative_targets: Whether targets lie in [-Y, Y], or else in [0, Y].
    """

    name: str
    derivatives: Callable[[Array, Array], tuple[Array, Array, Array]]
    largest_slope: Constant
    largest_curvature: Constant
    largest_third_derivative: Constant
    supremum: Constant
    negative_targets: bool


@dataclass(frozen=True, slots=True, eq=False)
class BallModel:
    """F(x) = (1/n) Σ φ(<a_i, x>, t_i) on the ball ‖x‖ <= R; every record is clipped to the public bounds B and Y.

    With ρ = BR, |<a, x>| <= ρ there: one record's gradient φ' a has norm at most B sup|φ'|, its Hessian φ'' a aᵀ (of
    rank 1) norm at most B² sup|φ''| and Lipschitz constant B³ sup|φ'''|. All are attained by one record of norm B.
    Points outside the ball are refused; up to R(1 + 1e-9), for which the constants are taken, they count as inside.

    Attributes:
        loss: φ.
        features: a_i, shape (n, p), read-only.
        targets: t_i, shape (n,), read-only.
        feature_bound: B > 0.
        target_bound: Y > 0.
        radius: R > 0.
        start: x₁, shape (p,), in the ball.
        notes: What was done to the data.
    """

    loss: BallLoss
    features: Array
    targets: Array
    feature_bound: Fraction
    target_bound: Fraction
    radius: Fraction
    start: Array
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """n, public."""
        return int(self.features.shape[0])

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return int(self.features.shape[1])

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), a copy."""
        return self.start.copy()

    @property
    def lipschitz(self) -> sympy.Expr:
        """B sup|φ'|."""
        return sympy.Rational(self.feature_bound) * self.loss.largest_slope(*self._ranges)

    @property
    def hessian_rank(self) -> int:
        """1: one record's Hessian is a multiple of a aᵀ."""
        return 1

    @property
    def smoothness(self) -> sympy.Expr:
        """B² sup|φ''|."""
        return sympy.Rational(self.feature_bound) ** 2 * self.loss.largest_curvature(*self._ranges)

    @property
    def hessian_lipschitz(self) -> sympy.Expr:
        """B³ times the Lipschitz constant of φ''."""
        return sympy.Rational(self.feature_bound) ** 3 * self.loss.largest_third_derivative(*self._ranges)

    @property
    def loss_range(self) -> sympy.Expr:
        """Sup φ on the ball."""
        return self.loss.supremum(*self._ranges)

    @property
    def initial_gap(self) -> sympy.Expr:
        """At least F(x₁) - inf F, as F >= 0: sup φ over |u| <= B‖x₁‖, public; the norm is rounded up."""
        norm = Fraction(float(np.linalg.norm(self.start))) * (1 + Fraction(self.dimension + 16, 2**53))
        return self.loss.supremum(
            sympy.Rational(self.feature_bound * min(norm, self.radius)), sympy.Rational(self.target_bound)
        )

    def objective(self, X: ArrayLike) -> Array:
        """F at every row of ``X`` (shape (R, p)); returns shape (R,)."""
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        """∇F at every row of ``X``; returns shape (R, p)."""
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """F, shape (R,), and ∇F, shape (R, p), in one pass over blocks of records."""
        return linear_sums.objective_and_gradient(self.loss.derivatives, self.features, self.targets, self._points(X))

    def objective_at(self, points: ArrayLike) -> Array:
        """F at N candidate points, in blocks, shape (N,)."""
        return linear_sums.objective_in_blocks(self.objective, self._points(points), self.records)

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """The mean gradient over each repetition's own records, ``rows`` of shape (R, b), b >= 1; returns (R, p)."""
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        return linear_sums.batch_gradient(self.loss.derivatives, self.features, self.targets, points, chosen)

    def hessian(self, X: ArrayLike) -> Array:
        """∇²F = (1/n) Σ φ'' a aᵀ, shape (R, p, p)."""
        return linear_sums.hessian(self.loss.derivatives, self.features, self.targets, self._points(X))

    @property
    def _ranges(self) -> tuple[sympy.Expr, sympy.Expr]:
        return sympy.Rational(self.feature_bound) * reach(self.radius), sympy.Rational(self.target_bound)

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)


def ball_model(
    loss: BallLoss,
    features: ArrayLike,
    targets: ArrayLike,
    *,
    radius: ExactLike,
    feature_bound: ExactLike,
    target_bound: ExactLike,
    start: ArrayLike | None,
) -> BallModel:
    """Check the data, clip every record to the public bounds, and return the problem.

    Args:
        loss: φ.
        features: a_i, shape (n, p), finite.
        targets: t_i, shape (n,), finite.
        radius: R > 0.
        feature_bound: B > 0.
        target_bound: Y > 0.
        start: x₁ in the ball, or None for 0.

    Raises:
        InvalidValue: A value is none of that.
    """
    bound, matrix = checked_bound(feature_bound), checked_features(features)
    limit, values = positive(target_bound, "target_bound"), checked_targets(targets, len(matrix))
    ball = positive(radius, "radius")
    first = checked_start(np.zeros(matrix.shape[1]) if start is None else start, ball)
    if first.shape != matrix.shape[1:]:
        raise InvalidValue("start.shape", first.shape, f"({matrix.shape[1]},), one number per feature")
    clipped, count = clip_rows(matrix, bound)
    top = to_float(limit, "down")
    low = -top if loss.negative_targets else 0.0
    inside = np.clip(values, low, top)
    for array in (clipped, inside):
        array.flags.writeable = False
    notes = (
        f"records are clipped one by one to the public bounds: {count} of {len(matrix)} to l2 norm {bound}, "
        f"{int((inside != values).sum())} targets to [{low:g}, {limit}] (the counts are not private)",
    )
    return BallModel(loss, clipped, inside, bound, limit, ball, first, notes)
