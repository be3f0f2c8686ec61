"""DP-PGD: projected (proximal) gradient descent with Gaussian noise on every gradient.

Wang & Xu 2019, Algorithm 1, with the noise of their Theorem 1 replaced by a proven calibration (their step 3 prints the
smoothness L where the Lipschitz constant G belongs and ρ² where ρ does), and their Theorem 2 made explicit:
the statement ``wang-xu-2019/theorem-2/explicit`` of the library derives the bound line by line.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import ClassVar

import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import (
    best_count,
    demand_short_step,
    no_more_than_step,
    of_mapping,
    products,
    promised,
    squared_norms,
)
from dpbounds.algorithms.method import Array, FullBatchMethod, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.oracles import rational
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import known
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_xu_2019 import theorem_2_explicit

THEOREMS = {
    "spent": "wang-xu-2019/theorem-1",
    "noisy": "wang-xu-2019/theorem-2/explicit",
    "exact": "wang-xu-2019/theorem-2/explicit",
}


@frozen(field_transformer=fields.named)
class ProjectedGradientDescent(FullBatchMethod[Problem]):
    """Algorithm 1 of Wang & Xu 2019, for any ``Problem``.

    ::

        draw R uniformly from 1, ..., T
        for k = 1, ..., T:
            g = ∇F(x_k) + N(0, σ² I)
            x_{k+1} = argmin over x of <g, x> + ‖x - x_k‖²/(2γ) + r(x)
        return x_R

    Measured: ‖P(x_k)‖² ("noisy", at g; "exact", at ∇F(x_k)), "objective", ‖g - ∇F(x_k)‖² ("noise") and
    <g - ∇F(x_k), P(x_k)> ("product") of every step; F^r(x_{T+1}) ("last").

    Attributes:
        step_size: γ, or None for 1/(2L) of the problem at hand, as in Theorem 2.
    """

    title: ClassVar[str] = "projected gradient descent"
    metric: ClassVar[str] = "noisy"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_size: float | None = field(default=None, converter=fields.step_size)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: Problem,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> ProjectedGradientDescent:
        """Plan for a budget, see ``Method``; None for T: the one that minimises the bound on the noisy mapping."""
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = planning.multiplier_of_one(budget)
        gamma = cls(single, 1, step_size).step_size_for(problem)
        count = best_steps(problem, single, gamma) if steps is None else fields.count(steps, "steps")
        return cls(single * planning.root_above(count), count, step_size, budget, noise)

    def walk(self, problem: Problem, run: OpenRun) -> Outcome:
        """Run Algorithm 1."""
        if getattr(problem, "proximal_step", None) is None:
            allowed = "a Problem, which has a proximal step"
            raise InvalidValue("problem", type(problem).__name__, allowed, "other descents take any FiniteSum")
        gamma, gradient = self.step_size_for(problem), run.gradients(self.noise_multiplier)
        returned, measure = run.uniform_iterate(self.steps), run.measured_by(partial(_measured, problem, gamma))
        x = run.repeated(problem.initial_point)
        for k in run.steps(self.steps):
            returned.visit(k, x)
            g = gradient(x)
            following = problem.proximal_step(x, g.noisy, gamma)
            measure(x, following, g.noisy, g.exact, g.objective)
            x = following
        run.measure(last=run.exact(x)[0])
        return Outcome(returned.point, output_step=returned.index, parameters={"step_size": gamma})

    def step_size_for(self, problem: Problem) -> float:
        """Return γ as a double: ``step_size``, or 1/(2L) rounded down."""
        if self.step_size is not None:
            return self.step_size
        return evaluate(1 / (2 * known(problem.smoothness, "smoothness")), {}).lower

    def bound(self, problem: Problem, mapping: fields.WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on the mean *square* E‖P(x_R)‖² for the noise that ``run`` really draws.

        Args:
            problem: Supplies L, p and the bound on F^r(x₁) - inf F^r (which includes the regulariser).
            mapping: "noisy", the step that was taken, as in Theorem 2; or "exact", P at ∇F: stationarity.

        Raises:
            InvalidValue: γ is not below 2/L: the bound does not hold there.

        Source: Wang & Xu 2019, Theorem 2 (without constants there).
        """
        gamma, sigma = self.step_size_for(problem), self.noise_stddev(problem)
        demand_short_step(gamma, known(problem.smoothness, "smoothness"))
        formula = of_mapping(mapping, theorem_2_explicit.mean_square, theorem_2_explicit.at_the_gradient)
        found = promised(formula, problem, step_size=gamma, steps=self.steps, noise_stddev=sigma)
        return no_more_than_step(found, problem, mapping, problem.dimension * sympy.Rational(sigma) ** 2)


def _measured(
    problem: Problem, gamma: float, x: Array, following: Array, noisy: Array, exact: Array, objective: Array
) -> dict[str, Array]:
    moved, noise = x - following, noisy - exact
    return {
        "noisy": squared_norms(moved) / gamma**2,
        "exact": squared_norms(problem.projected_gradient(x, exact, gamma)),
        "objective": objective,
        "noise": squared_norms(noise),
        "product": products(noise, moved) / gamma,
    }


def best_steps(problem: Problem, single_step_multiplier: Fraction, step_size: float) -> int:
    """Return the T >= 1 that minimises the noisy bound when the noise is σ² = (z G/n)² T, exactly.

    The bound is (A/T + B T)/a with A = Δ_F/γ and B = p (z G/n)², z the multiplier that keeps the budget with one step.

    Raises:
        InvalidValue: γ is not in (0, 2/L); the bound does not hold there.
    """
    demand_short_step(step_size, problem.smoothness)
    gap = rational(problem.initial_gap, "initial_gap")
    slope = rational(problem.lipschitz, "lipschitz") * single_step_multiplier / problem.records
    return best_count(gap / Fraction(step_size) / (problem.dimension * slope**2))
