"""Landscapes with a known shape: F(x) = Σ_j h(x_j), spread over records as f(x, z_i) = F(x) + <z_i, x>, Σ z_i = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from algorithms.problems.finite_sum import Array
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer

# Relative; points that were projected on the ball in floating point lie this little outside at most.
_ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Profile:
    """h(w), even, with its constants on |w| <= R.

    Attributes:
        name: What it is called.
        derivatives: w -> (h, h', h''), elementwise.
        largest_slope: R -> a number at least |h'(w)|/|w| times R on |w| <= R, so that ‖∇F‖ stays below it on the ball.
        largest_curvature: R -> sup |h''|.
        largest_third_derivative: R -> sup |h'''|.
        minimum: inf h.
        minimisers: Where it is attained.
        strict_maxima: Where h' = 0 and h'' < 0.
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


def _double_well(w: Array) -> tuple[Array, Array, Array]:
    square = w * w
    return square * (square / 4.0 - 0.5), w * (square - 1.0), 3.0 * square - 1.0


DOUBLE_WELL = Profile(
    name="w⁴/4 - w²/2",
    derivatives=_double_well,
    largest_slope=lambda radius: radius * sympy.Max(1, radius**2 - 1),
    largest_curvature=lambda radius: sympy.Max(1, 3 * radius**2 - 1),
    largest_third_derivative=lambda radius: 6 * radius,
    minimum=sympy.Rational(-1, 4),
    minimisers=(-1.0, 1.0),
    strict_maxima=(0.0,),
)
"""w⁴/4 - w²/2: strict saddles. A stationary point of F has coordinates 0 or ±1; with m > 0 zeros the least eigenvalue
of the Hessian is -1, without any all eigenvalues are 2 (a global minimum, F = -p/4).
"""


def power(degree: int) -> Profile:
    """|w|^m for whole m >= 3: in one dimension h = (|h'|/m)^k with k = m/(m-1), a KL inequality attained (γ = 1/m).

    |h'| = m|w|^(m-1), h'' = m(m-1)|w|^(m-2) and |h'''| = m(m-1)(m-2)|w|^(m-3) are largest at |w| = R.

    Args:
        degree: m.

    Raises:
        InvalidValue: m is below 3, where the Hessian is not Lipschitz or k is not below 2.
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


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """F(x) = Σ_j h(x_j) on the l2 ball of radius R, with records f(x, z_i) = F(x) + <z_i, x>, Σ z_i = 0, ‖z_i‖ = B.

    One record's gradient has norm at most ‖∇F‖ + B, and its Hessian is that of F. Records are ±z in pairs.

    Outside the ball the constants, by which noise is calibrated, do not hold: points there are refused. They do hold up
    to R(1 + 1e-9), so that a point projected in floating point is none of those.

    Attributes:
        profile: h.
        shifts: z_i, shape (n, p), read-only.
        shift_bound: B >= 0.
        radius: R > 0.
        start: x₁, within the ball.
    """

    profile: Profile
    shifts: Array
    shift_bound: Fraction
    radius: Fraction
    start: Array

    @property
    def records(self) -> int:
        """n, even."""
        return int(self.shifts.shape[0])

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return int(self.shifts.shape[1])

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,), a copy."""
        return self.start.copy()

    @property
    def lipschitz(self) -> sympy.Expr:
        """sup‖∇F‖ + B on the ball: with |h'(w)| <= (s/R)|w|, ‖∇F‖ <= (s/R)‖x‖ <= s."""
        return self.profile.largest_slope(self._reach) + sympy.Rational(self.shift_bound)

    @property
    def smoothness(self) -> sympy.Expr:
        """sup|h''|: the Hessian is diagonal."""
        return self.profile.largest_curvature(self._reach)

    @property
    def hessian_lipschitz(self) -> sympy.Expr:
        """sup|h'''|: the Hessian is diagonal, and its largest entry moves by at most sup|h'''| max|x_j - y_j|."""
        return self.profile.largest_third_derivative(self._reach)

    @property
    def minimum(self) -> sympy.Expr:
        """P times inf h; the ball must reach a minimiser for it to be attained."""
        return self.dimension * self.profile.minimum

    @property
    def initial_gap(self) -> sympy.Expr:
        """F(x₁) - p inf h, rounded up by 1e-9 of itself plus 1e-12."""
        value = Fraction(float(self.objective(self.start[None])[0])) - Fraction(self.minimum.p, self.minimum.q)
        return sympy.Rational(value * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12))

    @property
    def loss_range(self) -> sympy.Expr:
        """A bound, not the supremum: 2R times the Lipschitz constant: the ball's diameter times the steepest slope."""
        return 2 * self._reach * self.lipschitz

    @property
    def pl_constant(self) -> sympy.Expr | None:
        """μ of ½‖∇F‖² >= μ(F - inf F), or None; that of h, as both sides add up over j."""
        return self.profile.pl_constant

    def objective(self, X: ArrayLike) -> Array:
        """F at every row of ``X``; returns shape (R,)."""
        values: Array = self.profile.derivatives(self._points(X))[0].sum(axis=1)
        return values

    def gradient(self, X: ArrayLike) -> Array:
        """∇F, shape (R, p)."""
        return self.profile.derivatives(self._points(X))[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """F and ∇F."""
        value, slope, _ = self.profile.derivatives(self._points(X))
        return value.sum(axis=1), slope

    def objective_at(self, points: ArrayLike) -> Array:
        """F at N points, shape (N,)."""
        return self.objective(points)

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """∇F plus the mean shift of each repetition's own records, ``rows`` of shape (R, b); returns (R, p)."""
        points, chosen = self._points(X), np.asarray(rows)
        if chosen.ndim != 2 or chosen.shape[0] != len(points) or chosen.shape[1] < 1 or chosen.dtype.kind not in "iu":
            raise InvalidValue("rows.shape", chosen.shape, f"integers of shape ({len(points)}, b) with b >= 1")
        if len(points) and not (chosen.min() >= 0 and chosen.max() < self.records):
            raise InvalidValue("rows", f"{chosen.min()} .. {chosen.max()}", f"indices from 0 to {self.records - 1}")
        means: Array = self.gradient(points) + self.shifts[chosen].mean(axis=1)
        return means

    def hessian(self, X: ArrayLike) -> Array:
        """∇²F, diagonal, shape (R, p, p)."""
        curvature = self.profile.derivatives(self._points(X))[2]
        return curvature[:, :, None] * np.eye(self.dimension)

    @property
    def _reach(self) -> sympy.Expr:
        return sympy.Rational(self.radius * (1 + _ROUNDING))

    def _points(self, X: ArrayLike) -> Array:
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise InvalidValue("X.shape", points.shape, f"(repetitions, {self.dimension})")
        if not (np.linalg.norm(points, axis=1) <= float(self.radius) * (1 + float(_ROUNDING) / 2)).all():
            raise InvalidValue(
                "X",
                "a point outside the ball",
                f"points in the ball of radius {self.radius}",
                "the constants hold there only: project first",
            )
        return points


def landscape(
    profile: Profile,
    records: int,
    start: ArrayLike,
    radius: ExactLike,
    shift_bound: ExactLike = 1,
    seed: int = 0,
) -> Landscape:
    """Return the landscape with seeded shifts ±z, each of norm B (a hair less, so that B is never exceeded).

    Args:
        profile: ``WAVY``, ``DOUBLE_WELL`` or ``power(m)``.
        records: n, even, at least 2.
        start: x₁, shape (p,), within the ball.
        radius: R > 0.
        shift_bound: B > 0.
        seed: Of the shifts.

    Raises:
        InvalidValue: A number is not allowed, or the start lies outside the ball.
    """
    n, R, bound = positive_integer(records, "records"), exact(radius, "radius"), exact(shift_bound, "shift_bound")
    if n % 2:
        raise InvalidValue("records", records, "an even number", "records come in pairs ±z so that they cancel")
    for name, number in (("radius", R), ("shift_bound", bound)):
        if number <= 0:
            raise InvalidValue(name, number, "a number greater than 0")
    first = np.array(start, dtype=np.float64)
    if first.ndim != 1 or not first.size or not np.isfinite(first).all():
        raise InvalidValue("start", start, "finite numbers of shape (p,)")
    if sum((Fraction(float(entry)) ** 2 for entry in first), Fraction(0)) > R**2:
        raise InvalidValue("start", start, f"a point in the ball of radius {radius}")
    half = np.random.default_rng(seed).standard_normal((n // 2, first.size))
    half *= float(bound) * (1 - 1e-12) / np.linalg.norm(half, axis=1, keepdims=True)
    shifts = np.concatenate([half, -half])
    for array in (shifts, first):
        array.flags.writeable = False
    return Landscape(profile, shifts, bound, R, first)
