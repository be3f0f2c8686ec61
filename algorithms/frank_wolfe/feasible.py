"""Common parts of both Frank-Wolfe methods: start, set and step, before any record is used, and the bound."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import sympy
from attrs import Attribute

from dpbounds.algorithms.iterates import no_more_than
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method
from dpbounds.algorithms.planning import Enclosure
from dpbounds.algorithms.problems.domain import demand_no_regulariser, demand_within
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.problems.residual_losses import SQUARED_SIGMOID
from dpbounds.algorithms.problems.sets import ConstraintSet, SparseVectors
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_chen_xu_2019 import link_constant, link_slope

# How far outside the set a start may lie, relative to the set's size: what rounding does to a point of its boundary.
_ROUNDING = 1e-9


def convex(_record: object, _field: Attribute[Any], constraint: ConstraintSet) -> None:
    """Raise ``InvalidValue`` for a set that a step between two of its points could leave: a validator."""
    if isinstance(constraint, SparseVectors):
        raise InvalidValue("constraint", "sparse vectors", "a convex set", "the l1 ball is their hull for one entry")


def fraction(value: float | None, name: str = "step_fraction") -> float | None:
    """Return γ as a double in (0, 1], or None for the best: a converter."""
    if value is None:
        return None
    if not (math.isfinite(value) and 0 < value <= 1):
        allowed = "greater than 0 and at most 1, or None for the best"
        raise InvalidValue(name, value, allowed, "a step is a convex combination of two points of the set")
    return float(value)


def stays_inside(gamma: Enclosure, few: str) -> float:
    """Return a printed γ, rounded down; ``InvalidValue`` if such a step would leave the set."""
    if gamma.upper > 1:
        advice = f"with so few {few} for such a set the printed step leaves the set"
        raise InvalidValue("step_fraction", gamma.upper, "at most 1 for a step that stays in the set", advice)
    return gamma.lower


class FrankWolfe(Method[FiniteSum]):
    """Frank-Wolfe: steps of a share γ of the way from a point of a convex set C to another, without projections."""

    __slots__ = ()

    metric: ClassVar[str] = "gap"
    explicit_gap: ClassVar[sympy.Expr]
    explicit_fraction: ClassVar[sympy.Expr]

    constraint: ConstraintSet
    step_fraction: float | None
    start: tuple[float, ...] | None

    def starting_point(self, problem: FiniteSum) -> Array:
        """Return x₁ where problem, set and start fit together.

        Raises:
            InvalidValue: The dimensions differ, x₁ lies outside C, C reaches further than the problem's own ball (where
                its constants hold), or the problem has a regulariser, which a linear minimiser does not include.
        """
        demand_no_regulariser(problem)
        demand_within(problem, self.constraint)
        point = problem.initial_point if self.start is None else np.array(self.start, dtype=np.float64)
        if point.shape != (problem.dimension,):
            raise InvalidValue("start.shape", point.shape, f"({problem.dimension},)")
        if not self.constraint.contains(point[None], tolerance=_ROUNDING * float(self.constraint.norm_bound))[0]:
            where = "the problem's initial point" if self.start is None else "the point given"
            raise InvalidValue("start", where, "a point of the set", "give a start that lies in it, a vertex say")
        return point

    def step_fraction_for(self, problem: FiniteSum) -> float:
        """Return γ as a double: ``step_fraction``, or the bound's best one, rounded down."""
        if self.step_fraction is not None:
            return self.step_fraction
        return min(1.0, evaluate(self.explicit_fraction.subs(self.sizes(problem)), {}).lower)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean Frank-Wolfe gap of the output, for the noise that is really drawn.

        Raises:
            InvalidValue: Problem, set and start do not fit together, a constant is missing, or vertices are chosen by
                "noisy-max", which the theorem is not about.

        Source: Wang & Xu 2019, Theorems 4 and 6 (without constants there).
        """
        found = self._evaluated(self.explicit_gap, problem)
        slope = problem.lipschitz
        across = None if slope is None else slope * self.constraint.diameter
        return no_more_than(found, problem, "G times the diameter of the set", across)

    def _on_the_population(self, formula: sympy.Expr, problem: FiniteSum, fits: bool, allowed: str) -> Enclosure:
        if not (fits and isinstance(problem, LinearModel) and problem.loss is SQUARED_SIGMOID):
            raise InvalidValue("problem", type(problem).__name__, f"the squared loss with sigmoid link, {allowed}")
        slope = sympy.E / (1 + sympy.E) ** 2  # on [-1, 1] the link has |σ'|, |σ''| <= 1 and σ' >= σ'(1) = e/(1+e)²
        return self._evaluated(formula.subs({link_constant: 1, link_slope: slope}), problem)

    @abstractmethod
    def sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the public numbers that the bound and the best γ are made of."""

    @abstractmethod
    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        """Return a formula of the theorem at the numbers that are really used."""

    def _initial_gap(self, problem: FiniteSum, lipschitz: sympy.Expr | None, diameter: sympy.Expr) -> sympy.Expr:
        """Return the least public bound on F(x₁) - inf_C F: the problem's for its own start, its range, or G diam C."""
        travelled = None if lipschitz is None else lipschitz * diameter
        bounds = (problem.initial_gap if self.start is None else None, problem.loss_range, travelled)
        finite = [bound for bound in bounds if bound is not None and bound.is_finite is not False]
        if not finite:
            raise InvalidValue("initial_gap", None, "a bound on F(x₁) - inf F, a loss range or a Lipschitz constant")
        return sympy.Min(*finite)


def gaps(X: Array, gradients: Array, minimisers: Array) -> Array:
    """Return <∇F(x), x - v>, v the linear minimiser at ∇F(x): the Frank-Wolfe gap, shape (R,)."""
    found: Array = np.einsum("rp,rp->r", gradients, X - minimisers)
    return found
