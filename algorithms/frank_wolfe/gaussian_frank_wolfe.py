"""DP-FW-L2: Frank-Wolfe steps towards the linear minimiser of a noisy gradient, over any convex set.

Wang & Xu 2019, Algorithm 2, and Wang, Chen & Xu 2019, Algorithm 2, which are the same method. The paper prescribes the
noise up to a constant, and steps and step size up to one that hides G, L and the initial gap. Here the noise is a
proven calibration, and the steps are those of the explicit bound ``wang-xu-2019/theorem-4/explicit``. The variant
"as-printed" takes the printed steps and step size with hidden constants 1: for sets of norm below 1 the gap then
exceeds the printed rate by any factor, because the prefactor of the rate is the norm where it should be max(1, norm).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.frank_wolfe.feasible import FrankWolfe, convex, fraction, gaps, stays_inside
from dpbounds.algorithms.iterates import squared_norms
from dpbounds.algorithms.method import FiniteSum, FullBatchMethod, OpenRun, Outcome, computed
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import known
from dpbounds.algorithms.problems.sets import ConstraintSet, L2Ball
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_chen_xu_2019 import theorem_5_explicit
from dpbounds.papers.wang_xu_2019 import step_fraction as fraction_symbol, theorem_4, theorem_4_explicit

Variant = Literal["explicit", "as-printed"]


@frozen(field_transformer=fields.named)
class GaussianFrankWolfe(FrankWolfe, FullBatchMethod[FiniteSum]):
    """Algorithm 2 of Wang & Xu 2019 (DP-FW-L2), for any finite sum over any convex set C.

    ::

        draw R uniformly from 1, ..., T
        for k = 1, ..., T:
            g = ∇F(x_k) + N(0, σ² I)
            v = argmin over C of <g, v>
            x_{k+1} = (1 - γ) x_k + γ v
        return x_R

    Measured at every step: "gap", the Frank-Wolfe gap max over v in C of <∇F(x_k), x_k - v>, whose average is its
    mean over R; F ("objective"); the square of the "noise"; <∇F(x_k), v - v̄>, v̄ the best ("shortfall"); ‖v - x_k‖²
    ("reach"). F(x_{T+1}) ("last").

    Attributes:
        constraint: C.
        step_fraction: γ in (0, 1], the share of the way to the minimiser, fixed in advance; None for the bound's best.
        start: x₁ in C, chosen without looking at the data; None for the problem's initial point.
    """

    title: ClassVar[str] = "Frank-Wolfe with Gaussian noise"
    explicit_gap: ClassVar[sympy.Expr] = theorem_4_explicit.gap
    explicit_fraction: ClassVar[sympy.Expr] = theorem_4_explicit.best_fraction  # √(2Δ_F/(L D² T))

    constraint: ConstraintSet = field(validator=convex)
    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_fraction: float | None = field(default=None, converter=fraction)
    start: tuple[float, ...] | None = field(default=None, converter=fields.point)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        constraint: ConstraintSet,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_fraction: float | None = None,
        start: Sequence[float] | None = None,
        noise: fields.WhichNoise = "gaussian",
        variant: Variant = "explicit",
    ) -> GaussianFrankWolfe:
        """Plan for a budget, see ``Method``.

        T is that of the explicit theorem at ρ = 2/z², with z the multiplier of one release that keeps the budget. It
        follows from n, G, L, the bound on the initial gap, and the set's diameter and Gaussian width. ``variant``
        "as-printed" takes the steps and step size of Theorem 4 with hidden constants 1 (the noise stays the proven one:
        the paper has an unknown constant there).
        """
        fields.demand_one_of(variant, Variant, "variant")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = planning.multiplier_of_one(budget)
        one_step = cls(constraint, single, 1, step_fraction, start)
        one_step.starting_point(problem)
        if variant == "as-printed":
            count, gamma = _printed(problem, constraint, budget)
            step_fraction = stays_inside(gamma, "records") if step_fraction is None else step_fraction
        elif steps is None:
            count = _best_steps(one_step, problem, single)
        steps = count if steps is None else fields.count(steps, "steps")
        return cls(constraint, single * planning.root_above(steps), steps, step_fraction, start, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 2."""
        C, gamma = self.constraint, self.step_fraction_for(problem)
        gradient = run.gradients(self.noise_multiplier)
        x = run.repeated(self.starting_point(problem))
        returned = run.uniform_iterate(self.steps)
        for k in run.steps(self.steps):
            returned.visit(k, x)
            g = gradient(x)
            v = C.linear_minimiser(g.noisy)
            gap = gaps(x, g.exact, computed(C.linear_minimiser, g.exact))
            run.measure(
                gap=gap,
                objective=g.objective,
                noise=((g.noisy - g.exact) ** 2).sum(axis=1),
                shortfall=gap - gaps(x, g.exact, v),
                reach=squared_norms(v - x),
            )
            x = (1 - gamma) * x + gamma * v
        run.measure(last=run.exact(x)[0])
        return Outcome(returned.point, output_step=returned.index, parameters={"step_fraction": gamma})

    def population_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the expected excess *population* risk, for the squared loss with sigmoid link.

        It holds where records are drawn independently with P(y = 1 | x) = σ(<w*, x>) and ‖w*‖ <= 1, which the caller
        must know. The problem is a ``squared_sigmoid_link`` with feature bound 1, on the unit l2 ball.

        Source: Wang, Chen & Xu 2019, Theorem 5 (without constants there).
        """
        unit = isinstance(self.constraint, L2Ball) and self.constraint.radius == 1
        fits = unit and getattr(problem, "feature_bound", None) == 1
        allowed = "features in the unit ball, on the unit l2 ball"
        return self._on_the_population(theorem_5_explicit.risk, problem, fits, allowed)

    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        self.starting_point(problem)
        values = {
            **self.sizes(problem),
            symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.noise_stddev: sympy.Rational(self.noise_stddev(problem)),
            fraction_symbol: sympy.Rational(Fraction(self.step_fraction_for(problem))),
        }
        return _with_width(formula.subs(values), self.constraint)

    def sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the public numbers that the bound and the best γ are made of."""
        diameter = self.constraint.diameter
        return {
            symbols.initial_gap: self._initial_gap(problem, problem.lipschitz, diameter),
            symbols.smoothness: known(problem.smoothness, "smoothness"),
            symbols.diameter: diameter,
            symbols.steps: sympy.Integer(self.steps),
        }


def _best_steps(algorithm: GaussianFrankWolfe, problem: FiniteSum, single: Fraction) -> int:
    """Return the T of the explicit theorem, rounded up, at the ρ that has the same noise."""
    values = {
        **algorithm.sizes(problem),
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.rho: sympy.Rational(2 / single**2),
    }
    return _rounded_up(_with_width(theorem_4_explicit.best_steps.subs(values), algorithm.constraint))


def _printed(problem: FiniteSum, constraint: ConstraintSet, budget: PrivacyBudget) -> tuple[int, Enclosure]:
    """Return T and γ of Theorem 4 with hidden constants 1."""
    values = {
        symbols.norm_bound: constraint.norm_bound,
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.epsilon: sympy.Rational(budget.epsilon),
        symbols.delta: sympy.Rational(budget.delta),
    }
    count, gamma = (_with_width(formula.subs(values), constraint) for formula in (theorem_4.steps, theorem_4.step_size))
    return _rounded_up(count), gamma


def _with_width(formula: sympy.Expr, constraint: ConstraintSet) -> Enclosure:
    """Evaluate a formula in which only the Gaussian width is still open; it may be known between bounds only."""
    width = constraint.gaussian_width
    if isinstance(width, Enclosure):
        return evaluate(formula, {symbols.gaussian_width: width})
    return evaluate(formula.subs(symbols.gaussian_width, width), {})


def _rounded_up(count: Enclosure) -> int:
    return max(1, math.ceil(count.upper))
