"""Projected Langevin: noisy gradient steps whose law tends to the regulariser's Gibbs distribution on a ball.

x_{k+1} = P(x_k - hβ(∇F(x_k) + μ x_k) + √(2h) N(0, I)), P the projection on the ball, is the usual discretisation of the
diffusion whose stationary density is proportional to exp(-β(F + (μ/2)‖x‖²)), the target of Ganesh, Liu, Oh & Thakurta
2023, Section 5.1, with μ = p/(D²β). For losses that are not convex no useful bound on its distance from that target is
proven here, so the privacy of the target is not claimed.

It need not be: every step is a noisy answer about the mean gradient, with standard deviation √(2/h)/β. So T steps cost
what T Gaussian releases cost, whatever the law of the outcome, and that is what the ledger holds. In units of G/n the
noise is z = √(2/h) n/(βG): for a fixed z √(1/T), that is a fixed budget, β √(hT) is fixed. What a budget buys is a low
temperature or a long time; how many steps the time is cut into is only a question of accuracy.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import GradientOracle, at_least
from algorithms.planning import (
    WhichNoise,
    checked_multiplier,
    checked_noise,
    multiplier_of_one,
    multiplier_of_steps,
    relation_of,
    release_of,
)
from algorithms.problems.domain import demand_no_regulariser
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.sets import L2Ball
from algorithms.run import Recorders, Run, settled
from algorithms.selection.balls import demand_fit, objective_in_batches, radius_of
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation

THEOREMS = {
    "target": "ganesh-liu-oh-thakurta-2023/section-5.1",
    "spent": "wang-xu-2019/theorem-1",
}
"""The spending is that of full-batch Gaussian releases, as in DP-PGD."""


@dataclass(frozen=True, slots=True, init=False)
class ProjectedLangevin:
    """Noisy projected gradient steps towards the regularised Gibbs distribution, for smooth losses.

    Attributes:
        noise_multiplier: z: standard deviation on the sum of gradients in units of G, exact.
        steps: T.
        step: h > 0, in the unit of the points squared: the time of one step.
        radius: R of the ball around 0, D = 2R.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        step: Greater than 0.
        radius: Greater than 0.
        budget: Optional.
        noise: Optional.

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    steps: int
    step: Fraction
    radius: Fraction
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        noise_multiplier: ExactLike,
        steps: int,
        step: ExactLike,
        radius: ExactLike,
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        h, R = exact(step, "step"), exact(radius, "radius")
        for name, number in (("step", h), ("radius", R)):
            if number <= 0:
                raise InvalidValue(name, number, "a number greater than 0")
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "step", h)
        object.__setattr__(self, "radius", R)
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

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
        """Return the chain whose T releases keep a budget, with the smallest proven noise; public numbers only.

        Args:
            problem: Supplies n, p, G and L; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            relation: "replace-one" or "add-or-remove-one".
            steps: T. None: so many that hβL <= 1/4, where a step is a gradient step of a quarter of 1/L.
            time_span: hT in the unit of the points squared. None: D²/p, the relaxation time of the regulariser alone.
            radius: R, or None for that of the problem.
            noise: "gaussian", or "secure", which needs a little more of it.

        Raises:
            InvalidValue: A number is not allowed, or there is no radius, no G or (without ``steps``) no L.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        R = radius_of(problem, radius)
        span = (2 * R) ** 2 / problem.dimension if time_span is None else exact(time_span, "time_span")
        if span <= 0:
            raise InvalidValue("time_span", time_span, "a number greater than 0")
        if steps is None:
            slope, curvature = at_least(problem.lipschitz, "lipschitz"), at_least(problem.smoothness, "smoothness")
            single = multiplier_of_one(budget, noise)
            beta = math.sqrt(2 / span) * float(problem.records / (single * slope))
            steps = max(1, math.ceil(4 * float(span * curvature) * beta))
        count = positive_integer(steps, "steps")
        return cls(multiplier_of_steps(budget, count, noise), count, span / count, R, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def inverse_temperature(self, problem: FiniteSum) -> float:
        """β = √(2/h)/σ, of the standard deviation σ that is drawn on the mean gradient."""
        drawn = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        return math.sqrt(2 / self.step) / drawn

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run the chain ``repetitions`` times at once, from the problem's initial point, projected on the ball.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]``, the last iterate, is private (one repetition, at the ledger's cost).

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or ball and problem do not fit.
            BudgetExceeded: The ledger shows more than was planned.
        """
        demand_fit(problem, problem.dimension, self.radius)
        demand_no_regulariser(problem)  # it has no gradient; the exact sampler takes it
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        h, beta = float(self.step), self.inverse_temperature(problem)
        pull = h * problem.dimension / float(2 * self.radius) ** 2  # hβμ
        ball = L2Ball(problem.dimension, self.radius)
        measured = Recorders(("objective", "noise"), self.steps, len(generators))

        started = time.perf_counter()
        x = ball.project(np.tile(problem.initial_point, (len(generators), 1)))
        with threadpool_limits(limits=1, user_api="blas"):
            for _ in range(self.steps):
                answer = oracle(x)
                measured["objective"].add(answer.objective)
                measured["noise"].add(((answer.noisy - answer.exact) ** 2).sum(axis=1))
                x = ball.project(x - h * beta * answer.noisy - pull * x)
            last = objective_in_batches(problem, x)
        walked = time.perf_counter()
        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="projected Langevin",
            output=x,
            trace=measured.trace(),
            measured={"last": last},
            metric="last",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=self.steps,
            parameters={"step_size": h * beta, "inverse_temperature": beta},
            seed=int(seed),
            timings={"walk": walked - started, "accounting": accounted - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )
