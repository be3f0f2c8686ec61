"""Surfaces with a known shape that are not a sum over coordinates, spread over records like a ``Landscape``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import checked_start, positive
from dpbounds.algorithms.problems.shifted_records import ConstantOn, ShiftedRecords, shifts_in_pairs
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """F with its constants, its minimisers and its saddles.

    Attributes:
        name: The name of the surface.
        dimension: p.
        value_and_gradient: X of shape (R, p) -> F of shape (R,) and ∇F of shape (R, p).
        hessian: X -> ∇²F of shape (R, p, p), or None where F is not smooth.
        largest_slope: sup ‖∇F‖ on a ball or everywhere.
        largest_curvature: sup ‖∇²F‖, operator norm.
        largest_third_derivative: The Lipschitz constant of the Hessian, operator norm against l2 norm.
        minimum: inf F over R^p.
        minimisers: Some points where it is attained, shape (k, p).
        saddles: Some stationary points that are not minima, shape (m, p).
        escape_curvature: γ > 0: the Hessian at *every* stationary point that is not a minimum has an eigenvalue of at
            most -γ (strict saddles); None if this does not apply.
    """

    name: str
    dimension: int
    value_and_gradient: Callable[[Array], tuple[Array, Array]]
    hessian: Callable[[Array], Array] | None
    largest_slope: ConstantOn
    largest_curvature: ConstantOn
    largest_third_derivative: ConstantOn
    minimum: sympy.Expr
    minimisers: Array
    saddles: Array
    escape_curvature: sympy.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SurfaceLandscape(ShiftedRecords):
    """A surface on the l2 ball of radius R, or on R^p where its constants are finite there.

    Attributes:
        surface: F.
    """

    surface: Surface

    @property
    def shape(self) -> Surface:
        """F."""
        return self.surface

    @property
    def minimum(self) -> sympy.Expr:
        """Inf F over R^p; the ball must reach a minimiser for it to be attained."""
        return self.surface.minimum

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F and ∇F."""
        return self.surface.value_and_gradient(self._points(X))

    def hessian(self, X: ArrayLike) -> Array:
        """Return ∇²F, shape (R, p, p); ``InvalidValue`` where F is not smooth."""
        points = self._points(X)
        if self.surface.hessian is None:
            raise no_hessian(self.surface.name)
        return self.surface.hessian(points)


def surface_landscape(
    surface: Surface,
    records: int,
    start: ArrayLike,
    radius: ExactLike | None = None,
    shift_bound: ExactLike = 1,
    seed: int = 0,
) -> SurfaceLandscape:
    """Return the surface with seeded shifts ±z, each of norm B (a hair less, so that B is never exceeded).

    Args:
        surface: From ``escape_test``, ``population_phase_retrieval`` or ``narrow_well``.
        records: n, even, at least 2.
        start: x₁, shape (p,), within the ball.
        radius: R > 0 of the ball, or None for all of R^p (where some surfaces have no constants).
        shift_bound: B > 0.
        seed: The seed of the shifts.
    """
    ball = None if radius is None else positive(radius, "radius")
    first = checked_start(start, ball)
    if first.size != surface.dimension:
        raise InvalidValue("start.shape", first.shape, f"({surface.dimension},)")
    shifts, bound = shifts_in_pairs(records, first.size, shift_bound, seed)
    made = SurfaceLandscape(surface=surface, shifts=shifts, shift_bound=bound, radius=ball, start=first)
    if made.lipschitz is None:
        raise InvalidValue("radius", radius, f"a radius for which {surface.name} has constants", "give a ball")
    return made


def no_hessian(name: str) -> InvalidValue:
    """Return the error of a problem that is not smooth."""
    return InvalidValue("problem", name, "one with a Hessian", "it is Lipschitz, but not smooth (smoothness is None)")


def lengths(X: Array) -> Array:
    """Return l2 norms of rows, shape (R, 1)."""
    norms: Array = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return norms
