"""DP-GD-SO: towards a second-order stationary point within a convex set, by Frank-Wolfe and curvature steps.

Wang, Chen & Xu 2019, Algorithm 6, with the parameters, noise and number of steps of its explicit guarantee,
``wang-chen-xu-2019/theorem-9/explicit``.

Wanted is a point with <∇F(w), u - w> >= -a for all u in C, and (u - w)ᵀ∇²F(w)(u - w) >= -b for those where the first
product is 0. The paper has a = α and b = √(ρ_H α); the two are kept apart here as their units differ. The paper's
constant in r is 72 where the proof needs 96, its input calls steps and start by other letters, and it does not say what
happens after T steps: here that is ``found`` = False, and NaN for a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy
from attrs import evolve, field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, OpenRun, Outcome, computed
from dpbounds.algorithms.oracles.rows import Walk, asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_no_regulariser, demand_within
from dpbounds.algorithms.problems.sets import ConstraintSet
from dpbounds.algorithms.second_order.guarantees import (
    SecondOrderMethod,
    constants,
    ended,
    exact_hessians,
    steps_of,
    value_of,
)
from dpbounds.algorithms.second_order.quadratic_oracles import QuadraticOracle, oracle_for
from dpbounds.algorithms.second_order.reserved import reserved
from dpbounds.expressions import symbols
from dpbounds.papers.wang_chen_xu_2019 import (
    curvature_tolerance as curvature_symbol,
    gap_tolerance as gap_symbol,
    theorem_9_explicit as theorem,
)

# A start this far outside the set, in the unit of its points, is rounding.
_ROUNDING = 1e-12


@frozen(field_transformer=fields.named)
class ConstrainedSecondOrder(SecondOrderMethod):
    """Algorithm 6 of Wang, Chen & Xu 2019.

    ::

        while fewer than T steps were made, at w:
            g = ∇F(w) + noise;  v = a point of C with the least <g, v>
            if <g, v - w> < -a/2:                                   w <- (1 - η)w + ηv
            else H = ∇²F(w) + symmetric noise;
                 u = a Φ-approximate minimiser of q(u) = (u - w)ᵀH(u - w) over u in C with <g, u - w> <= r
                 if q(u) <= -Φb/2:                                  w <- (1 - θ)w + θu
                 else                                               return w

    A repetition that has returned makes no more queries; the ledger has the releases planned for T points. The output
    is NaN where ``outputs["found"]`` is False. Measured at the point where a repetition ended: "gap", the exact -min
    <∇F(w), u - w>; "curvature", the exact minimum of (u - w)ᵀ∇²F(w)(u - w) over u in C with <∇F(w), u - w> <= 0, which
    includes those where it is 0 (by the same oracle, divided by its ratio); and "failure", 1 if no point was found or
    one of them is out of bounds.

    Attributes:
        constraint: C: an ``L2Ball``, a ``Box`` of at most six dimensions, or any set with an ``oracle``.
        gradient_multiplier: Standard deviation on the sum of gradients in units of G.
        hessian_multiplier: The same on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T, the largest number of points.
        gap_tolerance: a > 0, in the unit of F.
        curvature_tolerance: b > 0, in the unit of F.
        failure_probability: ζ in (0, 1) of the guarantee.
        oracle: Minimises quadratics over C; None for the exact one of the set.
    """

    title: ClassVar[str] = "constrained second-order descent"
    sample_size: ClassVar[sympy.Expr] = theorem.sample_size
    enough_steps: ClassVar[sympy.Expr | None] = theorem.steps

    constraint: ConstraintSet
    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    hessian_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    gap_tolerance: Fraction = field(converter=fields.positive)
    curvature_tolerance: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    oracle: QuadraticOracle | None = None
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def __attrs_post_init__(self) -> None:
        if self.oracle is None:
            object.__setattr__(self, "oracle", oracle_for(self.constraint))
        if not 0 < self._minimiser.ratio <= 1:
            raise InvalidValue("oracle.ratio", self._minimiser.ratio, "greater than 0 and at most 1")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        constraint: ConstraintSet,
        gap_tolerance: ExactLike,
        curvature_tolerance: ExactLike,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        failure_probability: ExactLike = "1/10",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        share: ExactLike = "1/2",
        oracle: QuadraticOracle | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> ConstrainedSecondOrder:
        """Plan for a budget, see ``Method``.

        - ``gap_tolerance``, ``curvature_tolerance``: a and b; the paper has α and √(ρ_H α)
        - ``steps`` None: the theorem's T, with which nothing but the noise can go wrong. It grows like D⁶/b³ and is far
          more than most runs need; with fewer, the guarantee is lost and the noise is smaller.
        - ``share``: of the budget (of 1/z²) for the gradients; the rest is for the Hessians
        """
        budget, part = PrivacyBudget.of(epsilon, delta, relation), fields.share(share)
        plain = cls(constraint, 1, 1, 1, gap_tolerance, curvature_tolerance, failure_probability, oracle, budget, noise)
        values = plain._values(problem)
        count = steps_of(theorem.steps, values) if steps is None else fields.count(steps, "steps")
        groups = {"gradients": (count, part), "Hessians": (count, 1 - part)}
        gradients, hessians = planning.multipliers_of_groups(budget, groups).values()
        return evolve(plain, gradient_multiplier=gradients, hessian_multiplier=hessians, steps=count)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 6."""
        values, minimise = self._values(problem), self._minimiser
        eta, theta = self._shares(values)
        slack, ratio = value_of(theorem.slack, values), float(minimise.ratio)
        a, b = float(self.gap_tolerance), float(self.curvature_tolerance)
        memory = Walk(problem)
        gradients = reserved(run.gradients(self.gradient_multiplier, memory=memory), self.steps)
        hessians = reserved(run.hessians(self.hessian_multiplier), self.steps)

        w = run.repeated(problem.initial_point)
        searching, found = np.ones(len(w), dtype=bool), np.zeros(len(w), dtype=bool)
        looked_at = np.zeros(len(w), dtype=np.int64)
        for t in run.steps(self.steps):
            memory.move(w)
            g = np.zeros_like(w)
            g[searching] = asked(gradients, searching, w)
            looked_at[searching] = t
            v = self.constraint.linear_minimiser(g)
            descending = searching & (_products(g, v - w) < -a / 2)
            level = np.flatnonzero(searching & ~descending)
            w[descending] += eta * (v - w)[descending]
            if len(level):
                H = asked(hessians, searching & ~descending, w)
                u = np.array([minimise(*each, slack) for each in zip(H, g[level], w[level], strict=True)])
                bent = _forms(H, u - w[level]) <= -ratio * b / 2
                w[level[bent]] += theta * (u - w[level])[bent]
                found[level[~bent]] = True
                searching &= ~found
                if not searching.any():
                    break
            w = self.constraint.project(w)  # what rounding took outside
        slope, H = run.exact(w)[1], exact_hessians(problem, w)
        gap = -_products(slope, computed(self.constraint.linear_minimiser, slope) - w)

        def lowest_at(H: Array, slope: Array, w: Array) -> Array:
            return np.array([minimise(*each, 0.0) for each in zip(H, slope, w, strict=True)])

        u = computed(lowest_at, H, slope, w)
        lowest = _forms(H, u - w) / ratio
        good = found & (gap <= a) & (lowest >= -b)
        return ended(
            w,
            found,
            looked_at,
            measured={"failure": (~good).astype(np.float64), "gap": gap, "curvature": lowest},
            parameters={"first_order_share": eta, "second_order_share": theta, "slack": slack},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Return the bound, see ``SecondOrderMethod.bound``; raise an error also if η or θ is above 1."""
        self._shares(self._values(problem))
        return super().bound(problem)

    @property
    def _minimiser(self) -> QuadraticOracle:
        assert self.oracle is not None  # filled in where none is given
        return self.oracle

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_no_regulariser(problem)
        demand_within(problem, self.constraint)
        start = problem.initial_point[None]
        if not self.constraint.contains(start, tolerance=_ROUNDING)[0]:
            raise InvalidValue("initial_point", start[0], "a point of the set", "move the set or start elsewhere")
        return {
            **constants(problem),
            symbols.steps: sympy.Integer(self.steps),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
            symbols.diameter: self.constraint.diameter,
            symbols.approximation_ratio: sympy.Rational(self._minimiser.ratio),
            gap_symbol: sympy.Rational(self.gap_tolerance),
            curvature_symbol: sympy.Rational(self.curvature_tolerance),
        }

    def _shares(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> tuple[float, float]:
        """Return η and θ; ``InvalidValue`` where one is above 1."""
        first, second = value_of(theorem.first_share, values), value_of(theorem.second_share, values)
        if first > 1:
            raise InvalidValue("gap_tolerance", self.gap_tolerance, "at most 2D²L, so that η = a/(2D²L) is at most 1")
        if second > 1:
            allowed = "at most 2ρ_H D³/Φ, so that θ = Φb/(2ρ_H D³) is at most 1"
            raise InvalidValue("curvature_tolerance", self.curvature_tolerance, allowed)
        return first, second


def _products(left: Array, right: Array) -> Array:
    products: Array = np.einsum("rp,rp->r", left, right)
    return products


def _forms(matrices: Array, rows: Array) -> Array:
    forms: Array = np.einsum("rp,rpq,rq->r", rows, matrices, rows)
    return forms
