"""The interface of problems: F(x) = (1/n) Σ f(x, z_i), batched over repetitions, with public constants."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.errors import InvalidValue

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class FiniteSum(Protocol):
    """A finite sum over n records in dimension p; every ``X`` holds one point per repetition, shape (R, p).

    The constants hold for every dataset within the public bounds, so that a step size computed from them spends no
    privacy. Each is a SymPy expression, or None if there is no finite one. Subclasses inherit the derived constants.
    """

    __slots__ = ()

    @property
    def records(self) -> int:
        """n, public."""

    @property
    def dimension(self) -> int:
        """The dimension p."""

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), chosen without looking at the data."""

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """At least the l2 norm of every record's gradient."""

    @property
    def smoothness(self) -> sympy.Expr | None:
        """At least the operator norm of every record's Hessian."""

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """At least the Lipschitz constant (operator norm against l2 norm) of every record's Hessian."""

    @property
    def loss_range(self) -> sympy.Expr | None:
        """At least sup f - inf f over records and points."""

    @property
    def initial_gap(self) -> sympy.Expr | None:
        """At least F(x₁) - inf F."""

    def objective(self, X: ArrayLike) -> Array:
        """Return F, shape (R,)."""
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        """Return ∇F (without any regulariser), shape (R, p)."""
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F and ∇F at every row of ``X``, in one pass; ``InvalidValue`` if the shape is another."""

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean gradient over each repetition's own records, ``rows`` of shape (R, b), b >= 1; shape (R, p).

        A record may appear more than once; ``InvalidValue`` where a shape or an index is not allowed.
        """

    def hessian(self, X: ArrayLike) -> Array:
        """Return ∇²F, shape (R, p, p)."""

    def objective_at(self, points: ArrayLike) -> Array:
        """Return F at any number N of points, shape (N,)."""
        return self.objective(points)


def mean_products(problem: Any, X: Array, V: Array) -> Array:
    """Return ∇²F(x) v at every row, shape (R, p): a problem's own, without its Hessians, or by these, one at a time.

    Where a class has Hessians of its own and inherits its products, these would be another problem's.
    """
    kinds = (kind for kind in type(problem).__mro__ if {"hessian", "hessian_products"} & vars(kind).keys())
    if "hessian_products" in vars(next(kinds, object)):
        own: Array = problem.hessian_products(X, V)
        return own
    return np.stack([problem.hessian(x[None])[0] @ v for x, v in zip(X, V, strict=True)])


class HasRecordGradients(Protocol):
    """The requirements of ``Clipped`` on a problem: the gradient of every record by itself, and no constants."""

    @property
    def records(self) -> int:
        """n, public."""

    @property
    def dimension(self) -> int:
        """The dimension p."""

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), chosen without looking at the data."""

    def record_gradients(self, x: Array, rows: Indices) -> Array:
        """Return ∇f(x, z_i) of the records of these indices, shape (b,), at one point, shape (p,); returns (b, p).

        With "secure" noise, a record must also have the same bits at every place of ``rows``.
        """


def record_gradients(problem: Any, x: Array, rows: Indices) -> Array:
    """Return ∇f(x, z_i) of some records at one point, shape (b, p): the problem's own, or by batches of one record.

    Raises:
        InvalidValue: The problem has no single records.
    """
    if hasattr(problem, "record_gradients"):
        own: Array = problem.record_gradients(x, rows)
        return own
    if not hasattr(problem, "batch_gradient"):
        allowed = "one that has record_gradients or batch_gradient"
        raise InvalidValue("problem", type(problem).__name__, allowed, "this asks for the gradients of single records")
    # one at a time: in a product of many, a record's rounding may depend on its position
    alone = [problem.batch_gradient(x[None], row[None, None]) for row in rows]
    return np.concatenate([np.zeros((0, len(x))), *alone])
