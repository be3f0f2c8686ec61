"""Strict-saddle surfaces: every stationary point is a minimum or has a direction of known negative curvature."""

from __future__ import annotations

import numpy as np
import sympy

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import positive
from dpbounds.algorithms.problems.surfaces import Surface
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer


def escape_test(dimension: int) -> Surface:
    """Return F(x) = 1 - exp(-‖x_⊥‖²/2) + cos(x_1)/2, x_⊥ the other p - 1 coordinates: a saddle at 0, minima at (±π, 0).

    Its constants hold on all of R^p, p >= 2. With r = ‖x_⊥‖, E = exp(-r²/2), F is a sum of functions of x_1 and of x_⊥.

    - ∇F = (-sin(x_1)/2, E x_⊥), of squared norm sin²(x_1)/4 + r²e^{-r²} <= 1/4 + 1/e (r e^{-r²/2} is largest at r = 1).
    - ∇²F has the eigenvalues -cos(x_1)/2, E (p - 2 times) and (1 - r²)E, which is 1 at r = 0 and -2e^{-3/2} at its
      minimum r² = 3: the norm is at most 1, attained at 0.
    - The third derivative along a unit vector u is sin(x_1) u_1³/2 + T(u_⊥). Of E along a line at distance h, -E is
      -e^{-h²/2} e^{-s²/2} with third derivative e^{-h²/2}(s³ - 3s)e^{-s²/2}, whose absolute value is largest where
      s⁴ - 6s² + 3 = 0 and h = 0: c = √(3-√6) √6 e^{-(3-√6)/2} = 1.380... (at s² = 3 - √6; at 3 + √6 it is 0.37...).
      So the sum is at most max(1/2, c)(|u_1|³ + ‖u_⊥‖³) <= c; and a symmetric trilinear form is largest on the
      diagonal (Banach).
    - ∇F = 0 means x_⊥ = 0 and x_1 = kπ: for odd k a minimum with F = -1/2 = inf F, for even k a saddle, where the
      least eigenvalue is -1/2. (Far out ∇F tends to 0 without a stationary point: F is nearly flat there.)

    Source: a test surface in the spirit of Ganesh, Liu, Oh & Thakurta 2023, whose algorithm escapes such saddles.
    """
    p = _dimension(dimension)

    def value_and_gradient(X: Array) -> tuple[Array, Array]:
        bell = np.exp(-0.5 * (X[:, 1:] ** 2).sum(axis=1))
        gradient = X * bell[:, None]
        gradient[:, 0] = -0.5 * np.sin(X[:, 0])
        return 1.0 - bell + 0.5 * np.cos(X[:, 0]), gradient

    def hessian(X: Array) -> Array:
        across = X[:, 1:]
        bell = np.exp(-0.5 * (across**2).sum(axis=1))
        found = np.zeros((len(X), p, p))
        found[:, 0, 0] = -0.5 * np.cos(X[:, 0])
        found[:, 1:, 1:] = bell[:, None, None] * (np.eye(p - 1) - across[:, :, None] * across[:, None, :])
        return found

    root = 3 - sympy.sqrt(6)
    minimisers = np.zeros((2, p))
    minimisers[:, 0] = np.pi, -np.pi
    return Surface(
        name="1 - exp(-‖x_⊥‖²/2) + cos(x_1)/2",
        dimension=p,
        value_and_gradient=value_and_gradient,
        hessian=hessian,
        largest_slope=lambda radius: sympy.sqrt(sympy.Rational(1, 4) + sympy.exp(-1)),
        largest_curvature=lambda radius: sympy.Integer(1),
        largest_third_derivative=lambda radius: sympy.sqrt(6 * root) * sympy.exp(-root / 2),
        minimum=sympy.Rational(-1, 2),
        minimisers=minimisers,
        saddles=np.zeros((1, p)),
        escape_curvature=sympy.Rational(1, 2),
    )


def population_phase_retrieval(dimension: int, signal: ExactLike = 1) -> Surface:
    """Return E (<a, x>² - <a, x*>²)²/4 over standard normal a, x* = s e_1, s > 0: the risk of phase retrieval.

    By E<a,x>⁴ = 3‖x‖⁴ and E<a,x>²<a,x*>² = ‖x‖²s² + 2<x,x*>²,

        F(x) = (3‖x‖⁴ + 3s⁴ - 2‖x‖²s² - 4<x,x*>²)/4,
        ∇F = (3‖x‖² - s²) x - 2<x,x*> x*,
        ∇²F = (3‖x‖² - s²) I + 6 x xᵀ - 2 x* x*ᵀ.

    Constants on the ball of radius R >= s (no finite ones on R^p):

    - Slope. x = r(cos θ e_1 + sin θ e), e orthogonal to e_1, has ‖∇F‖² = r²(9 cos²θ (r² - s²)² + sin²θ (3r² - s²)²):
      at most the larger of 3r|r² - s²| and r|3r² - s²|. Up to r = s both are below 2s³ (3r(s² - r²) is 2s³/√3 at most,
      at r = s/√3; r|3r² - s²| is 2s³ at r = s), from there r(3r² - s²) is larger and rises: R(3R² - s²), attained.
    - Curvature. Largest eigenvalue at most 3R² - s² + 6R², attained at x orthogonal to x*; the least at least -3s²,
      which is smaller in size: 9R² - s² >= 8s².
    - Third derivative along a unit vector u: 18 <x, u>, at most 18R, attained; a symmetric form is largest on the
      diagonal (Banach).

    Stationary points: along x*, 3r(r² - s²) = 0; across, 3r² = s². So 0, where the Hessian -s² I - 2 x* x*ᵀ has the
    least eigenvalue -3s²; the sphere x ⊥ x*, ‖x‖ = s/√3, where it is 6 x xᵀ - 2 x* x*ᵀ with -2s²; and ±x*, the minima,
    F = 0, with 2s² I + 4 x* x*ᵀ. All saddles are strict: γ = 2s².

    Source: compare Sun, Qu & Wright 2018 (a geometric analysis of phase retrieval); derived here for the real case.
    """
    p, length = _dimension(dimension), positive(signal, "signal")
    s, exact_s = float(length), sympy.Rational(length)

    def value_and_gradient(X: Array) -> tuple[Array, Array]:
        square, along = (X * X).sum(axis=1), s * X[:, 0]
        gradient = (3.0 * square - s * s)[:, None] * X
        gradient[:, 0] -= 2.0 * s * along
        # F as a sum of squares, so that rounding does not make it negative near ±x*
        return 0.75 * (square - s * s) ** 2 + s * s * (X[:, 1:] ** 2).sum(axis=1), gradient

    def hessian(X: Array) -> Array:
        square = (X * X).sum(axis=1)
        found: Array = 6.0 * X[:, :, None] * X[:, None, :]
        found += (3.0 * square - s * s)[:, None, None] * np.eye(p)
        found[:, 0, 0] -= 2.0 * s * s
        return found

    def reaching(radius: sympy.Expr | None) -> sympy.Expr | None:
        if radius is not None and radius < exact_s:
            raise InvalidValue("radius", radius, f"at least s = {length}", "the ball must hold the signal")
        return radius

    def slope(radius: sympy.Expr | None) -> sympy.Expr | None:
        R = reaching(radius)
        return None if R is None else R * (3 * R**2 - exact_s**2)

    def curvature(radius: sympy.Expr | None) -> sympy.Expr | None:
        R = reaching(radius)
        return None if R is None else 9 * R**2 - exact_s**2

    def third(radius: sympy.Expr | None) -> sympy.Expr | None:
        R = reaching(radius)
        return None if R is None else 18 * R

    minimisers, saddles = np.zeros((2, p)), np.zeros((3, p))
    minimisers[:, 0] = s, -s
    saddles[1:, 1] = s / np.sqrt(3), -s / np.sqrt(3)
    return Surface(
        name=f"population risk of phase retrieval (‖x*‖ = {length})",
        dimension=p,
        value_and_gradient=value_and_gradient,
        hessian=hessian,
        largest_slope=slope,
        largest_curvature=curvature,
        largest_third_derivative=third,
        minimum=sympy.Integer(0),
        minimisers=minimisers,
        saddles=saddles,
        escape_curvature=2 * exact_s**2,
    )


def _dimension(dimension: int) -> int:
    p = positive_integer(dimension, "dimension")
    if p < 2:
        raise InvalidValue("dimension", dimension, "at least 2", "a saddle needs two directions")
    return p
