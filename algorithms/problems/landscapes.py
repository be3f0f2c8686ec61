"""Landscapes with a known shape: F(x) = Σ_j h(x_j), spread over records as f(x, z_i) = F(x) + <z_i, x>, Σ z_i = 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_start, positive
from dpbounds.algorithms.problems.shifted_records import ShiftedRecords, shifts_in_pairs
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer


@dataclass(frozen=True, slots=True)
class Profile:
    """h(w), even, with its constants on |w| <= R.

    Attributes:
        name: The name of the profile.
        derivatives: w -> (h, h', h''), elementwise.
        largest_slope: R -> a number at least |h'(w)|/|w| times R on |w| <= R, so that ‖∇F‖ stays below it on the ball.
        largest_curvature: R -> sup |h''|.
        largest_third_derivative: R -> sup |h'''|.
        minimum: inf h.
        minimisers: The points where the minimum is attained.
        strict_maxima: The points with h' = 0 and h'' < 0.
        pl_constant: The μ of ½h'² >= μ(h - min h), or None.
    """

    name: str
    derivatives: Callable[[Array], tuple[Array, Array, Array]]
    largest_slope: Callable[[sympy.Expr], sympy.Expr]
    largest_curvature: Callable[[sympy.Expr], sympy.Expr]
    largest_third_derivative: Callable[[sympy.Expr], sympy.Expr]
    minimum: sympy.Expr
    minimisers: tuple[float, ...]
    strict_maxima: tuple[float, ...] = ()
    pl_constant: sympy.Expr | None = None


def _wavy(w: Array) -> tuple[Array, Array, Array]:
    return w * w + 3.0 * np.sin(w) ** 2, 2.0 * w + 3.0 * np.sin(2.0 * w), 2.0 + 6.0 * np.cos(2.0 * w)


WAVY = Profile(
    name="w² + 3 sin² w",
    derivatives=_wavy,
    largest_slope=lambda radius: 8 * radius,
    largest_curvature=lambda radius: sympy.Integer(8),
    largest_third_derivative=lambda radius: sympy.Integer(12),
    minimum=sympy.Integer(0),
    minimisers=(0.0,),
    pl_constant=sympy.Rational("0.17553"),
)
"""w² + 3 sin² w: h'' = 2 + 6 cos 2w lies in [-4, 8] (non-convex), h''' = -12 sin 2w, |h'| <= 8|w|.

PL: inf ½h'²/h is 0.1755309..., rounded down; that nothing is smaller is proven in ball arithmetic for 1/2 <= |w| <= 20
(``test_constants_are_proven.py``). Within, |h'| >= 7|w| and h <= 4w²; beyond, ½h'² >= ½(2|w| - 3)² exceeds w² + 3. The
customary μ = 1/32 (condition number 256) is smaller by 5.6.
"""


def double_well(depth: ExactLike) -> Profile:
    """Return w⁴/4 - a w²/2: a saddle of curvature -a at 0, minima at ±√a, a²/4 below; the depth a > 0 is exact.

    h' = w(w² - a) and |h'|/|w| = |w² - a| <= max(a, R² - a); h'' = 3w² - a lies in [-a, 3R² - a]; h''' = 6w.
    A stationary point of F has coordinates 0 or ±√a; with m > 0 zeros the least eigenvalue of the Hessian is -a,
    without any all eigenvalues are 2a (a global minimum, F = -p a²/4). So all saddles are strict.

    """
    a = positive(depth, "depth")
    level, number = float(a), sympy.Rational(a)

    def derivatives(w: Array) -> tuple[Array, Array, Array]:
        square = w * w
        return square * (square / 4.0 - level / 2.0), w * (square - level), 3.0 * square - level

    return Profile(
        name="w⁴/4 - w²/2" if a == 1 else f"w⁴/4 - {a} w²/2",
        derivatives=derivatives,
        largest_slope=lambda radius: radius * sympy.Max(number, radius**2 - number),
        largest_curvature=lambda radius: sympy.Max(number, 3 * radius**2 - number),
        largest_third_derivative=lambda radius: 6 * radius,
        minimum=-(number**2) / 4,
        minimisers=(-math.sqrt(level), math.sqrt(level)),
        strict_maxima=(0.0,),
    )


DOUBLE_WELL = double_well(1)
"""w⁴/4 - w²/2: minima at ±1, strict saddles of curvature -1."""


def power(degree: int) -> Profile:
    """Return |w|^m for whole m >= 3; in one dimension h = (|h'|/m)^k, k = m/(m-1), KL with equality (γ = 1/m).

    |h'| = m|w|^(m-1), h'' = m(m-1)|w|^(m-2) and |h'''| = m(m-1)(m-2)|w|^(m-3) are largest at |w| = R.

    Below 3 the Hessian is not Lipschitz or k is not below 2.
    """
    m = positive_integer(degree, "degree")
    if m < 3:
        raise InvalidValue("degree", degree, "a whole number at least 3")

    def derivatives(w: Array) -> tuple[Array, Array, Array]:
        size = np.abs(w)
        return size**m, m * np.sign(w) * size ** (m - 1), m * (m - 1) * size ** (m - 2)

    return Profile(
        name=f"|w|^{m}",
        derivatives=derivatives,
        largest_slope=lambda radius: m * radius ** (m - 1),
        largest_curvature=lambda radius: m * (m - 1) * radius ** (m - 2),
        largest_third_derivative=lambda radius: m * (m - 1) * (m - 2) * radius ** (m - 3),
        minimum=sympy.Integer(0),
        minimisers=(0.0,),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Landscape(ShiftedRecords):
    """F(x) = Σ_j h(x_j) on the l2 ball of radius R, with records f(x, z_i) = F(x) + <z_i, x>, Σ z_i = 0, ‖z_i‖ = B.

    Attributes:
        profile: h.
    """

    profile: Profile

    @property
    def shape(self) -> Profile:
        """h, as the Hessian is diagonal; with |h'(w)| <= (s/R)|w|, ‖∇F‖ <= (s/R)‖x‖ <= s."""
        return self.profile

    @property
    def minimum(self) -> sympy.Expr:
        """The sum of p times inf h; the ball must reach a minimiser for it to be attained."""
        return self.dimension * self.profile.minimum

    @property
    def pl_constant(self) -> sympy.Expr | None:
        """μ of ½‖∇F‖² >= μ(F - inf F), or None; that of h, as both sides add up over j."""
        return self.profile.pl_constant

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F and ∇F."""
        value, slope, _ = self.profile.derivatives(self._points(X))
        return value.sum(axis=1), slope

    def hessian(self, X: ArrayLike) -> Array:
        """Return ∇²F, diagonal, shape (R, p, p)."""
        curvature = self.profile.derivatives(self._points(X))[2]
        return curvature[:, :, None] * np.eye(self.dimension)

    def hessian_products(self, X: ArrayLike, V: Array) -> Array:
        """Return ∇²F(x) v at every row, shape (R, p)."""
        products: Array = self.profile.derivatives(self._points(X))[2] * V
        return products


def landscape(
    profile: Profile,
    records: int,
    start: ArrayLike,
    radius: ExactLike,
    shift_bound: ExactLike = 1,
    seed: int = 0,
) -> Landscape:
    """Return the landscape with seeded shifts ±z, each of norm B (slightly less, so that B is never exceeded).

    Args:
        profile: ``WAVY``, ``DOUBLE_WELL``, ``double_well(a)`` or ``power(m)``.
        records: n, even, at least 2.
        start: x₁, shape (p,), within the ball.
        radius: R > 0.
        shift_bound: B > 0.
        seed: The seed of the shifts.
    """
    ball = positive(radius, "radius")
    first = checked_start(start, ball)
    shifts, bound = shifts_in_pairs(records, first.size, shift_bound, seed)
    return Landscape(profile=profile, shifts=shifts, shift_bound=bound, radius=ball, start=first)
