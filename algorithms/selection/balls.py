"""Requirements of the mechanisms on a ball on a problem: its radius, and a slope of the objective there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy

from dpbounds.algorithms.fields import positive
from dpbounds.algorithms.oracles import at_least, batches
from dpbounds.algorithms.problems.domain import radius_of_domain, weight_of_l1
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, formatted_float


def radius_of(problem: FiniteSum, radius: ExactLike | None, regularisation: Fraction = Fraction(0)) -> Fraction:
    """Return the given R, or that of the problem; without one but with a ridge λ > 0, G/λ.

    At a minimiser of F + (λ/2)‖w‖² the gradient of F is -λw, so that ‖w‖ <= G/λ (Wang, Chen & Xu 2019).

    Raises:
        InvalidValue: There is none of these, or the one given is not greater than 0.
    """
    if radius is not None:
        return positive(radius, "radius")
    own = radius_of_domain(problem)
    if own is not None:
        return own
    if regularisation > 0:
        return at_least(problem.lipschitz, "lipschitz") / regularisation
    raise InvalidValue("radius", None, "the radius of a ball", "the problem has none, and a bounded set is needed")


def steepest(problem: FiniteSum) -> sympy.Expr:
    """Return a Lipschitz constant of the objective: G, and λ√p for an l1 term, which is public and no part of G."""
    slope = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
    return slope + sympy.Rational(weight_of_l1(problem)) * sympy.sqrt(problem.dimension)


def demand_fit(problem: FiniteSum, dimension: int, radius: Fraction) -> None:
    """Refuse a ball of another dimension, or one that is larger than the problem's, whose constants hold there only."""
    if problem.dimension != dimension:
        raise InvalidValue("dimension", dimension, f"that of the problem, {problem.dimension}")
    own = radius_of_domain(problem)
    if own is not None and radius > own:
        most = formatted_float(own, "g", "down")
        raise InvalidValue("radius", float(radius), f"at most that of the problem, {most}")


def objective_in_batches(problem: FiniteSum, X: Array) -> Array:
    """Return the objective at every row, in ``batches``: no row's value depends on how many there are."""
    found = np.empty(len(X))
    for rows, points in batches(X):
        found[rows] = problem.objective(points)[: rows.stop - rows.start]
    return found
