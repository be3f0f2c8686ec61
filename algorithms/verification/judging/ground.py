"""Properties of a problem that are not public: its smallest risk, and its curvature where a run was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.errors import InvalidValue

Array = NDArray[np.float64]
Move = Callable[[Array, Array, float], Array]
_DENSE = 32  # up to which dimension a Hessian is written out
_POINTS, _STEPS, _SHORTEST = 6, 300, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Not private, all of it.

    Attributes:
        lowest: The lowest value that was found: no lower than the infimum.
        minimiser: The point of that value, shape (p,).
        curvature: The largest eigenvalue of the mean Hessian at the points that were looked at, or 0.
        settled: The same at the minimiser alone.
    """

    lowest: float
    minimiser: Array
    curvature: float
    settled: float


def plain_step(x: Array, slope: Array, length: float) -> Array:
    """Return a step of a descent that nothing constrains."""
    return x - length * slope


def ground(problem: FiniteSum, points: Array, move: Move, ridge: float = 0.0) -> Ground:
    """Descend without noise from the lowest of a run's points, and compute the curvature at some of them.

    Args:
        problem: F.
        points: The points of the run, shape (N, p), the start first.
        move: A step of its kind, plain, projected or proximal: from points along gradients with a step size.
        ridge: λ of a term (λ/2)‖x‖² beside F.
    """

    def ask(X: Array) -> tuple[Array, Array]:
        values, slopes = problem.objective_and_gradient(X)
        return values + ridge / 2 * (X * X).sum(axis=1), slopes + ridge * X

    begin = points[int(ask(points)[0].argmin())]
    lowest, minimiser = _descended(begin[None], ask, move)
    settled = max(0.0, _largest_eigenvalue(problem, minimiser) + ridge)
    looked_at = (points[0], *points[1 : 1 + _POINTS])
    largest = max(settled, *(_largest_eigenvalue(problem, x) + ridge for x in looked_at))
    return Ground(lowest, minimiser, largest, settled)


def _descended(x: Array, ask: Callable[[Array], tuple[Array, Array]], move: Move) -> tuple[float, Array]:
    """Descend by steps twice as long as the last one if the value falls, else a quarter as long."""
    (value,), slope = ask(x)
    length = 1.0
    for _ in range(_STEPS):
        following = move(x, slope, length)
        try:
            (reached,), next_slope = ask(following)
        except InvalidValue:  # a landscape is known in its ball only
            reached = np.inf
        if reached < value:
            x, value, slope, length = following, reached, next_slope, 2 * length
        elif (length := length / 4) < _SHORTEST:
            break
    return float(value), x[0]


def _largest_eigenvalue(problem: FiniteSum, x: Array) -> float:
    """Return that of the mean Hessian: by LAPACK, or in many dimensions by ARPACK from differences of gradients."""
    p = problem.dimension
    if p <= _DENSE:
        return float(np.linalg.eigvalsh(problem.hessian(x[None])[0])[-1])
    width = 1e-5 * max(1.0, float(np.linalg.norm(x)))

    def product(direction: Array) -> Array:
        step = width * direction.ravel()
        ahead, behind = problem.gradient(np.stack([x + step, x - step]))
        difference: Array = (ahead - behind) / (2 * width)
        return difference

    first = np.random.default_rng(0).standard_normal(p)
    if not product(first).any():
        return 0.0  # the Hessian vanishes, as that of a sigmoid does at 0; ARPACK has no answer then
    hessian = LinearOperator((p, p), matvec=product, dtype=np.float64)
    found = eigsh(hessian, k=1, which="LA", tol=1e-4, v0=first, return_eigenvectors=False)
    return float(found[0])
