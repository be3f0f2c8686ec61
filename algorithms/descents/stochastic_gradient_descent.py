"""DP-SGD for quasar-convex losses: noisy gradient steps of constant length, projected on a ball that holds a minimiser.

Lowy, Ullman & Wright 2024, Algorithm 3 with Proposition D.1. What differs from print: the noise is a proven calibration
(print has the constant 1000 where about 5 would do), the full batch is the default (it has the least noise for a
budget), and every iterate is projected on the ball of radius D around w₁, so that quasar-convexity is needed on that
ball only: on all of R^p the losses of Geman & McClure and of Cauchy, for two, have no constant. The bound is
``lowy-ullman-wright-2024/proposition-d.1/explicit``. ``variant="as-printed"`` has the constant 1000 and no projection.
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
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from algorithms.iterates import squared_norms, uniform_steps
from algorithms.ledger import Batch, OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import NOISE_DRAWN, Array, Records, on_sample, streams
from algorithms.oracles import BatchGradientOracle, GradientAnswer, GradientOracle, Poisson, at_least, in_batches
from algorithms.oracles.batches import checked_sampling, demand_all_records
from algorithms.planning import checked_multiplier, multiplier_of_one, multiplier_within, root_above
from algorithms.problems.domain import demand_no_regulariser, radius_of_domain
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.linear_model import LinearModel
from algorithms.problems.sets import L2Ball
from algorithms.run import Recorders, Run, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.lowy_ullman_wright_2024 import proposition_5_2, proposition_d_1_explicit

Variant = Literal["projected", "as-printed"]
Sampling = Batch | Poisson

THEOREMS = {
    "spent": "lowy-ullman-wright-2024/algorithm-3",
    "excess": "lowy-ullman-wright-2024/proposition-d.1/explicit",
}


@dataclass(frozen=True, slots=True, init=False)
class StochasticGradientDescent:
    """Algorithm 3 of Lowy, Ullman & Wright 2024, for quasar-convex losses.

    Attributes:
        noise_multiplier: Standard deviation on the sum of a batch's gradients in units of G, exact.
        steps: T.
        distance: D, at least the distance from w₁ to a minimiser.
        sampling: How a batch is drawn (with or without replacement, Poisson), or None for all records.
        budget: What ``run`` holds its ledger against, or None.
        variant: "projected", or "as-printed": no projection.

    Args:
        noise_multiplier: Greater than 0.
        steps: A positive whole number.
        distance: Greater than 0, public: one found by looking at the data would be a release of its own.
        sampling: Optional.
        budget: Optional.
        variant: Which.

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    steps: int
    distance: Fraction
    sampling: Sampling | None
    budget: PrivacyBudget | None
    variant: Variant

    def __init__(
        self,
        noise_multiplier: ExactLike,
        steps: int,
        distance: ExactLike = 1,
        sampling: Sampling | None = None,
        budget: PrivacyBudget | None = None,
        variant: Variant = "projected",
    ) -> None:
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        object.__setattr__(self, "distance", checked_distance(distance))
        object.__setattr__(self, "sampling", checked_sampling(sampling))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "variant", checked_variant(variant))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        distance: ExactLike = 1,
        sampling: Sampling | None = None,
        variant: Variant = "projected",
    ) -> StochasticGradientDescent:
        """Return the algorithm with the smallest proven noise for a budget (or the printed noise).

        On the full batch T releases with multiplier z √T are one with multiplier z, what a replace-one budget of
        ρ = 2/z² would give; the explicit proposition has the T from which on more steps gain no more than a factor √2.
        Batches get that T, too, and a calibration of their own.

        Args:
            problem: Supplies n and p; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            steps: T, or None for what the variant prescribes.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            distance: D > 0.
            sampling: A batch, or None for all records.
            variant: "projected", or "as-printed" for σ² = 1000 G²T ln(1/δ)/(εn)² and T = ⌈(εn)²/(p ln(1/δ))⌉.

        Raises:
            InvalidValue: A number is not allowed, or a batch is drawn from another number of records than there are.
        """
        budget, kind = PrivacyBudget.of(epsilon, delta, relation), checked_variant(variant)
        demand_no_regulariser(problem)
        if sampling is not None:
            demand_all_records(sampling, problem.records)
        if steps is not None:
            positive_integer(steps, "steps")
        if kind == "as-printed":
            count = printed_steps(problem, budget) if steps is None else steps
            return cls(printed_multiplier(problem, budget, count, sampling), count, distance, sampling, budget, kind)
        single = multiplier_of_one(budget) if sampling is None or steps is None else Fraction(1)
        count = enough_steps(problem, single) if steps is None else steps
        if sampling is None:
            return cls(single * root_above(count), count, distance, None, budget, kind)
        multiplier = multiplier_within(budget, lambda z: sampled(Gaussian(z), sampling) ** count)
        return cls(multiplier, count, distance, sampling, budget, kind)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        return sampled(Gaussian(self.noise_multiplier), self.sampling) ** self.steps

    def step_size_for(self, problem: FiniteSum) -> float:
        """η = D/√(T(G² + pσ²)) for the noise that is really drawn, rounded down."""
        formula = proposition_d_1_explicit.step_size()
        return evaluate(formula.subs(self._values(problem)), {}).lower

    def bound(self, problem: FiniteSum, quasar_convexity: ExactLike | None = None) -> Enclosure:
        """Enclose the explicit bound on E F(ŵ) - inf F, for the noise that is really drawn.

        Args:
            problem: Supplies G, n and p. Its minimiser must lie within D of w₁, which the caller must know.
            quasar_convexity: q in (0, 1] wherever the iterates go. None: the constant of a linear model with realisable
                data within 2D of the minimiser, that is, anywhere in the ball of radius D around w₁.

        Raises:
            InvalidValue: The problem has no such constant, or nothing is projected and no q was given: within no radius
                are the iterates sure to stay.

        Source: Lowy, Ullman & Wright 2024, Proposition D.1 (without constants there).
        """
        demand_no_regulariser(problem)
        q = quasar_constant(problem, self.distance, quasar_convexity, self.variant)
        values = {**self._values(problem), symbols.quasar_convexity: q}
        return evaluate(proposition_d_1_explicit.bound().subs(values), {})

    def _values(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        drawn = _oracle(problem, self.noise_multiplier, self.sampling, (), OpenLedger()).noise_stddev
        return constants(problem, self.sampling, self.steps, self.distance, drawn)

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 3 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, for its batches, too.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost). What is measured is not: on the
            full batch ``objective``, F(w_t), whose average over t is the mean of F(ŵ) over its index; on batches, which
            never see F, ``objective_at_output``, F(ŵ). That is the metric: where the data are realisable, inf F = 0.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, the batch is drawn from another number of records, or the
                ball of radius D around w₁ reaches beyond the problem's own.
            BudgetExceeded: The ledger shows more than was planned.
        """
        generators = streams(seed, repetitions)
        ledger = OpenLedger()
        names = ("noise", "objective") if self.sampling is None else ("noise",)
        measured = Recorders(names, self.steps, len(generators))

        started = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):
            R, output = self._walked(problem, generators, ledger, measured)
            objective = in_batches(problem, output)[0]
        walked = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="stochastic gradient descent",
            output=output,
            output_step=R,
            trace=measured.trace(),
            measured={"objective_at_output": objective},
            metric="objective" if self.sampling is None else "objective_at_output",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=self.steps,
            parameters={"step_size": self.step_size_for(problem), "distance": float(self.distance)},
            seed=int(seed),
            timings={"descent": walked - started, "accounting": accounted - walked},
            noise_drawn=self.noise_drawn,
        )

    @property
    def noise_drawn(self) -> str:
        """How its randomness is drawn, in words."""
        return NOISE_DRAWN

    def starts(self, problem: FiniteSum, generators: Sequence[np.random.Generator], ledger: Records) -> Array:
        """Descend once per generator, for use as a start of another algorithm; ``bound`` is on its excess risk.

        Args:
            problem: What to minimise.
            generators: One per repetition.
            ledger: That of one repetition; gets every release.

        Returns:
            Shape (R, p).

        Raises:
            InvalidValue: See ``run``.
            BudgetExceeded: The ledger keeps a budget that has no room for a release.
        """
        return self._walked(problem, generators, ledger, Recorders(("noise",), self.steps, len(generators)))[1]

    def _walked(
        self,
        problem: FiniteSum,
        generators: Sequence[np.random.Generator],
        ledger: Records,
        measured: Recorders,
    ) -> tuple[NDArray[np.int64], Array]:
        ball, eta = ball_around_the_start(problem, self.distance, self.variant), self.step_size_for(problem)
        oracle = _oracle(problem, self.noise_multiplier, self.sampling, generators, ledger)
        return walk(problem, oracle, self.steps, eta, ball, measured)


def walk(
    problem: FiniteSum,
    oracle: GradientOracle | BatchGradientOracle,
    steps: int,
    step_size: float,
    ball: L2Ball | None,
    measured: Recorders,
) -> tuple[NDArray[np.int64], Array]:
    """Algorithm 3: w_{t+1} = Π(w_t - η(g_t + u_t)), and the iterate at a uniform index.

    Args:
        problem: Supplies w₁.
        oracle: Answers with g_t + u_t.
        steps: T.
        step_size: η.
        ball: To project w - w₁ on, or None.
        measured: Gets the noise of every step, and F where it has a place for it and the oracle sees it.

    Returns:
        The index R, shape (R,), drawn first, so that w_R is kept when the walk passes it; and w_R, shape (R, p).
    """
    first = problem.initial_point
    R = uniform_steps(oracle.generators, steps)
    w = np.tile(first, (len(R), 1))
    output = np.empty_like(w)
    for t in range(1, steps + 1):
        chosen = t == R
        output[chosen] = w[chosen]
        answer = oracle(w)
        measured["noise"].add(squared_norms(answer.noisy - answer.exact))
        if isinstance(answer, GradientAnswer) and "objective" in measured:
            measured["objective"].add(answer.objective)
        w = w - step_size * answer.noisy
        if ball is not None:
            w = first + ball.project(w - first)
    return R, output


def sampled(mechanism: Mechanism, sampling: Sampling | None) -> Mechanism:
    """The mechanism on a batch, or on all records."""
    if isinstance(sampling, Poisson):
        return on_sample(mechanism, sampling.sample_rate, None)
    return on_sample(mechanism, None, sampling)


def constants(
    problem: FiniteSum, sampling: Sampling | None, steps: int, distance: Fraction, noise_stddev: float
) -> dict[sympy.Symbol, sympy.Expr]:
    """What step size and bound are made of.

    The proof needs E‖g_t‖² <= G² of an unbiased g_t: true for a mean over a batch. A Poisson sum divided by qn has
    E‖g_t‖² = ‖∇F‖² + (1-q)/(qn²) Σ‖∇f_i‖² <= G²(1 + (1-q)/(qn)), the variance of independent inclusions, so that G is
    taken to be larger by the root of that.
    """
    second_moment = Fraction(1)
    if isinstance(sampling, Poisson):
        second_moment += (1 - sampling.sample_rate) / (sampling.sample_rate * problem.records)
    reach = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
    return {
        symbols.lipschitz: reach * sympy.sqrt(sympy.Rational(second_moment)),
        symbols.dimension: sympy.Integer(problem.dimension),
        symbols.dataset_size: sympy.Integer(problem.records),
        symbols.steps: sympy.Integer(steps),
        symbols.diameter: sympy.Rational(distance),
        symbols.noise_stddev: sympy.Rational(Fraction(noise_stddev)),
    }


def quasar_constant(problem: FiniteSum, distance: Fraction, given: ExactLike | None, variant: Variant) -> sympy.Expr:
    """The constant q wherever the iterates go: as given, or of a linear model within 2D of its minimiser.

    Raises:
        InvalidValue: See ``StochasticGradientDescent.bound``.
    """
    if given is not None:
        q = exact(given, "quasar_convexity")
        if not 0 < q <= 1:
            raise InvalidValue("quasar_convexity", given, "a number greater than 0 and at most 1")
        return sympy.Rational(q)
    if variant == "as-printed":
        advice = "give the constant that holds wherever the iterates go, or use the projected variant"
        raise InvalidValue("variant", repr(variant), "'projected' for a bound", advice)
    if not isinstance(problem, LinearModel):
        raise InvalidValue("quasar_convexity", None, "a constant for this problem")
    return problem.quasar_convexity(2 * distance)


def ball_around_the_start(problem: FiniteSum, distance: Fraction, variant: Variant) -> L2Ball | None:
    """The ball of radius D that w - w₁ is projected on, or None as printed.

    Raises:
        InvalidValue: The problem's constants hold in a ball that does not contain that one, or it has a regulariser.
    """
    demand_no_regulariser(problem)
    radius = radius_of_domain(problem)
    if variant == "as-printed":
        if radius is not None:
            raise InvalidValue("radius", radius, "a problem on all of R^p for a method that does not project")
        return None
    if radius is not None and float(np.linalg.norm(problem.initial_point)) + float(distance) > float(radius):
        allowed = f"a ball around w₁ within the problem's own, of radius {float(radius):g}"
        raise InvalidValue("distance", float(distance), allowed)
    return L2Ball(problem.dimension, distance)


def enough_steps(problem: FiniteSum, single_step_multiplier: Fraction) -> int:
    """T = ⌈n²ρ/(2p)⌉ of the explicit proposition at ρ = 2/z²."""
    values = {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.rho: 2 / single_step_multiplier**2,
    }
    return max(1, math.ceil(evaluate(proposition_d_1_explicit.enough_steps(), values).upper))


def printed_steps(problem: FiniteSum, budget: PrivacyBudget) -> int:
    """⌈(εn)²/(p ln(1/δ))⌉."""
    return math.ceil(evaluate(proposition_d_1_explicit.prescribed_steps(), _printed(problem, budget)).upper)


def printed_multiplier(problem: FiniteSum, budget: PrivacyBudget, steps: int, sampling: Sampling | None) -> Fraction:
    """σ b/G of the printed σ² = 1000 G²T ln(1/δ)/(εn)², rounded up; b is n for all records, qn for a Poisson sample."""
    values = {**_printed(problem, budget), symbols.steps: steps, symbols.lipschitz: 1}
    sigma = Fraction(evaluate(sympy.sqrt(proposition_5_2.variance()), values).upper)
    if isinstance(sampling, Poisson):
        return sigma * sampling.sample_rate * problem.records
    return sigma * (problem.records if sampling is None else sampling.size)


def _printed(problem: FiniteSum, budget: PrivacyBudget) -> dict[sympy.Symbol, int | Fraction]:
    return {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.epsilon: budget.epsilon,
        symbols.delta: budget.delta,
    }


def _oracle(
    problem: FiniteSum,
    noise_multiplier: Fraction,
    sampling: Sampling | None,
    generators: Sequence[np.random.Generator],
    ledger: Records,
) -> GradientOracle | BatchGradientOracle:
    if sampling is None:
        return GradientOracle(problem, noise_multiplier, generators, ledger)
    return BatchGradientOracle(problem, sampling, noise_multiplier, generators, ledger)


def checked_distance(distance: ExactLike) -> Fraction:
    """Return D as an exact number greater than 0, or raise ``InvalidValue``."""
    length = exact(distance, "distance")
    if length <= 0:
        raise InvalidValue("distance", distance, "a number greater than 0")
    return length


def checked_variant(variant: Variant) -> Variant:
    """Return the variant, or raise ``InvalidValue``."""
    if variant not in get_args(Variant):
        raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
    return variant
