"""Empirical risk of a linear model: F(x) = (1/n) Σ φ(<a_i, x> - t_i) over R^p or an l2 ball, with exact constants."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.linear_sums import SumWithTargets
from dpbounds.algorithms.problems.points import demand_finite, numbers, positive, reach
from dpbounds.algorithms.problems.problem import Problem, checked_bound, checked_features, checked_labels
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.algorithms.problems.residual_losses import (
    CAUCHY,
    GEMAN_MCCLURE,
    SQUARED_PROBIT,
    SQUARED_SIGMOID,
    ScalarLoss,
    biweight,
)
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel(SumWithTargets):
    """F(x) = (1/n) Σ φ(<a_i, x> - t_i), ‖a_i‖ <= B, |t_i| <= Y; every record is clipped to these public bounds.

    If φ is a loss of the margin, targets and Y are zero, and a_i carries the label's sign.

    Attributes:
        loss: φ.
    """

    loss: ScalarLoss

    @property
    def loss_range(self) -> sympy.Expr | None:
        """At least sup f - inf f: sup φ, or for unbounded φ its value at the largest residual BR + Y in the ball."""
        if self.loss.supremum is not None:
            return self.loss.supremum
        if self.radius is None:
            return None
        largest = sympy.Rational(self.feature_bound) * reach(self.radius) + sympy.Rational(self.target_bound)
        return self.loss.value(largest)

    @property
    def initial_gap(self) -> sympy.Expr:
        """At least F(0) - inf F, as φ >= 0 and φ grows with |u| (residuals) or is taken at 0 (margins): φ(Y)."""
        return self.loss.value(sympy.Rational(self.target_bound))

    def quasar_convexity(self, distance: ExactLike) -> sympy.Expr:
        """Return q of F on the ball of this radius around a minimiser with zero residuals (realisable data).

        With residuals zero at x*, <∇f(x), x - x*> = u φ'(u) >= q φ(u) = q (f(x) - f(x*)) for u = <a, x - x*>, |u| <=
        B·distance; the mean over records keeps it. The caller assumes that the data are realisable, which cannot be
        checked without a release. q in (0, 1] is exact: attained by one record of norm B at this distance.

        Raises:
            InvalidValue: The distance is not positive, or the loss has no such constant.
        """
        if self.loss.quasar_convexity is None:
            allowed = "a loss with a quasar-convexity constant (Geman-McClure, Cauchy)"
            raise InvalidValue("loss", self.loss.name, allowed)
        return self.loss.quasar_convexity(sympy.Rational(self.feature_bound * positive(distance, "distance")))

    def _derivatives(self, products: Array, targets: Array) -> tuple[Array, Array, Array]:
        return self.loss.derivatives(products - targets)


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
    signed = clip_rows(matrix, bound)[0] * signs[:, None]
    return _model(loss, signed, np.zeros(len(matrix)), bound, Fraction(0), radius)


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
    inside = clip_rows(values[:, None], limit)[0][:, 0]
    return _model(loss, clip_rows(matrix, bound)[0], inside, bound, limit, radius)


def checked_targets(targets: ArrayLike, records: int) -> Array:
    """Return a copy of the targets, finite and of shape (n,), or raise ``InvalidValue``."""
    values = numbers(targets, "targets", "an array of numbers")
    if values.shape != (records,):
        raise InvalidValue("targets.shape", values.shape, f"({records},), one target per row of features")
    demand_finite(values, "targets")
    return values


def clipping_note(bound: Fraction, limit: Fraction, low: Fraction | None = None) -> str:
    """Describe the clipping of records, without their number, which is not private."""
    targets = f"[{float(-limit if low is None else low):g}, {float(limit):g}]"
    return f"records are clipped one by one to public bounds: features to l2 norm {bound}, targets to {targets}"


def _model(
    loss: ScalarLoss, features: Array, targets: Array, bound: Fraction, limit: Fraction, radius: ExactLike | None
) -> LinearModel:
    ball = None if radius is None else positive(radius, "radius")
    features, targets = np.ascontiguousarray(features), np.ascontiguousarray(targets)
    for array in (features, targets):
        array.flags.writeable = False
    return LinearModel(features, targets, bound, limit, ball, (clipping_note(bound, limit),), loss)
