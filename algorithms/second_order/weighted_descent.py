"""Noisy gradient descent that returns an iterate drawn by the weights of ``dpbounds/noisy-descent-exact``.

For this choice of the output the bound cannot be improved: F(w) = (L/2)‖w‖² attains it at any noise of that variance.
That F is not G-Lipschitz on R^p, but the bound uses G only for the size of the noise. The last iterate, which is found
by T releases, may be returned, too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import demand_short_step, no_more_than_slope, promised, squared_norms
from dpbounds.algorithms.method import FiniteSum, FullBatchMethod, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.algorithms.second_order.gradient_descent import best_steps, step_size_for
from dpbounds.expressions import symbols
from dpbounds.papers.ours import noisy_descent_exact as theorem


@frozen(field_transformer=fields.named)
class WeightedDescent(FullBatchMethod[FiniteSum]):
    """Noisy gradient descent, for any ``FiniteSum`` whose risk is L-smooth, over all of R^p.

    ::

        draw R from 0, ..., T: each t < T with weight η(1 - Lη/2), T with weight 1/(2L)
        for t = 0, ..., T - 1:
            g = ∇F(w_t) + N(0, σ² I)
            w_{t+1} = w_t - ηg
        return w_R

    Measured: ‖∇F(w_t)‖² ("exact"), ‖g - ∇F(w_t)‖² ("noise") and F ("objective") at every step; F(w_T) ("last"); and the
    "mean_square" of ‖∇F(w_R)‖ over R.

    Attributes:
        step_size: η < 2/L, or None for 1/L of the problem at hand.
    """

    title: ClassVar[str] = "gradient descent, weighted output"
    metric: ClassVar[str] = "mean_square"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_size: float | None = field(default=None, converter=fields.step_size)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> WeightedDescent:
        """Plan for a budget, see ``Method``; None for T: the best one for an output that is drawn from the first T."""
        budget = PrivacyBudget.of(epsilon, delta, relation)
        demand_all_of_space(problem)
        eta = step_size_for(problem, fields.step_size(step_size))
        if steps is None:
            count = best_steps(problem, planning.multiplier_of_one(budget), eta)
        else:
            count = fields.count(steps, "steps")
        return cls(planning.multiplier_of_steps(budget, count), count, step_size, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        eta, weight, last = self._weights(problem)
        gradient = run.gradients(self.noise_multiplier)
        returned = run.uniform_iterate(self.steps, first=0, ends=last / (self.steps * weight + last))
        w = run.repeated(problem.initial_point)
        for t in run.steps(self.steps, first=0):
            returned.visit(t, w)
            g = gradient(w)
            w = w - eta * g.noisy
            run.measure(exact=squared_norms(g.exact), noise=squared_norms(g.noisy - g.exact), objective=g.objective)
        returned.visit(self.steps, w)
        objective, slope = run.exact(w)
        run.measure(last=objective)
        total = weight * self.steps * run.trace()["exact"].per_repetition + last * squared_norms(slope)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={"mean_square": total / (self.steps * weight + last)},
            parameters={"step_size": eta},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖² for the noise that ``run`` really draws.

        Raises:
            InvalidValue: A step is not shorter than 2/L, or a constant is missing.
        """
        eta, sigma = self._weights(problem)[0], self.noise_stddev(problem)
        square = theorem.root(symbols.dimension * symbols.noise_stddev**2) ** 2
        found = promised(square, problem, step_size=eta, steps=self.steps, noise_stddev=sigma)
        return no_more_than_slope(found, problem, 2)

    def _weights(self, problem: FiniteSum) -> tuple[float, float, float]:
        """Return η, and the weights of each earlier iterate and of the last."""
        demand_all_of_space(problem)
        eta = step_size_for(problem, self.step_size)
        demand_short_step(eta, known(problem.smoothness, "smoothness"))
        L = float(at_least(known(problem.smoothness, "smoothness"), "smoothness"))
        return eta, eta * (1 - L * eta / 2), 1 / (2 * L)
