"""DP-NC: gradient steps where the noisy gradient is large, steps along negative curvature where it is small.

This library's own counterpart of Wang, Chen & Xu 2019, Algorithms 4 and 5: it leaves a saddle point by looking for
negative curvature instead of waiting for noise to push it away, so that an approximate local minimum is reached within
a number of steps that does not grow with n. Its guarantee, ``dpbounds/negative-curvature-descent``, has constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import norms
from dpbounds.algorithms.method import FiniteSum, InvalidValue, OpenRun, Outcome
from dpbounds.algorithms.oracles.rows import Walk, asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.second_order.guarantees import (
    CURVATURE,
    SecondOrderMethod,
    at_the_smallest,
    constants,
    ended,
    exact_hessians,
    smallest_eigenvectors,
    steps_of,
    value_of,
)
from dpbounds.algorithms.second_order.reserved import reserved
from dpbounds.expressions import symbols
from dpbounds.papers.ours import negative_curvature_descent as theorem, searches as searches_symbol


def _count_or_none(value: int | None, name: str = "searches") -> int | None:
    return None if value is None else fields.count(value, name)


@frozen(field_transformer=fields.named)
class NegativeCurvatureDescent(SecondOrderMethod):
    """Descent along noisy gradients and noisy negative curvature, on all of R^p.

    ::

        while fewer than T steps were made, at w:
            g = ∇F(w) + noise
            if ‖g‖ > 3α/4:                                          w <- w - g/L
            else H = ∇²F(w) + symmetric noise (K of them at most);
                 if λ_min(H) < -(7/8)√(ρ_H α), with eigenvector v:  w <- w ± √(α/ρ_H) v, the sign for which <g, ·> <= 0
                 else                                               return w

    The output is NaN where ``outputs["found"]`` is False: T points or K Hessians were used up, and none was returned.
    Measured: "failure", 1 if no point was found, or a point that is not an α-SOSP; and the exact "gradient_norm" and
    "curvature" (the smallest eigenvalue) where the repetition ended.

    Attributes:
        gradient_multiplier: Standard deviation on the sum of gradients in units of G.
        hessian_multiplier: The same on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T, the largest number of points.
        searches: K, the largest number of Hessians; None for T.
        stationarity: α > 0, in the unit of a gradient: the target is ‖∇F‖ <= α and λ_min(∇²F) >= -√(ρ_H α).
        failure_probability: ζ in (0, 1) of the guarantee.
    """

    title: ClassVar[str] = "negative curvature descent"
    sample_size: ClassVar[sympy.Expr] = theorem.sample_size
    enough_steps: ClassVar[sympy.Expr | None] = theorem.steps

    gradient_multiplier: Fraction = field(converter=fields.multiplier)
    hessian_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    stationarity: Fraction = field(converter=fields.positive)
    failure_probability: Fraction = field(default=Fraction(1, 10), converter=fields.share)
    searches: int | None = field(default=None, converter=_count_or_none)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def bound(self, problem: FiniteSum) -> Enclosure:
        """See ``SecondOrderMethod.bound``; there is no guarantee if K is smaller than the theorem's, either."""
        promised = super().bound(problem)
        if self.most_hessians < (least := steps_of(theorem.least_searches, self._values(problem))):
            raise InvalidValue(
                "searches", self.most_hessians, f"at least {least}", "this many saddle points may be met"
            )
        return promised

    @property
    def most_hessians(self) -> int:
        """K."""
        return self.steps if self.searches is None else self.searches

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
        noise: fields.WhichNoise = "gaussian",
    ) -> NegativeCurvatureDescent:
        """Plan for a budget, see ``Method``, with T and K of the theorem.

        - ``stationarity`` None: the smallest α that n records are enough for
        - ``share``: of the budget (of 1/z²) for the gradients; the rest is for the Hessians
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        zeta = fields.share(failure_probability, "failure_probability")
        demand_all_of_space(problem)
        known, part = constants(problem), fields.share(share)

        def at(alpha: Fraction) -> NegativeCurvatureDescent:
            values = {**known, symbols.stationarity: sympy.Rational(alpha)}
            steps, searches = steps_of(theorem.steps, values), steps_of(theorem.least_searches, values)
            groups = {"gradients": (steps, part), "Hessians": (searches, 1 - part)}
            gradients, hessians = planning.multipliers_of_groups(budget, groups).values()
            return cls(gradients, hessians, steps, alpha, zeta, searches, budget, noise)

        if stationarity is not None:
            return at(fields.positive(stationarity, "stationarity"))
        return at_the_smallest(at, problem)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        values = self._values(problem)
        steep, bent = value_of(theorem.gradient_threshold, values), value_of(theorem.curvature_threshold, values)
        length, step_size = value_of(theorem.curvature_move, values), 1 / value_of(symbols.smoothness, values)
        memory = Walk(problem)
        gradients = reserved(run.gradients(self.gradient_multiplier, memory=memory), self.steps)
        hessians = reserved(run.hessians(self.hessian_multiplier), self.most_hessians)

        w = run.repeated(problem.initial_point)
        searching, found = np.ones(len(w), dtype=bool), np.zeros(len(w), dtype=bool)
        looked_at, tests = np.zeros((2, len(w)), dtype=np.int64)
        for k in run.steps(self.steps):
            memory.move(w)
            g = np.zeros_like(w)
            g[searching] = asked(gradients, searching, w)
            looked_at[searching] = k
            descending = searching & (norms(g) > steep)
            w[descending] -= step_size * g[descending]
            tests += searching & ~descending
            searching &= tests <= self.most_hessians
            flat = np.flatnonzero(searching & ~descending)
            if len(flat):
                curvature, v = smallest_eigenvectors(asked(hessians, searching & ~descending, w))
                saddle = curvature < bent
                uphill = np.einsum("rp,rp->r", g[flat], v) > 0
                w[flat[saddle]] += np.where(uphill, -length, length)[saddle, None] * v[saddle]
                found[flat[~saddle]] = True
                searching &= ~found
            if not searching.any():
                break
        steepness, smallest = norms(run.exact(w)[1]), smallest_eigenvectors(exact_hessians(problem, w))[0]
        alpha, gamma = float(self.stationarity), value_of(CURVATURE, values)
        good = found & (steepness <= alpha) & (smallest >= -gamma)
        return ended(
            w,
            found,
            looked_at,
            measured={"failure": (~good).astype(np.float64), "gradient_norm": steepness, "curvature": smallest},
            parameters={"step_size": step_size, "stationarity": alpha, "curvature_move": length},
        )

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_all_of_space(problem)
        return {
            **constants(problem),
            symbols.steps: sympy.Integer(self.steps),
            searches_symbol: sympy.Integer(self.most_hessians),
            symbols.stationarity: sympy.Rational(self.stationarity),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
        }
