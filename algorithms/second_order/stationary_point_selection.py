"""Noisy gradient descent, then the first iterate that looks like a second-order stationary point.

Wang, Chen & Xu 2019, Algorithm 5. Differences from the paper:

- The paper tests against α and √(ρ_H α) themselves, which lets points pass that are a little off;
  ``variant="as-printed"`` does that. The tightened tests are those of ``wang-chen-xu-2019/theorem-8/explicit``.
- The noise is proven for all T + 1 points, where the paper counts T, and for descent and tests together.
- The paper does not say what is returned if no point passes; here that is ``found`` = False, and NaN for a point.
- The tests do not influence the walk, so each point is tested when the walk is there, and a Hessian is asked for only
  where the gradient's test is passed. The ledger holds all T + 1 of each all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import norms
from dpbounds.algorithms.method import FiniteSum, InvalidValue, OpenRun, Outcome, computed
from dpbounds.algorithms.oracles.rows import Walk, asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.second_order.gradient_descent import best_steps, step_size_for
from dpbounds.algorithms.second_order.guarantees import (
    CURVATURE,
    SecondOrderMethod,
    at_the_smallest,
    constants,
    ended,
    exact_hessians,
    smallest_eigenvectors,
    smallest_where,
    value_of,
)
from dpbounds.algorithms.second_order.reserved import reserved
from dpbounds.expressions import symbols
from dpbounds.papers.wang_chen_xu_2019 import theorem_8_explicit
from dpbounds.privacy.mechanisms import Gaussian

Variant = Literal["repaired", "as-printed"]


@frozen(field_transformer=fields.named)
class StationaryPointSelection(SecondOrderMethod):
    """Algorithm 5 of Wang, Chen & Xu 2019, on all of R^p.

    ::

        run DP-GD (Algorithm 4) with a part of the budget: w_1, ..., w_{T+1}
        for t = 1, ..., T + 1:
            g = ∇F(w_t) + noise, H = ∇²F(w_t) + symmetric noise
            if ‖g‖ <= 3α/4 and λ_min(H) >= -(1 + 1/√2)/2 √(ρ_H α):  return w_t

    A repetition that has returned makes no more queries; the ledger has the releases planned for T + 1 points. The
    output is NaN where ``outputs["found"]`` is False: no point passed (``output_step`` is 0). Measured: "failure" as in
    ``bound``, "offered" (1 where the walk passed an α/2-SOSP before it ended), and the exact "gradient_norm" and
    "curvature" at the point that was returned or tested last.

    Attributes:
        descent_multiplier: Noise of DP-GD: standard deviation on the sum of gradients in units of G.
        gradient_multiplier: The same for the gradients that are tested.
        hessian_multiplier: Noise on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T of DP-GD; T + 1 points are tested.
        stationarity: α > 0: the target is ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ in (0, 1) of the tests' guarantee.
        step_size: η, or None for 1/L.
        variant: "repaired" or "as-printed" (thresholds that are not tightened; no guarantee).
    """

    sample_size: ClassVar[sympy.Expr] = theorem_8_explicit.sample_size

    descent_multiplier: Fraction = field(converter=fields.multiplier)
    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    hessian_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    step_size: float | None = field(default=None, converter=fields.step_size)
    variant: Variant = field(default="repaired", validator=fields.one_of(Variant))
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

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
        noise: fields.WhichNoise = "gaussian",
    ) -> StationaryPointSelection:
        """Plan for a budget, see ``Method``.

        - ``stationarity`` None: the smallest α at which n records are enough for the tests' guarantee
        - ``steps`` None: the T that makes the explicit bound on DP-GD's gradients smallest. From a saddle point it
          should exceed ln n/ln(1 + ηγ), where -γ is the curvature to leave along.
        - ``descent_share``: of the budget (of 1/z²) for the descent; the rest is for the tests, half and half
        - ``variant``: the noise is the same
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        zeta = fields.share(failure_probability, "failure_probability")
        demand_all_of_space(problem)
        constants(problem)  # raises where one is missing
        first = fields.share(descent_share, "descent_share")
        if steps is None:
            alone = planning.multipliers_of_groups(budget, {"descent": (1, first)})["descent"]
            T = best_steps(problem, alone, step_size_for(problem, None))
        else:
            T = fields.count(steps, "steps")
        groups = {"descent": (T, first), "gradients": (T + 1, (1 - first) / 2), "Hessians": (T + 1, (1 - first) / 2)}
        descent, gradients, hessians = planning.multipliers_of_groups(budget, groups).values()

        def at(alpha: ExactLike) -> StationaryPointSelection:
            return cls(descent, gradients, hessians, T, alpha, zeta, None, variant, budget, noise)

        return at_the_smallest(at, problem) if stationarity is None else at(stationarity)

    @property
    def points(self) -> int:
        """T + 1."""
        return self.steps + 1

    @property
    def planned(self) -> Mechanism:
        """Return the most that a run releases: T gradients of the descent, T + 1 tested gradients, T + 1 Hessians."""
        descent = Gaussian(self.descent_multiplier) ** self.steps
        return descent @ super().planned

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 5."""
        T, eta, values = self.steps, step_size_for(problem, self.step_size), self._values(problem)
        alpha, gamma = float(self.stationarity), value_of(CURVATURE, values)
        steep, bent = self.thresholds(problem)
        memory = Walk(problem)
        descent = reserved(run.gradients(self.descent_multiplier, memory=memory), T)
        gradients = reserved(run.gradients(self.gradient_multiplier, memory=memory), T + 1)
        hessians = reserved(run.hessians(self.hessian_multiplier), T + 1)

        w = run.repeated(problem.initial_point)
        point, looked_at = w.copy(), np.zeros(len(w), dtype=np.int64)
        searching, offered = np.ones(len(w), dtype=bool), computed(np.zeros, len(w), dtype=bool)
        for t in run.steps(T + 1):
            exact = memory.move(w)[1]
            g = np.full_like(w, np.inf)
            g[searching] = asked(gradients, searching, w)
            point[searching], looked_at[searching] = w[searching], t
            level = searching & ~offered & (norms(exact) <= alpha / 2)
            offered = offered | (computed(smallest_where, problem, w, level) >= -gamma / np.sqrt(2))
            flat = searching & (norms(g) <= steep)
            if flat.any():
                curvature, _ = smallest_eigenvectors(asked(hessians, flat, w))
                searching[np.flatnonzero(flat)[curvature >= bent]] = False
            if t == T + 1 or not searching.any():
                break
            w[searching] -= eta * asked(descent, searching, w)
        found = ~searching
        steepness, smallest = norms(run.exact(point)[1]), smallest_eigenvectors(exact_hessians(problem, point))[0]
        good = (steepness <= alpha) & (smallest >= -gamma)
        return ended(
            point,
            found,
            looked_at,
            measured={
                "failure": np.where(found, ~good, offered).astype(np.float64),
                "offered": offered.astype(np.float64),
                "gradient_norm": steepness,
                "curvature": smallest,
            },
            parameters={"step_size": eta, "stationarity": alpha},
            title=f"stationary point selection ({self.variant})",
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: ζ, where the problem has records enough.

        A failure is that a returned point is no α-SOSP, or that none is returned though the walk passed an α/2-SOSP.
        That the walk passes one is what Theorem 7 claims, without constants, and no part of this bound.

        Raises:
            InvalidValue: There are too few records, or the thresholds are the printed ones: there is no guarantee.
        """
        if self.variant == "as-printed":
            raise InvalidValue(
                "variant",
                "'as-printed'",
                "'repaired'",
                "with the printed thresholds a point just above α is often accepted",
            )
        return super().bound(problem)

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_all_of_space(problem)
        return {
            **constants(problem),
            symbols.candidates: sympy.Integer(self.points),
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
        }

    def thresholds(self, problem: FiniteSum) -> tuple[float, float]:
        """Return the largest noisy gradient norm and the least noisy λ_min with which a point passes."""
        values = self._values(problem)
        if self.variant == "as-printed":
            return float(self.stationarity), -value_of(CURVATURE, values)
        parts = (theorem_8_explicit.gradient_threshold, theorem_8_explicit.curvature_threshold)
        return value_of(parts[0], values), value_of(parts[1], values)
