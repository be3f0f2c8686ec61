"""Empirical risk F(x) = (1/n) Σ φ(<a_i, x>, t_i) of losses whose derivatives are bounded on a ball only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.linear_model import checked_targets, clipping_note
from dpbounds.algorithms.problems.linear_sums import SumWithTargets
from dpbounds.algorithms.problems.points import checked_start, positive, reach
from dpbounds.algorithms.problems.problem import checked_bound, checked_features
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, to_float

Constant = Callable[[sympy.Expr, sympy.Expr], sympy.Expr]


@dataclass(frozen=True, slots=True)
class BallLoss:
    """φ(u, t) >= 0 of a product u = <a, x> and a target t, with its constants over |u| <= ρ and all targets up to Y.

    Attributes:
        name: The name of the loss.
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
class BallModel(SumWithTargets):
    """F(x) = (1/n) Σ φ(<a_i, x>, t_i) on the ball ‖x‖ <= R, where |<a, x>| <= ρ = BR; Y > 0.

    Points outside the ball raise an error; up to R(1 + 1e-9), for which the constants hold, they count as inside.

    Attributes:
        loss: φ.
        radius: R > 0.
        start: x₁, shape (p,), in the ball.
    """

    loss: BallLoss
    radius: Fraction
    start: Array

    def __post_init__(self) -> None:
        SumWithTargets.__post_init__(self)
        object.__setattr__(self, "start", checked_start(self.start, self.radius))
        if self.start.shape != (self.dimension,):
            raise InvalidValue("start.shape", self.start.shape, f"({self.dimension},), one number per feature")

    @property
    def _only_positive(self) -> bool:
        return not self.loss.negative_targets

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), a copy."""
        return self.start.copy()

    @property
    def loss_range(self) -> sympy.Expr:
        """Sup φ on the ball."""
        return self._supremum("supremum")

    @property
    def initial_gap(self) -> sympy.Expr:
        """At least F(x₁) - inf F, as F >= 0: sup φ over |u| <= B‖x₁‖, public; the norm is rounded up."""
        norm = Fraction(float(np.linalg.norm(self.start))) * (1 + Fraction(self.dimension + 16, 2**53))
        return self.loss.supremum(
            sympy.Rational(self.feature_bound * min(norm, self.radius)), sympy.Rational(self.target_bound)
        )

    def _derivatives(self, products: Array, targets: Array) -> tuple[Array, Array, Array]:
        return self.loss.derivatives(products, targets)

    def _supremum(self, name: str) -> sympy.Expr:
        constant: Constant = getattr(self.loss, name)
        return constant(*self._ranges)

    @property
    def _ranges(self) -> tuple[sympy.Expr, sympy.Expr]:
        return sympy.Rational(self.feature_bound) * reach(self.radius), sympy.Rational(self.target_bound)


def ball_model(
    loss: BallLoss,
    features: ArrayLike,
    targets: ArrayLike,
    radius: ExactLike,
    feature_bound: ExactLike,
    target_bound: ExactLike,
    start: ArrayLike | None,
) -> BallModel:
    """Check the data, clip every record to the public bounds, and return the problem.

    Args:
        loss: φ.
        features: a_i, shape (n, p), finite numbers; clipped to l2 norm ``feature_bound``, one record at a time.
        targets: t_i, shape (n,), finite; clipped to ``target_bound``.
        radius: R > 0.
        feature_bound: B > 0, public.
        target_bound: Y > 0, public.
        start: x₁ in the ball, public, or None for 0.

    Raises:
        InvalidValue: A value is none of that.
    """
    bound, matrix = checked_bound(feature_bound), checked_features(features)
    limit, values = positive(target_bound, "target_bound"), checked_targets(targets, len(matrix))
    ball = positive(radius, "radius")
    first = checked_start(np.zeros(matrix.shape[1]) if start is None else start, ball)
    clipped = clip_rows(matrix, bound)[0]
    top = to_float(limit, "down")
    low = -top if loss.negative_targets else 0.0
    inside = np.clip(values, low, top)
    for array in (clipped, inside):
        array.flags.writeable = False
    notes = (clipping_note(bound, limit, None if loss.negative_targets else Fraction(0)),)
    return BallModel(clipped, inside, bound, limit, ball, notes, loss, first)
