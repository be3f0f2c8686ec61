"""Empirical risk of a linear model: F(x) = (1/n) Σ φ(<a_i, x> - t_i) over R^p or an l2 ball, with exact constants."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems import linear_sums
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_points, checked_rows, positive, reach
from dpbounds.algorithms.problems.problem import Problem, checked_bound, checked_features, checked_labels, clip_rows
from dpbounds.algorithms.problems.residual_losses import (
    CAUCHY,
    GEMAN_MCCLURE,
    SQUARED_PROBIT,
    SQUARED_SIGMOID,
    ScalarLoss,
    biweight,
)
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """F(x) = (1/n) Σ φ(<a_i, x> - t_i), ‖a_i‖ <= B, |t_i| <= Y; every record is clipped to these public bounds.

    With φ' bounded by s₁, φ'' by s₂ and φ'' Lipschitz with s₃: one record's gradient φ' a has norm at most B s₁, its
    Hessian φ'' a aᵀ norm at most B² s₂ and Lipschitz constant B³ s₃. All are attained by one record of norm B.

    Attributes:
        loss: φ.
        features: a_i, shape (n, p), read-only.
        targets: t_i, shape (n,), read-only; zero where φ is a loss of the margin (then a_i carries the label's sign).
        feature_bound: B > 0.
        target_bound: Y >= 0.
        radius: x is in the l2 ball of this radius around 0 (other points are refused), or in R^p (None).
        notes: What was done to the data.
    """

    loss: ScalarLoss
    features: Array
    targets: Array
    feature_bound: Fraction
    target_bound: Fraction
    radius: Fraction | None = None
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
        """x₁ = 0, shape (p,)."""
        return np.zeros(self.dimension)

    @property
    def lipschitz(self) -> sympy.Expr:
        """B sup|φ'|."""
        return sympy.Rational(self.feature_bound) * self.loss.largest_slope

    @property
    def hessian_rank(self) -> int:
        """1: one record's Hessian is a multiple of a aᵀ."""
        return 1

    @property
    def smoothness(self) -> sympy.Expr:
        """B² sup|φ''|."""
        return sympy.Rational(self.feature_bound) ** 2 * self.loss.largest_curvature

    @property
    def hessian_lipschitz(self) -> sympy.Expr:
        """B³ times the Lipschitz constant of φ''."""
        return sympy.Rational(self.feature_bound) ** 3 * self.loss.largest_third_derivative

    @property
    def loss_range(self) -> sympy.Expr | None:
        """At least sup f - inf f: sup φ, or for unbounded φ its value at the largest residual BR + Y in the ball."""
        if self.loss.supremum is not None:
            return self.loss.supremum
        if self.radius is None:
            return None
        return self.loss.value(
            sympy.Rational(self.feature_bound) * reach(self.radius) + sympy.Rational(self.target_bound)
        )

    @property
    def initial_gap(self) -> sympy.Expr:
        """At least F(0) - inf F, as φ >= 0 and φ grows with |u| (residuals) or is taken at 0 (margins): φ(Y)."""
        return self.loss.value(sympy.Rational(self.target_bound))

    def quasar_convexity(self, distance: ExactLike) -> sympy.Expr:
        """The constant q of F on the ball of this radius around a minimiser with zero residuals (realisable data).

        With residuals zero at x*, <∇f(x), x - x*> = u φ'(u) >= q φ(u) = q (f(x) - f(x*)) for u = <a, x - x*>, |u| <=
        B·distance; the mean over records keeps it. That the data are realisable is the caller's assumption: it
        cannot be checked without a release.

        Args:
            distance: Radius around x*, greater than 0.

        Returns:
            q in (0, 1]; exact: attained by one record of norm B at this distance.

        Raises:
            InvalidValue: The distance is not positive, or the loss has no such constant.
        """
        if self.loss.quasar_convexity is None:
            raise InvalidValue(
                "loss", self.loss.name, "a loss with a quasar-convexity constant (Geman-McClure, Cauchy)"
            )
        length = exact(distance, "distance")
        if length <= 0:
            raise InvalidValue("distance", distance, "greater than 0")
        return self.loss.quasar_convexity(sympy.Rational(self.feature_bound * length))

    def objective(self, X: ArrayLike) -> Array:
        """F at every row of ``X`` (shape (R, p)); returns shape (R,)."""
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        """∇F at every row of ``X``; returns shape (R, p)."""
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """F, shape (R,), and ∇F, shape (R, p), in one pass over blocks of records."""
        return linear_sums.objective_and_gradient(self._derivatives, self.features, self.targets, self._points(X))

    def objective_at(self, points: ArrayLike) -> Array:
        """F at N candidate points, in blocks, shape (N,)."""
        return linear_sums.objective_in_blocks(self.objective, self._points(points), self.records)

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """The mean gradient over each repetition's own records.

        Args:
            X: Points, shape (R, p).
            rows: Indices of records, shape (R, b), b >= 1; a record may appear more than once.

        Returns:
            Shape (R, p).

        Raises:
            InvalidValue: A shape or an index is not allowed.
        """
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        return linear_sums.batch_gradient(self._derivatives, self.features, self.targets, points, chosen)

    def hessian(self, X: ArrayLike) -> Array:
        """∇²F = (1/n) Σ φ'' a aᵀ at every row of ``X``; returns shape (R, p, p)."""
        return linear_sums.hessian(self._derivatives, self.features, self.targets, self._points(X))

    def _derivatives(self, products: Array, targets: Array) -> tuple[Array, Array, Array]:
        return self.loss.derivatives(products - targets)

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)


Linear = Problem | LinearModel  # a record enters through <a, x> alone


def squared_sigmoid_link(
    features: ArrayLike, labels: ArrayLike, feature_bound: ExactLike = 1, radius: ExactLike | None = None
) -> LinearModel:
    """Return min (1/n) Σ (σ(<a_i, x>) - (1+y_i)/2)² for labels y_i in {-1, +1}; arguments as for ``sigmoid_loss``."""
    return _of_margins(SQUARED_SIGMOID, features, labels, feature_bound, radius)


def squared_probit_link(
    features: ArrayLike, labels: ArrayLike, feature_bound: ExactLike = 1, radius: ExactLike | None = None
) -> LinearModel:
    """Return min (1/n) Σ (Φ(<a_i, x>) - (1+y_i)/2)² for labels y_i in {-1, +1}; arguments as for ``sigmoid_loss``."""
    return _of_margins(SQUARED_PROBIT, features, labels, feature_bound, radius)


def geman_mcclure(
    features: ArrayLike,
    targets: ArrayLike,
    feature_bound: ExactLike = 1,
    target_bound: ExactLike = 1,
    radius: ExactLike | None = None,
) -> LinearModel:
    """Return min (1/n) Σ u²/(1+u²), u = <a_i, x> - t_i, with records and targets clipped to the public bounds."""
    return _of_residuals(GEMAN_MCCLURE, features, targets, feature_bound, target_bound, radius)


def cauchy(
    features: ArrayLike,
    targets: ArrayLike,
    feature_bound: ExactLike = 1,
    target_bound: ExactLike = 1,
    radius: ExactLike | None = None,
) -> LinearModel:
    """Return min (1/n) Σ ln(1+u²), u = <a_i, x> - t_i, with records and targets clipped to the public bounds."""
    return _of_residuals(CAUCHY, features, targets, feature_bound, target_bound, radius)


def biweight_regression(
    features: ArrayLike,
    targets: ArrayLike,
    cutoff: ExactLike = 1,
    feature_bound: ExactLike = 1,
    target_bound: ExactLike = 1,
    radius: ExactLike | None = None,
) -> LinearModel:
    """Return min (1/n) Σ of Tukey's biweight with this cut-off > 0 of the residuals <a_i, x> - t_i."""
    loss = biweight(sympy.Rational(positive(cutoff, "cutoff")))
    return _of_residuals(loss, features, targets, feature_bound, target_bound, radius)


def _of_margins(
    loss: ScalarLoss, features: ArrayLike, labels: ArrayLike, feature_bound: ExactLike, radius: ExactLike | None
) -> LinearModel:
    bound, matrix = checked_bound(feature_bound), checked_features(features)
    signs = checked_labels(labels, len(matrix))
    clipped, count = clip_rows(matrix, bound)
    return _model(loss, clipped * signs[:, None], np.zeros(len(matrix)), bound, Fraction(0), radius, count, 0)


def _of_residuals(
    loss: ScalarLoss,
    features: ArrayLike,
    targets: ArrayLike,
    feature_bound: ExactLike,
    target_bound: ExactLike,
    radius: ExactLike | None,
) -> LinearModel:
    bound, matrix = checked_bound(feature_bound), checked_features(features)
    limit, values = positive(target_bound, "target_bound"), checked_targets(targets, len(matrix))
    clipped, count = clip_rows(matrix, bound)
    inside, changed = clip_rows(values[:, None], limit)
    return _model(loss, clipped, inside[:, 0], bound, limit, radius, count, changed)


def checked_targets(targets: ArrayLike, records: int) -> Array:
    """Return a copy of the targets, finite and of shape (n,), or raise ``InvalidValue``."""
    try:
        values = np.array(targets, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue("targets", type(targets).__name__, "an array of numbers") from None
    if values.shape != (records,):
        raise InvalidValue("targets.shape", values.shape, f"({records},), one target per row of features")
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values)))
        raise InvalidValue(f"targets[{row}]", values[row], "a finite number")
    return values


def _model(
    loss: ScalarLoss,
    features: Array,
    targets: Array,
    bound: Fraction,
    limit: Fraction,
    radius: ExactLike | None,
    clipped: int,
    changed: int,
) -> LinearModel:
    ball = None if radius is None else positive(radius, "radius")
    features, targets = np.ascontiguousarray(features), np.ascontiguousarray(targets)
    for array in (features, targets):
        array.flags.writeable = False
    notes = (
        f"records are clipped one by one to the public bounds: {clipped} of {len(features)} to l2 norm {bound}, "
        f"{changed} targets to {limit} (the counts are not private)",
    )
    return LinearModel(loss, features, targets, bound, limit, ball, notes)
