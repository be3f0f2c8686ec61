"""Two neighbouring datasets on which Algorithm 2 of Ganesh, Liu, Oh & Thakurta 2023 spends more than it claims.

n - 1 records have the loss f₀(s, t) = c sin(2νs)/(2ν) + (h/(4w²)) cos(2wt), one has ±φ, φ(s, t) = (1-ξ) sin(νs)/ν - (1
- cos(wt))/w²: the datasets are distinguished by its sign. All are 1-Lipschitz and 1-smooth, with Hessians whose
Lipschitz constant is at most ρ = 7.09. The points are (2πi/ν, 0) for i < k, and (π/ν, π/w) last. At the first k - 1 of
them, φ moves gradient norm and least eigenvalue one way, at the last the other way, both by nearly as much as a record
can. That is what the two tests, joined by "and", cannot afford: returning the last point has a loss of 1.47 ε at k =
20, of 1.74 ε at k = 100.

The probabilities of all outcomes are integrals over the noisy thresholds, without any simulation.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy
from attrs import frozen
from numpy.typing import ArrayLike

from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.points import checked_points
from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection, Variant, stationarity
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer

_XI, _NU = 0.01, 1e-3
_RATE = 1 / math.sqrt(2 * _XI - _XI**2)  # w: then |∇φ|² = (1-ξ)² cos² + (2ξ-ξ²) sin² <= 1
_OTHERS_SLOPE = 0.02  # c
_GRID, _WIDTH = 32.0, 0.1


@frozen
class TwinRecord(FiniteSum):
    """One of the two datasets.

    Attributes:
        records: n.
        curvature: h in [0, 1], of the n - 1 common records.
        sign: +1 or -1, of the record that differs.
    """

    records: int
    curvature: float
    sign: int

    def __attrs_post_init__(self) -> None:
        if positive_integer(self.records, "records") < 2:
            raise InvalidValue("records", self.records, "at least 2")
        if not 0 <= self.curvature <= 1:
            raise InvalidValue("curvature", self.curvature, "a number from 0 to 1", "the losses are 1-smooth")
        if self.sign not in (-1, 1):
            raise InvalidValue("sign", self.sign, "+1 or -1")

    @property
    def dimension(self) -> int:
        """2: s and t."""
        return 2

    @property
    def initial_point(self) -> Array:
        """(0, 0)."""
        return np.zeros(2)

    @property
    def lipschitz(self) -> sympy.Expr:
        """1, of every record."""
        return sympy.Integer(1)

    @property
    def smoothness(self) -> sympy.Expr:
        """1, of every record: Hessians are diagonal."""
        return sympy.Integer(1)

    @property
    def hessian_lipschitz(self) -> sympy.Expr:
        """7.09: the third derivatives are at most w < 7.09 (φ) and 2hw, 4cν (f₀); so h must stay below 1/2."""
        return sympy.Rational(709, 100) * max(1, 2 * sympy.Rational(Fraction(self.curvature)))

    @property
    def loss_range(self) -> sympy.Expr:
        """Sup - inf of a record's loss, at most 2/ν."""
        return sympy.Rational(2000)

    @property
    def initial_gap(self) -> sympy.Expr:
        """F(0) - inf F, at most that."""
        return self.loss_range

    def objective(self, X: ArrayLike) -> Array:
        """Return F, shape (R,)."""
        s, t = _coordinates(X)
        common = _OTHERS_SLOPE * np.sin(2 * _NU * s) / (2 * _NU)
        common = common + self.curvature / (4 * _RATE**2) * np.cos(2 * _RATE * t)
        own = (1 - _XI) * np.sin(_NU * s) / _NU - (1 - np.cos(_RATE * t)) / _RATE**2
        return self._mean(common, own)

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F and ∇F."""
        return self.objective(X), self._mean(*_gradients(X, self.curvature))

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean gradient over each repetition's own records, ``rows`` of shape (R, b); the last is φ's."""
        common, own = _gradients(X, self.curvature)
        share = (np.asarray(rows) == self.records - 1).mean(axis=1)[:, None]
        mixed: Array = (1 - share) * common + share * self.sign * own
        return mixed

    def hessian(self, X: ArrayLike) -> Array:
        """Return ∇²F, diagonal, shape (R, 2, 2)."""
        s, t = _coordinates(X)
        common = np.stack(
            [-2 * _NU * _OTHERS_SLOPE * np.sin(2 * _NU * s), -self.curvature * np.cos(2 * _RATE * t)], axis=1
        )
        own = np.stack([-(1 - _XI) * _NU * np.sin(_NU * s), -np.cos(_RATE * t)], axis=1)
        diagonal: Array = self._mean(common, own)[:, :, None] * np.eye(2)
        return diagonal

    def _mean(self, common: Array, own: Array) -> Array:
        mean: Array = ((self.records - 1) * common + self.sign * own) / self.records
        return mean


@frozen(eq=False)
class Attack:
    """A selection, and the two datasets that it is to distinguish.

    Attributes:
        selection: With its points.
        neighbours: The datasets; they differ in one record.
    """

    selection: AboveThresholdSelection
    neighbours: tuple[TwinRecord, TwinRecord]

    def chances(self) -> list[Array]:
        """Return the probabilities of each of the N points, and (last) of none: shape (N + 1,) for either dataset."""
        return [outcome_chances(self.selection, problem) for problem in self.neighbours]

    def privacy_loss(self) -> float:
        """Return the largest log-ratio of an outcome's probabilities, either way: a lower bound on ε."""
        first, second = self.chances()
        return float(np.abs(np.log(first) - np.log(second)).max())


def attack(
    candidates: int, epsilon: float = 1.0, records: int = 10**6, variant: Variant = "as-printed", gap: float = 0.0
) -> Attack:
    """Return the instance with k points, each ``gap`` threshold scales beyond α and √(ρα) plus their offsets.

    The scale is 4/(nε), or 8/(nε) for "doubled"; n must be large enough that α is positive.
    """
    k = positive_integer(candidates, "candidates")
    if k < 2:
        raise InvalidValue("candidates", candidates, "at least 2")
    points = np.array([(2 * math.pi * i / _NU, 0.0) for i in range(k - 1)] + [(math.pi / _NU, math.pi / _RATE)])
    probe = AboveThresholdSelection(points, Fraction(epsilon), 1, variant=variant)
    beyond = (probe.offset.upper + gap * float(probe.threshold_noise)) / records
    alpha = _OTHERS_SLOPE * (records - 1) / records - beyond
    curvature = (math.sqrt(7.09 * alpha) + beyond) * records / (records - 1) if alpha > 0 else math.nan
    if not (alpha > 0 and curvature <= 0.5):
        raise InvalidValue("records", records, "more of them", "the noise is as large as the slope of the losses")
    selection = AboveThresholdSelection(points, Fraction(epsilon), Fraction(alpha), variant=variant)
    return Attack(selection, (TwinRecord(records, curvature, 1), TwinRecord(records, curvature, -1)))


def outcome_chances(selection: AboveThresholdSelection, problem: FiniteSum) -> Array:
    """Return the probability of returning each of the N points, and (last) none of them; shape (N + 1,).

    For fixed noise on the thresholds, points pass independently of each other; so the probabilities are integrals over
    the thresholds' noise, by the trapezoidal rule of width 1/10 scale on ±32 scales (a finer or longer grid moves the
    losses of this module by less than 1e-3).
    """
    gradients, curvatures = stationarity(problem, selection.points, selection.second_order)
    n, alpha = problem.records, float(selection.stationarity)
    values = [(gradients - alpha) / float(at_least(problem.lipschitz, "lipschitz"))]
    if curvatures is not None:
        root = math.sqrt(float(at_least(problem.hessian_lipschitz, "hessian_lipschitz")) * alpha)
        values.append((curvatures - root) / float(at_least(problem.smoothness, "smoothness")))
    if selection.variant == "one-test":
        values = [np.maximum.reduce(values)]
    scale = float(selection.threshold_noise) / n
    grid = np.arange(-_GRID, _GRID + _WIDTH / 2, _WIDTH)
    weights = np.exp(-np.abs(grid)) / 2 * _WIDTH
    weights /= weights.sum()
    # with thresholds' noise u (and v), both in threshold scales: probability that point i passes each test
    passing = [_below((grid[None, :] - ((each - selection.offset.upper / n) / scale)[:, None]) / 2) for each in values]
    if len(passing) == 1:
        passing.append(np.ones((len(selection.points), 1)))
        measure = weights[:, None]
    else:
        measure = np.outer(weights, weights)
    left = measure.copy()
    chances = []
    for first, second in zip(*passing, strict=True):
        both = np.outer(first, second)
        chances.append(float((left * both).sum()))
        left *= 1 - both
    return np.array([*chances, float(left.sum())])


def _below(x: Array) -> Array:
    """Return the probability that a Laplace variable of scale 1 is at most x."""
    tails = np.exp(-np.abs(x)) / 2
    chance: Array = np.where(x < 0, tails, 1 - tails)
    return chance


def _gradients(X: ArrayLike, curvature: float) -> tuple[Array, Array]:
    """Return ∇f₀ and ∇φ at every row."""
    s, t = _coordinates(X)
    common = np.stack([_OTHERS_SLOPE * np.cos(2 * _NU * s), -curvature / (2 * _RATE) * np.sin(2 * _RATE * t)], axis=1)
    own = np.stack([(1 - _XI) * np.cos(_NU * s), -np.sin(_RATE * t) / _RATE], axis=1)
    return common, own


def _coordinates(X: ArrayLike) -> tuple[Array, Array]:
    points = checked_points(X, 2)
    return points[:, 0], points[:, 1]
