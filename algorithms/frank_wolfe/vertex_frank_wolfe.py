"""DP-FW-L1: Frank-Wolfe steps towards vertices of a polytope that are chosen privately by their scores.

Wang & Xu 2019, Algorithm 4, and Wang, Chen & Xu 2019, Algorithm 3, which are the same method. What differs from print:
the budget of one choice. Print has ε/√(8T ln(1/δ)), by advanced composition; because the exponential mechanism is of
bounded range, T choices cost much less, and a certified calibration finds ε₀ about four times as large. The variant
"as-printed" has the printed one, with the printed steps and step size (hidden constants 1): private where its ledger
says so, which is for every ε in practical use, and noisier. Otherwise steps and step size are those of the explicit
bound ``wang-xu-2019/theorem-6/explicit``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms.frank_wolfe.bounded_entries import l1_constants
from algorithms.frank_wolfe.feasible import (
    checked_fraction,
    checked_set,
    checked_start,
    gap_at_the_start,
    gaps,
    starting_point,
)
from algorithms.frank_wolfe.vertices import vertices_of
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import Gradients, WhichChoice, at_least, choice, choose
from algorithms.planning import checked_multiplier, multiplier_of_one, multiplier_within, relation_of
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.linear_model import LinearModel
from algorithms.problems.residual_losses import SQUARED_SIGMOID
from algorithms.problems.sets import ConstraintSet, L1Ball
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_chen_xu_2019 import theorem_6_explicit as on_the_population
from dpbounds.theorems.wang_chen_xu_2019._quantities import link_constant, link_slope
from dpbounds.theorems.wang_xu_2019 import algorithm_4, theorem_6, theorem_6_explicit
from dpbounds.theorems.wang_xu_2019._quantities import step_fraction as fraction_symbol

Variant = Literal["explicit", "as-printed"]

THEOREMS = {
    "spent": "wang-xu-2019/algorithm-4",
    "gap": "wang-xu-2019/theorem-6/explicit",
    "population": "wang-chen-xu-2019/theorem-6/explicit",
}

NOISE_DRAWN = {
    "exponential": "Gumbel in double precision, from a seeded generator: for experiments, not for adversarial releases",
    "noisy-max": "Laplace in double precision, from a seeded generator: for experiments, not for adversarial releases",
}


@dataclass(frozen=True, slots=True, init=False)
class VertexFrankWolfe:
    """Algorithm 4 of Wang & Xu 2019 (DP-FW-L1), for any finite sum over a polytope with a list of vertices.

    The score of a vertex s is -<s, ∇F(x)>. Adding a record moves ∇F by a vector with entries of at most G₁/n (replacing
    one, 2G₁/n), and so the score by at most that times C₁ = max ‖s‖₁. ∎

    Attributes:
        constraint: C.
        step_epsilon: ε₀ > 0 of one choice, exact.
        steps: T.
        step_fraction: γ in (0, 1], or None for the bound's best.
        start: x₁ in C, or None for the problem's initial point.
        budget: What ``run`` holds its ledger against, or None.
        method: "exponential", or "noisy-max" (Laplace), whose choices compose worse.

    Raises:
        InvalidValue: A value is not allowed, or the set has no list of vertices.
    """

    constraint: ConstraintSet
    step_epsilon: Fraction
    steps: int
    step_fraction: float | None
    start: tuple[float, ...] | None
    budget: PrivacyBudget | None
    method: WhichChoice

    def __init__(
        self,
        constraint: ConstraintSet,
        step_epsilon: ExactLike,
        steps: int,
        step_fraction: float | None = None,
        start: Sequence[float] | None = None,
        budget: PrivacyBudget | None = None,
        method: WhichChoice = "exponential",
    ) -> None:
        vertices_of(checked_set(constraint))
        if method not in get_args(WhichChoice):
            raise InvalidValue("method", repr(method), " or ".join(get_args(WhichChoice)))
        object.__setattr__(self, "constraint", constraint)
        object.__setattr__(self, "step_epsilon", checked_multiplier(step_epsilon, "step_epsilon"))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "step_fraction", checked_fraction(step_fraction))
        object.__setattr__(self, "start", checked_start(start))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "method", method)

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
        method: WhichChoice = "exponential",
        variant: Variant = "explicit",
        failure_probability: ExactLike = "1/20",
    ) -> VertexFrankWolfe:
        """Return the algorithm with the largest ε₀ per choice that is proven to keep a budget.

        Args:
            problem: Supplies n, G₁, L₁ and the bound on the initial gap; no record is looked at. A problem without
                constants of its own in the l1 norm (see ``bounded_entries``) lends its l2 ones, which are larger.
            constraint: C.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            steps: T, or None for what the variant prescribes: the explicit theorem's T at the ρ of one Gaussian release
                within the budget (ρ only steers T: what is spent is certified for the T choices themselves).
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            step_fraction: γ, or None for what the variant prescribes.
            start: x₁, or None for the problem's initial point.
            method: "exponential" or "noisy-max".
            variant: "explicit", or "as-printed" for ε₀, T and γ of Theorem 6 with hidden constants 1.
            failure_probability: η of Theorem 6, for the printed T only.

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, the start lies outside C, or the printed step
                is longer than the way to a vertex.
        """
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        budget = PrivacyBudget.of(epsilon, delta, relation)
        one_step = cls(constraint, 1, 1, step_fraction, start, None, method)
        starting_point(problem, constraint, one_step.start)
        if variant == "as-printed":
            printed = _Printed(problem, constraint, budget, failure_probability)
            count = printed.steps if steps is None else positive_integer(steps, "steps")
            gamma = printed.step_fraction(count) if step_fraction is None else step_fraction
            return cls(constraint, printed.step_epsilon(count), count, gamma, start, budget, method)
        count = _best_steps(one_step, problem, budget) if steps is None else positive_integer(steps, "steps")
        return cls(constraint, _step_epsilon(budget, count, method), count, step_fraction, start, budget, method)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return choice(self.step_epsilon, relation_of(self.budget), self.method) ** self.steps

    def sensitivity(self, problem: FiniteSum) -> Fraction:
        """How much one record can change a score under the relation: G₁C₁/n for adding, twice that for replacing."""
        reach = at_least(l1_constants(problem)[0], "lipschitz_l1") * at_least(
            self.constraint.l1_norm_bound, "l1_norm_bound"
        )
        return relation_of(self.budget).sensitivity_factor * reach / problem.records

    def step_fraction_for(self, problem: FiniteSum) -> float:
        """γ as a double: ``step_fraction``, or the bound's best one, rounded down."""
        if self.step_fraction is not None:
            return self.step_fraction
        return min(1.0, evaluate(theorem_6_explicit.best_fraction().subs(self._sizes(problem)), {}).lower)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean Frank-Wolfe gap of the output, for the ε₀ that is really used.

        Raises:
            InvalidValue: Problem, set and start do not fit together, a constant is missing, or the method is
                "noisy-max", which the theorem is not about.

        Source: Wang & Xu 2019, Theorem 6 (without constants there).
        """
        return self._evaluated(theorem_6_explicit.gap(), problem)

    def population_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the expected excess *population* risk, for the squared loss with sigmoid link.

        It holds where records are drawn independently with P(y = 1 | x) = σ(<w*, x>) and ‖w*‖₁ <= 1, which the caller
        must know. On [-1, 1] the link has |σ'|, |σ''| <= 1 and σ' >= σ'(1) = e/(1+e)².

        Args:
            problem: ``bounded_entries`` of a ``squared_sigmoid_link``, bound at most 1; C must be the unit l1 ball.

        Raises:
            InvalidValue: Problem or set is another.

        Source: Wang, Chen & Xu 2019, Theorem 6 (without constants there).
        """
        fits = isinstance(problem, LinearModel) and problem.loss is SQUARED_SIGMOID
        within = min(getattr(problem, "entry_bound", 2), getattr(problem, "feature_bound", 2)) <= 1
        if not (fits and within and isinstance(self.constraint, L1Ball) and self.constraint.radius == 1):
            allowed = "the squared loss with sigmoid link, entries of at most 1, on the unit l1 ball"
            raise InvalidValue("problem", type(problem).__name__, allowed)
        slope = sympy.E / (1 + sympy.E) ** 2
        return self._evaluated(on_the_population.risk().subs({link_constant: 1, link_slope: slope}), problem)

    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        if self.method != "exponential":
            raise InvalidValue("method", repr(self.method), "'exponential', which the theorem is about")
        starting_point(problem, self.constraint, self.start)
        # the theorem is for replace-one; where a record is added, scores move by half as much, as if ε₀ were twice that
        per_replacement = self.step_epsilon * Fraction(2, relation_of(self.budget).sensitivity_factor)
        values = {
            **self._sizes(problem),
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.step_epsilon: sympy.Rational(per_replacement),
            fraction_symbol: sympy.Rational(Fraction(self.step_fraction_for(problem))),
        }
        return evaluate(formula.subs(values), {})

    def _sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        lipschitz, smoothness = l1_constants(problem)
        diameter = self.constraint.l1_diameter
        return {
            symbols.initial_gap: gap_at_the_start(problem, self.start, lipschitz, diameter),
            symbols.lipschitz_l1: lipschitz,
            symbols.smoothness_l1: smoothness,
            symbols.l1_diameter: diameter,
            symbols.l1_norm_bound: self.constraint.l1_norm_bound,
            symbols.candidates: sympy.Integer(vertices_of(self.constraint).count),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.steps: sympy.Integer(self.steps),
        }

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 4 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); the trace is not: ``gap`` is the
            Frank-Wolfe gap (the metric), ``shortfall`` how much the chosen vertex's score lies below the best.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or problem, set and start do not fit together.
            BudgetExceeded: The ledger shows more than was planned.
        """
        vertices, T, gamma = vertices_of(self.constraint), self.steps, self.step_fraction_for(problem)
        start, sensitivity = starting_point(problem, self.constraint, self.start), self.sensitivity(problem)
        generators = streams(seed, repetitions)
        ledger, gradients = OpenLedger(), Gradients(problem)
        measured = Recorders(("gap", "objective", "shortfall"), T, len(generators))

        started = time.perf_counter()
        # R uniform on 1..T, drawn first, so that x_R is kept when the walk passes it
        R = np.array([generator.integers(1, T, endpoint=True) for generator in generators])
        x = np.tile(start, (len(generators), 1))
        output = np.empty_like(x)
        with threadpool_limits(limits=1, user_api="blas"):
            for k in range(1, T + 1):
                kept = k == R
                output[kept] = x[kept]
                objective, gradient = gradients.at(x)
                products = vertices.products(gradient)  # <s, ∇F(x_k)>
                chosen = choose(
                    -products,
                    epsilon=self.step_epsilon,
                    sensitivity=sensitivity,
                    relation=relation_of(self.budget),
                    generators=generators,
                    ledger=ledger,
                    method=self.method,
                )
                best = products.argmin(axis=1)
                measured["gap"].add(gaps(x, gradient, vertices.points(best)))
                measured["objective"].add(objective)
                measured["shortfall"].add(
                    np.take_along_axis(products, chosen[:, None], axis=1)[:, 0] - products.min(axis=1)
                )
                x = (1 - gamma) * x + gamma * vertices.points(chosen)
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="Frank-Wolfe with private vertices",
            output=output,
            output_step=R,
            trace=measured.trace(),
            metric="gap",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_fraction": gamma, "step_epsilon": float(self.step_epsilon)},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=NOISE_DRAWN[self.method],
        )


@lru_cache(maxsize=256)
def _step_epsilon(budget: PrivacyBudget, steps: int, method: WhichChoice) -> Fraction:
    """The largest ε₀ at which T choices are proven to keep the budget: 1/ε₀ plays the noise multiplier."""
    return 1 / multiplier_within(budget, lambda z: choice(1 / z, budget.relation, method) ** steps)


def _best_steps(algorithm: VertexFrankWolfe, problem: FiniteSum, budget: PrivacyBudget) -> int:
    """The T of the explicit theorem, rounded up, at ρ = 2/z² with z the multiplier of one Gaussian release."""
    rho = 2 / multiplier_of_one(budget) ** 2
    values = {**algorithm._sizes(problem), symbols.rho: sympy.Rational(rho)}
    if values[symbols.candidates] == 1:
        return 1
    return max(1, math.ceil(evaluate(theorem_6_explicit.best_steps().subs(values), {}).upper))


class _Printed:
    """ε₀, T and γ of Algorithm 4 and Theorem 6, with hidden constants 1."""

    def __init__(
        self, problem: FiniteSum, constraint: ConstraintSet, budget: PrivacyBudget, failure_probability: ExactLike
    ) -> None:
        self._constraint = constraint
        self._values = {
            symbols.dataset_size: problem.records,
            symbols.candidates: vertices_of(constraint).count,
            symbols.epsilon: budget.epsilon,
            symbols.delta: budget.delta,
            symbols.failure_probability: failure_probability,
        }

    @property
    def steps(self) -> int:
        return max(1, math.ceil(evaluate(theorem_6.steps(), self._values).upper))

    def step_epsilon(self, steps: int) -> Fraction:
        return Fraction(evaluate(algorithm_4.step_budget(), {**self._values, symbols.steps: steps}).lower)

    def step_fraction(self, steps: int) -> float:
        formula = theorem_6.step_size().subs(symbols.norm_bound, self._constraint.norm_bound)
        gamma = evaluate(formula, {symbols.steps: steps})
        if gamma.upper > 1:
            advice = "with so few steps for such a set the printed step leaves the set"
            raise InvalidValue("step_fraction", gamma.upper, "at most 1 for a step that stays in the set", advice)
        return gamma.lower
