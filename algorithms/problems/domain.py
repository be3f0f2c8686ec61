"""The domain of a problem, and whether an algorithm stays in it: checked before any record is used."""

from __future__ import annotations

from fractions import Fraction

import sympy

from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.sets import ConstraintSet
from dpbounds.algorithms.problems.shifted_records import ShiftedRecords
from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import decide


def radius_of_domain(problem: FiniteSum) -> Fraction | None:
    """Return the radius of the l2 ball around 0 in which a problem is posed and its constants hold, or None for R^p."""
    radius: Fraction | None = getattr(problem, "radius", None)
    return radius


def weight_of_l1(problem: FiniteSum) -> Fraction:
    """Return λ of a term λ‖x‖₁ added to the sum over records; most problems have none."""
    weight: Fraction = getattr(problem, "l1", Fraction(0))
    return weight


def hessian_rank(problem: FiniteSum) -> int | None:
    """Return a public bound on the rank of one record's Hessian; None where only p is known."""
    rank: int | None = getattr(problem, "hessian_rank", None)
    return rank


def demand_objective(problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` if the gradients are not those of a function: then no bound applies."""
    if not getattr(problem, "has_objective", True):
        advice = "clipped gradients are not the gradients of a function: a run certifies its privacy only"
        raise InvalidValue("problem", type(problem).__name__, "one whose gradients are not clipped", advice)


def known(constant: sympy.Expr | None, name: str) -> sympy.Expr:
    """Return a constant of a problem, or raise ``InvalidValue`` where there is no finite one."""
    if constant is None or constant.is_finite is False:
        advice = "step sizes, noise and bounds rest on it: pose the problem in a ball, or clip its records"
        raise InvalidValue(f"problem.{name}", constant, "a finite constant", advice)
    return constant


def demand_no_regulariser(problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` for an l1 regulariser: an algorithm without a proximal step would omit it."""
    weight = weight_of_l1(problem)
    if weight:
        advice = "put ‖x‖₁ into the constraint, or take projected gradient descent, which has a proximal step"
        raise InvalidValue("problem.l1", float(weight), "0", advice)


def demand_all_of_space(problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` if a walk in all of R^p would leave the problem's ball, or omit its regulariser.

    Landscapes with shifted records are let through: they are made for such walks, in a ball that is large enough for
    them, and raise as soon as one does leave it. A bound on a walk among them is one on walks that stay inside.
    """
    demand_no_regulariser(problem)
    radius = radius_of_domain(problem)
    if radius is not None and not isinstance(problem, ShiftedRecords):
        advice = "this algorithm has no projection; take one that keeps to a set"
        raise InvalidValue("problem.radius", float(radius), "None, all of R^p", advice)


def demand_within(problem: FiniteSum, constraint: ConstraintSet) -> None:
    """Raise ``InvalidValue`` where a set has another dimension than a problem or reaches further than its ball."""
    if constraint.dimension != problem.dimension:
        raise InvalidValue("constraint.dimension", constraint.dimension, f"the problem's {problem.dimension}")
    radius = radius_of_domain(problem)
    if radius is not None and not decide(sympy.Le(constraint.norm_bound, sympy.Rational(radius)), {}):
        allowed = f"a set within the problem's ball of radius {float(radius):g}"
        advice = "the problem's constants hold there only"
        raise InvalidValue("constraint", f"a set with points of norm {constraint.norm_bound}", allowed, advice)
