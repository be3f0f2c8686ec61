"""DP-GD-SO: towards a second-order stationary point within a convex set, by Frank-Wolfe and curvature steps.

Wang, Chen & Xu 2019, Algorithm 6, with the parameters, noise and number of steps of its explicit guarantee,
``wang-chen-xu-2019/theorem-9/explicit``:

    while fewer than T steps were made, at w:
        g = ∇F(w) + noise;  v = a point of C with the least <g, v>
        if <g, v - w> < -a/2:                                   w <- (1 - η)w + ηv
        else H = ∇²F(w) + symmetric noise;
             u = a Φ-approximate minimiser of q(u) = (u - w)ᵀH(u - w) over u in C with <g, u - w> <= r
             if q(u) <= -Φb/2:                                  w <- (1 - θ)w + θu
             else                                               return w

Wanted is a point with <∇F(w), u - w> >= -a for all u in C, and (u - w)ᵀ∇²F(w)(u - w) >= -b for those where the first
product is 0. Print has a = α and b = √(ρ_H α); the two are kept apart here as their units differ. Print's constant in r
is 72 where the proof needs 96, its input calls steps and start by other letters, and it does not say what happens after
T steps: here that is ``found`` = False, and NaN for a point.
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
from algorithms.ledger import PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import in_batches
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
from algorithms.problems.domain import demand_no_regulariser, demand_within
from algorithms.problems.finite_sum import Array, FiniteSum
from algorithms.problems.sets import ConstraintSet
from algorithms.run import Run, Trace, settled
from algorithms.second_order.guarantees import (
    checked_failure,
    checked_tolerance,
    constants,
    demand_records,
    demand_steps,
    exact_hessians,
    only_found,
    records_needed,
    steps_of,
    value_of,
)
from algorithms.second_order.quadratic_oracles import QuadraticOracle, oracle_for
from algorithms.second_order.reserved import ReservedLedger
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_chen_xu_2019 import theorem_9_explicit as theorem
from dpbounds.theorems.wang_chen_xu_2019._quantities import curvature_tolerance as curvature_symbol
from dpbounds.theorems.wang_chen_xu_2019._quantities import gap_tolerance as gap_symbol

THEOREMS = {
    "spent": "wang-chen-xu-2019/theorem-9",
    "failure": "wang-chen-xu-2019/theorem-9/explicit",
}

# A start this far outside the set, in the unit of its points, is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, init=False)
class ConstrainedSecondOrder:
    """Algorithm 6 of Wang, Chen & Xu 2019.

    Attributes:
        constraint: C.
        gradient_multiplier: Standard deviation on the sum of gradients in units of G, exact.
        hessian_multiplier: The same on the sum of Hessians in units of √r L (see ``HessianOracle``).
        steps: T, how many points are looked at, at most.
        gap_tolerance: A, in the unit of F.
        curvature_tolerance: B, in the unit of F.
        failure_probability: ζ of the guarantee.
        oracle: Minimises quadratics over C.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        constraint: An ``L2Ball``, a ``Box`` of at most six dimensions, or any set with an ``oracle``.
        gradient_multiplier: Greater than 0.
        hessian_multiplier: Greater than 0.
        steps: A positive whole number.
        gap_tolerance: Greater than 0.
        curvature_tolerance: Greater than 0.
        failure_probability: In (0, 1).
        oracle: None for the exact one of the set.
        budget: Optional.
        noise: "gaussian" for experiments, "secure" for a release (see ``algorithms.secure_noise``).

    Raises:
        InvalidValue: A value is not allowed, or no oracle is known for the set.
    """

    constraint: ConstraintSet
    gradient_multiplier: Fraction
    hessian_multiplier: Fraction
    steps: int
    gap_tolerance: Fraction
    curvature_tolerance: Fraction
    failure_probability: Fraction
    oracle: QuadraticOracle
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        constraint: ConstraintSet,
        gradient_multiplier: ExactLike,
        hessian_multiplier: ExactLike,
        steps: int,
        gap_tolerance: ExactLike,
        curvature_tolerance: ExactLike,
        failure_probability: ExactLike = "1/10",
        oracle: QuadraticOracle | None = None,
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        minimise = oracle_for(constraint) if oracle is None else oracle
        if not 0 < minimise.ratio <= 1:
            raise InvalidValue("oracle.ratio", minimise.ratio, "a number greater than 0 and at most 1")
        for name, value in (
            ("constraint", constraint),
            ("gradient_multiplier", checked_multiplier(gradient_multiplier, "gradient_multiplier")),
            ("hessian_multiplier", checked_multiplier(hessian_multiplier, "hessian_multiplier")),
            ("steps", positive_integer(steps, "steps")),
            ("gap_tolerance", checked_tolerance(gap_tolerance, "gap_tolerance")),
            ("curvature_tolerance", checked_tolerance(curvature_tolerance, "curvature_tolerance")),
            ("failure_probability", checked_failure(failure_probability)),
            ("oracle", minimise),
            ("budget", checked_budget(budget)),
            ("noise", checked_noise(noise)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        constraint: ConstraintSet,
        gap_tolerance: ExactLike,
        curvature_tolerance: ExactLike,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        failure_probability: ExactLike = "1/10",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        share: ExactLike = "1/2",
        oracle: QuadraticOracle | None = None,
        noise: WhichNoise = "gaussian",
    ) -> ConstrainedSecondOrder:
        """Return the algorithm with T of its theorem and the smallest proven noise for a budget.

        Args:
            problem: Supplies d, G, L, ρ_H and Δ_F; no record is looked at.
            constraint: C.
            gap_tolerance: A; print has α.
            curvature_tolerance: B; print has √(ρ_H α).
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            failure_probability: ζ.
            steps: T, or None for the theorem's, with which nothing but the noise can go wrong. It grows like D⁶/b³ and
                is far more than most runs need; with fewer, the guarantee is lost and the noise is smaller.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            share: Of the budget (of 1/z²) for the gradients; the rest is for the Hessians.
            oracle: None for the exact one of the set.
            noise: "gaussian" or "secure".

        Returns:
            The algorithm; its noise suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, or the set does not suit.
        """
        budget, part = PrivacyBudget.of(epsilon, delta, relation), checked_share(share)
        plain = cls(constraint, 1, 1, 1, gap_tolerance, curvature_tolerance, failure_probability, oracle, budget, noise)
        values = plain._values(problem)
        count = steps_of(theorem.steps(), values) if steps is None else positive_integer(steps, "steps")
        groups = {"gradients": Group(count, part), "Hessians": Group(count, 1 - part)}
        multipliers = multipliers_of_groups(budget, groups, noise)
        return cls(
            constraint,
            multipliers["gradients"],
            multipliers["Hessians"],
            count,
            gap_tolerance,
            curvature_tolerance,
            failure_probability,
            plain.oracle,
            budget,
            noise,
        )

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
        """Bound the probability of ``failure``: ζ, where the problem has records enough.

        Raises:
            InvalidValue: It has too few, T is smaller than the theorem's, or η or θ is above 1: nothing is promised.
        """
        values = self._values(problem)
        self._shares(values)
        demand_steps(self.steps, steps_of(theorem.steps(), values))
        demand_records(problem, self.records_needed(problem))
        return Enclosure.exactly(self.failure_probability)

    def _values(self, problem: FiniteSum) -> Mapping[sympy.Symbol, sympy.Expr]:
        demand_no_regulariser(problem)
        demand_within(problem, self.constraint)
        start = problem.initial_point[None]
        if not self.constraint.contains(start, tolerance=_ROUNDING)[0]:
            raise InvalidValue("initial_point", start[0], "a point of the set", "move the set or start elsewhere")
        return {
            **constants(problem),
            symbols.steps: sympy.Integer(self.steps),
            symbols.failure_probability: sympy.Rational(self.failure_probability),
            symbols.diameter: self.constraint.diameter,
            symbols.approximation_ratio: sympy.Rational(self.oracle.ratio),
            gap_symbol: sympy.Rational(self.gap_tolerance),
            curvature_symbol: sympy.Rational(self.curvature_tolerance),
        }

    def _shares(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> tuple[float, float]:
        """η and θ; ``InvalidValue`` where one is above 1."""
        first, second = value_of(theorem.first_share(), values), value_of(theorem.second_share(), values)
        if first > 1:
            raise InvalidValue("gap_tolerance", self.gap_tolerance, "at most 2D²L, so that η = a/(2D²L) is at most 1")
        if second > 1:
            allowed = "at most 2ρ_H D³/Φ, so that θ = Φb/(2ρ_H D³) is at most 1"
            raise InvalidValue("curvature_tolerance", self.curvature_tolerance, allowed)
        return first, second

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 6 ``repetitions`` times at once, with independent randomness.

        A repetition that has returned asks and draws nothing more; the ledger has what was planned for T points.

        Args:
            problem: What to minimise; its constants must hold on the set.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is NaN where ``outputs["found"][r]`` is False. ``measured`` (not private), at the
            point where the repetition ended: "gap", the exact -min <∇F(w), u - w>; "curvature", the exact minimum of
            (u - w)ᵀ∇²F(w)(u - w) over u in C with <∇F(w), u - w> <= 0, which includes those where it is 0 (by the same
            oracle, divided by its ratio); and "failure", 1 where nothing was found or one of them is out of bounds.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, a constant is missing, the start is not in the set, or
                the problem is not smooth.
            BudgetExceeded: More was to be released than planned.
        """
        values = self._values(problem)
        eta, theta = self._shares(values)
        slack, ratio = value_of(theorem.slack(), values), float(self.oracle.ratio)
        a, b = float(self.gap_tolerance), float(self.curvature_tolerance)
        generators = streams(seed, repetitions)
        ledger = ReservedLedger(generators, self.noise, relation_of(self.budget))
        memory = Walk(problem)
        gradients = ledger.gradients(problem, self.gradient_multiplier, self.steps, memory)
        hessians = ledger.hessians(problem, self.hessian_multiplier, self.steps)

        started = time.perf_counter()
        w = np.tile(problem.initial_point, (len(generators), 1))
        searching, found = np.ones(len(w), dtype=bool), np.zeros(len(w), dtype=bool)
        looked_at = np.zeros(len(w), dtype=np.int64)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(1, self.steps + 1):
                memory.move(w)
                memory.show(searching)
                g = np.zeros_like(w)
                g[searching] = replace(gradients, generators=of_rows(generators, searching))(w[searching]).noisy
                looked_at[searching] = t
                v = self.constraint.linear_minimiser(g)
                descending = searching & (_products(g, v - w) < -a / 2)
                level = np.flatnonzero(searching & ~descending)
                w[descending] += eta * (v - w)[descending]
                if len(level):
                    asked = replace(hessians, generators=[generators[r] for r in level])
                    H = asked(w[level]).noisy
                    u = np.array([self.oracle(*each, slack) for each in zip(H, g[level], w[level], strict=True)])
                    bent = _forms(H, u - w[level]) <= -ratio * b / 2
                    w[level[bent]] += theta * (u - w[level])[bent]
                    found[level[~bent]] = True
                    searching &= ~found
                    if not searching.any():
                        break
                w = self.constraint.project(w)  # what rounding took outside
            walked = time.perf_counter()
            slope, H = in_batches(problem, w)[1], exact_hessians(problem, w)
            gap = -_products(slope, self.constraint.linear_minimiser(slope) - w)
            u = np.array([self.oracle(*each, 0.0) for each in zip(H, slope, w, strict=True)])
            lowest = _forms(H, u - w) / ratio
        good = found & (gap <= a) & (lowest >= -b)

        closed, spent = settled(ledger, self.planned, self.budget)
        return Run(
            algorithm="constrained second-order descent",
            output=only_found(w, found),
            outputs={"found": found},
            output_step=np.where(found, looked_at, 0),
            trace=Trace(),
            measured={"failure": (~good).astype(np.float64), "gap": gap, "curvature": lowest},
            metric="failure",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=self.steps,
            parameters={"first_order_share": eta, "second_order_share": theta, "slack": slack},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": time.perf_counter() - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )


def _products(left: Array, right: Array) -> Array:
    products: Array = np.einsum("rp,rp->r", left, right)
    return products


def _forms(matrices: Array, rows: Array) -> Array:
    forms: Array = np.einsum("rp,rpq,rq->r", rows, matrices, rows)
    return forms
