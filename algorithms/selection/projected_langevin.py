"""Projected Langevin: noisy gradient steps whose distribution tends to the regulariser's Gibbs distribution on a ball.

x_{k+1} = P(x_k - hβ(∇F(x_k) + μ x_k) + √(2h) N(0, I)), P the projection on the ball, is the usual discretisation of the
diffusion whose stationary density is proportional to exp(-β(F + (μ/2)‖x‖²)), the target of Ganesh, Liu, Oh & Thakurta
2023, Section 5.1, with μ = p/(D²β). For losses that are not convex no useful bound on its distance from that target is
proven here, so the privacy of the target is not claimed.

It need not be: every step is a noisy answer about the mean gradient, with standard deviation √(2/h)/β. So T steps cost
what T Gaussian releases cost, whatever the distribution of the outcome, and that is what the ledger holds. In units of
G/n the noise is z = √(2/h) n/(βG): for a fixed z √(1/T), that is a fixed budget, β √(hT) is fixed. What a budget buys
is a low temperature or a long time; how many steps the time is cut into is only a question of accuracy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from dpbounds.algorithms import fields
from dpbounds.algorithms.fields import WhichNoise, named
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import FullBatchMethod, OpenRun, Outcome, computed
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import multiplier_of_one, multiplier_of_steps
from dpbounds.algorithms.problems.domain import demand_no_regulariser
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.selection.balls import demand_fit, objective_in_batches, radius_of
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.relations import Relation

THEOREMS = {
    "target": "ganesh-liu-oh-thakurta-2023/section-5.1",
    "spent": "wang-xu-2019/theorem-1",
}
"""The spending is that of full-batch Gaussian releases, as in DP-PGD."""


@frozen(field_transformer=named)
class ProjectedLangevin(FullBatchMethod[FiniteSum]):
    """Noisy projected gradient steps towards the regularised Gibbs distribution, for smooth losses.

    ::

        for k = 1, ..., T:
            g = ∇F(x) + N(0, σ² I)
            x = the projection of x - hβ(g + μx) on the ball, β = √(2/h)/σ
        return x

    Measured: F at the output ("last"); at every step F ("objective") and the square of the "noise".

    Attributes:
        noise_multiplier: z: standard deviation on the sum of gradients in units of G.
        steps: T.
        step: h > 0, exact, in the unit of the points squared: the time of one step.
        radius: R > 0 of the ball around 0, exact; D = 2R.
    """

    title: ClassVar[str] = "projected Langevin"
    metric: ClassVar[str] = "last"
    activity: ClassVar[str] = "walk"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step: Fraction = field(converter=fields.positive)
    radius: Fraction = field(converter=fields.positive)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: WhichNoise = field(default="gaussian", validator=fields.one_of(WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        steps: int | None = None,
        time_span: ExactLike | None = None,
        radius: ExactLike | None = None,
        noise: WhichNoise = "gaussian",
    ) -> ProjectedLangevin:
        """Plan for a budget, see ``Method``.

        - ``steps`` None: so many that hβL <= 1/4, where a step is a gradient step of a quarter of 1/L
        - ``time_span``: hT in the unit of the points squared; None: D²/p, the relaxation time of the regulariser alone
        - ``radius`` None: that of the problem

        Raises:
            InvalidValue: A number is not allowed, or there is no radius, no G or (without ``steps``) no L.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        R = radius_of(problem, radius)
        span = (2 * R) ** 2 / problem.dimension if time_span is None else fields.positive(time_span, "time_span")
        if steps is None:
            slope, curvature = at_least(problem.lipschitz, "lipschitz"), at_least(problem.smoothness, "smoothness")
            single = multiplier_of_one(budget)
            beta = math.sqrt(2 / span) * float(problem.records / (single * slope))
            steps = max(1, math.ceil(4 * float(span * curvature) * beta))
        count = positive_integer(steps, "steps")
        return cls(multiplier_of_steps(budget, count), count, span / count, R, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Return the chain, from the problem's initial point, projected on the ball."""
        demand_fit(problem, problem.dimension, self.radius)
        demand_no_regulariser(problem)  # it has no gradient; the exact sampler takes it
        h, beta = float(self.step), self.inverse_temperature(problem)
        pull = h * problem.dimension / float(2 * self.radius) ** 2  # hβμ
        ball, gradient = L2Ball(problem.dimension, self.radius), run.gradients(self.noise_multiplier)
        x = ball.project(run.repeated(problem.initial_point))
        for _ in run.steps(self.steps):
            g = gradient(x)
            run.measure(objective=g.objective, noise=((g.noisy - g.exact) ** 2).sum(axis=1))
            x = ball.project(x - h * beta * g.noisy - pull * x)
        return Outcome(
            x,
            measured={"last": computed(objective_in_batches, problem, x)},
            parameters={"step_size": h * beta, "inverse_temperature": beta},
        )

    def inverse_temperature(self, problem: FiniteSum) -> float:
        """Return β = √(2/h)/σ, of the standard deviation σ that is drawn on the mean gradient."""
        return math.sqrt(2 / self.step) / float(self.noise_stddev(problem))
