"""Phase retrieval on a ball: find x from squares <a_i, x>², a problem with strict saddles and two best points, ±x."""

from __future__ import annotations

import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.ball_model import BallLoss, BallModel, ball_model
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.expressions.exact import ExactLike


def _derivatives(u: Array, t: Array) -> tuple[Array, Array, Array]:
    excess = u * u - t
    return 0.25 * excess * excess, u * excess, 3.0 * u * u - t


def _largest_slope(rho: sympy.Expr, targets: sympy.Expr) -> sympy.Expr:
    turn = sympy.Min(rho, sympy.sqrt(targets / 3))
    return sympy.Max(rho**3, turn * (targets - turn**2))


QUARTIC = BallLoss(
    name="quartic loss of phase retrieval",
    derivatives=_derivatives,
    largest_slope=_largest_slope,
    largest_curvature=lambda rho, targets: sympy.Max(3 * rho**2, targets),
    largest_third_derivative=lambda rho, targets: 6 * rho,
    supremum=lambda rho, targets: sympy.Max(rho**4, targets**2) / 4,
    negative_targets=False,
)
"""φ(u, t) = (u² - t)²/4 for |u| <= ρ and 0 <= t <= Y; derivatives are in u.

φ' = u(u² - t). For fixed u it is affine in t, so |φ'| is largest at t = 0, where it is |u|³ <= ρ³, or at t = Y, where
it is |u||u² - Y|: at most |u|³ where u² >= Y, and otherwise u(Y - u²) (for u > 0), which rises up to u = √(Y/3) and
falls from there, so that its supremum is its value at min(ρ, √(Y/3)).
φ'' = 3u² - t lies in [-Y, 3ρ²], and both bounds are attained. φ''' = 6u. φ is 0 at u² = t and at most max(ρ⁴, Y²)/4: at
t = 0, u = ρ, or at t = Y, u = 0.
"""


def phase_retrieval(
    features: ArrayLike,
    targets: ArrayLike,
    radius: ExactLike = 1,
    feature_bound: ExactLike = 1,
    target_bound: ExactLike = 1,
    start: ArrayLike | None = None,
) -> BallModel:
    """Return the problem min over ‖x‖ <= R of (1/n) Σ (<a_i, x>² - t_i)²/4.

    The point 0 is stationary for every dataset, and its Hessian -(1/n) Σ t_i a_i a_iᵀ has no positive eigenvalue: a
    saddle or a maximum, the default start for algorithms that escape. To others give a start that is not 0, chosen
    without looking at the data.

    F is not convex and satisfies no PL inequality on the ball (0 is stationary). Near ±x it does where the data are
    rich enough, with a constant that depends on the data; none holds for all datasets, so none is offered.

    Targets, the measured squares, are clipped to [0, Y] (noise may make one negative); arguments and errors are those
    of ``ball_model``.

    Source: the loss is that of Candès, Li & Soltanolkotabi 2015 (Wirtinger flow, real case); constants derived here.

    >>> problem = phase_retrieval([[0.6, 0.8]], [1.0], radius=2)
    >>> problem.initial_gap, bool(problem.hessian([[0.0, 0.0]])[0].trace() < 0)
    (1/4, True)
    """
    return ball_model(QUARTIC, features, targets, radius, feature_bound, target_bound, start)
