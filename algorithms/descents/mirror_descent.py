"""DP-PMD: mirror descent with Gaussian noise on every gradient.

Wang & Xu 2019, Algorithm 3, for every distance-generating function of ``algorithms.problems.mirrors``: squared l2 norm
on any convex set, squared q-norm on the l1 ball, entropy on the simplex. Their Theorem 5 is made explicit in
``wang-xu-2019/theorem-5/explicit``, which also says what the fourth root that print lost is.

What differs from print: the noise is the smallest that is proven (theirs has an unstated constant), the Bregman
divergence is taken at x_k, and the regulariser r is 0, as a mirror step with one has no closed form for most w. What
is measured is the mapping in the norm N of w, noisy and at the true gradient. With w(x) = ‖x‖²/(2r²) on an l2 ball of
radius r this is projected gradient descent with step γr².
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
from algorithms.iterates import best_count, gap_at, uniform_steps
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import Array, streams
from algorithms.oracles import GradientOracle, at_least
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
from algorithms.problems.domain import demand_no_regulariser, demand_within, known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.mirrors import DistanceGenerator
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_xu_2019 import theorem_5_explicit

WhichMapping = Literal["noisy", "exact"]

THEOREMS = {
    "algorithm": "wang-xu-2019/algorithm-3",
    "spent": "wang-xu-2019/theorem-1",
    "noisy": "wang-xu-2019/theorem-5/explicit",
    "exact": "wang-xu-2019/theorem-5/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class MirrorDescent:
    """Algorithm 3 of Wang & Xu 2019 for problems without a regulariser, over the set of a mirror.

    Attributes:
        mirror: w, with its set C and its norm N.
        noise_multiplier: Standard deviation on the sum of gradients in units of G (l2), exact.
        steps: T.
        step_size: γ, or None for 1/(2L̃) of the problem at hand, L̃ its smoothness in N.
        start: x₁ in C, or None for the point of C nearest to the problem's own.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        mirror: Of the dimension of the problem.
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        step_size: Greater than 0, fixed in advance.
        start: p finite numbers, chosen without looking at the data.
        budget: Optional.
        noise: See ``algorithms.secure_noise`` for "secure".

    Raises:
        InvalidValue: A value is not allowed; the start is outside of C, or w has no gradient there.
    """

    mirror: DistanceGenerator
    noise_multiplier: Fraction
    steps: int
    step_size: float | None
    start: tuple[float, ...] | None
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        mirror: DistanceGenerator,
        noise_multiplier: ExactLike,
        steps: int,
        step_size: float | None = None,
        start: tuple[float, ...] | None = None,
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        object.__setattr__(self, "mirror", mirror)
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "step_size", checked_step_size(step_size, "1/(2L) in the norm of the mirror"))
        object.__setattr__(self, "start", None if start is None else _checked_start(mirror, start))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        mirror: DistanceGenerator,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_size: float | None = None,
        start: tuple[float, ...] | None = None,
        noise: WhichNoise = "gaussian",
    ) -> MirrorDescent:
        """Return the algorithm with the smallest proven noise for a budget, and the number of steps that suits it.

        The noise is that of T full-batch Gaussian releases, σ² = (z G/n)² T with z that of a single one. Unless
        ``steps`` is given, T minimises the explicit bound on E N(P)² (noisy mapping) at that noise.

        Args:
            problem: Supplies n, p, G, L and the bound on the initial gap; no record is looked at.
            mirror: w.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep; should be well below 1/n.
            steps: T, or None for the best.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            step_size: γ, or None for 1/(2L̃).
            start: x₁, or None.
            noise: "gaussian" or "secure".

        Raises:
            InvalidValue: A number is not allowed, or γ is at least 2/L̃ while T is to be chosen.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = multiplier_of_one(budget, noise)
        once = cls(mirror, single, 1, step_size, start)
        count = once._best_steps(problem) if steps is None else positive_integer(steps, "steps")
        return cls(mirror, single * root_above(count), count, step_size, start, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def smoothness(self, problem: FiniteSum) -> sympy.Expr:
        """L̃ = c L, exact: the smoothness of F in N, where ‖x‖₂² <= c N(x)²."""
        return known(problem.smoothness, "smoothness") * self.mirror.euclidean_square

    def step_size_for(self, problem: FiniteSum) -> float:
        """γ as a double: ``step_size``, or 1/(2L̃) rounded down."""
        return evaluate(1 / (2 * self.smoothness(problem)), {}).lower if self.step_size is None else self.step_size

    def start_for(self, problem: FiniteSum) -> Array:
        """x₁, shape (p,): ``start``, or the point of C nearest to the problem's own; never chosen by the data."""
        if self.start is not None:
            return np.array(self.start)
        nearest = self.mirror.constraint.project(problem.initial_point[None])
        return np.array(_checked_start(self.mirror, tuple(nearest[0])))

    def bound(self, problem: FiniteSum, mapping: WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on the mean *square* E N(P(x_R))² for the noise that ``run`` really draws.

        Args:
            problem: Supplies L, p and the bound on the initial gap.
            mapping: "noisy" (the steps that were taken) or "exact" (the stationarity measure).

        Raises:
            InvalidValue: γ is not below 2/L̃, or the problem lacks a constant: there is no bound.

        Source: Wang & Xu 2019, Theorem 5 (without constants there).
        """
        _demand_fit(problem, self.mirror)
        gamma = self._short_step(problem)
        drawn = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        values = {
            symbols.initial_gap: sympy.Rational(gap_at(problem, self.start_for(problem))),
            symbols.relative_smoothness: self.smoothness(problem),
            theorem_5_explicit.mirror_step: sympy.Rational(gamma),
            symbols.steps: sympy.Integer(self.steps),
            symbols.noise_stddev: sympy.Rational(Fraction(drawn)),
        }
        moment = self.mirror.dual_second_moment
        if not isinstance(moment, Enclosure):
            values[theorem_5_explicit.dual_second_moment] = moment
        return evaluate(bound_expression(mapping).subs(values), {theorem_5_explicit.dual_second_moment: moment})

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 3 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise over C; without a regulariser.
            seed: Of all streams; repetition r has its own.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); the trace is not: ``noisy`` and
            ``exact`` are N(P)², ``noise`` is N*(e)².

        Raises:
            InvalidValue: The problem does not fit, or seed or repetitions are not allowed.
            BudgetExceeded: The ledger shows more than was planned.
        """
        _demand_fit(problem, self.mirror)
        T, gamma, w = self.steps, self.step_size_for(problem), self.mirror
        generators = streams(seed, repetitions)
        x = np.tile(self.start_for(problem), (len(generators), 1))
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        measured = Recorders(("noisy", "exact", "objective", "noise"), T, len(generators))

        started = time.perf_counter()
        R = uniform_steps(generators, T)  # drawn first, so that x_R is kept when the walk passes it
        output = np.empty_like(x)
        with threadpool_limits(limits=1, user_api="blas"):
            for k in range(1, T + 1):
                chosen = k == R
                output[chosen] = x[chosen]
                answer = oracle(x)  # ∇F(x_k) + e_k
                following = w.step(x, answer.noisy, gamma)  # argmin <∇F(x_k) + e_k, u> + V(u, x_k)/γ over C
                measured["noisy"].add((w.norm(x - following) / gamma) ** 2)
                measured["exact"].add((w.norm(x - w.step(x, answer.exact, gamma)) / gamma) ** 2)
                measured["objective"].add(answer.objective)
                measured["noise"].add(w.dual_norm(answer.noisy - answer.exact) ** 2)
                x = following
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="mirror descent",
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

    def _short_step(self, problem: FiniteSum) -> Fraction:
        gamma, smoothness = Fraction(self.step_size_for(problem)), self.smoothness(problem)
        if not evaluate(sympy.Rational(gamma) * smoothness, {}) < 2:
            allowed = f"less than 2/L = {evaluate(2 / smoothness, {}).lower:.6g} in the norm of the mirror"
            raise InvalidValue("step_size", float(gamma), allowed, "the bound holds there only")
        return gamma

    def _best_steps(self, problem: FiniteSum) -> int:
        """The T that minimises the noisy bound (Δ/(γT) + (z G/n)² W T)/a, z the multiplier of one step."""
        _demand_fit(problem, self.mirror)
        slope = at_least(problem.lipschitz, "lipschitz") * self.noise_multiplier / problem.records
        moment = self.mirror.dual_second_moment
        width = Fraction(moment.exact_upper) if isinstance(moment, Enclosure) else at_least(moment, "width")
        gap = gap_at(problem, self.start_for(problem))
        return best_count(gap / self._short_step(problem) / (width * slope**2))


def bound_expression(mapping: WhichMapping) -> sympy.Expr:
    """The explicit bound on E N(P(x_R))², in the symbols of ``wang-xu-2019/theorem-5/explicit``."""
    if mapping == "noisy":
        return theorem_5_explicit.mean_square()
    if mapping == "exact":
        return theorem_5_explicit.at_the_gradient() ** 2
    raise InvalidValue("mapping", repr(mapping), "'noisy' or 'exact'")


def _checked_start(mirror: DistanceGenerator, start: tuple[float, ...]) -> tuple[float, ...]:
    point = np.array(start, dtype=np.float64)
    if point.shape != (mirror.constraint.dimension,) or not np.isfinite(point).all():
        raise InvalidValue("start", start, f"{mirror.constraint.dimension} finite numbers")
    if not mirror.constraint.contains(point[None], 1e-12 * float(np.abs(point).max()))[0]:
        raise InvalidValue("start", start, "a point of the mirror's set", "project it on the set first")
    mirror.gradient(point[None])  # raises where w has none
    return tuple(float(entry) for entry in point)


def _demand_fit(problem: FiniteSum, mirror: DistanceGenerator) -> None:
    demand_no_regulariser(problem)
    demand_within(problem, mirror.constraint)
