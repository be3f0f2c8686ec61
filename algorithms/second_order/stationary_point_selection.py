"""Noisy gradient descent, then the first iterate that looks like a second-order stationary point.

Wang, Chen & Xu 2019, Algorithm 5:

    run DP-GD (Algorithm 4) with a part of the budget: w_1, ..., w_{T+1}
    for t = 1, ..., T + 1:
        g_t = ∇F(w_t) + noise, H_t = ∇²F(w_t) + symmetric noise
        if ‖g_t‖ <= 3α/4 and λ_min(H_t) >= -(1 + 1/√2)/2 √(ρ_H α):  return w_t

What differs from print:

- Print tests against α and √(ρ_H α) themselves, which lets points pass that are a little off; ``variant="as-printed"``
  does that. The tightened tests are those of ``wang-chen-xu-2019/theorem-8/explicit``.
- The noise is proven for all T + 1 points, where print counts T, and for descent and tests together.
- Print does not say what is returned if no point passes; here that is ``found`` = False, and NaN for a point.
- The tests do not influence the walk, so each point is tested when the walk is there, and a Hessian is asked for only
  where the gradient's test is passed. The ledger holds all T + 1 of each all the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

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
    checked_step_size,
    multipliers_of_groups,
    relation_of,
    releases_of,
)
from algorithms.problems.domain import demand_all_of_space
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Run, Trace, settled
from algorithms.second_order.gradient_descent import best_steps, step_size_for
from algorithms.second_order.guarantees import (
    CURVATURE,
    checked_failure,
    checked_tolerance,
    constants,
    demand_records,
    exact_hessians,
    only_found,
    records_needed,
    smallest_eigenvectors,
    smallest_tolerance,
    value_of,
)
from algorithms.second_order.reserved import ReservedLedger
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_chen_xu_2019 import theorem_8_explicit

Variant = Literal["repaired", "as-printed"]

THEOREMS = {
    "spent": "wang-chen-xu-2019/algorithm-5",
    "failure": "wang-chen-xu-2019/theorem-8/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class StationaryPointSelection:
    """Algorithm 5 of Wang, Chen & Xu 2019, on all of R^p.

    Attributes:
        descent_multiplier: Noise of DP-GD: standard deviation on the sum of gradients in units of G, exact.
        gradient_multiplier: The same for the gradients that are tested.
        hessian_multiplier: Noise on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T of DP-GD; T + 1 points are tested.
        stationarity: α: wanted are ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ of the tests' guarantee.
        step_size: η, or None for 1/L.
        variant: "repaired" or "as-printed" (thresholds that are not tightened; no guarantee).
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        descent_multiplier: Greater than 0.
        gradient_multiplier: Greater than 0.
        hessian_multiplier: Greater than 0.
        steps: A positive whole number.
        stationarity: Greater than 0.
        failure_probability: In (0, 1).
        step_size: Greater than 0, fixed in advance.
        variant: Which.
        budget: Optional.
        noise: Which.

    Raises:
        InvalidValue: A value is not allowed.
    """

    descent_multiplier: Fraction
    gradient_multiplier: Fraction
    hessian_multiplier: Fraction
    steps: int
    stationarity: Fraction
    failure_probability: Fraction
    step_size: float | None
    variant: Variant
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        descent_multiplier: ExactLike,
        gradient_multiplier: ExactLike,
        hessian_multiplier: ExactLike,
        steps: int,
        stationarity: ExactLike,
        failure_probability: ExactLike = "1/10",
        step_size: float | None = None,
        variant: Variant = "repaired",
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        for name, value in (
            ("descent_multiplier", checked_multiplier(descent_multiplier, "descent_multiplier")),
            ("gradient_multiplier", checked_multiplier(gradient_multiplier, "gradient_multiplier")),
            ("hessian_multiplier", checked_multiplier(hessian_multiplier, "hessian_multiplier")),
            ("steps", positive_integer(steps, "steps")),
            ("stationarity", checked_tolerance(stationarity)),
            ("failure_probability", checked_failure(failure_probability)),
            ("step_size", checked_step_size(step_size, "1/L")),
            ("variant", variant),
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
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        descent_share: ExactLike = "1/2",
        variant: Variant = "repaired",
        noise: WhichNoise = "gaussian",
    ) -> StationaryPointSelection:
        """Return the algorithm with the smallest proven noise for a budget.

        Args:
            problem: Supplies n, d, G, L, ρ_H and Δ_F; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            stationarity: α, or None for the smallest one at which n records are enough for the tests' guarantee.
            failure_probability: ζ.
            steps: T, or None for the one that makes the explicit bound on DP-GD's gradients smallest. From a saddle
                point it should exceed ln n/ln(1 + ηγ), where -γ is the curvature to leave along.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            descent_share: Of the budget (of 1/z²) for the descent; the rest is for the tests, half and half.
            variant: "repaired" or "as-printed"; the noise is the same.
            noise: "gaussian" or "secure".

        Returns:
            The algorithm; its noise suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, or n is too small for any α up to G.
        """
        budget, zeta = PrivacyBudget.of(epsilon, delta, relation), checked_failure(failure_probability)
        demand_all_of_space(problem)
        known, first = constants(problem), checked_share(descent_share, "descent_share")
        if steps is None:
            alone = multipliers_of_groups(budget, {"descent": Group(1, first)}, noise)["descent"]
            T = best_steps(problem, alone, step_size_for(problem, None))
        else:
            T = positive_integer(steps, "steps")
        groups = {
            "descent": Group(T, first),
            "gradients": Group(T + 1, (1 - first) / 2),
            "Hessians": Group(T + 1, (1 - first) / 2),
        }
        multipliers = multipliers_of_groups(budget, groups, noise)

        def at(alpha: Fraction) -> StationaryPointSelection:
            return cls(
                multipliers["descent"],
                multipliers["gradients"],
                multipliers["Hessians"],
                T,
                alpha,
                zeta,
                variant=variant,
                budget=budget,
                noise=noise,
            )

        def enough(alpha: Fraction) -> bool:
            return at(alpha).records_needed(problem).exact_upper <= problem.records

        if stationarity is not None:
            return at(checked_tolerance(stationarity))
        return at(smallest_tolerance(enough, at_least(known[symbols.lipschitz], "lipschitz")))

    @property
    def planned(self) -> Mechanism:
        """What a run releases at most: T gradients of the descent, T + 1 tested gradients, T + 1 Hessians."""
        tested = self.steps + 1
        groups = (
            (self.descent_multiplier, self.steps),
            (self.gradient_multiplier, tested),
            (self.hessian_multiplier, tested),
        )
        return releases_of(groups, self.noise, relation_of(self.budget))

    def records_needed(self, problem: FiniteSum) -> Enclosure:
        """Enclose how many records the tests' guarantee asks for at this noise; n of the problem is not looked at."""
        return records_needed(
            theorem_8_explicit.sample_size(),
            problem,
            gradient_multiplier=self.gradient_multiplier,
            hessian_multiplier=self.hessian_multiplier,
            count=self.steps + 1,
            values={**self._values(problem), symbols.candidates: sympy.Integer(self.steps + 1)},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: ζ, where the problem has records enough.

        A failure is that a returned point is no α-SOSP, or that none is returned though the walk passed an α/2-SOSP.
        That the walk passes one is what Theorem 7 claims, without constants, and no part of this bound.

        Raises:
            InvalidValue: There are too few records, or the thresholds are those of print: nothing is promised.
        """
        if self.variant == "as-printed":
            raise InvalidValue("variant", "'as-printed'", "'repaired'", "a point just above α often passes as printed")
        demand_records(problem, self.records_needed(problem))
        return Enclosure.exactly(self.failure_probability)

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_all_of_space(problem)
        return {
            **constants(problem),
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
        }

    def thresholds(self, problem: FiniteSum) -> tuple[float, float]:
        """A point passes with a noisy gradient norm of at most the first and λ_min of at least the second number."""
        values = self._values(problem)
        if self.variant == "as-printed":
            return float(self.stationarity), -value_of(CURVATURE, values)
        parts = (theorem_8_explicit.gradient_threshold(), theorem_8_explicit.curvature_threshold())
        return value_of(parts[0], values), value_of(parts[1], values)

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 5 ``repetitions`` times at once, with independent randomness.

        A repetition that has returned asks and draws nothing more; the ledger has what was planned for T + 1 points.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is NaN where ``outputs["found"][r]`` is False: no point passed. ``output_step`` is t
            of w_t, or 0. ``measured`` (not private): "failure" as in ``bound``, "offered" (1 where the walk passed an
            α/2-SOSP before it ended), and the exact "gradient_norm" and "curvature" at the point that was returned or
            tested last.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, a constant is missing, or the problem is not smooth.
            BudgetExceeded: More was to be released than planned.
        """
        demand_all_of_space(problem)
        T, eta, values = self.steps, step_size_for(problem, self.step_size), self._values(problem)
        alpha, gamma = float(self.stationarity), value_of(CURVATURE, values)
        steep, bent = self.thresholds(problem)
        generators = streams(seed, repetitions)
        ledger, memory = ReservedLedger(generators, self.noise, relation_of(self.budget)), Walk(problem)
        descent = ledger.gradients(problem, self.descent_multiplier, T, memory)
        gradients = ledger.gradients(problem, self.gradient_multiplier, T + 1, memory)
        hessians = ledger.hessians(problem, self.hessian_multiplier, T + 1)

        started = time.perf_counter()
        w = np.tile(problem.initial_point, (len(generators), 1))
        point, looked_at = w.copy(), np.zeros(len(w), dtype=np.int64)
        searching, offered = np.ones(len(w), dtype=bool), np.zeros(len(w), dtype=bool)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(1, T + 2):
                exact = memory.move(w)[1]
                memory.show(searching)
                asking = of_rows(generators, searching)
                g = np.full_like(w, np.inf)
                g[searching] = replace(gradients, generators=asking)(w[searching]).noisy
                point[searching], looked_at[searching] = w[searching], t
                nearly = np.flatnonzero(searching & ~offered & (norms(exact) <= alpha / 2))
                offered[nearly] = smallest_eigenvectors(exact_hessians(problem, w[nearly]))[0] >= -gamma / np.sqrt(2)
                flat = np.flatnonzero(searching & (norms(g) <= steep))
                if len(flat):
                    asked = replace(hessians, generators=[generators[r] for r in flat])
                    curvature, _ = smallest_eigenvectors(asked(w[flat]).noisy)
                    searching[flat[curvature >= bent]] = False
                if t == T + 1 or not searching.any():
                    break
                memory.show(searching)
                w[searching] -= eta * replace(descent, generators=of_rows(generators, searching))(w[searching]).noisy
            walked = time.perf_counter()
            steepness = norms(in_batches(problem, point)[1])
            smallest, _ = smallest_eigenvectors(exact_hessians(problem, point))
        found = ~searching
        good = (steepness <= alpha) & (smallest >= -gamma)

        closed, spent = settled(ledger, self.planned, self.budget)
        return Run(
            algorithm=f"stationary point selection ({self.variant})",
            output=only_found(point, found),
            outputs={"found": found},
            output_step=np.where(found, looked_at, 0),
            trace=Trace(),
            measured={
                "failure": np.where(found, ~good, offered).astype(np.float64),
                "offered": offered.astype(np.float64),
                "gradient_norm": steepness,
                "curvature": smallest,
            },
            metric="failure",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta, "stationarity": alpha},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": time.perf_counter() - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )
