"""Losses of linear scores whose gradients are clipped one record at a time, for the estimators.

A record (a, t, v) has a score <x_k, a> for each of K outputs. With r its loss's derivatives in them, its clipped
gradient is v clip(r) ⊗ a, of l2 norm v ‖clip(r)‖ ‖a‖: at most G = cB, as ‖clip(r)‖ <= c, ‖a‖ <= B and 0 <= v <= 1. Each
is enforced here, one record at a time and rounded to the safe side. So G needs no assumption on the data, nor on where
the descent goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.problems.linear_sums import BLOCK, Chosen
from dpbounds.algorithms.problems.points import checked_points, checked_rows
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

# The feature that stands for the intercept, in units of the norm that records are clipped to.
INTERCEPT = Fraction(1, 2)

Targets = NDArray[np.float64] | NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScoreLoss:
    """A loss of K scores and a target.

    Attributes:
        name: The name of the loss.
        value_and_slope: Scores (R, K, b) and targets (b,) -> values (R, b) and derivatives in the scores (R, K, b).
        clip: c > 0: derivatives are shortened to this l2 norm (over the K outputs) where they are longer.
        whole: Whether scores are those of records before they were clipped. Then a record that was clipped pulls less
            towards the same: its gradient vanishes where it did. Else it counts as the shorter record, which for
            classes is on the same side, but for numbers is another.
    """

    name: str
    value_and_slope: Callable[[Array, Targets], tuple[Array, Array]]
    clip: Fraction
    whole: bool = False


def logistic(scores: Array, labels: Targets) -> tuple[Array, Array]:
    """Return ln(1 + e^(-ts)) for t = -1 or +1; one output."""
    margins = scores[:, 0] * labels
    return np.logaddexp(0.0, -margins), (-labels * expit(-margins))[:, None]


def multinomial(scores: Array, labels: Targets) -> tuple[Array, Array]:
    """Return ln Σ_k e^(s_k) - s_t for t = 0, ..., K-1; K outputs."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    slopes = np.exp(shifted)
    total = slopes.sum(axis=1)
    slopes /= total[:, None]
    places = np.arange(len(labels))
    slopes[:, labels, places] -= 1.0
    return np.log(total) - shifted[:, labels, places], slopes


def squared(scores: Array, targets: Targets) -> tuple[Array, Array]:
    """Return (s - t)²/2; one output. With its slope clipped it is Huber's loss."""
    residuals = scores[:, 0] - targets
    return 0.5 * residuals * residuals, residuals[:, None]


# The clippings were chosen with the walks, see ``clipped_descent.TUNED_ON``.
LOGISTIC = ScoreLoss("logistic loss", logistic, Fraction(1, 8))
MULTINOMIAL = ScoreLoss("multinomial logistic loss", multinomial, Fraction(1, 8))
HUBER = ScoreLoss("Huber's loss", squared, Fraction(1, 10), whole=True)


class _Scores(FiniteSum):
    """Base class of records before and after clipping; only G is known of their sum, and only after it."""

    __slots__ = ()

    features: Array
    outputs: int

    @property
    def records(self) -> int:
        """The number of records n, public."""
        return len(self.features)

    @property
    def initial_point(self) -> Array:
        """0, shape (K p,): chosen without looking at the data."""
        return np.zeros(self.dimension)

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """None."""
        return None

    smoothness = hessian_lipschitz = loss_range = initial_gap = lipschitz

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Raise an error: not supported."""
        raise InvalidValue("records", "not clipped", "clipped: no bound on their gradients holds before")

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Raise an error: not supported."""
        return self.objective_and_gradient(X)[1]

    def hessian(self, X: ArrayLike) -> Array:
        """Raise an error: not supported."""
        raise InvalidValue("hessian", "asked for", "an algorithm that needs gradients only", "these are clipped")


@dataclass(frozen=True, slots=True, eq=False)
class Records(_Scores):
    """Records before clipping: oracles answer only after ``clipped_to`` has clipped them.

    Attributes:
        features: a_i, shape (n, p), finite.
        targets: t_i, shape (n,): labels -1 or 1, classes 0, ..., K-1, or numbers.
        outputs: K.
        loss: The loss of the scores.
        weights: v_i >= 0, shape (n,), or None for 1 each.
        intercept: Whether ``clipped_to`` gives every record one more feature, ``INTERCEPT`` times the bound.
    """

    features: Array
    targets: Targets
    outputs: int
    loss: ScoreLoss
    weights: Array | None = None
    intercept: bool = False

    @property
    def dimension(self) -> int:
        """K p, with the intercept counted among the p."""
        return self.outputs * (int(self.features.shape[1]) + self.intercept)

    def in_units(self, middle: Array, half: Array) -> Records:
        """Return each feature cut to middle ± half, shape (p,) each, and mapped to [-1, 1]."""
        return replace(self, features=(np.clip(self.features, middle - half, middle + half) - middle) / half)

    def clipped_to(self, bound: Fraction) -> LinearScores:
        """Return the mean over these records, with features and intercept clipped to ``bound``, weights to [0, 1]."""
        rows = self.features
        if self.intercept:
            rows = np.column_stack([rows, np.full(len(rows), float(INTERCEPT * bound))])
        features = np.ascontiguousarray(clip_rows(rows, bound)[0])
        weights = None if self.weights is None else np.clip(self.weights, 0.0, 1.0)
        shares = _shares(rows, features) if self.loss.whole else None
        for array in (features, weights, shares):
            if array is not None:
                array.flags.writeable = False
        return LinearScores(features, self.targets, self.outputs, self.loss, weights, bound, shares)


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores(_Scores):
    """The mean over n records of a loss of their K scores; a point is the K vectors x_k one after the other, (K p,).

    ``objective_and_gradient`` returns the mean loss as it is, and the mean of *clipped* gradients: where no record is
    clipped, the gradient of that loss; with one output, always that of the loss continued linearly.

    Attributes:
        features: a_i, shape (n, p), read-only; each row's l2 norm is at most ``feature_bound``, exactly.
        targets, outputs, loss: As in ``Records``.
        weights: Within [0, 1], or None.
        feature_bound: B > 0, public.
        shares: The part of each record that clipping left, in (0, 1], where scores are those of whole records.
    """

    features: Array
    targets: Targets
    outputs: int
    loss: ScoreLoss
    weights: Array | None
    feature_bound: Fraction
    shares: Array | None = None

    @property
    def dimension(self) -> int:
        """K p."""
        return self.outputs * int(self.features.shape[1])

    @property
    def lipschitz(self) -> sympy.Expr:
        """G = cB: the l2 norm of one record's clipped gradient is at most this, wherever it is taken."""
        return sympy.Rational(self.loss.clip * self.feature_bound)

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return the mean loss, shape (R,), and the mean of clipped gradients, shape (R, K p), in one pass."""
        points = checked_points(X, self.dimension)
        values, gradients = np.zeros(len(points)), np.zeros(points.shape)
        for start in range(0, self.records, BLOCK):
            chosen = slice(start, start + BLOCK)
            value, gradient = self._sums(points, chosen)
            values += value
            gradients += gradient
        return values / self.records, gradients / self.records

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean clipped gradient, (R, K p), over each repetition's own records, ``rows`` of shape (R, b)."""
        points = checked_points(X, self.dimension)
        chosen = checked_rows(rows, len(points), self.records)
        means = np.empty(points.shape)
        for index, own in enumerate(chosen):
            means[index] = self._sums(points[index : index + 1], own)[1][0] / len(own)
        return means

    def _sums(self, points: Array, chosen: Chosen) -> tuple[Array, Array]:
        rows, repetitions = self.features[chosen], len(points)
        each = points.reshape(repetitions * self.outputs, -1)
        scores = (each @ rows.T).reshape(repetitions, self.outputs, len(rows))
        if self.shares is not None:
            scores /= self.shares[chosen]
        values, slopes = self.loss.value_and_slope(scores, self.targets[chosen])
        slopes = shortened(slopes, self.loss.clip)
        if self.weights is not None:
            values = values * self.weights[chosen]
            slopes *= self.weights[chosen]
        return values.sum(axis=1), (slopes.reshape(len(each), -1) @ rows).reshape(points.shape)


def _shares(rows: Array, clipped: Array) -> Array:
    """Return the largest entry of each clipped row in units of that before, at least 1e-6 to keep scores finite."""
    before, after = (np.abs(each).max(axis=1) for each in (rows, clipped))
    shares: Array = np.clip(after / np.where(before > 0, before, 1.0), 1e-6, 1.0)
    return np.where(before > 0, shares, 1.0)


def shortened(slopes: Array, clip: Fraction) -> Array:
    """Return derivatives (R, K, b), each scaled to an exact l2 norm over the K outputs of at most ``clip``.

    One output is cut at the largest double that is not above c. With u = 2^-53, the computed norm of K numbers is off
    by a factor of at most 1 ± (K+4)u, unless their squares underflow, when they are far below c; so a vector stays
    where its norm enlarged by s = (K+16)u is within c, and else gets the length (1 - 4s)c, as in ``clip_rows``.
    """
    limit = to_float(clip, "down")
    if slopes.shape[1] == 1:
        return np.clip(slopes, -limit, limit)
    slack = (slopes.shape[1] + 16) * 2.0**-53
    lengths = np.sqrt(np.einsum("rkb,rkb->rb", slopes, slopes))[:, None]
    over = lengths * (1.0 + slack) > limit
    factors = np.where(over, limit * (1.0 - 4.0 * slack) / np.where(over, lengths, 1.0), 1.0)
    return slopes * factors
