"""DP-FW-L2: Frank-Wolfe steps towards the linear minimiser of a noisy gradient, over any convex set.

Wang & Xu 2019, Algorithm 2, and Wang, Chen & Xu 2019, Algorithm 2, which are the same method. Print prescribes the
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

from dpbounds.algorithms import fields
from dpbounds.algorithms.fields import WhichNoise, demand_one_of, named
from dpbounds.algorithms.frank_wolfe.feasible import (
    convex,
    fraction,
    gap_at_the_start,
    gaps,
    starting_point,
)
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import FullBatchMethod, OpenRun, Outcome
from dpbounds.algorithms.planning import (
    multiplier_of_one,
    root_above,
)
from dpbounds.algorithms.problems.domain import known
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.problems.residual_losses import SQUARED_SIGMOID
from dpbounds.algorithms.problems.sets import ConstraintSet, L2Ball
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.papers.wang_chen_xu_2019 import link_constant, link_slope, theorem_5_explicit
from dpbounds.papers.wang_xu_2019 import step_fraction as fraction_symbol
from dpbounds.papers.wang_xu_2019 import theorem_4, theorem_4_explicit
from dpbounds.privacy.relations import Relation

Variant = Literal["explicit", "as-printed"]

THEOREMS = {
    "spent": "wang-xu-2019/algorithm-2",
    "gap": "wang-xu-2019/theorem-4/explicit",
    "population": "wang-chen-xu-2019/theorem-5/explicit",
}


@frozen(field_transformer=named)
class GaussianFrankWolfe(FullBatchMethod[FiniteSum]):
    """Algorithm 2 of Wang & Xu 2019 (DP-FW-L2), for any finite sum over any convex set C.

    ::

        draw R uniformly from 1, ..., T
        for k = 1, ..., T:
            g = ∇F(x_k) + N(0, σ² I)
            v = argmin over C of <g, v>
            x_{k+1} = (1 - γ) x_k + γ v
        return x_R

    Measured at every step: "gap", the Frank-Wolfe gap max over v in C of <∇F(x_k), x_k - v>, whose average is its
    mean over R; F ("objective"); the square of the "noise".

    Attributes:
        constraint: C.
        noise_multiplier: Standard deviation on the sum of gradients in units of G.
        steps: T.
        step_fraction: γ in (0, 1], the share of the way to the minimiser, fixed in advance; None for the bound's best.
        start: x₁ in C, chosen without looking at the data; None for the problem's initial point.
    """

    title: ClassVar[str] = "Frank-Wolfe with Gaussian noise"
    metric: ClassVar[str] = "gap"

    constraint: ConstraintSet = field(validator=convex)
    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_fraction: float | None = field(default=None, converter=fraction)
    start: tuple[float, ...] | None = field(default=None, converter=fields.point)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: WhichNoise = field(default="gaussian", validator=fields.one_of(WhichNoise))

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
        noise: WhichNoise = "gaussian",
        variant: Variant = "explicit",
    ) -> GaussianFrankWolfe:
        """Plan for a budget, see ``Method``.

        ρ = 2/z² is what a replace-one budget in zCDP would give; with that ρ the explicit theorem prescribes T, from n,
        G, L, the bound on the initial gap, and the set's diameter and Gaussian width. ``variant`` "as-printed" takes
        the steps and step size of Theorem 4 with hidden constants 1 (the noise stays the proven one: print has an
        unknown constant there).

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, the start lies outside C, or the printed step
                is longer than the way to the minimiser.
        """
        demand_one_of(variant, Variant, "variant")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = multiplier_of_one(budget, noise)
        one_step = cls(constraint, single, 1, step_fraction, start)
        starting_point(problem, constraint, one_step.start)
        if variant == "as-printed":
            count, gamma = _printed(problem, constraint, budget)
            step_fraction = _checked_printed(gamma) if step_fraction is None else step_fraction
        elif steps is None:
            count = _best_steps(one_step, problem, single)
        steps = count if steps is None else positive_integer(steps, "steps")
        return cls(constraint, single * root_above(steps), steps, step_fraction, start, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Algorithm 2."""
        C, gamma = self.constraint, self.step_fraction_for(problem)
        gradient = run.gradients(self.noise_multiplier)
        x = run.repeated(starting_point(problem, C, self.start))
        returned = run.uniform_iterate(self.steps)
        for k in run.steps(self.steps):
            returned.visit(k, x)
            g = gradient(x)
            v = C.linear_minimiser(g.noisy)
            run.measure(
                gap=gaps(x, g.exact, C.linear_minimiser(g.exact)),
                objective=g.objective,
                noise=((g.noisy - g.exact) ** 2).sum(axis=1),
            )
            x = (1 - gamma) * x + gamma * v
        return Outcome(returned.point, output_step=returned.index, parameters={"step_fraction": gamma})

    def step_fraction_for(self, problem: FiniteSum) -> float:
        """γ as a double: ``step_fraction``, or the bound's best one, min(1, √(2Δ_F/(L D² T))), rounded down."""
        if self.step_fraction is not None:
            return self.step_fraction
        return min(1.0, evaluate(theorem_4_explicit.best_fraction.subs(self._sizes(problem)), {}).lower)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean Frank-Wolfe gap of the output, for the noise that is really drawn.

        Raises:
            InvalidValue: Problem, set and start do not fit together, or a constant is missing.

        Source: Wang & Xu 2019, Theorem 4 (without constants there).
        """
        return self._evaluated(theorem_4_explicit.gap, problem)

    def population_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the expected excess *population* risk, for the squared loss with sigmoid link.

        It holds where records are drawn independently with P(y = 1 | x) = σ(<w*, x>) and ‖w*‖ <= 1, which the caller
        must know. On [-1, 1] the link has |σ'|, |σ''| <= 1 and σ' >= σ'(1) = e/(1+e)².

        Args:
            problem: ``squared_sigmoid_link`` with feature bound 1; C must be the unit l2 ball.

        Raises:
            InvalidValue: Problem or set is another.

        Source: Wang, Chen & Xu 2019, Theorem 5 (without constants there).
        """
        fits = isinstance(problem, LinearModel) and problem.loss is SQUARED_SIGMOID and problem.feature_bound == 1
        if not fits or not isinstance(self.constraint, L2Ball) or self.constraint.radius != 1:
            allowed = "the squared loss with sigmoid link, features in the unit ball, on the unit l2 ball"
            raise InvalidValue("problem", type(problem).__name__, allowed)
        slope = sympy.E / (1 + sympy.E) ** 2
        return self._evaluated(theorem_5_explicit.risk.subs({link_constant: 1, link_slope: slope}), problem)

    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        starting_point(problem, self.constraint, self.start)
        values = {
            **self._sizes(problem),
            symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.noise_stddev: sympy.Rational(self.noise_stddev(problem)),
            fraction_symbol: sympy.Rational(Fraction(self.step_fraction_for(problem))),
        }
        return _with_width(formula.subs(values), self.constraint)

    def _sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        diameter = self.constraint.diameter
        return {
            symbols.initial_gap: gap_at_the_start(problem, self.start, problem.lipschitz, diameter),
            symbols.smoothness: known(problem.smoothness, "smoothness"),
            symbols.diameter: diameter,
            symbols.steps: sympy.Integer(self.steps),
        }


def _best_steps(algorithm: GaussianFrankWolfe, problem: FiniteSum, single: Fraction) -> int:
    """The T of the explicit theorem, rounded up, at the ρ that has the same noise."""
    values = {
        **algorithm._sizes(problem),
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.rho: sympy.Rational(2 / single**2),
    }
    return _rounded_up(_with_width(theorem_4_explicit.best_steps.subs(values), algorithm.constraint))


def _printed(problem: FiniteSum, constraint: ConstraintSet, budget: PrivacyBudget) -> tuple[int, Enclosure]:
    """T and γ of Theorem 4 with hidden constants 1."""
    values = {
        symbols.norm_bound: constraint.norm_bound,
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.epsilon: sympy.Rational(budget.epsilon),
        symbols.delta: sympy.Rational(budget.delta),
    }
    count, gamma = (_with_width(formula.subs(values), constraint) for formula in (theorem_4.steps, theorem_4.step_size))
    return _rounded_up(count), gamma


def _checked_printed(gamma: Enclosure) -> float:
    if gamma.upper > 1:
        advice = "with so few records for such a set the printed step leaves the set"
        raise InvalidValue("step_fraction", gamma.upper, "at most 1 for a step that stays in the set", advice)
    return gamma.lower


def _with_width(formula: sympy.Expr, constraint: ConstraintSet) -> Enclosure:
    """Evaluate a formula in which only the Gaussian width is still open; it may be known between bounds only."""
    width = constraint.gaussian_width
    if isinstance(width, Enclosure):
        return evaluate(formula, {symbols.gaussian_width: width})
    return evaluate(formula.subs(symbols.gaussian_width, width), {})


def _rounded_up(count: Enclosure) -> int:
    return max(1, math.ceil(count.upper))
