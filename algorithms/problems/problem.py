"""Regularised empirical risk: F^r(x) = (1/n) Σ φ(y_i <a_i, x>) + λ‖x‖₁ over R^p or an l2 ball, with exact constants.

Everything is batched over repetitions: ``X`` of shape (R, p) holds one point per repetition, and a gradient of all of
them is two matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.linear_sums import BLOCK, Chosen, LinearSum
from dpbounds.algorithms.problems.points import checked_points, demand_finite, numbers
from dpbounds.algorithms.problems.proximal import proximal_l1
from dpbounds.algorithms.problems.records import clip_rows, within_norm
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, to_float

# Outside this range squared norms would leave the range of doubles.
_SMALLEST_BOUND, _LARGEST_BOUND = Fraction(10) ** -100, Fraction(10) ** 100


@dataclass(frozen=True, slots=True)
class MarginLoss:
    """A loss φ(m) >= 0 of the margin m = y <a, x>, smooth but not necessarily convex, with its exact constants.

    Attributes:
        name: The name of the loss.
        value_and_slope: Margins -> (φ, φ'), elementwise.
        largest_slope: sup |φ'|, exact.
        largest_curvature: sup |φ''|, exact.
        value_at_zero: φ(0), exact.
        curvature: Margins -> φ'', elementwise.
        largest_third_derivative: sup |φ'''|, exact.
        supremum: sup φ, exact; inf φ is 0.
    """

    name: str
    value_and_slope: Callable[[Array], tuple[Array, Array]]
    largest_slope: sympy.Expr
    largest_curvature: sympy.Expr
    value_at_zero: sympy.Expr
    curvature: Callable[[Array], Array]
    largest_third_derivative: sympy.Expr
    supremum: sympy.Expr


@dataclass(frozen=True, slots=True, eq=False)
class Problem(LinearSum):
    """Minimise F^r(x) = (1/n) Σ_i φ(<z_i, x>) + λ‖x‖₁ over C, where z_i = y_i a_i and ‖a_i‖₂ <= ``feature_bound``.

    Attributes:
        loss: φ.
        signed_features: z_i = y_i a_i, shape (n, p), read-only; every row's norm is at most ``feature_bound``, exactly.
        feature_bound: B > 0, public.
        l1: λ >= 0, the weight of ‖x‖₁.
        radius: C is the l2 ball of this radius around 0, or all of R^p (None).
        notes: The preprocessing of the data.
    """

    loss: MarginLoss
    signed_features: Array = field(repr=False)
    feature_bound: Fraction
    l1: Fraction
    radius: Fraction | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bound = checked_bound(self.feature_bound)
        checked_weight(self.l1)
        checked_radius(self.radius)
        object.__setattr__(self, "signed_features", within_norm(self.signed_features, bound, "signed_features"))

    @property
    def _rows(self) -> Array:
        return self.signed_features

    def _value_and_slope(self, products: Array, chosen: Chosen) -> tuple[Array, Array]:
        return self.loss.value_and_slope(products)

    def _curvature(self, products: Array, chosen: Chosen) -> Array:
        return self.loss.curvature(products)

    def _points_at_once(self) -> int:
        return BLOCK

    @property
    def loss_range(self) -> sympy.Expr:
        """Sup φ - inf φ of one record's loss; the regulariser is not part of it."""
        return self.loss.supremum

    @property
    def initial_gap(self) -> sympy.Expr:
        """F^r(x₁) - 0 = φ(0): at least F^r(x₁) - inf_C F^r, because φ >= 0 and λ >= 0. Public."""
        return self.loss.value_at_zero

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F^r, shape (R,), and ∇F of the smooth part, shape (R, p), in one pass over the records."""
        values, gradients = LinearSum.objective_and_gradient(self, X)
        if not self.l1:
            return values, gradients
        return values + float(self.l1) * np.abs(self._points(X)).sum(axis=1), gradients

    def per_record_gradient_norms(self, X: ArrayLike) -> Array:
        """Return ‖∇f(x, z_i)‖ = |φ'(<z_i, x>)| ‖z_i‖ for every row x of ``X`` and every record, shape (R, n)."""
        slope = self.loss.value_and_slope(self._points(X) @ self.signed_features.T)[1]
        norms: Array = np.abs(slope) * np.sqrt((self.signed_features**2).sum(axis=1))
        return norms

    def proximal_step(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """x⁺ = argmin over u in C of <g, u> + ‖u - x‖²/(2γ) + λ‖u‖₁, for every row (Wang & Xu 2019, equation (2)).

        Completing the square, that is the proximal map of γλ‖·‖₁ on C at x - γg; shapes (R, p), γ > 0.
        """
        points = self._points(X)
        moved = points - step_size * self._points(gradients, "gradients")
        radius = None if self.radius is None else float(self.radius)
        return proximal_l1(moved, step_size * float(self.l1) if self.l1 else 0.0, radius)

    def projected_gradient(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """P_C(x, g, γ) = (x - x⁺)/γ for every row, γ > 0; g where C = R^p and λ = 0. Shapes as ``proximal_step``."""
        if not step_size > 0:
            raise InvalidValue("step_size", step_size, "greater than 0")
        if self.radius is None and not self.l1:
            return self._points(gradients, "gradients")
        return (self._points(X) - self.proximal_step(X, gradients, step_size)) / step_size

    def _points(self, X: ArrayLike, name: str = "X") -> Array:
        return checked_points(X, self.dimension, name=name)

    def __str__(self) -> str:
        where = f"R^{self.dimension}" if self.radius is None else f"the l2 ball of radius {float(self.radius):g}"
        return (
            f"{self.loss.name} + {float(self.l1):g} ‖x‖₁ over {where}, n = {self.records}, p = {self.dimension}, "
            f"per-record G = {self.lipschitz}, L = {self.smoothness}, F^r(x₁) - inf F^r <= {self.initial_gap}"
        )


def margin_problem(
    loss: MarginLoss,
    features: ArrayLike,
    labels: ArrayLike,
    l1: ExactLike,
    feature_bound: ExactLike,
    radius: ExactLike | None,
) -> Problem:
    """Check the data, clip every record to the public bound, and return the problem; arguments as ``sigmoid_loss``."""
    bound = checked_bound(feature_bound)
    weight, ball = checked_weight(l1), checked_radius(radius)
    matrix = checked_features(features)
    signs = checked_labels(labels, len(matrix))
    signed = np.ascontiguousarray(clip_rows(matrix, bound)[0] * signs[:, None])
    signed.flags.writeable = False
    notes = (f"every record's features are clipped to l2 norm {bound}, a public bound",)
    return Problem(loss, signed, bound, weight, ball, notes)


def checked_weight(l1: ExactLike) -> Fraction:
    """Return the weight of ‖x‖₁ as an exact number at least 0, or raise ``InvalidValue``."""
    weight = exact(l1, "l1")
    if weight < 0:
        raise InvalidValue("l1", l1, "at least 0", "a negative weight would make the regulariser concave")
    return weight


def checked_radius(radius: ExactLike | None) -> Fraction | None:
    """Return the radius of a ball as an exact number greater than 0, or None, or raise ``InvalidValue``."""
    ball = None if radius is None else exact(radius, "radius")
    if ball is not None and not to_float(ball, "down") > 0:
        raise InvalidValue("radius", radius, "greater than 0, or None for all of R^p")
    return ball


def checked_bound(given: ExactLike, name: str = "feature_bound") -> Fraction:
    """Return the l2 norm that records are clipped to as an exact number, or raise ``InvalidValue``."""
    bound = exact(given, name)
    if not _SMALLEST_BOUND <= bound <= _LARGEST_BOUND:
        advice = "it is the public l2 norm that every record is clipped to"
        raise InvalidValue(name, given, "greater than 0 (1e-100 to 1e100)", advice)
    return bound


def checked_features(features: ArrayLike) -> Array:
    """Return a copy of the features as an (n, p) array of finite doubles, or raise ``InvalidValue``."""
    matrix = numbers(features, "features", "an (n, p) array of numbers")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidValue("features.shape", matrix.shape, "(n, p) with n >= 1 and p >= 1", "one row per record")
    demand_finite(matrix, "features", "drop or fill in missing values by a rule that does not look at the data")
    return matrix


def checked_labels(labels: ArrayLike, records: int) -> Array:
    """Return labels -1 or +1, shape (n,), as doubles, or raise ``InvalidValue``."""
    allowed = "-1 or +1"
    signs = numbers(labels, "labels", f"an array of {allowed}")
    if signs.shape != (records,):
        raise InvalidValue("labels.shape", signs.shape, f"({records},), one label per row of features")
    wrong = ~np.isin(signs, (-1.0, 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        advice = "turn labels 0/1 into -1/+1 with 2 * labels - 1" if np.isin(signs, (0.0, 1.0)).all() else ""
        raise InvalidValue(f"labels[{row}]", signs[row], allowed, advice)
    return signs
