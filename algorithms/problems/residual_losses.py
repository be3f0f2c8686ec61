"""Losses of one number u (a residual or a margin), with derivatives to the second order and exact constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
from scipy.special import expit, ndtr

from dpbounds.algorithms.problems.finite_sum import Array


@dataclass(frozen=True, slots=True)
class ScalarLoss:
    """φ(u) with inf φ = 0 and its constants over all of R.

    Attributes:
        name: The name of the loss.
        derivatives: u -> (φ, φ', φ''), elementwise.
        largest_slope: sup |φ'|.
        largest_curvature: sup |φ''|.
        largest_third_derivative: The Lipschitz constant of φ''.
        supremum: sup φ, or None where φ is unbounded.
        value: φ as a SymPy expression of its argument.
        quasar_convexity: The largest q <= 1 with u φ'(u) >= q φ(u) for all |u| <= ρ, as a function of ρ > 0; None
            where φ is not least at u = 0 or where there is no such q for large ρ.
    """

    name: str
    derivatives: Callable[[Array], tuple[Array, Array, Array]]
    largest_slope: sympy.Expr
    largest_curvature: sympy.Expr
    largest_third_derivative: sympy.Expr
    supremum: sympy.Expr | None
    value: Callable[[sympy.Expr], sympy.Expr]
    quasar_convexity: Callable[[sympy.Expr], sympy.Expr] | None = None


def _geman_mcclure(u: Array) -> tuple[Array, Array, Array]:
    w = 1.0 / (1.0 + u * u)
    return 1.0 - w, 2.0 * u * w * w, 2.0 * (4.0 * w - 3.0) * w * w


def _geman_mcclure_third() -> sympy.Expr:
    u = sympy.sqrt(1 - 2 / sympy.sqrt(5))
    return 24 * u * (1 - u**2) / (1 + u**2) ** 4


GEMAN_MCCLURE = ScalarLoss(
    name="Geman-McClure loss",
    derivatives=_geman_mcclure,
    largest_slope=3 * sympy.sqrt(3) / 8,
    largest_curvature=sympy.Integer(2),
    largest_third_derivative=_geman_mcclure_third(),
    supremum=sympy.Integer(1),
    value=lambda u: u**2 / (1 + u**2),
    quasar_convexity=lambda rho: sympy.Min(1, 2 / (1 + rho**2)),
)
"""φ(u) = u²/(1+u²).

φ' = 2u/(1+u²)², whose derivative vanishes at u² = 1/3: sup = 3√3/8. φ'' = 2(1-3u²)/(1+u²)³ is 2 at 0 and -1/2 at its
minimum u = 1. φ''' = 24u(u²-1)/(1+u²)⁴ has critical points 5u⁴ - 10u² + 1 = 0, that is u² = 1 ± 2/√5; the smaller one
gives the supremum. u φ'/φ = 2/(1+u²) decreases in |u|, so that its least value for |u| <= ρ is 2/(1+ρ²).
"""


def _cauchy(u: Array) -> tuple[Array, Array, Array]:
    w = 1.0 / (1.0 + u * u)
    return np.log1p(u * u), 2.0 * u * w, 2.0 * (2.0 * w - 1.0) * w


def _cauchy_third() -> sympy.Expr:
    u = sympy.sqrt(2) - 1
    return sympy.radsimp(sympy.expand(4 * u * (3 - u**2)) / sympy.expand((1 + u**2) ** 3))


CAUCHY = ScalarLoss(
    name="Cauchy loss",
    derivatives=_cauchy,
    largest_slope=sympy.Integer(1),
    largest_curvature=sympy.Integer(2),
    largest_third_derivative=_cauchy_third(),
    supremum=None,
    value=lambda u: sympy.log(1 + u**2),
    quasar_convexity=lambda rho: sympy.Min(1, 2 * rho**2 / ((1 + rho**2) * sympy.log(1 + rho**2))),
)
"""φ(u) = ln(1+u²).

φ' = 2u/(1+u²) is largest at u = 1. φ'' = 2(1-u²)/(1+u²)² is 2 at 0 and -1/4 at its minimum u² = 3. φ''' =
4u(u²-3)/(1+u²)³ has critical points u⁴ - 6u² + 1 = 0, that is u² = 3 ± 2√2 = (√2 ± 1)²; u = √2 - 1 gives the supremum.
With v = u², u φ'/φ = 2v/((1+v) ln(1+v)) decreases: v ↦ (1+v) ln(1+v)/v increases, as its derivative has the sign of
v - ln(1+v) >= 0.
"""


def biweight(c: sympy.Rational) -> ScalarLoss:
    """Return Tukey's biweight φ(u) = (c²/6)(1 - (1 - (u/c)²)₊³), constant beyond |u| = c.

    With s = u/c in [-1, 1]: φ' = c s(1-s²)² vanishes at ±1 and is largest at s² = 1/5: 16c/(25√5). φ'' = (1-s²)(1-5s²)
    is 1 at 0 and -4/5 at its minimum s² = 3/5. φ''' = (20s³ - 12s)/c: 8/(√5 c) at s² = 1/5 and 8/c at the ends, where
    φ'' has a kink, so that 8/c is its Lipschitz constant. Beyond c the gradient vanishes: not quasar-convex for ρ >= c.
    """
    scale = float(c)

    def derivatives(u: Array) -> tuple[Array, Array, Array]:
        square = np.minimum((u / scale) ** 2, 1.0)
        left = 1.0 - square
        return scale**2 / 6 * (1.0 - left**3), u * left**2, left * (1.0 - 5.0 * square)

    return ScalarLoss(
        name=f"biweight loss (c = {c})",
        derivatives=derivatives,
        largest_slope=16 * c / (25 * sympy.sqrt(5)),
        largest_curvature=sympy.Integer(1),
        largest_third_derivative=8 / c,
        supremum=c**2 / 6,
        value=lambda u: c**2 / 6 * (1 - (1 - sympy.Min(1, (u / c) ** 2)) ** 3),
    )


def _squared_sigmoid(u: Array) -> tuple[Array, Array, Array]:
    s, rest = expit(-u), expit(u)
    return s * s, -2.0 * s * s * rest, 2.0 * s * s * rest * (2.0 - 3.0 * s)


SQUARED_SIGMOID = ScalarLoss(
    name="squared loss with sigmoid link",
    derivatives=_squared_sigmoid,
    largest_slope=sympy.Rational(8, 27),
    largest_curvature=sympy.Rational("0.154059"),
    largest_third_derivative=sympy.Rational("0.202024"),
    supremum=sympy.Integer(1),
    value=lambda u: 1 / (1 + sympy.exp(u)) ** 2,
)
"""φ(u) = s², s = 1/(1+e^u) in (0, 1): with u = y <a, x> this is (σ(<a, x>) - (1+y)/2)².

Each derivative is a polynomial in s (ds/du = -s(1-s)) that vanishes at 0 and 1: φ' = -2s²(1-s), φ'' = 2s²(1-s)(2-3s)
and φ''' = -2s²(1-s)(4-15s+12s²). sup |φ'| is 8/27, at s = 2/3. The other two suprema are algebraic numbers (at
s = (15 - √33)/24 and at a root of 60s³ - 108s² + 57s - 8), 0.15405857... and 0.20202300..., rounded up in the sixth
digit to what an oracle can calculate with. That nothing is larger is proven in ball arithmetic on [0, 1], by bisection:
``test_constants_are_proven.py``.
"""


def _squared_probit(u: Array) -> tuple[Array, Array, Array]:
    below, density = ndtr(-u), np.exp(-0.5 * u * u) / np.sqrt(2.0 * np.pi)
    return below * below, -2.0 * below * density, 2.0 * density * (density + u * below)


SQUARED_PROBIT = ScalarLoss(
    name="squared loss with probit link",
    derivatives=_squared_probit,
    largest_slope=sympy.Rational("0.486894"),
    largest_curvature=sympy.Rational("0.378353"),
    largest_third_derivative=sympy.Rational("0.738838"),
    supremum=sympy.Integer(1),
    value=lambda u: (sympy.erfc(u / sympy.sqrt(2)) / 2) ** 2,
)
"""φ(u) = Φ(-u)², with Φ the standard normal distribution function and g its density.

φ' = -2Φ(-u)g(u), φ'' = 2g(u)(g(u) + uΦ(-u)), φ''' = 2g(u)(Φ(-u)(1 - u²) - 3ug(u)). The critical points are roots of
transcendental equations, so the three constants are not exact but the suprema 0.48689341..., 0.37835236... and
0.73883727... (at u = -0.506, 0.303 and -0.467) rounded up in the sixth digit. That nothing is larger is proven in ball
arithmetic on [-9, 9], by bisection, and by the fall of g beyond: ``test_constants_are_proven.py``.
"""
