"""The sigmoid loss with an l1 regulariser: the experiment of Wang & Xu 2019, with its constants made exact."""

from __future__ import annotations

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import MarginLoss, Problem, margin_problem
from dpbounds.expressions.exact import ExactLike


def _value_and_slope(margins: Array) -> tuple[Array, Array]:
    # with t = tanh(m/2): s = (1 - t)/2 and s' = -(1 - t)(1 + t)/4; never overflows, five times faster than a logistic
    t = 0.5 * margins
    np.tanh(t, out=t)
    value = 1.0 - t
    t += 1.0
    t *= value
    t *= -0.25  # in place: what is left of a step's time beside the products is the traffic of such arrays
    value *= 0.5
    return value, t


def _curvature(margins: Array) -> Array:
    t = np.tanh(0.5 * margins)
    curvature: Array = 0.25 * (1.0 - t) * (1.0 + t) * t  # s(1-s)(1-2s)
    return curvature


SIGMOID = MarginLoss(
    name="sigmoid loss",
    value_and_slope=_value_and_slope,
    largest_slope=sympy.Rational(1, 4),
    largest_curvature=sympy.sqrt(3) / 18,  # 1/(6√3)
    value_at_zero=sympy.Rational(1, 2),
    curvature=_curvature,
    largest_third_derivative=sympy.Rational(1, 8),  # |q - 6q²| with q = s(1-s) in (0, 1/4], at q = 1/4
    supremum=sympy.Integer(1),
)


def sigmoid_loss(
    features: ArrayLike,
    labels: ArrayLike,
    l1: ExactLike = 0.01,
    feature_bound: ExactLike = 1,
    radius: ExactLike | None = None,
) -> Problem:
    """Return the problem min over x in C of (1/n) Σ 1/(1 + exp(y_i <a_i, x>)) + l1 ‖x‖₁.

    The loss *decreases* with the margin y <a, x>. Wang & Xu 2019 print 1/(1 + exp(-y <a, x>)), which increases with it
    and so rewards mistakes; replacing x by -x turns one into the other, and gradient norms are the same. They weigh the
    regulariser λ/2 with λ = 0.01; ``l1`` is the whole weight.

    Every row of ``features`` is clipped to l2 norm ``feature_bound`` = B, one record at a time, so that the constants
    hold for every dataset. With s(m) = 1/(1 + e^m), s' = -s(1-s) and s'' = s(1-s)(1-2s), where s takes the values in
    (0, 1):

    - sup |s'| = max s(1-s) = 1/4, attained at s = 1/2, that is m = 0. Hence G = B/4.
    - q(s) = s(1-s)(1-2s) = s - 3s² + 2s³ has q' = 1 - 6s + 6s² = 0 at s = 1/2 ± 1/(2√3), where s(1-s) = 1/6 and
      |1-2s| = 1/√3; q vanishes at the ends 0 and 1. Hence sup |s''| = 1/(6√3) and L = B²/(6√3).
    - s(0) = 1/2, so F^r(0) = 1/2 exactly, and F^r >= 0: the initial gap at x₁ = 0 is at most 1/2.

    Args:
        features: a_i, shape (n, p), finite numbers.
        labels: y_i in {-1, +1}, shape (n,).
        l1: Weight of ‖x‖₁, at least 0 (a float means its exact binary value).
        feature_bound: B > 0: a public number, not one read off the data.
        radius: C is the l2 ball of this radius, or all of R^p (None).

    Raises:
        InvalidValue: A shape, label, feature or number is not allowed.

    Source: Wang & Xu 2019, section "Experiments" (bib key wang-xu-2019).

    >>> problem = sigmoid_loss([[3.0, 4.0], [0.5, 0.0]], [1, -1])
    >>> problem.lipschitz, problem.smoothness, problem.initial_gap
    (1/4, sqrt(3)/18, 1/2)
    >>> problem.notes
    ("every record's features are clipped to l2 norm 1, a public bound",)
    """
    return margin_problem(SIGMOID, features, labels, l1, feature_bound, radius)
