"""DP-GD: gradient descent with Gaussian noise on every gradient; all iterates are released.

Wang, Chen & Xu 2019, Algorithm 4, with the noise of their Theorem 7 replaced by a proven calibration: no constant makes
the printed noise right for all ε < c₁T. The step size is the printed 1/L unless another one is asked for.

The explicit bound is on the gradient norm at a random iterate (``wang-chen-xu-2019/algorithm-4/explicit``). That one of
the iterates is a second-order stationary point, Theorem 7, is a statement without constants; there the noise is what
leaves a saddle point, so that T must grow like ln n.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import best_count, demand_short_step, no_more_than_slope, promised, squared_norms
from dpbounds.algorithms.method import Array, FiniteSum, FullBatchMethod, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_chen_xu_2019 import algorithm_4_explicit


@frozen(field_transformer=fields.named)
class GradientDescent(FullBatchMethod[FiniteSum]):
    """Algorithm 4 of Wang, Chen & Xu 2019, on all of R^p.

    ::

        for t = 1, ..., T:
            g = ∇F(w_t) + N(0, σ² I)
            w_{t+1} = w_t - ηg
        return w_1, ..., w_{T+1}

    Outputs: "iterates", shape (R, T + 1, p), of which ``output`` is the last. Measured at every step: ‖∇F(w_t)‖²
    ("exact"), ‖g‖² ("noisy"), F ("objective") and ‖g - ∇F(w_t)‖² ("noise"); F(w_{T+1}) ("last").

    Attributes:
        step_size: η, or None for 1/L of the problem at hand, as printed.
    """

    title: ClassVar[str] = "gradient descent"
    metric: ClassVar[str] = "exact"

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
    ) -> GradientDescent:
        """Plan for a budget, see ``Method``; None for T: the one that makes the bound on E‖∇F(w_R)‖² smallest."""
        budget = PrivacyBudget.of(epsilon, delta, relation)
        demand_all_of_space(problem)
        eta = step_size_for(problem, fields.step_size(step_size))
        if steps is None:
            count = best_steps(problem, planning.multiplier_of_one(budget), eta)
        else:
            count = fields.count(steps, "steps")
        return cls(planning.multiplier_of_steps(budget, count), count, step_size, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 4; all iterates are kept, R (T + 1) p numbers."""
        demand_all_of_space(problem)
        eta, gradient = step_size_for(problem, self.step_size), run.gradients(self.noise_multiplier)
        measure = run.measured_by(_measured)
        w = run.repeated(problem.initial_point)
        iterates = np.empty((run.repetitions, self.steps + 1, problem.dimension))
        iterates[:, 0] = w
        for t in run.steps(self.steps):
            g = gradient(w)
            w = w - eta * g.noisy
            iterates[:, t] = w
            measure(g.objective, g.exact, g.noisy)
        run.measure(last=run.exact(w)[0])
        return Outcome(w, outputs={"iterates": iterates}, parameters={"step_size": eta})

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖², R uniform on 1..T, for the noise that ``run`` really draws."""
        demand_all_of_space(problem)
        eta, sigma = step_size_for(problem, self.step_size), self.noise_stddev(problem)
        demand_short_step(eta, known(problem.smoothness, "smoothness"))
        found = promised(algorithm_4_explicit.norm**2, problem, step_size=eta, steps=self.steps, noise_stddev=sigma)
        return no_more_than_slope(found, problem, 2)


def _measured(objective: Array, exact: Array, noisy: Array) -> dict[str, Array]:
    return {
        "exact": squared_norms(exact),
        "noisy": squared_norms(noisy),
        "objective": objective,
        "noise": squared_norms(noisy - exact),
    }


def step_size_for(problem: FiniteSum, step_size: float | None) -> float:
    """Return η as a double: the given one, or 1/L rounded down."""
    return evaluate(1 / known(problem.smoothness, "smoothness"), {}).lower if step_size is None else step_size


def best_steps(problem: FiniteSum, single_step_multiplier: Fraction, step_size: float) -> int:
    """Return the T that minimises the explicit bound at noise σ² = (z G/n)² T, for the z of one step.

    That bound is proportional to Δ_F/(ηT) + (Lη/2) d (z G/n)² T.
    """
    gap, G, L = (
        at_least(known(getattr(problem, name), name), name) for name in ("initial_gap", "lipschitz", "smoothness")
    )
    slope, eta = G * single_step_multiplier / problem.records, Fraction(step_size)
    return best_count(gap / (eta * (L * eta / 2) * problem.dimension * slope**2))
