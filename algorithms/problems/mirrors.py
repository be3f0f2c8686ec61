"""Distance-generating functions for mirror descent, each with its modulus in a norm of its set.

w is a distance-generating function of modulus a for the norm N when <∇w(x) - ∇w(z), x - z> >= a N(x - z)² on C. Its
Bregman divergence is V(x, z) = w(x) - w(z) - <∇w(z), x - z> >= a N(x - z)²/2, and a mirror step goes from x along g to
argmin_{u in C} <g, u> + V(u, x)/γ. All functions here are scaled so that the modulus is at least 1, as the analysis of
noisy mirror descent asks; N is measured in units of the set where the set is symmetric, so that N <= 1 on C.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Protocol

import numpy as np
import sympy
from attrs import frozen
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.sets import ConstraintSet, L1Ball, L2Ball, Simplex, SparseVectors
from dpbounds.algorithms.problems.sets.base import Array, Width, checked_rows, row_norms
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.papers.wang_xu_2019 import lemma_4

_HALVINGS = 80  # halvings of a bracket of multipliers: below the spacing of doubles


class DistanceGenerator(Protocol):
    """A function w on a set, of modulus at least 1 for ``norm``; rows are points, shape (R, p)."""

    __slots__ = ()

    @property
    def constraint(self) -> ConstraintSet:
        """The set C."""

    @property
    def modulus(self) -> sympy.Expr:
        """The strong-convexity constant of w in ``norm``, exact (a proven lower bound, at least 1): 1 here."""
        return sympy.Integer(1)

    @property
    def euclidean_square(self) -> sympy.Expr:
        """Return c with ‖x‖₂² <= c N(x)², exact: functions that are L-smooth in l2 are cL-smooth in N."""

    @property
    def dual_second_moment(self) -> Width:
        """At least E N*(b)² for b ~ N(0, I): the noise as the analysis sees it."""

    def norm(self, points: ArrayLike) -> Array:
        """Return N(x), shape (R,)."""

    def dual_norm(self, directions: ArrayLike) -> Array:
        """Return N*(g) = max {<g, x>: N(x) <= 1}, shape (R,)."""

    def value(self, points: ArrayLike) -> Array:
        """Return w(x), shape (R,)."""

    def gradient(self, points: ArrayLike) -> Array:
        """Return ∇w(x), shape (R, p)."""

    def divergence(self, points: ArrayLike, origins: ArrayLike) -> Array:
        """Return V(x, z), shape (R,)."""

    def step(self, points: ArrayLike, directions: ArrayLike, step_size: float) -> Array:
        """Argmin over u in C of <g, u> + V(u, x)/γ for each row, shape (R, p)."""

    def _rows(self, rows: ArrayLike, name: str = "points") -> Array:
        return checked_rows(rows, self.constraint.dimension, name)


@frozen
class EuclideanMirror(DistanceGenerator):
    """w(x) = s‖x‖₂²/2 on any convex set, for N(x) = √s ‖x‖₂: mirror descent is projected descent.

    The modulus is 1, since <s(x - z), x - z> = N(x - z)². Use ``EuclideanMirror.of_ball`` for the norm of an l2 ball.

    Attributes:
        constraint: C.
        scale: s > 0, exact; 1 gives the plain l2 norm.
    """

    constraint: ConstraintSet
    scale: Fraction = Fraction(1)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.constraint, SparseVectors):
            advice = "projections on other sets do not decrease the way the proof needs"
            raise InvalidValue("constraint", "sparse vectors", "a convex set", advice)
        if not exact(self.scale, "scale") > 0:
            raise InvalidValue("scale", self.scale, "greater than 0")

    @classmethod
    def of_ball(cls, ball: L2Ball) -> EuclideanMirror:
        """Return w(x) = ‖x‖²/(2r²), for N(x) = ‖x‖₂/r, the Minkowski norm of the ball."""
        return cls(ball, 1 / ball.radius**2)

    @property
    def euclidean_square(self) -> sympy.Expr:
        """1/s, with equality everywhere."""
        return 1 / sympy.Rational(self.scale)

    @property
    def dual_second_moment(self) -> Width:
        """Exactly E‖b‖₂²/s = p/s."""
        return self.constraint.dimension / sympy.Rational(self.scale)

    def norm(self, points: ArrayLike) -> Array:
        """Return √s ‖x‖₂."""
        lengths: Array = row_norms(self._rows(points))[:, 0] * float(self.scale) ** 0.5
        return lengths

    def dual_norm(self, directions: ArrayLike) -> Array:
        """Return ‖g‖₂/√s."""
        lengths: Array = row_norms(self._rows(directions, "directions"))[:, 0] / float(self.scale) ** 0.5
        return lengths

    def value(self, points: ArrayLike) -> Array:
        """Return s‖x‖₂²/2."""
        return self.norm(points) ** 2 / 2

    def gradient(self, points: ArrayLike) -> Array:
        """Return the vector s x."""
        return float(self.scale) * self._rows(points)

    def divergence(self, points: ArrayLike, origins: ArrayLike) -> Array:
        """Return s‖x - z‖₂²/2."""
        return self.value(self._rows(points) - self._rows(origins, "origins"))

    def step(self, points: ArrayLike, directions: ArrayLike, step_size: float) -> Array:
        """Return the projection of x - (γ/s) g: completing the square of <g, u> + s‖u - x‖²/(2γ)."""
        gamma = _checked_step(step_size)
        moved = self._rows(points) - gamma / float(self.scale) * self._rows(directions, "directions")
        return self.constraint.project(moved)


class OfL1(DistanceGenerator):
    """Base class for N(x) = ‖x‖₁/r on the l1 ball or the simplex of radius r."""

    __slots__ = ()

    @property
    @abstractmethod
    def constraint(self) -> L1Ball | Simplex:
        """The set."""

    @property
    def euclidean_square(self) -> sympy.Expr:
        """r²: ‖x‖₂ <= ‖x‖₁ = r N(x), with equality along an axis."""
        return sympy.Rational(self.constraint.radius) ** 2

    @property
    def dual_second_moment(self) -> Enclosure:
        """r²((E max |b_i|)² + 1) >= E r² max |b_i|²: Lemma 4 of Wang & Xu 2019 for the l1 ball."""
        ball = L1Ball(self.constraint.dimension, self.constraint.radius)
        values = {symbols.gaussian_width: ball.gaussian_width, symbols.norm_bound: ball.radius}
        return evaluate(lemma_4.second_moment, values)

    def dual_norm(self, directions: ArrayLike) -> Array:
        """Return the dual norm r max |g_i|."""
        largest: Array = self._total * np.abs(self._rows(directions, "directions")).max(axis=1)
        return largest

    @property
    def _total(self) -> float:
        return float(self.constraint.radius)


@frozen
class PNormMirror(OfL1):
    """w(x) = c‖x‖_q²/2 on the l1 ball of radius r, c = p^(2(1-1/q))/((q-1)r²), for N(x) = ‖x‖₁/r.

    ‖·‖_q²/2 has modulus q - 1 in ‖·‖_q for 1 < q <= 2 (Ball, Carlen & Lieb 1994), and ‖v‖₁ <= p^(1-1/q) ‖v‖_q (Hölder),
    so <∇w(x) - ∇w(z), x - z> >= c(q-1)‖x - z‖_q² >= c(q-1) p^(-2(1-1/q)) ‖x - z‖₁² = N(x - z)²: the modulus is 1. At
    q = 1 + 1/ln p the range of w is of order ln p: p^(1-1/q) = exp(1/q) < e.

    Attributes:
        constraint: The l1 ball.
        exponent: q, rational, 1 < q <= 2; ``PNormMirror.of_ball`` chooses it.

    Raises:
        InvalidValue: The exponent is not allowed (or closer to 1 than 1/100: its powers would leave the doubles).
    """

    constraint: L1Ball
    exponent: Fraction

    def __attrs_post_init__(self) -> None:
        if not Fraction(101, 100) <= exact(self.exponent, "exponent") <= 2:
            raise InvalidValue("exponent", self.exponent, "a number from 1.01 to 2", "1 + 1/ln p is the usual choice")

    @classmethod
    def of_ball(cls, ball: L1Ball, exponent: ExactLike | None = None) -> PNormMirror:
        """Return the function with the given exponent, or a rational number near 1 + 1/ln max(p, 3)."""
        if exponent is not None:
            return cls(ball, exact(exponent, "exponent"))
        usual = 1 + 1 / np.log(max(ball.dimension, 3))
        return cls(ball, min(Fraction(2), Fraction(float(usual)).limit_denominator(1000)))

    def norm(self, points: ArrayLike) -> Array:
        """Return ‖x‖₁/r."""
        return self.constraint.minkowski_norm(points)

    def value(self, points: ArrayLike) -> Array:
        """Return c‖x‖_q²/2."""
        lengths = _power_norms(self._rows(points), float(self.exponent))[:, 0]
        values: Array = self._factor / 2 * lengths * lengths
        return values

    def gradient(self, points: ArrayLike) -> Array:
        """Return the gradient c‖x‖_q^(2-q) sign(x_i)|x_i|^(q-1), and 0 at 0."""
        return self._factor * _half_square_gradient(self._rows(points), float(self.exponent))

    def divergence(self, points: ArrayLike, origins: ArrayLike) -> Array:
        """Return V(x, z), from its definition; rounding is cut at 0."""
        x, z = self._rows(points), self._rows(origins, "origins")
        slopes: Array = (self.gradient(z) * (x - z)).sum(axis=1)
        return np.maximum(self.value(x) - self.value(z) - slopes, 0.0)

    def step(self, points: ArrayLike, directions: ArrayLike, step_size: float) -> Array:
        """Minimise w(u) - <θ, u>, θ = ∇w(x) - γg, over ‖u‖₁ <= r, by Newton's method on the constraint's multiplier.

        For a multiplier m >= 0 the Lagrangian w(u) - <θ, u> + m‖u‖₁ is least at u(m) = ∇w*(S_m(θ)), S the soft
        threshold and w* = ‖·‖_{q*}²/(2c), 1/q + 1/q* = 1 (the gradient of w* keeps signs and zeros, so that
        θ - ∇w(u) ∈ m ∂‖u‖₁). ‖u(m)‖₁ is continuous and does not increase in m, and u(max|θ|) = 0: the answer is u(0)
        where that is in the ball, and otherwise u(m) where ‖u(m)‖₁ = r, found within [0, max|θ|] for all such rows at
        once.
        """
        gamma = _checked_step(step_size)
        theta = self.gradient(points) - gamma * self._rows(directions, "directions")
        if not np.isfinite(theta).all():
            raise InvalidValue("step_size", step_size, "one whose steps are finite", "use a smaller one")
        radius = float(self.constraint.radius)
        moved = self._dual_gradient(theta)
        over = np.flatnonzero(np.abs(moved).sum(axis=1) > radius)
        moved[over] = self._on_the_sphere(theta[over], radius)
        return moved

    def _on_the_sphere(self, theta: Array, radius: float) -> Array:
        """Return u(m) with ‖u(m)‖₁ = r, for rows with ‖u(0)‖₁ > r, by Newton's method within a bracket.

        With s = S_m(θ), Q = q*, t = |s|/‖s‖_Q, A = Σ t^(Q-1) and B = Σ_{s≠0} t^(Q-2): ‖u(m)‖₁ = ‖s‖_Q A/c, whose
        derivative in m is -(A² + (Q-1)(B - A²))/c, negative since A² <= B (Cauchy-Schwarz, Σ t^Q = 1). Every third step
        halves the bracket, as does one that would leave it, so that the method ends.
        """
        dual = float(self.exponent) / (float(self.exponent) - 1)
        low, high = np.zeros((len(theta), 1)), np.abs(theta).max(axis=1, keepdims=True)
        multiplier = low
        rounding = (32 + theta.shape[1]) * 2.0**-52
        for count in range(3 * _HALVINGS):
            shrunk = np.maximum(np.abs(theta) - multiplier, 0.0)
            norms = _power_norms(shrunk, dual)
            relative = shrunk / np.where(norms > 0, norms, 1.0)
            first = (relative ** (dual - 1)).sum(axis=1, keepdims=True)
            second = np.where(shrunk > 0, relative ** (dual - 2), 0.0).sum(axis=1, keepdims=True)
            excess = norms * first / self._factor - radius
            low, high = np.where(excess > 0, multiplier, low), np.where(excess > 0, high, multiplier)
            if (np.abs(excess) <= rounding * radius).all():
                break
            slope = (first**2 + (dual - 1) * (second - first**2)) / self._factor
            newton = multiplier + excess / np.where(slope > 0, slope, 1.0)
            safe = (slope > 0) & (low < newton) & (newton < high) & (count % 3 < 2)
            multiplier = np.where(safe, newton, (low + high) / 2)
        else:
            multiplier = low  # the bracket is down to neighbouring doubles; here the point is not 0
        # The last spacing of the multiplier may be coarse when m is close to max|θ|: the length is known, so it is set.
        edge = self._dual_gradient(_shrunk(theta, multiplier))
        scaled: Array = edge * (radius / np.abs(edge).sum(axis=1, keepdims=True))
        return scaled

    @property
    def _factor(self) -> float:
        q = float(self.exponent)
        spread = float(self.constraint.dimension) ** (2 * (1 - 1 / q))
        return float(spread / ((q - 1) * float(self.constraint.radius) ** 2))

    def _dual_gradient(self, theta: Array) -> Array:
        q = float(self.exponent)
        return _half_square_gradient(theta, q / (q - 1)) / self._factor


@frozen
class EntropyMirror(OfL1):
    """w(x) = Σ (x_i/r) ln(x_i/r) on the simplex of sum r, for N(x) = ‖x‖₁/r: exponentiated gradient descent.

    With weights y = x/r, V(x, z) = Σ y_i ln(y_i/y'_i), the Kullback-Leibler divergence, is at least ‖y - y'‖₁²/2 by
    Pinsker's inequality. V(x, z) + V(z, x) = <∇w(x) - ∇w(z), x - z>, so the modulus is 1. w is differentiable where all
    entries are positive: start there. An entry that underflows to 0 stays 0.

    Attributes:
        constraint: The simplex.
    """

    constraint: Simplex

    def norm(self, points: ArrayLike) -> Array:
        """Return ‖x‖₁/r."""
        lengths: Array = np.abs(self._rows(points)).sum(axis=1) / self._total
        return lengths

    def value(self, points: ArrayLike) -> Array:
        """Return Σ y_i ln y_i with y = x/r and 0 ln 0 = 0."""
        weights = self._weights(points)
        values: Array = (weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=1)
        return values

    def gradient(self, points: ArrayLike) -> Array:
        """Return the gradient (ln(x_i/r) + 1)/r; raises ``InvalidValue`` where an entry is 0."""
        weights = self._weights(points)
        if not (weights > 0).all():
            raise InvalidValue("points", 0.0, "positive entries", "entropy has no gradient on the simplex's boundary")
        slopes: Array = (np.log(weights) + 1) / self._total
        return slopes

    def divergence(self, points: ArrayLike, origins: ArrayLike) -> Array:
        """Return Σ y_i ln(y_i/y'_i), which is infinite where y'_i = 0 < y_i."""
        first, second = self._weights(points), self._weights(origins, "origins")
        outside = ((second == 0) & (first > 0)).any(axis=1)
        both = (first > 0) & (second > 0)
        ratio = np.log(np.where(both, first, 1.0)) - np.log(np.where(both, second, 1.0))
        # Σ (y' - y) = 0 is added term by term: every term is then >= 0, and near points lose fewer digits.
        terms = (first * ratio + second - first).sum(axis=1)
        return np.where(outside, np.inf, np.maximum(terms, 0.0))

    def step(self, points: ArrayLike, directions: ArrayLike, step_size: float) -> Array:
        """Return u_i = r x_i e^(-γ r g_i)/Σ_j x_j e^(-γ r g_j), the stationary point on Σ u = r, by logarithms."""
        gamma, weights = _checked_step(step_size), self._weights(points)
        logs = np.log(np.where(weights > 0, weights, 1.0)) - gamma * self._total * self._rows(directions, "directions")
        if not np.isfinite(logs).all():
            raise InvalidValue("step_size", step_size, "one whose steps are finite", "use a smaller one")
        logs = np.where(weights > 0, logs, -np.inf)
        grown = np.exp(logs - logs.max(axis=1, keepdims=True))
        moved: Array = self._total * (grown / grown.sum(axis=1, keepdims=True))
        return moved

    def _weights(self, points: ArrayLike, name: str = "points") -> Array:
        rows = self._rows(points, name)
        inside = self.constraint.contains(rows, 1e-9 * self._total)
        if (rows < 0).any() or not inside.all():
            row = int(np.argmax((rows < 0).any(axis=1) | ~inside))
            allowed = f"entries at least 0 with sum {self.constraint.radius}"
            raise InvalidValue(f"{name}[{row}]", rows[row], allowed, "project it on the simplex first")
        return rows / self._total


def _checked_step(step_size: float) -> float:
    if not 0 < step_size < np.inf:
        raise InvalidValue("step_size", step_size, "a finite number greater than 0")
    return float(step_size)


def _shrunk(rows: Array, threshold: Array) -> Array:
    shrunk: Array = np.sign(rows) * np.maximum(np.abs(rows) - threshold, 0.0)
    return shrunk


def _power_norms(rows: Array, exponent: float) -> Array:
    """Return ‖x‖_q of every row, shape (R, 1), with the largest magnitude taken out first."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    relative = np.abs(rows) / np.where(largest > 0, largest, 1.0)
    norms: Array = largest * (relative**exponent).sum(axis=1, keepdims=True) ** (1 / exponent)
    return norms


def _half_square_gradient(rows: Array, exponent: float) -> Array:
    """Return ∇(‖x‖_q²/2) = ‖x‖_q (|x|/‖x‖_q)^(q-1) sign x, and 0 at 0."""
    norms = _power_norms(rows, exponent)
    relative = np.abs(rows) / np.where(norms > 0, norms, 1.0)
    gradient: Array = np.copysign(norms * relative ** (exponent - 1), rows)
    return gradient


__all__ = ["DistanceGenerator", "EuclideanMirror", "PNormMirror", "EntropyMirror"]
