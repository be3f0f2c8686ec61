"""DP-FW-L2: Frank-Wolfe steps towards the linear minimiser of a noisy gradient, over any convex set.

Wang & Xu 2019, Algorithm 2, and Wang, Chen & Xu 2019, Algorithm 2, which are the same method. Print prescribes the
noise up to a constant, and steps and step size up to one that hides G, L and the initial gap. Here the noise is a
proven calibration, and the steps are those of the explicit bound ``wang-xu-2019/theorem-4/explicit``. The variant
"as-printed" takes the printed steps and step size with hidden constants 1: for sets of norm below 1 the gap then
exceeds the printed rate by any factor, because the prefactor of the rate is the norm where it should be max(1, norm).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from algorithms import secure_noise
from algorithms.frank_wolfe.feasible import (
    checked_fraction,
    checked_set,
    checked_start,
    gap_at_the_start,
    gaps,
    starting_point,
)
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import GradientOracle
from algorithms.planning import (
    WhichNoise,
    checked_multiplier,
    checked_noise,
    multiplier_of_one,
    relation_of,
    release_of,
    root_above,
)
from algorithms.problems.domain import known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.linear_model import LinearModel
from algorithms.problems.residual_losses import SQUARED_SIGMOID
from algorithms.problems.sets import ConstraintSet, L2Ball
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.wang_chen_xu_2019 import theorem_5_explicit
from dpbounds.theorems.wang_chen_xu_2019._quantities import link_constant, link_slope
from dpbounds.theorems.wang_xu_2019 import theorem_4, theorem_4_explicit
from dpbounds.theorems.wang_xu_2019._quantities import step_fraction as fraction_symbol

Variant = Literal["explicit", "as-printed"]

THEOREMS = {
    "spent": "wang-xu-2019/algorithm-2",
    "gap": "wang-xu-2019/theorem-4/explicit",
    "population": "wang-chen-xu-2019/theorem-5/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class GaussianFrankWolfe:
    """Algorithm 2 of Wang & Xu 2019 (DP-FW-L2), for any finite sum over any convex set.

    Attributes:
        constraint: C.
        noise_multiplier: Standard deviation on the sum of gradients in units of G, exact.
        steps: T.
        step_fraction: γ in (0, 1], the share of the way to the minimiser, or None for the bound's best.
        start: x₁ in C, or None for the problem's initial point.
        budget: What ``run`` holds its ledger against, or None.
        noise: "gaussian" or "secure".

    Args:
        constraint: Convex: the step towards one of its points stays inside.
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        step_fraction: Fixed in advance, without looking at the data.
        start: Chosen without looking at the data.
        budget: Optional.
        noise: "gaussian" for experiments, "secure" for a release.

    Raises:
        InvalidValue: A value is not allowed.
    """

    constraint: ConstraintSet
    noise_multiplier: Fraction
    steps: int
    step_fraction: float | None
    start: tuple[float, ...] | None
    budget: PrivacyBudget | None
    noise: WhichNoise

    def __init__(
        self,
        constraint: ConstraintSet,
        noise_multiplier: ExactLike,
        steps: int,
        step_fraction: float | None = None,
        start: Sequence[float] | None = None,
        budget: PrivacyBudget | None = None,
        noise: WhichNoise = "gaussian",
    ) -> None:
        object.__setattr__(self, "constraint", checked_set(constraint))
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "step_fraction", checked_fraction(step_fraction))
        object.__setattr__(self, "start", checked_start(start))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "noise", checked_noise(noise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        constraint: ConstraintSet,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        step_fraction: float | None = None,
        start: Sequence[float] | None = None,
        noise: WhichNoise = "gaussian",
        variant: Variant = "explicit",
    ) -> GaussianFrankWolfe:
        """Return the algorithm with the smallest proven noise for a budget, and steps that suit it.

        T Gaussian releases with multiplier z √T are one with multiplier z, which is what a replace-one budget of
        ρ = 2/z² in zCDP would give; with that ρ the explicit theorem prescribes T. Public numbers only: n, G, L, the
        bound on the initial gap, and the set's diameter and Gaussian width.

        Args:
            problem: Supplies the numbers; no record is looked at.
            constraint: C.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            steps: T, or None for what the variant prescribes.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            step_fraction: γ, or None for what the variant prescribes.
            start: x₁, or None for the problem's initial point.
            noise: "gaussian" or "secure".
            variant: "explicit", or "as-printed" for the steps and step size of Theorem 4 with hidden constants 1 (the
                noise stays the proven one: print has an unknown constant there).

        Returns:
            The algorithm; its noise multiplier suffices, proven.

        Raises:
            InvalidValue: A number is not allowed, a constant is missing, the start lies outside C, or the printed step
                is longer than the way to the minimiser.
        """
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = multiplier_of_one(budget, noise)
        one_step = cls(constraint, single, 1, step_fraction, start)
        starting_point(problem, constraint, one_step.start)
        if variant == "as-printed":
            count, gamma = _printed(problem, constraint, budget)
            step_fraction = _checked_printed(gamma) if step_fraction is None else step_fraction
        elif steps is None:
            count = _best_steps(one_step, problem, single)
        steps = count if steps is None else positive_integer(steps, "steps")
        return cls(constraint, single * root_above(steps), steps, step_fraction, start, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return release_of(self.noise_multiplier, self.noise, relation_of(self.budget)) ** self.steps

    def step_fraction_for(self, problem: FiniteSum) -> float:
        """γ as a double: ``step_fraction``, or the bound's best one, min(1, √(2Δ_F/(L D² T))), rounded down."""
        if self.step_fraction is not None:
            return self.step_fraction
        return min(1.0, evaluate(theorem_4_explicit.best_fraction().subs(self._sizes(problem)), {}).lower)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the mean Frank-Wolfe gap of the output, for the noise that is really drawn.

        Raises:
            InvalidValue: Problem, set and start do not fit together, or a constant is missing.

        Source: Wang & Xu 2019, Theorem 4 (without constants there).
        """
        return self._evaluated(theorem_4_explicit.gap(), problem)

    def population_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on the expected excess *population* risk, for the squared loss with sigmoid link.

        It holds where records are drawn independently with P(y = 1 | x) = σ(<w*, x>) and ‖w*‖ <= 1, which the caller
        must know. On [-1, 1] the link has |σ'|, |σ''| <= 1 and σ' >= σ'(1) = e/(1+e)².

        Args:
            problem: ``squared_sigmoid_link`` with feature bound 1; C must be the unit l2 ball.

        Raises:
            InvalidValue: Problem or set is another.

        Source: Wang, Chen & Xu 2019, Theorem 5 (without constants there).
        """
        fits = isinstance(problem, LinearModel) and problem.loss is SQUARED_SIGMOID and problem.feature_bound == 1
        if not fits or not isinstance(self.constraint, L2Ball) or self.constraint.radius != 1:
            allowed = "the squared loss with sigmoid link, features in the unit ball, on the unit l2 ball"
            raise InvalidValue("problem", type(problem).__name__, allowed)
        slope = sympy.E / (1 + sympy.E) ** 2
        return self._evaluated(theorem_5_explicit.risk().subs({link_constant: 1, link_slope: slope}), problem)

    def _evaluated(self, formula: sympy.Expr, problem: FiniteSum) -> Enclosure:
        starting_point(problem, self.constraint, self.start)
        drawn = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        values = {
            **self._sizes(problem),
            symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.noise_stddev: sympy.Rational(Fraction(drawn)),
            fraction_symbol: sympy.Rational(Fraction(self.step_fraction_for(problem))),
        }
        return _with_width(formula.subs(values), self.constraint)

    def _sizes(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        diameter = self.constraint.diameter
        return {
            symbols.initial_gap: gap_at_the_start(problem, self.start, problem.lipschitz, diameter),
            symbols.smoothness: known(problem.smoothness, "smoothness"),
            symbols.diameter: diameter,
            symbols.steps: sympy.Integer(self.steps),
        }

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 2 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); the trace is not. Its metric is
            ``gap``: the Frank-Wolfe gap max over v in C of <∇F(x_k), x_k - v>, averaged over k, which is its mean over
            the output's uniform index.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or problem, set and start do not fit together.
            BudgetExceeded: The ledger shows more than was planned.
        """
        C, T, gamma = self.constraint, self.steps, self.step_fraction_for(problem)
        start = starting_point(problem, C, self.start)
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        oracle = GradientOracle(
            problem, self.noise_multiplier, generators, ledger, noise=self.noise, relation=relation_of(self.budget)
        )
        measured = Recorders(("gap", "objective", "noise"), T, len(generators))

        started = time.perf_counter()
        # R uniform on 1..T, drawn first, so that x_R is kept when the walk passes it
        R = np.array([generator.integers(1, T, endpoint=True) for generator in generators])
        x = np.tile(start, (len(generators), 1))
        output = np.empty_like(x)
        with threadpool_limits(limits=1, user_api="blas"):
            for k in range(1, T + 1):
                chosen = k == R
                output[chosen] = x[chosen]
                answer = oracle(x)  # ∇F(x_k) + e_k
                towards = C.linear_minimiser(answer.noisy)  # v_k
                measured["gap"].add(gaps(x, answer.exact, C.linear_minimiser(answer.exact)))
                measured["objective"].add(answer.objective)
                measured["noise"].add(((answer.noisy - answer.exact) ** 2).sum(axis=1))
                x = (1 - gamma) * x + gamma * towards
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="Frank-Wolfe with Gaussian noise",
            output=output,
            output_step=R,
            trace=measured.trace(),
            metric="gap",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_fraction": gamma},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=secure_noise.how_drawn(self.noise),
        )


def _best_steps(algorithm: GaussianFrankWolfe, problem: FiniteSum, single: Fraction) -> int:
    """The T of the explicit theorem, rounded up, at the ρ that has the same noise."""
    values = {
        **algorithm._sizes(problem),
        symbols.lipschitz: known(problem.lipschitz, "lipschitz"),
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.rho: sympy.Rational(2 / single**2),
    }
    return _rounded_up(_with_width(theorem_4_explicit.best_steps().subs(values), algorithm.constraint))


def _printed(problem: FiniteSum, constraint: ConstraintSet, budget: PrivacyBudget) -> tuple[int, Enclosure]:
    """T and γ of Theorem 4 with hidden constants 1."""
    values = {
        symbols.norm_bound: constraint.norm_bound,
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.epsilon: sympy.Rational(budget.epsilon),
        symbols.delta: sympy.Rational(budget.delta),
    }
    count, gamma = (
        _with_width(formula.subs(values), constraint) for formula in (theorem_4.steps(), theorem_4.step_size())
    )
    return _rounded_up(count), gamma


def _checked_printed(gamma: Enclosure) -> float:
    if gamma.upper > 1:
        advice = "with so few records for such a set the printed step leaves the set"
        raise InvalidValue("step_fraction", gamma.upper, "at most 1 for a step that stays in the set", advice)
    return gamma.lower


def _with_width(formula: sympy.Expr, constraint: ConstraintSet) -> Enclosure:
    """Evaluate a formula in which only the Gaussian width is still open; it may be known between bounds only."""
    width = constraint.gaussian_width
    if isinstance(width, Enclosure):
        return evaluate(formula, {symbols.gaussian_width: width})
    return evaluate(formula.subs(symbols.gaussian_width, width), {})


def _rounded_up(count: Enclosure) -> int:
    return max(1, math.ceil(count.upper))
