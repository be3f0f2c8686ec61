"""DP-NC: gradient steps where the noisy gradient is large, steps along negative curvature where it is small.

This library's own counterpart of Wang, Chen & Xu 2019, Algorithms 4 and 5: it leaves a saddle point by looking for
negative curvature instead of waiting for noise to push it away, so that an approximate local minimum is reached within
a number of steps that does not grow with n. Its guarantee, ``dpbounds/negative-curvature-descent``, has constants:

    while fewer than T steps were made, at w:
        g = ∇F(w) + noise
        if ‖g‖ > 3α/4:                                          w <- w - g/L
        else H = ∇²F(w) + symmetric noise;
             if λ_min(H) < -(7/8)√(ρ_H α), with eigenvector v:  w <- w ± √(α/ρ_H) v, the sign for which <g, ·> <= 0
             else                                               return w
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.iterates import norms
from algorithms.ledger import PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import at_least, in_batches
from algorithms.oracles.rows import Walk, of_rows
from algorithms.planning import (
    Group,
    WhichNoise,
    checked_multiplier,
    checked_noise,
    checked_share,
    multipliers_of_groups,
    relation_of,
    releases_of,
)
from algorithms.problems.domain import demand_all_of_space
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Run, Trace, settled
from algorithms.second_order.guarantees import (
    CURVATURE,
    checked_failure,
    checked_tolerance,
    constants,
    demand_records,
    demand_steps,
    exact_hessians,
    only_found,
    records_needed,
    smallest_eigenvectors,
    smallest_tolerance,
    steps_of,
    value_of,
)
from algorithms.second_order.reserved import ReservedLedger
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.dpbounds import negative_curvature_descent as theorem

THEOREMS = {
    "spent": "dpbounds/negative-curvature-descent",
    "failure": "dpbounds/negative-curvature-descent",
}


@dataclass(frozen=True, slots=True, init=False)
class NegativeCurvatureDescent:
    """Descent along noisy gradients and noisy negative curvature, on all of R^p.

    Attributes:
        gradient_multiplier: Standard deviation on the sum of gradients in units of G, exact.
        hessian_multiplier: The same on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T, how many points are looked at, at most.
        stationarity: α, in the unit of a gradient: wanted are ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ of the guarantee.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        gradient_multiplier: Greater than 0.
        hessian_multiplier: Greater than 0.
        steps: A positive whole number.
        stationarity: Greater than 0.
        failure_probability: In (0, 1).
        budget: Optional.
        noise: "gaussian" for experiments, "secure" for a release (see ``algorithms.secure_noise``).

    Raises:
        InvalidValue: A value is not allowed.
    """

    gradient_multiplier: Fraction
    hessian_multiplier: Fraction
    steps: int
    stationarity: Fraction
    failure_probability: Fraction
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        gradient_multiplier: ExactLike,
        hessian_multiplier: ExactLike,
        steps: int,
        stationarity: ExactLike,
        failure_probability: ExactLike = "1/10",
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        for name, value in (
            ("gradient_multiplier", checked_multiplier(gradient_multiplier, "gradient_multiplier")),
            ("hessian_multiplier", checked_multiplier(hessian_multiplier, "hessian_multiplier")),
            ("steps", positive_integer(steps, "steps")),
            ("stationarity", checked_tolerance(stationarity)),
            ("failure_probability", checked_failure(failure_probability)),
            ("budget", checked_budget(budget)),
            ("noise", checked_noise(noise)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        stationarity: ExactLike | None = None,
        failure_probability: ExactLike = "1/10",
        relation: str | Relation = Relation.REPLACE_ONE,
        share: ExactLike = "1/2",
        noise: WhichNoise = "gaussian",
    ) -> NegativeCurvatureDescent:
        """Return the algorithm with T of its theorem and the smallest proven noise for a budget.

        Args:
            problem: Supplies d, G, L, ρ_H and Δ_F, and n where α is to be found; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            stationarity: α, or None for the smallest one that n records are enough for.
            failure_probability: ζ.
            relation: "replace-one" or "add-or-remove-one".
            share: Of the budget (of 1/z²) for the gradients; the rest is for the Hessians.
            noise: "gaussian" or "secure".

        Returns:
            The algorithm; its noise suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, or n is too small for any α (of use: at most
                G, as no gradient is longer).
        """
        budget, zeta = PrivacyBudget.of(epsilon, delta, relation), checked_failure(failure_probability)
        demand_all_of_space(problem)
        known, part = constants(problem), checked_share(share)

        def at(alpha: Fraction) -> NegativeCurvatureDescent:
            steps = steps_of(theorem.steps(), {**known, symbols.stationarity: sympy.Rational(alpha)})
            groups = {"gradients": Group(steps, part), "Hessians": Group(steps, 1 - part)}
            multipliers = multipliers_of_groups(budget, groups, noise)
            return cls(multipliers["gradients"], multipliers["Hessians"], steps, alpha, zeta, budget, noise)

        def enough(alpha: Fraction) -> bool:
            return at(alpha).records_needed(problem).exact_upper <= problem.records

        if stationarity is not None:
            return at(checked_tolerance(stationarity))
        return at(smallest_tolerance(enough, at_least(problem.lipschitz, "lipschitz")))

    @property
    def planned(self) -> Mechanism:
        """What a run releases at most, as a mechanism for the accountants: T gradients and T Hessians."""
        groups = (self.gradient_multiplier, self.steps), (self.hessian_multiplier, self.steps)
        return releases_of(groups, self.noise, relation_of(self.budget))

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose how many records the guarantee asks for, at this noise; n of the problem is not looked at."""
        return records_needed(
            theorem.sample_size(),
            problem,
            gradient_multiplier=self.gradient_multiplier,
            hessian_multiplier=self.hessian_multiplier,
            count=self.steps,
            values=self._values(problem),
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability that a run returns no α-SOSP: ζ, where the problem has records enough.

        Raises:
            InvalidValue: It has too few, or T is smaller than the theorem's: nothing is promised.
        """
        demand_steps(self.steps, steps_of(theorem.steps(), self._values(problem)))
        demand_records(problem, self.records_needed(problem))
        return Enclosure.exactly(self.failure_probability)

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_all_of_space(problem)
        return {
            **constants(problem),
            symbols.steps: sympy.Integer(self.steps),
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
        }

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run it ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is NaN where ``outputs["found"][r]`` is False: T points were looked at and none was
            returned. ``measured`` (not private): "failure", 1 where nothing was found or what was found is no α-SOSP;
            and the exact "gradient_norm" and "curvature" (the smallest eigenvalue) where the repetition ended.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, a constant is missing, or the problem is not smooth.
            BudgetExceeded: More was to be released than planned.
        """
        demand_all_of_space(problem)
        values = self._values(problem)
        steep, bent = value_of(theorem.gradient_threshold(), values), value_of(theorem.curvature_threshold(), values)
        length, step_size = value_of(theorem.curvature_move(), values), 1 / value_of(symbols.smoothness, values)
        generators = streams(seed, repetitions)
        ledger = ReservedLedger(generators, self.noise, relation_of(self.budget))
        memory = Walk(problem)
        gradients = ledger.gradients(problem, self.gradient_multiplier, self.steps, memory)
        hessians = ledger.hessians(problem, self.hessian_multiplier, self.steps)

        started = time.perf_counter()
        x = np.tile(problem.initial_point, (len(generators), 1))
        searching, found = np.ones(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
        looked_at = np.zeros(len(x), dtype=np.int64)
        with threadpool_limits(limits=1, user_api="blas"):
            for k in range(1, self.steps + 1):
                memory.move(x)
                memory.show(searching)
                g = np.zeros_like(x)
                g[searching] = replace(gradients, generators=of_rows(generators, searching))(x[searching]).noisy
                looked_at[searching] = k
                descending = searching & (norms(g) > steep)
                flat = np.flatnonzero(searching & ~descending)
                x[descending] -= step_size * g[descending]
                if not len(flat):
                    continue
                asked = replace(hessians, generators=[generators[r] for r in flat])
                curvature, v = smallest_eigenvectors(asked(x[flat]).noisy)
                saddle = curvature < bent
                uphill = np.einsum("rp,rp->r", g[flat], v) > 0
                x[flat[saddle]] += np.where(uphill, -length, length)[saddle, None] * v[saddle]
                found[flat[~saddle]] = True
                searching &= ~found
                if not searching.any():
                    break
            walked = time.perf_counter()
            steepness = norms(in_batches(problem, x)[1])
            smallest, _ = smallest_eigenvectors(exact_hessians(problem, x))
        alpha, gamma = float(self.stationarity), value_of(CURVATURE, values)
        good = found & (steepness <= alpha) & (smallest >= -gamma)

        closed, spent = settled(ledger, self.planned, self.budget)
        return Run(
            algorithm="negative curvature descent",
            output=only_found(x, found),
            outputs={"found": found},
            output_step=np.where(found, looked_at, 0),
            trace=Trace(),
            measured={"failure": (~good).astype(np.float64), "gradient_norm": steepness, "curvature": smallest},
            metric="failure",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=self.steps,
            parameters={"step_size": step_size, "stationarity": alpha, "curvature_move": length},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": time.perf_counter() - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )
