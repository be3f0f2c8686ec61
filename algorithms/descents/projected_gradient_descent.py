"""DP-PGD: projected (proximal) gradient descent with Gaussian noise on every gradient.

Wang & Xu 2019, Algorithm 1, with the noise of their Theorem 1 replaced by a proven calibration (their step 3 prints the
smoothness L where the Lipschitz constant G belongs and ρ² where ρ does), and their Theorem 2 made explicit:
the statement ``wang-xu-2019/theorem-2/explicit`` of the library derives the bound line by line.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.iterates import best_count, squared_norms, uniform_steps
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import GradientOracle, rational
from algorithms.planning import (
    WhichNoise,
    checked_multiplier,
    checked_noise,
    checked_step_size,
    multiplier_of_one,
    relation_of,
    release_of,
    root_above,
)
from algorithms.problems.problem import Problem
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_xu_2019 import theorem_2_explicit

WhichMapping = Literal["noisy", "exact"]

THEOREMS = {
    "spent": "wang-xu-2019/theorem-1",
    "noisy": "wang-xu-2019/theorem-2/explicit",
    "exact": "wang-xu-2019/theorem-2/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class ProjectedGradientDescent:
    """Algorithm 1 of Wang & Xu 2019, for any ``Problem``.

    Attributes:
        noise_multiplier: Standard deviation on the sum of gradients in units of G, exact.
        steps: T.
        step_size: γ, or None for 1/(2L) of the problem at hand.
        budget: What ``run`` holds its ledger against, or None (then only against the noise and the steps above).
        noise: "gaussian" or "secure".

    Args:
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        step_size: Greater than 0; fixed in advance: a step size found by looking at the data would be a release of its
            own. None: 1/(2L), as in Theorem 2.
        budget: Optional.
        noise: "gaussian" for experiments, "secure" for a release (see ``algorithms.secure_noise``; the extra of that
            name draws it, and it is not repeatable).

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
        object.__setattr__(self, "step_size", checked_step_size(step_size, "1/(2L)"))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

    @classmethod
    def calibrated(
        cls,
        problem: Problem,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
        noise: WhichNoise = "gaussian",
    ) -> ProjectedGradientDescent:
        """Return the algorithm with the smallest proven noise for a budget, and the number of steps that suits it.

        T adaptive Gaussian releases with multiplier z √T are exactly one with multiplier z, so a single certified
        calibration serves every T: σ² = (z G/n)² T. Unless ``steps`` is given, T minimises the explicit bound on
        E‖P‖² (noisy mapping) at that noise. It depends on public numbers only: n, p, G, L and the bound φ(0) on
        the initial gap.

        Args:
            problem: Supplies these numbers; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep; should be well below 1/n.
            steps: T, or None for the best.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            step_size: γ, or None for 1/(2L).
            noise: "gaussian", or "secure", which needs a little more of it: its account is that of zCDP.

        Returns:
            The algorithm; its noise multiplier suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, or γ is at least 2/L while T is to be chosen.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = multiplier_of_one(budget, noise)
        gamma = cls(single, 1, step_size).step_size_for(problem)
        count = best_steps(problem, single, gamma) if steps is None else positive_integer(steps, "steps")
        return cls(single * root_above(count), count, step_size, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def step_size_for(self, problem: Problem) -> float:
        """γ as a double: ``step_size``, or 1/(2L) rounded down."""
        return evaluate(1 / (2 * problem.smoothness), {}).lower if self.step_size is None else self.step_size

    def bound(self, problem: Problem, mapping: WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on E‖P(x_R)‖² for the noise that ``run`` really draws; see ``utility_bound``."""
        drawn = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        return utility_bound(problem, self.steps, self.step_size_for(problem), drawn, mapping)

    def run(self, problem: Problem, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 1 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); the trace is not.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or the problem has no proximal step.
            BudgetExceeded: The ledger shows more than was planned.
        """
        if getattr(problem, "proximal_step", None) is None:
            allowed = "a Problem, which has a proximal step"
            raise InvalidValue("problem", type(problem).__name__, allowed, "other descents take any FiniteSum")
        T, gamma = self.steps, self.step_size_for(problem)
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        measured = Recorders(("noisy", "exact", "objective", "noise"), T, len(generators))

        started = time.perf_counter()
        # "R is uniformly sampled from {1, ..., T}": drawn first, so that x_R is kept when the walk passes it
        R = uniform_steps(generators, T)
        x = np.tile(problem.initial_point, (len(generators), 1))
        output = np.empty_like(x)
        with threadpool_limits(limits=1, user_api="blas"):
            for k in range(1, T + 1):
                chosen = k == R
                output[chosen] = x[chosen]
                answer = oracle(x)  # ∇F(x_k) + e_k
                following = problem.proximal_step(x, answer.noisy, gamma)  # line 2
                measured["noisy"].add(squared_norms(x - following) / gamma**2)
                measured["exact"].add(squared_norms(problem.projected_gradient(x, answer.exact, gamma)))
                measured["objective"].add(answer.objective)
                measured["noise"].add(squared_norms(answer.noisy - answer.exact))
                x = following
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="projected gradient descent",
            output=output,
            output_step=R,
            trace=measured.trace(),
            metric="noisy",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": gamma},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )


def bound_expression(mapping: WhichMapping) -> sympy.Expr:
    """The explicit bound on E‖P(x_R)‖², in the symbols of the symbol table: ``wang-xu-2019/theorem-2/explicit``.

    - "noisy": P at ∇F + e, the step that was taken, which is what Theorem 2 bounds
    - "exact": P at ∇F, the stationarity measure
    """
    if mapping == "noisy":
        return theorem_2_explicit.mean_square()
    if mapping == "exact":
        return theorem_2_explicit.at_the_gradient() ** 2
    raise InvalidValue("mapping", repr(mapping), "'noisy' or 'exact'")


def utility_bound(
    problem: Problem, steps: int, step_size: ExactLike, noise_stddev: ExactLike, mapping: WhichMapping = "noisy"
) -> Enclosure:
    """Enclose the explicit bound on the mean *square* E‖P(x_R)‖² over the noise and R.

    Args:
        problem: Supplies L, p and the bound on F^r(x₁) - inf F^r (which includes the regulariser).
        steps: T >= 1.
        step_size: γ in (0, 2/L), the number that was really used.
        noise_stddev: σ > 0 on every coordinate of the mean gradient, the number that was really used.
        mapping: "noisy" or "exact".

    Returns:
        A proven enclosure of the bound; its upper end is a bound, too.

    Raises:
        InvalidValue: A number is outside its domain: the bound does not hold there.

    Source: Wang & Xu 2019, Theorem 2 (without constants there).
    """
    gamma, sigma = exact(step_size, "step_size"), exact(noise_stddev, "noise_stddev")
    count = positive_integer(steps, "steps")
    if sigma <= 0:
        raise InvalidValue("noise_stddev", noise_stddev, "a number greater than 0")
    _demand_short_step(problem, gamma)
    values = {
        symbols.initial_gap: problem.initial_gap,
        symbols.smoothness: problem.smoothness,
        symbols.step_size: sympy.Rational(gamma),
        symbols.steps: sympy.Integer(count),
        symbols.dimension: sympy.Integer(problem.dimension),
        symbols.noise_stddev: sympy.Rational(sigma),
    }
    return evaluate(bound_expression(mapping).subs(values), {})


def best_steps(problem: Problem, single_step_multiplier: Fraction, step_size: float) -> int:
    """The T >= 1 that minimises the noisy bound when the noise is σ² = (z G/n)² T, exactly.

    The bound is (A/T + B T)/a with A = Δ_F/γ and B = p (z G/n)². It falls from T to T + 1 as long as T(T+1) < A/B.

    Args:
        problem: Supplies n, p, G and Δ_F.
        single_step_multiplier: z, the noise multiplier that keeps the budget with one step.
        step_size: γ in (0, 2/L).

    Raises:
        InvalidValue: γ is outside; the bound does not hold there.
    """
    _demand_short_step(problem, Fraction(step_size))
    gap = rational(problem.initial_gap, "initial_gap")
    slope = rational(problem.lipschitz, "lipschitz") * single_step_multiplier / problem.records
    ratio = gap / Fraction(step_size) / (problem.dimension * slope**2)
    return best_count(ratio)


def _demand_short_step(problem: Problem, gamma: Fraction) -> None:
    if gamma <= 0 or not evaluate(sympy.Rational(gamma) * problem.smoothness, {}) < 2:
        limit = evaluate(2 / problem.smoothness, {}).lower
        allowed = f"a number greater than 0 and less than 2/L = {limit:.6g}, where the bound holds"
        raise InvalidValue("step_size", float(gamma), allowed)
