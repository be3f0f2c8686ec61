"""DP-FW-L1: Frank-Wolfe steps towards vertices of a polytope that are chosen privately by their scores.

Wang & Xu 2019, Algorithm 4, and Wang, Chen & Xu 2019, Algorithm 3, which are the same method. Differences from the
paper: the budget of one choice. The paper has ε/√(8T ln(1/δ)), by advanced composition; because the exponential
mechanism is of bounded range, T choices cost much less, and a certified calibration finds ε₀ about four times as large.
The variant "as-printed" has the printed ε₀, steps and step size (hidden constants 1). It is noisier; whether it is
private is for its ledger to say, and at any ε in practical use it is. Otherwise steps and step size are those of the
explicit bound ``wang-xu-2019/theorem-6/explicit``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.frank_wolfe.bounded_entries import l1_constants
from dpbounds.algorithms.frank_wolfe.feasible import FrankWolfe, convex, fraction, gaps, stays_inside
from dpbounds.algorithms.frank_wolfe.vertices import Corners, Listed, vertices_of, with_vertices
from dpbounds.algorithms.method import FiniteSum, InvalidValue, OpenRun, Outcome, computed
from dpbounds.algorithms.noise import PSEUDO_RANDOM, Array
from dpbounds.algorithms.oracles import WhichChoice, at_least, choice
from dpbounds.algorithms.oracles.secured import blocks_of
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.finite_sum import record_gradients
from dpbounds.algorithms.problems.sets import ConstraintSet, L1Ball
from dpbounds.algorithms.secure_noise import SECURE_CHOICE
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_chen_xu_2019 import theorem_6_explicit as on_the_population
from dpbounds.papers.wang_xu_2019 import algorithm_4, step_fraction as fraction_symbol, theorem_6, theorem_6_explicit

Variant = Literal["explicit", "as-printed"]


@frozen(field_transformer=fields.named)
class VertexFrankWolfe(FrankWolfe):
    """Algorithm 4 of Wang & Xu 2019 (DP-FW-L1), for any finite sum over a polytope C with a list of vertices.

    ::

        draw R uniformly from 1, ..., T
        for k = 1, ..., T:
            choose a vertex s of C privately, with probability in proportion to exp(-ε₀ <s, ∇F(x_k)>/(2Δ))
            x_{k+1} = (1 - γ) x_k + γ s
        return x_R

    The score of a vertex s is -<s, ∇F(x)>. Adding a record moves ∇F by a vector with entries of at most G₁/n (replacing
    one, 2G₁/n), and so the score by at most Δ, that times C₁ = max ‖s‖₁. ∎

    Measured at every step: the Frank-Wolfe "gap", F ("objective"), the distance of the chosen vertex's score from the
    best ("shortfall"), and ‖s - x_k‖₁² ("reach"). F(x_{T+1}) ("last").

    Attributes:
        constraint: C.
        step_epsilon: ε₀ > 0 of one choice, exact.
        step_fraction: γ in (0, 1], fixed in advance; None for the bound's best.
        start: x₁ in C, chosen without looking at the data; None for the problem's initial point.
        method: "exponential" (Gumbel noise); "concentrated", the same draw, described by its zCDP only; or "noisy-max"
            (Laplace noise), whose choices compose worse, and which has no bound.
    """

    title: ClassVar[str] = "Frank-Wolfe with private vertices"
    explicit_gap: ClassVar[sympy.Expr] = theorem_6_explicit.gap
    explicit_fraction: ClassVar[sympy.Expr] = theorem_6_explicit.best_fraction

    constraint: ConstraintSet = field(validator=[convex, with_vertices])
    step_epsilon: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_fraction: float | None = field(default=None, converter=fraction)
    start: tuple[float, ...] | None = field(default=None, converter=fields.point)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    method: WhichChoice = field(default="exponential", validator=fields.one_of(WhichChoice))
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
        method: WhichChoice = "exponential",
        variant: Variant = "explicit",
        failure_probability: ExactLike = "1/20",
        noise: fields.WhichNoise = "gaussian",
    ) -> VertexFrankWolfe:
        """Plan for a budget, see ``Method``: the largest ε₀ per choice that is proven to satisfy it.

        The constants in the l1 norm are those of ``bounded_entries``; the l2 constants of other problems bound theirs.
        None for T: the explicit theorem's, at the ρ of one Gaussian release within the budget. That ρ is used for T
        only: what is spent is certified for the T choices themselves. ``variant`` "as-printed" takes ε₀, T and γ of
        Theorem 6 with hidden constants 1; ``failure_probability`` is its η, for the printed T only.
        """
        fields.demand_one_of(variant, Variant, "variant")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        one_step = cls(constraint, 1, 1, step_fraction, start, None, method)
        one_step.starting_point(problem)
        if variant == "as-printed":
            drawn = _as_printed(problem, constraint, budget, failure_probability, steps, step_fraction)
            return cls(constraint, *drawn, start, budget, method, noise)
        count = _best_steps(one_step, problem, budget) if steps is None else fields.count(steps, "steps")
        chosen = _step_epsilon(budget, count, method)
        return cls(constraint, chosen, count, step_fraction, start, budget, method, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return choice(self.step_epsilon, self.relation, self.method) ** self.steps

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        kind = "Laplace" if self.method == "noisy-max" else "Gumbel"
        return f"{kind} {PSEUDO_RANDOM if self.noise == 'gaussian' else SECURE_CHOICE}"

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 4."""
        vertices, gamma = vertices_of(self.constraint), self.step_fraction_for(problem)
        sensitivity = self.sensitivity(problem)
        x = run.repeated(self.starting_point(problem))
        returned = run.uniform_iterate(self.steps)
        for k in run.steps(self.steps):
            returned.visit(k, x)
            objective, slope = run.exact(x)
            products = computed(vertices.products, slope)  # <s, ∇F(x_k)>
            parts = partial(_parts, problem, vertices, x)
            chosen = run.choose(-products, self.step_epsilon, sensitivity, self.method, parts)
            vertex = vertices.points(chosen)
            run.measure(
                gap=gaps(x, slope, computed(vertices.points, products.argmin(axis=1))),
                objective=objective,
                shortfall=np.take_along_axis(products, chosen[:, None], axis=1)[:, 0] - products.min(axis=1),
                reach=np.abs(vertex - x).sum(axis=1) ** 2,
            )
            x = (1 - gamma) * x + gamma * vertex
        run.measure(last=run.exact(x)[0])
        return Outcome(
            returned.point,
            output_step=returned.index,
            parameters={"step_fraction": gamma, "step_epsilon": float(self.step_epsilon)},
        )

    def sensitivity(self, problem: FiniteSum) -> Fraction:
        """Return the sensitivity of a score under the relation: G₁C₁/n for adding, twice that for replacing."""
        slope, size = l1_constants(problem)[0], self.constraint.l1_norm_bound
        reach = at_least(slope, "lipschitz_l1") * at_least(size, "l1_norm_bound")
        return self.relation.sensitivity_factor * reach / problem.records

    def population_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the expected excess *population* risk, for the squared loss with sigmoid link.

        It holds where records are drawn independently with P(y = 1 | x) = σ(<w*, x>) and ‖w*‖₁ <= 1, which the caller
        must know. The problem is ``bounded_entries`` of a ``squared_sigmoid_link``, to at most 1, on the unit l1 ball.

        Source: Wang, Chen & Xu 2019, Theorem 6 (without constants there).
        """
        within = min(getattr(problem, "entry_bound", 2), getattr(problem, "feature_bound", 2)) <= 1
        fits = within and isinstance(self.constraint, L1Ball) and self.constraint.radius == 1
        allowed = "entries of at most 1, on the unit l1 ball"
        return self._on_the_population(on_the_population.risk, problem, fits, allowed)

    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        if self.method == "noisy-max":
            allowed = "'exponential' or 'concentrated', whose draw the theorem is about"
            raise InvalidValue("method", repr(self.method), allowed)
        self.starting_point(problem)
        # the theorem is for replace-one; where a record is added, scores move by half as much, as if ε₀ were twice that
        per_replacement = self.step_epsilon * Fraction(2, self.relation.sensitivity_factor)
        values = {
            **self.sizes(problem),
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.step_epsilon: sympy.Rational(per_replacement),
            fraction_symbol: sympy.Rational(Fraction(self.step_fraction_for(problem))),
        }
        return evaluate(formula.subs(values), {})

    def sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the public numbers that the bound and the best γ are made of."""
        lipschitz, smoothness = l1_constants(problem)
        diameter = self.constraint.l1_diameter
        return {
            symbols.initial_gap: self._initial_gap(problem, lipschitz, diameter),
            symbols.lipschitz_l1: lipschitz,
            symbols.smoothness_l1: smoothness,
            symbols.l1_diameter: diameter,
            symbols.l1_norm_bound: self.constraint.l1_norm_bound,
            symbols.candidates: sympy.Integer(vertices_of(self.constraint).count),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.steps: sympy.Integer(self.steps),
        }


def _parts(problem: FiniteSum, vertices: Corners | Listed, x: Array, repetition: int) -> Iterator[Array]:
    """Yield the records' parts -<s, ∇f_i(x)> of n times the scores."""
    for rows in blocks_of(problem.records, max(problem.dimension, vertices.count)):
        yield -vertices.products_of_records(record_gradients(problem, x[repetition], rows))


@lru_cache(maxsize=256)
def _step_epsilon(budget: PrivacyBudget, steps: int, method: WhichChoice) -> Fraction:
    """Return the largest ε₀ at which T choices are proven to keep the budget: 1/ε₀ plays the noise multiplier."""
    return 1 / planning.multiplier_within(budget, lambda z: choice(1 / z, budget.relation, method) ** steps)


def _best_steps(algorithm: VertexFrankWolfe, problem: FiniteSum, budget: PrivacyBudget) -> int:
    """Return the T of the explicit theorem, rounded up, at ρ = 2/z² with z the multiplier of one Gaussian release."""
    rho = 2 / planning.multiplier_of_one(budget) ** 2
    values = {**algorithm.sizes(problem), symbols.rho: sympy.Rational(rho)}
    if values[symbols.candidates] == 1:
        return 1
    return max(1, math.ceil(evaluate(theorem_6_explicit.best_steps.subs(values), {}).upper))


def _as_printed(
    problem: FiniteSum,
    constraint: ConstraintSet,
    budget: PrivacyBudget,
    failure_probability: ExactLike,
    steps: int | None,
    step_fraction: float | None,
) -> tuple[Fraction, int, float]:
    """Return ε₀, T and γ of Algorithm 4 and Theorem 6, with hidden constants 1, except for given values."""
    values: dict[sympy.Symbol, ExactLike] = {
        symbols.dataset_size: problem.records,
        symbols.candidates: vertices_of(constraint).count,
        symbols.epsilon: budget.epsilon,
        symbols.delta: budget.delta,
        symbols.failure_probability: failure_probability,
    }
    count = (
        max(1, math.ceil(evaluate(theorem_6.steps, values).upper)) if steps is None else fields.count(steps, "steps")
    )
    values[symbols.steps] = count
    if step_fraction is None:
        formula = theorem_6.step_size.subs(symbols.norm_bound, constraint.norm_bound)
        step_fraction = stays_inside(evaluate(formula, {symbols.steps: count}), "steps")
    return Fraction(evaluate(algorithm_4.step_budget, values).lower), count, step_fraction
