"""Sums over records of φ(<a_i, x>, t_i): value, gradient and Hessian, without arrays of size n p R."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum, Indices
from dpbounds.algorithms.problems.points import checked_points, checked_rows
from dpbounds.algorithms.problems.records import within_norm, within_range

# Records per matrix product: the products of a block stay in the processor's cache (fixed, so that results are too).
BLOCK = 2048
# Numbers in the records of a block, where there is a single point: then it is these that stay in the cache.
_BLOCK_OF_ONE = 1 << 19
# Numbers held at once in a block of products, so that memory is O(n p + R p) however many points there are.
_BLOCK_ENTRIES = 1 << 20

Chosen = slice | NDArray[np.int64]  # selection of records


class LinearSum(FiniteSum):
    """F(x) = (1/n) Σ φ(<a_i, x>, t_i) with ‖a_i‖ <= B, derivatives of φ taken in the product.

    One record's gradient is φ' a, its Hessian φ'' a aᵀ: so the constants of F are those of φ times powers of B. All are
    attained by one record of norm B, and hold for every dataset with this bound: publishing them (or a step size made
    from them) costs no privacy.
    """

    __slots__ = ()

    loss: Any  # the record of φ
    feature_bound: Fraction

    @property
    @abstractmethod
    def _rows(self) -> Array:
        """a_i, shape (n, p)."""

    def _supremum(self, name: str) -> sympy.Expr:
        """Return a constant of φ, by its name in the record of φ, over all products that occur."""
        constant: sympy.Expr = getattr(self.loss, name)
        return constant

    @abstractmethod
    def _value_and_slope(self, products: Array, chosen: Chosen) -> tuple[Array, Array]:
        """Return φ and φ' at products with some of the records, shape (..., b)."""

    @abstractmethod
    def _curvature(self, products: Array, chosen: Chosen) -> Array:
        """Return φ'', likewise."""

    @abstractmethod
    def _points(self, X: ArrayLike) -> Array:
        """Return checked points, shape (R, p)."""

    @property
    def records(self) -> int:
        """The number of records n, public."""
        return int(self._rows.shape[0])

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return int(self._rows.shape[1])

    @property
    def initial_point(self) -> Array:
        """x₁ = 0, shape (p,): chosen without looking at the data."""
        return np.zeros(self.dimension)

    @property
    def lipschitz(self) -> sympy.Expr:
        """B sup|φ'|: the l2 norm of one record's gradient is at most this."""
        return sympy.Rational(self.feature_bound) * self._supremum("largest_slope")

    @property
    def hessian_rank(self) -> int:
        """1: one record's Hessian is a multiple of a aᵀ."""
        return 1

    @property
    def smoothness(self) -> sympy.Expr:
        """B² sup|φ''|: the operator norm of one record's Hessian is at most this."""
        return sympy.Rational(self.feature_bound) ** 2 * self._supremum("largest_curvature")

    @property
    def hessian_lipschitz(self) -> sympy.Expr:
        """B³ times the Lipschitz constant of φ'': that of one record's Hessian."""
        return sympy.Rational(self.feature_bound) ** 3 * self._supremum("largest_third_derivative")

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F, shape (R,), and ∇F, shape (R, p), in one pass over blocks of records."""
        points, records = self._points(X), self._rows
        n, p = records.shape
        values, gradients = np.zeros(len(points)), np.zeros(points.shape)
        for block in _blocks(n, BLOCK if len(points) > 1 else max(1, _BLOCK_OF_ONE // p)):
            rows = records[block]
            value, slope = self._value_and_slope(points @ rows.T, block)
            values += value.sum(axis=1)
            gradients += slope @ rows
        values /= n
        gradients /= n
        return values, gradients

    def objective_at(self, points: ArrayLike) -> Array:
        """Return F at N points, so few at a time that memory stays small; returns (N,)."""
        candidates, width = self._points(points), self._points_at_once()
        parts = [self.objective(candidates[start : start + width]) for start in range(0, len(candidates), width)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean of φ' a_i, (R, p), over each repetition's own records, ``rows`` of shape (R, b), b >= 1."""
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        means = np.empty(points.shape)
        for index, own in enumerate(chosen):  # one at a time: no R × b × p numbers, none depends on its neighbours
            block = self._rows[own]
            means[index] = self._value_and_slope(block @ points[index], own)[1] @ block / len(own)
        return means

    def record_gradients(self, x: Array, rows: Indices) -> Array:
        """Return φ' a_i of some records at one point, shape (b, p): a record has the same bits at every place."""
        block = self._rows[rows]
        products = np.zeros(len(block))
        for column, weight in zip(block.T, x, strict=True):
            products += column * weight
        slopes: Array = self._value_and_slope(products, rows)[1][:, None] * block
        return slopes

    def record_losses(self, points: Array, rows: Indices) -> Array:
        """Return φ of these records at N points, shape (b, N): the same bits for a record wherever it stands."""
        block = self._rows[rows]
        products = np.zeros((len(points), len(block)))
        for column, weights in zip(block.T, points.T, strict=True):
            products += weights[:, None] * column
        losses: Array = self._value_and_slope(products, rows)[0].T
        return losses

    def hessian(self, X: ArrayLike) -> Array:
        """Return ∇²F = (1/n) Σ φ'' a aᵀ, shape (R, p, p)."""
        points = self._points(X)
        found = np.zeros((len(points), self.dimension, self.dimension))
        for block in _blocks(self.records, BLOCK):
            rows = self._rows[block]
            for index, weights in enumerate(self._curvature(points @ rows.T, block)):  # no n × p × R temporary
                found[index] += (rows.T * weights) @ rows
        return found / self.records

    def hessian_products(self, X: ArrayLike, V: Array) -> Array:
        """Return ∇²F(x) v = (1/n) Σ φ'' <a, v> a at every row of ``X`` and ``V``, (R, p) each: no p × p numbers."""
        points = self._points(X)
        found = np.zeros(points.shape)
        for block in _blocks(self.records, BLOCK):
            rows = self._rows[block]
            for index, (x, v) in enumerate(zip(points, V, strict=True)):  # none depends on its neighbours
                found[index] += (self._curvature(x @ rows.T, block) * (rows @ v)) @ rows
        return found / self.records

    def _points_at_once(self) -> int:
        return max(1, _BLOCK_ENTRIES // min(self.records, BLOCK))


def _blocks(records: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, records, size)]


@dataclass(frozen=True, slots=True, eq=False)
class SumWithTargets(LinearSum):
    """Such a sum with targets |t_i| <= Y; every record was clipped to the public bounds B and Y.

    Attributes:
        features: a_i, shape (n, p), read-only.
        targets: t_i, shape (n,), read-only.
        feature_bound: B > 0.
        target_bound: Y.
        radius: x is in the l2 ball of this radius around 0 (other points are refused), or in R^p (None).
        notes: The preprocessing of the data.
    """

    features: Array = field(repr=False)
    targets: Array = field(repr=False)
    feature_bound: Fraction
    target_bound: Fraction
    radius: Fraction | None
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        least = Fraction(0) if self._only_positive else -self.target_bound
        features = within_norm(self.features, self.feature_bound, "features")
        object.__setattr__(self, "features", features)
        targets = within_range(self.targets, least, self.target_bound, len(features), "targets")
        object.__setattr__(self, "targets", targets)

    @property
    def _only_positive(self) -> bool:
        """Whether targets lie in [0, Y], or else in [-Y, Y]."""
        return False

    @abstractmethod
    def _derivatives(self, products: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return φ, φ' and φ'', elementwise."""

    @property
    def _rows(self) -> Array:
        return self.features

    def _value_and_slope(self, products: Array, chosen: Chosen) -> tuple[Array, Array]:
        return self._derivatives(products, self.targets[chosen])[:2]

    def _curvature(self, products: Array, chosen: Chosen) -> Array:
        return self._derivatives(products, self.targets[chosen])[2]

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)
