"""DP-GD: gradient descent with Gaussian noise on every gradient; all iterates are released.

Wang, Chen & Xu 2019, Algorithm 4, with the noise of their Theorem 7 replaced by a proven calibration: no constant makes
the printed noise right for all ε < c₁T. The step size is the printed 1/L unless another one is asked for.

    for t = 1, ..., T:  w_{t+1} = w_t - η(∇F(w_t) + e_t)
    return w_1, ..., w_{T+1}

What is bounded explicitly is the gradient norm at a random iterate (``wang-chen-xu-2019/algorithm-4/explicit``). That
one of the iterates is a second-order stationary point, Theorem 7, is a statement without constants; there the noise is
what leaves a saddle point, so that T must grow like ln n.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.iterates import best_count, squared_norms
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import GradientOracle, at_least
from algorithms.planning import (
    WhichNoise,
    checked_multiplier,
    checked_noise,
    checked_step_size,
    multiplier_of_one,
    multiplier_of_steps,
    relation_of,
    release_of,
)
from algorithms.problems.domain import demand_all_of_space, known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_chen_xu_2019 import algorithm_4_explicit

THEOREMS = {
    "spent": "wang-chen-xu-2019/theorem-7",
    "exact": "wang-chen-xu-2019/algorithm-4/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class GradientDescent:
    """Algorithm 4 of Wang, Chen & Xu 2019, on all of R^p.

    Attributes:
        noise_multiplier: Standard deviation on the sum of gradients in units of G, exact.
        steps: T.
        step_size: η, or None for 1/L of the problem at hand.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        step_size: Greater than 0, fixed in advance; None: 1/L, as printed.
        budget: Optional.
        noise: "gaussian" for experiments, "secure" for a release (see ``algorithms.secure_noise``).

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    steps: int
    step_size: float | None
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        noise_multiplier: ExactLike,
        steps: int,
        step_size: float | None = None,
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "step_size", checked_step_size(step_size, "1/L"))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
        noise: WhichNoise = "gaussian",
    ) -> GradientDescent:
        """Return the algorithm with the smallest proven noise for a budget, and T that suits its explicit bound.

        Args:
            problem: Supplies n, d, G, L and Δ_F; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            steps: T, or None for the one that makes the bound on E‖∇F(w_R)‖² smallest.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            step_size: η, or None for 1/L.
            noise: "gaussian" or "secure".

        Returns:
            The algorithm; its noise multiplier suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, or a constant is missing.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        demand_all_of_space(problem)
        eta = step_size_for(problem, checked_step_size(step_size, "1/L"))
        if steps is None:
            count = best_steps(problem, multiplier_of_one(budget, noise), eta)
        else:
            count = positive_integer(steps, "steps")
        return cls(multiplier_of_steps(budget, count, noise), count, step_size, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖², R uniform on 1..T, for the noise that ``run`` really draws.

        Raises:
            InvalidValue: η is 2/L or more, where the bound does not hold, or a constant is missing.
        """
        demand_all_of_space(problem)
        eta = step_size_for(problem, self.step_size)
        smoothness = known(problem.smoothness, "smoothness")
        if not evaluate(sympy.Rational(eta) * smoothness, {}) < 2:
            limit = evaluate(2 / smoothness, {}).lower
            raise InvalidValue("step_size", eta, f"a number greater than 0 and less than 2/L = {limit:.6g}")
        drawn = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        values = {
            symbols.initial_gap: known(problem.initial_gap, "initial_gap"),
            symbols.smoothness: smoothness,
            symbols.step_size: sympy.Rational(eta),
            symbols.steps: sympy.Integer(self.steps),
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.noise_stddev: sympy.Rational(drawn),
        }
        return evaluate((algorithm_4_explicit.norm() ** 2).subs(values), {})

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 4 ``repetitions`` times at once, with independent randomness.

        All iterates are kept, R (T + 1) p numbers: they are what the algorithm returns.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run: ``outputs["iterates"]`` of shape (R, T + 1, p), and ``output``, the last of them. The trace has
            ‖∇F(w_t)‖² ("exact"), ‖∇F(w_t) + e_t‖² ("noisy"), F ("objective") and ‖e_t‖² ("noise") for t = 1, ..., T.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or the problem is not smooth, or leaves its domain.
            BudgetExceeded: The ledger shows more than was planned.
        """
        demand_all_of_space(problem)
        T, eta = self.steps, step_size_for(problem, self.step_size)
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        measured = Recorders(("exact", "noisy", "objective", "noise"), T, len(generators))

        started = time.perf_counter()
        w = np.tile(problem.initial_point, (len(generators), 1))
        iterates = np.empty((len(generators), T + 1, problem.dimension))
        iterates[:, 0] = w
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(1, T + 1):
                answer = oracle(w)
                w = w - eta * answer.noisy
                iterates[:, t] = w
                measured["exact"].add(squared_norms(answer.exact))
                measured["noisy"].add(squared_norms(answer.noisy))
                measured["objective"].add(answer.objective)
                measured["noise"].add(squared_norms(answer.noisy - answer.exact))
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        return Run(
            algorithm="gradient descent",
            output=w,
            outputs={"iterates": iterates},
            trace=measured.trace(),
            metric="exact",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": time.perf_counter() - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )


def step_size_for(problem: FiniteSum, step_size: float | None) -> float:
    """η as a double: what was asked for, or 1/L rounded down."""
    return evaluate(1 / known(problem.smoothness, "smoothness"), {}).lower if step_size is None else step_size


def best_steps(problem: FiniteSum, single_step_multiplier: Fraction, step_size: float) -> int:
    """The T that minimises the explicit bound at noise σ² = (z G/n)² T.

    That bound is proportional to Δ_F/(ηT) + (Lη/2) d (z G/n)² T.

    Args:
        problem: Supplies n, d, G, L and Δ_F.
        single_step_multiplier: z, the noise multiplier that keeps the budget with one step.
        step_size: η.
    """
    gap = at_least(known(problem.initial_gap, "initial_gap"), "initial_gap")
    slope = at_least(known(problem.lipschitz, "lipschitz"), "lipschitz") * single_step_multiplier / problem.records
    bend = at_least(known(problem.smoothness, "smoothness"), "smoothness") * Fraction(step_size) / 2
    return best_count(gap / (Fraction(step_size) * bend * problem.dimension * slope**2))
