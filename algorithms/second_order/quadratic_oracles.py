"""Oracles that minimise q(u) = (u - w)ᵀH(u - w) over u in a set with <g, u - w> <= r; H may have any eigenvalues.

Each returns a feasible u with q(u) <= Φ min q, 0 < Φ <= 1, up to rounding. These are exact, Φ = 1: for the l2 ball by
trust-region subproblems, for boxes of up to six dimensions by their faces. For general polytopes the problem is
NP-hard, and no ratio is known here; an oracle with a ratio may be passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, Protocol

import numpy as np
from scipy.optimize import brentq

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.sets import Box, ConstraintSet, L2Ball
from dpbounds.errors import InvalidValue

_LARGEST_BOX = 6
# How far, relatively, rounding may take a point across the plane <g, u - w> = r.
_ROUNDING = 1e-12


class QuadraticOracle(Protocol):
    """Finds a Φ-approximate minimiser."""

    @property
    def ratio(self) -> Fraction:
        """Φ in (0, 1]: q(u) <= Φ min q (min q <= 0, as q(w) = 0)."""

    def __call__(self, hessian: Array, gradient: Array, point: Array, slack: float) -> Array:
        """Return the minimiser u for H of shape (p, p), g and w of shape (p,) and r >= 0; w is in the set."""


def oracle_for(constraint: ConstraintSet) -> QuadraticOracle:
    """Return the exact oracle of a set, or ``InvalidValue`` where there is none."""
    if isinstance(constraint, L2Ball):
        return BallOracle(constraint)
    if isinstance(constraint, Box) and constraint.dimension <= _LARGEST_BOX:
        return BoxOracle(constraint)
    allowed = f"an L2Ball, or a Box of at most {_LARGEST_BOX} dimensions"
    advice = "quadratic programmes over polytopes are NP-hard in general: pass an oracle of your own with its ratio"
    raise InvalidValue("constraint", type(constraint).__name__, allowed, advice)


@dataclass(frozen=True, slots=True)
class BallOracle:
    """Exact on ‖u‖ <= R.

    A minimiser is of one of these kinds. Either neither constraint is active; then q >= 0 there, and w is one, too. Or
    the plane is active: the ball's section with it is a ball of one dimension less, a trust-region subproblem without
    a plane. Or only the sphere is: then it is a local minimiser of the subproblem without the plane, which is a global
    one or the only local one that is not global (Martínez 1994). All of these are computed and compared. Where global
    ones form a whole sphere (an eigenspace of two or more dimensions), one of them is computed; if that is beyond the
    plane and another is not, the sphere, being connected, meets the plane, so that the section has one.
    """

    constraint: L2Ball
    ratio: ClassVar[Fraction] = Fraction(1)

    def __call__(self, hessian: Array, gradient: Array, point: Array, slack: float) -> Array:
        """Return a minimiser, shape (p,)."""
        radius, length = float(self.constraint.radius), float(np.linalg.norm(gradient))
        candidates = [point, *local_minimisers(hessian, -hessian @ point, radius)]
        if length > 0:
            normal = gradient / length
            height = float(normal @ point) + slack / length
            if abs(height) <= radius:
                plane = np.linalg.qr(normal[:, None], mode="complete")[0][:, 1:]
                inside = np.sqrt(max(radius**2 - height**2, 0.0))
                centre = height * normal
                linear = plane.T @ (hessian @ (centre - point))
                candidates += [centre + plane @ v for v in local_minimisers(plane.T @ hessian @ plane, linear, inside)]
        within = self.constraint.project(np.array(candidates))
        return _least(within, hessian, gradient, point, slack, radius)


@dataclass(frozen=True, slots=True)
class BoxOracle:
    """Exact on a box: 2·3^p linear systems.

    Take a minimiser on a face of the smallest possible dimension (the plane <g, u - w> = r counts as a facet). It is
    stationary there, and q is strictly convex on the face: along a direction without curvature q would not change
    until a smaller face is met. So it is the only solution of the face's linear system.
    """

    constraint: Box
    ratio: ClassVar[Fraction] = Fraction(1)

    def __call__(self, hessian: Array, gradient: Array, point: Array, slack: float) -> Array:
        """Return a minimiser, shape (p,)."""
        low, high = self.constraint.linear_minimiser(np.array([[1.0], [-1.0]]) * np.ones(len(point)))
        candidates = [point]
        for sides in product((-1, 0, 1), repeat=len(point)):
            free = np.array(sides) == 0
            step = np.where(np.array(sides) < 0, low, high) - point
            step[free] = 0.0
            if not free.any():
                candidates.append(point + step)
                continue
            within, pull = hessian[np.ix_(free, free)], -(hessian @ step)[free]
            if np.linalg.eigvalsh(within)[0] > 0:
                candidates.append(_moved(point, step, free, np.linalg.solve(within, pull)))
            if np.any(gradient[free]):
                border = np.block([[within, gradient[free, None]], [gradient[None, free], np.zeros((1, 1))]])
                with np.errstate(all="ignore"):
                    solved = np.linalg.lstsq(border, np.append(pull, slack - gradient @ step), rcond=None)[0]
                candidates.append(_moved(point, step, free, solved[:-1]))
        inside = self.constraint.contains(np.array(candidates), tolerance=_ROUNDING * float(np.abs(high - low).max()))
        kept = self.constraint.project(np.array(candidates)[inside | (np.arange(len(candidates)) == 0)])
        return _least(kept, hessian, gradient, point, slack, float(np.abs(high - low).max()))


def local_minimisers(matrix: Array, linear: Array, radius: float) -> list[Array]:
    """Return points of ‖v‖ <= R among which are all local minimisers of vᵀAv + 2<b, v> (of each set of equals, some).

    On the sphere a minimiser has (A + λ)v = -b with λ >= 0: in the eigenbasis, μ_1 <= ... <= μ_p, v_i = -b_i/(μ_i + λ).
    For the global one λ >= -μ_1, the only root of φ(λ) = Σ b_i²/(μ_i + λ)² = R² there; where b has no part along the
    first eigenvector there may be no root: then λ = -μ_1 and the length that is missing is made up along that
    eigenvector, either way. A local one that is not global has -μ_2 < λ < -μ_1 and φ'(λ) >= 0; φ is convex there.

    Args:
        matrix: A, symmetric, shape (p, p).
        linear: B, shape (p,).
        radius: R >= 0.

    Returns:
        A handful of points, shape (p,) each; not all of them are minimisers.
    """
    p = len(linear)
    if p == 0 or radius == 0:
        return [np.zeros(p)]
    if p == 1:
        ends = [np.array([radius]), np.array([-radius])]
        return [*ends, np.clip(-linear / matrix[0, 0], -radius, radius)] if matrix[0, 0] > 0 else ends
    eigenvalues, basis = np.linalg.eigh(matrix)
    b = basis.T @ linear
    smallest, found = float(eigenvalues[0]), []
    if smallest > 0:
        inner = -b / eigenvalues
        if np.linalg.norm(inner) <= radius:
            return [basis @ inner]

    def excess(multiplier: float) -> float:
        with np.errstate(all="ignore"):
            return float(np.nan_to_num(np.sum((b / (eigenvalues + multiplier)) ** 2), nan=np.inf)) - radius**2

    def at(multiplier: float) -> Array:
        v = -b / (eigenvalues + multiplier)
        length = float(np.linalg.norm(v))
        return v * (radius / length) if length > 0 else v

    # a hair inside the interval: what is lost there is made up for by the fills below
    width = max(float(np.abs(eigenvalues).max()), float(np.linalg.norm(b)) / radius, 1e-300)
    low = max(0.0, -smallest) + 1e-14 * width
    high = max(0.0, -smallest) + 2 * float(np.linalg.norm(b)) / radius + 1e-13 * width
    if excess(low) > 0 >= excess(high):
        found.append(at(brentq(excess, low, high, xtol=1e-300, rtol=1e-15)))
    if smallest <= 0:
        found += _filled(eigenvalues, b, radius)
    if p > 1 and smallest < 0:
        found += [at(root) for root in _second_root(eigenvalues, b, excess)]
    return [basis @ v for v in found]


def _filled(eigenvalues: Array, b: Array, radius: float) -> Iterable[Array]:
    """Return λ = -μ_1, without the first coordinates; the missing length along ±e_1."""
    above = eigenvalues > eigenvalues[0] + 1e-12 * max(1e-300, float(np.abs(eigenvalues).max()))
    v = np.zeros(len(b))
    v[above] = -b[above] / (eigenvalues[above] - eigenvalues[0])
    missing = radius**2 - float(v @ v)
    if missing < 0:
        return []
    first = np.zeros(len(b))
    first[0] = np.sqrt(missing)
    return [v + first, v - first]


def _second_root(eigenvalues: Array, b: Array, excess: Callable[[float], float]) -> Iterable[float]:
    """Return the root of φ = R² between -μ_2 and -μ_1 where φ rises, if there is one."""
    left, right = max(0.0, -float(eigenvalues[1])), -float(eigenvalues[0])
    left, right = left + 1e-12 * (right - left), right - 1e-12 * (right - left)
    if not left < right:
        return []

    def slope(multiplier: float) -> float:
        with np.errstate(all="ignore"):
            return float(-2 * np.sum(b**2 / (eigenvalues + multiplier) ** 3))

    lowest = left
    if slope(left) < 0:
        if not slope(right) > 0:
            return []
        lowest = brentq(slope, left, right)
    if not excess(lowest) <= 0 < excess(right):
        return []
    return [brentq(excess, lowest, right, xtol=1e-300, rtol=1e-15)]


def _moved(point: Array, step: Array, free: Array, solved: Array) -> Array:
    moved = point + step
    moved[free] = point[free] + solved
    return moved


def _least(candidates: Array, hessian: Array, gradient: Array, point: Array, slack: float, size: float) -> Array:
    """Return the feasible candidate with the least q; w itself is the first."""
    steps = candidates - point
    values = np.einsum("ip,pq,iq->i", steps, hessian, steps)
    reach = slack + _ROUNDING * float(np.linalg.norm(gradient)) * size
    values[steps @ gradient > reach] = np.inf
    least: Array = candidates[int(values.argmin())]
    return least
