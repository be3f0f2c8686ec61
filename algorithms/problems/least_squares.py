"""Least squares on a ball, with more parameters than the data determine: PL on their span, flat across it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.ball_model import BallLoss, BallModel, ball_model
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_start
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer, to_float


def _derivatives(u: Array, t: Array) -> tuple[Array, Array, Array]:
    residual = u - t
    return 0.5 * residual * residual, residual, np.ones_like(residual)


SQUARED_RESIDUAL = BallLoss(
    name="squared residual",
    derivatives=_derivatives,
    largest_slope=lambda rho, targets: rho + targets,
    largest_curvature=lambda rho, targets: sympy.Integer(1),
    largest_third_derivative=lambda rho, targets: sympy.Integer(0),
    supremum=lambda rho, targets: (rho + targets) ** 2 / 2,
    negative_targets=True,
)
"""φ(u, t) = (u - t)²/2 for |u| <= ρ and |t| <= Y: |u - t| <= ρ + Y, attained at u = ρ, t = -Y; φ'' = 1, φ''' = 0."""


def least_squares(
    features: ArrayLike,
    targets: ArrayLike,
    radius: ExactLike = 1,
    feature_bound: ExactLike = 1,
    target_bound: ExactLike = 1,
    start: ArrayLike | None = None,
) -> BallModel:
    """Return the problem min over ‖x‖ <= R of (1/n) Σ (<a_i, x> - t_i)²/2.

    With n < p, or features in a subspace, the least-squares solutions form a flat of positive dimension. Its **PL
    constant depends on the data**: see ``pl_constant_of``. The infimum over all datasets is 0 (one record of tiny
    norm), so that there is no public one, and ``initial_gap`` or a step size must not depend on it.

    G = B(BR + Y), L = B², Hessians do not move. Targets are clipped to [-Y, Y]; arguments and errors are those of
    ``ball_model``.

    >>> problem = least_squares([[0.6, 0.8, 0.0]], [1.0], radius=2)
    >>> problem.smoothness, round(float(problem.lipschitz), 6)
    (1, 3.0)
    """
    return ball_model(SQUARED_RESIDUAL, features, targets, radius, feature_bound, target_bound, start)


def pl_constant_of(problem: BallModel, rank: int) -> float:
    """Return the μ of ½‖∇F‖² >= μ (F - inf F) for *these records*: outside every privacy guarantee, and not certified.

    With H = AᵀA/n and x̂ a least-squares solution, F(x) - inf F = ½ dᵀHd and ∇F = Hd for d = x - x̂; so ‖∇F‖² =
    (H^½d)ᵀ H (H^½d) >= μ dᵀHd, where μ is the least eigenvalue of H other than 0 (H^½d lies in the span of the records,
    where H >= μ), and it is attained at its eigenvector. inf F is that over R^p: it is the infimum over the ball only
    where some solution lies in the ball. Iterates of gradient descent from x₁ stay in x₁ plus the span.

    Publishing μ, or choosing a step size or a number of steps by it, is a release of its own that no ledger has.

    Args:
        problem: From ``least_squares``.
        rank: r >= 1, of the features; given, as rounding makes it undecidable from them.

    Returns:
        The r-th largest eigenvalue of H, by a singular value decomposition in double precision.

    Raises:
        InvalidValue: The loss is another one, or the rank is not a possible one.
    """
    if problem.loss is not SQUARED_RESIDUAL:
        raise InvalidValue("problem.loss", problem.loss.name, SQUARED_RESIDUAL.name, "only there is this constant PL's")
    r = positive_integer(rank, "rank")
    if r > min(problem.features.shape):
        raise InvalidValue("rank", rank, f"at most {min(problem.features.shape)}, the smaller of n and p")
    singular = np.linalg.svd(problem.features, compute_uv=False)
    return float(singular[r - 1] ** 2 / problem.records)


def spread_least_squares(
    records: int, solution: ArrayLike, rank: int, feature_bound: ExactLike = 1, radius: ExactLike = 1, seed: int = 0
) -> BallModel:
    """Return a realisable problem whose PL constant is public by design: B²/r.

    The records are B q_j for orthonormal q_1, ..., q_r in turn, n/r of each, so that H = (B²/r) Σ q_j q_jᵀ; targets are
    <a_i, x*>. So F - inf F = F is PL with μ = B²/r = L/r, up to the rounding of doubles, and flat in p - r directions.

    Args:
        records: n, a multiple of the rank.
        solution: x*, shape (p,), within the ball: inf F = 0 is attained there.
        rank: r <= p.
        feature_bound: B > 0.
        radius: R > 0.
        seed: The seed of the q_j.

    Raises:
        InvalidValue: A number is not allowed.
    """
    n, r, bound = positive_integer(records, "records"), positive_integer(rank, "rank"), checked_bound(feature_bound)
    best = checked_start(solution, None, "solution")
    if r > best.size:
        raise InvalidValue("rank", rank, f"at most p = {best.size}")
    if n % r:
        raise InvalidValue("records", records, f"a multiple of the rank {rank}", "every direction is measured as often")
    directions = np.linalg.qr(np.random.default_rng(seed).standard_normal((best.size, r)))[0].T
    length = to_float(bound * (1 - Fraction(1, 10**12)), "down")  # a hair less, so that nothing is clipped
    features = np.tile(length * directions, (n // r, 1))
    limit = bound * Fraction(float(np.linalg.norm(best))) * (1 + Fraction(1, 10**6)) + Fraction(1, 10**300)
    problem = least_squares(features, features @ best, radius=radius, feature_bound=bound, target_bound=limit)
    if not np.linalg.norm(best) <= float(problem.radius):
        raise InvalidValue("solution", solution, f"a point in the ball of radius {radius}")
    return problem
