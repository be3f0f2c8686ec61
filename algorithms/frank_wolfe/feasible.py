"""What both Frank-Wolfe methods need of a problem and a set, before any record is looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from attrs import Attribute

from dpbounds.algorithms.problems.domain import demand_no_regulariser, demand_within
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.problems.sets import ConstraintSet, SparseVectors
from dpbounds.errors import InvalidValue

# How far outside the set a start may lie, relative to the set's size: what rounding does to a point of its boundary.
_ROUNDING = 1e-9


def convex(_record: object, _field: Attribute[Any], constraint: ConstraintSet) -> None:
    """A validator: raise ``InvalidValue`` for a set that a step between two of its points could leave."""
    if isinstance(constraint, SparseVectors):
        raise InvalidValue("constraint", "sparse vectors", "a convex set", "the l1 ball is their hull for one entry")


def fraction(value: float | None, name: str = "step_fraction") -> float | None:
    """A converter: γ as a double in (0, 1], or None for the best."""
    if value is None:
        return None
    if not (math.isfinite(value) and 0 < value <= 1):
        allowed = "greater than 0 and at most 1, or None for the best"
        raise InvalidValue(name, value, allowed, "a step is a convex combination of two points of the set")
    return float(value)


def starting_point(problem: FiniteSum, constraint: ConstraintSet, start: Sequence[float] | None) -> Array:
    """Return x₁ where problem, set and start fit together.

    Args:
        problem: Supplies the start where none is given, and says where its constants hold.
        constraint: C.
        start: Chosen without looking at the data, or None.

    Raises:
        InvalidValue: The dimensions differ, x₁ lies outside C, C reaches further than the problem's own ball (where its
            constants hold), or the problem has a regulariser, which a linear minimiser knows nothing of.
    """
    demand_no_regulariser(problem)
    demand_within(problem, constraint)
    point = problem.initial_point if start is None else np.array(start, dtype=np.float64)
    if point.shape != (problem.dimension,):
        raise InvalidValue("start.shape", point.shape, f"({problem.dimension},)")
    if not constraint.contains(point[None], tolerance=_ROUNDING * float(constraint.norm_bound))[0]:
        where = "the problem's initial point" if start is None else "the point given"
        raise InvalidValue("start", where, "a point of the set", "give a start that lies in it, a vertex say")
    return point


def gap_at_the_start(
    problem: FiniteSum, start: Sequence[float] | None, lipschitz: sympy.Expr | None, diameter: sympy.Expr
) -> sympy.Expr:
    """The smallest public bound on F(x₁) - inf_C F: the problem's own, the range of the loss, or G times the diameter.

    Args:
        problem: Supplies the first two, each where it has one; the first is about its own initial point only.
        start: None for the problem's initial point.
        lipschitz: In the norm in which the diameter is taken.
        diameter: Of C.

    Raises:
        InvalidValue: There is none of the three.
    """
    travelled = None if lipschitz is None else lipschitz * diameter
    known = (problem.initial_gap if start is None else None, problem.loss_range, travelled)
    finite = [bound for bound in known if bound is not None and bound.is_finite is not False]
    if not finite:
        raise InvalidValue("initial_gap", None, "a bound on F(x₁) - inf F, a loss range or a Lipschitz constant")
    return sympy.Min(*finite)


def gaps(X: Array, gradients: Array, minimisers: Array) -> Array:
    """<∇F(x), x - v>, v the linear minimiser at ∇F(x): the Frank-Wolfe gap, shape (R,)."""
    found: Array = np.einsum("rp,rp->r", gradients, X - minimisers)
    return found
