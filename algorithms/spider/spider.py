"""DP-SPIDER: gradient descent on estimates that are carried from step to step by noisy gradient differences.

Arora et al. 2023, Algorithm 2, as used by Lowy, Ullman & Wright 2024, Algorithm 1. Every q-th step is an anchor, a
noisy mean gradient; in between, the estimate is the last one plus a noisy difference of mean gradients, whose noise is
in proportion to how far the iterate moved.

What is repaired. Print makes the estimates ∇_0, ..., ∇_{T-1} and returns one of w_1, ..., w_T, so that at w_T no
estimate was ever made and the proof has nothing to say about it; here one of w_0, ..., w_{T-1} is returned
(``variant="as-printed"`` returns what print says, at the same cost in privacy). The noise is printed up to a universal
constant; here it is the smallest that is proven to keep the budget, split evenly between anchors and differences. T and
q are those of the statement ``lowy-ullman-wright-2024/lemma-3.1/explicit``, and the bound is
``lowy-ullman-wright-2024/algorithm-1/explicit`` at the noise that is really drawn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from algorithms.iterates import squared_norms
from algorithms.ledger import Batch, OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import Array, on_sample, streams
from algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    Gradients,
    Poisson,
    at_least,
    in_batches,
)
from algorithms.oracles.batches import checked_sampling
from algorithms.planning import (
    Group,
    checked_multiplier,
    checked_step_size,
    multiplier_of_one,
    multiplier_within,
    multipliers_of_groups,
    root_above,
)
from algorithms.problems.domain import demand_all_of_space, known
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, Trace, settled
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.lowy_ullman_wright_2024 import _spider, algorithm_1_explicit, lemma_3_1_explicit

Variant = Literal["repaired", "as-printed"]
Sampling = Batch | Poisson | None

THEOREMS = {
    "algorithm": "lowy-ullman-wright-2024/algorithm-1",
    "spent": "lowy-ullman-wright-2024/algorithm-1",
    "parameters": "lowy-ullman-wright-2024/lemma-3.1/explicit",
    "bound": "lowy-ullman-wright-2024/algorithm-1/explicit",
}

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """What T steps gave: the points to go on with, and what was measured on the way.

    Attributes:
        output: A uniformly drawn iterate, shape (R, p): private at the ledger's cost.
        output_step: Its index t of w_t, shape (R,).
        trace: Of w_0, ..., w_{T-1} (not private); empty on random batches, where a step does not see all records.
    """

    output: Array
    output_step: NDArray[np.int64]
    trace: Trace


@dataclass(frozen=True, slots=True, init=False)
class Spider:
    """DP-SPIDER, for any ``FiniteSum`` whose records' losses are G-Lipschitz and L-smooth, over all of R^p.

    It takes no projections: the radius of a linear model is not looked at.

    Attributes:
        anchor_multiplier: Standard deviation on an anchor's sum of gradients in units of G, exact.
        difference_multiplier: Of a difference, in units of min(L ‖w_t - w_{t-1}‖, 2G); None where every step is an
            anchor.
        steps: T.
        anchor_period: q, at most T.
        step_size: η, or None for 1/(2L) of the problem at hand.
        initial_gap: ψ >= E F(w_0) - inf F, public; None for the problem's own, which is about its initial point.
        budget: What ``run`` holds its ledger against, or None.
        anchor_sampling: Which records an anchor is about: a ``Batch``, ``Poisson``, or None for all of them.
        difference_sampling: Which records a difference is about (the same at both of its points).
        variant: "repaired" or "as-printed".

    Args:
        anchor_multiplier: Greater than 0.
        difference_multiplier: Greater than 0; None only where every step is an anchor.
        steps: A positive whole number.
        anchor_period: A positive whole number; more than T is as good as T.
        step_size: Greater than 0; fixed in advance. None: 1/(2L).
        initial_gap: At least 0.
        budget: Optional.
        anchor_sampling: Optional.
        difference_sampling: Optional.
        variant: Which iterates may be returned: w_0, ..., w_{T-1}, or w_1, ..., w_T.

    Raises:
        InvalidValue: A value is not allowed.
    """

    anchor_multiplier: Fraction
    difference_multiplier: Fraction | None
    steps: int
    anchor_period: int
    step_size: float | None
    initial_gap: Fraction | None
    budget: PrivacyBudget | None
    anchor_sampling: Sampling
    difference_sampling: Sampling
    variant: Variant

    def __init__(
        self,
        anchor_multiplier: ExactLike,
        difference_multiplier: ExactLike | None,
        steps: int,
        anchor_period: int,
        step_size: float | None = None,
        initial_gap: ExactLike | None = None,
        budget: PrivacyBudget | None = None,
        anchor_sampling: Sampling = None,
        difference_sampling: Sampling = None,
        variant: Variant = "repaired",
    ) -> None:
        T = positive_integer(steps, "steps")
        q = min(positive_integer(anchor_period, "anchor_period"), T)
        if difference_multiplier is not None:
            difference_multiplier = checked_multiplier(difference_multiplier, "difference_multiplier")
        elif q > 1:
            raise InvalidValue("difference_multiplier", None, "a number greater than 0", "no noise, no privacy")
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        object.__setattr__(self, "anchor_multiplier", checked_multiplier(anchor_multiplier, "anchor_multiplier"))
        object.__setattr__(self, "difference_multiplier", difference_multiplier)
        object.__setattr__(self, "steps", T)
        object.__setattr__(self, "anchor_period", q)
        object.__setattr__(self, "step_size", checked_step_size(step_size, "1/(2L)"))
        object.__setattr__(self, "initial_gap", checked_gap(initial_gap))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "anchor_sampling", checked_sampling(anchor_sampling, "anchor_sampling"))
        object.__setattr__(self, "difference_sampling", checked_sampling(difference_sampling, "difference_sampling"))
        object.__setattr__(self, "variant", variant)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        steps: int | None = None,
        anchor_period: int | None = None,
        step_size: float | None = None,
        initial_gap: ExactLike | None = None,
        anchor_sampling: Sampling = None,
        difference_sampling: Sampling = None,
        variant: Variant = "repaired",
    ) -> Spider:
        """Return the algorithm with the smallest proven noise for a budget, T and q from the explicit theorem.

        On the full batch everything is one Gaussian release of multiplier z; the theorem's noise for ρ-zCDP is that of
        z = √(2/ρ), so its T and q are taken at ρ = 2/z², and utility is that of ρ although the proof of privacy is
        the accountant's. On random batches the theorem says nothing, and its T and q are a mere default; the noise
        then is z max(1, rate √(2N)) on a batch's sum for each of N releases (the shape of Arora et al.'s), with the
        smallest z that is proven.

        Args:
            problem: Supplies n, p, G, L and the initial gap, all public; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep; should be well below 1/n.
            relation: "replace-one" (the papers') or "add-or-remove-one".
            steps: T, or None for the theorem's.
            anchor_period: q, or None for the theorem's at this T.
            step_size: η, or None for 1/(2L).
            initial_gap: ψ, where the walk will not start at the problem's initial point.
            anchor_sampling: As for the class.
            difference_sampling: As for the class.
            variant: As for the class.

        Raises:
            InvalidValue: A number is not allowed, or the problem lacks a constant.
            UnsupportedMechanism: The sampling has no proven analysis under the relation.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        gap = checked_gap(initial_gap)
        T, q = parameters(problem, 2 / multiplier_of_one(budget) ** 2, gap, steps, anchor_period)
        N1 = anchors(T, q)
        if anchor_sampling is None and (difference_sampling is None or N1 == T):
            shared = {"anchors": Group(N1, _HALF), "differences": Group(T - N1, _HALF)}
            multipliers = multipliers_of_groups(budget, shared if N1 < T else {"anchors": Group(N1, Fraction(1))})
            first, second = multipliers["anchors"], multipliers.get("differences")
        else:
            weight = _weight(anchor_sampling, problem.records, N1)
            other = _weight(difference_sampling, problem.records, T - N1) if N1 < T else None

            def released(z: Fraction) -> Mechanism:
                return _released((weight * z, anchor_sampling, N1), (other and other * z, difference_sampling, T - N1))

            z = multiplier_within(budget, released)
            first, second = weight * z, other and other * z
        return cls(first, second, T, q, step_size, gap, budget, anchor_sampling, difference_sampling, variant)

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        N1 = anchors(self.steps, self.anchor_period)
        return _released(
            (self.anchor_multiplier, self.anchor_sampling, N1),
            (self.difference_multiplier, self.difference_sampling, self.steps - N1),
        )

    @property
    def full_batch(self) -> bool:
        """Whether every release is about all records."""
        return self.anchor_sampling is None and (self.difference_sampling is None or self.anchor_period == 1)

    def step_size_for(self, problem: FiniteSum) -> float:
        """η as a double: ``step_size``, or 1/(2L) rounded down."""
        if self.step_size is not None:
            return self.step_size
        return evaluate(1 / (2 * known(problem.smoothness, "smoothness")), {}).lower

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on E‖∇F(ŵ)‖ for the noise that ``run`` really draws.

        It bounds √E‖∇F(ŵ)‖² as well: √(2Δ/(ηT) + dσ₁²), whatever σ₂ is that d σ₂² η² (q - 1) <= 1 - Lη.

        Raises:
            InvalidValue: The hypothesis fails (too long a step, or too much noise on the differences for so long a
                phase), the output is that of the printed variant, or a release is about a random batch: the theorem
                does not hold there.
        """
        if self.variant == "as-printed":
            allowed = "'repaired': the bound is about w_0, ..., w_{T-1}, where estimates were made"
            raise InvalidValue("variant", repr(self.variant), allowed)
        if not self.full_batch:
            raise InvalidValue("sampling", "random batches", "the full batch: no bound with constants covers batches")
        demand_smooth(problem)
        gap = self.initial_gap
        drawn = GradientOracle(problem, self.anchor_multiplier, (), OpenLedger()).noise_stddev
        values = {
            symbols.initial_gap: enclosed(problem.initial_gap, "initial_gap") if gap is None else gap,
            symbols.smoothness: enclosed(problem.smoothness, "smoothness"),
            symbols.step_size: Fraction(self.step_size_for(problem)),
            symbols.steps: self.steps,
            symbols.anchor_period: self.anchor_period,
            symbols.dimension: problem.dimension,
            symbols.noise_stddev: Fraction(drawn),
            symbols.difference_noise_stddev: self.difference_noise_stddev(problem),
        }
        for condition in algorithm_1_explicit.conditions():
            if not decide(condition.holds, values):
                allowed = "values with d σ₂² η² (q - 1) <= 1 - Lη, where the bound holds"
                raise InvalidValue(
                    "step_size, anchor_period",
                    (self.step_size_for(problem), self.anchor_period),
                    allowed,
                    "shorten either, or add more noise to the anchors than to the differences",
                )
        return evaluate(algorithm_1_explicit.bound(), values)

    def difference_noise_stddev(self, problem: FiniteSum) -> Fraction:
        """σ₂: at least the standard deviation of a full-batch difference's noise per distance, as it is drawn.

        The oracle rounds distances and constants up, by less than (p + 64) 2^-48 relatively.
        """
        if self.difference_multiplier is None:
            return Fraction(0)
        rounding = 1 + Fraction(problem.dimension + 64, 2**48)
        return self.difference_multiplier * at_least(problem.smoothness, "smoothness") / problem.records * rounding

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32, start: ArrayLike | None = None) -> Run:
        """Run the algorithm ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise, over all of R^p.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.
            start: w_0, shape (p,) or one per repetition, (R, p): public, or released before (which this ledger then
                does not show). None: the problem's initial point.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); what was measured is not.

        Raises:
            InvalidValue: Seed, repetitions or start are not allowed, or the problem lacks a constant.
            BudgetExceeded: The ledger shows more than was planned.
        """
        generators = streams(seed, repetitions)
        ledger = OpenLedger()

        started = time.perf_counter()
        walked = self.walk(problem, starts(problem, len(generators), start), generators, ledger)
        finished = time.perf_counter()

        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):
            objective, gradient = in_batches(problem, walked.output)
        name = "gradient_norm" if self.full_batch and self.variant == "repaired" else "output_gradient_norm"
        return Run(
            algorithm="SPIDER" if self.variant == "repaired" else "SPIDER as printed",
            output=walked.output,
            output_step=walked.output_step,
            trace=walked.trace,
            measured={"output_gradient_norm": np.sqrt(squared_norms(gradient)), "output_objective": objective},
            metric=name,
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=self.steps,
            parameters={"step_size": self.step_size_for(problem), "anchor_period": float(self.anchor_period)},
            seed=int(seed),
            timings={"descent": finished - started, "accounting": accounted - finished},
        )

    def walk(
        self, problem: FiniteSum, start: Array, generators: Sequence[np.random.Generator], ledger: OpenLedger
    ) -> Walked:
        """Make the T steps from given points, writing into a ledger that others may write into as well.

        That is how other algorithms build on this one: a warm start before it, restarts of it.

        Args:
            problem: What to minimise.
            start: w_0, shape (R, p): public, or released by entries that the ledger already has.
            generators: One per repetition.
            ledger: That of one repetition; it gets T entries.
        """
        demand_smooth(problem)
        T, q, eta = self.steps, self.anchor_period, self.step_size_for(problem)
        gradients = Gradients(problem)  # shared: what a difference needs at the last point was computed there
        anchor: GradientOracle | BatchGradientOracle
        if self.anchor_sampling is None:
            anchor = GradientOracle(problem, self.anchor_multiplier, generators, ledger, gradients=gradients)
        else:
            anchor = BatchGradientOracle(problem, self.anchor_sampling, self.anchor_multiplier, generators, ledger)
        difference = GradientDifferenceOracle(
            problem,
            Fraction(1) if self.difference_multiplier is None else self.difference_multiplier,
            generators,
            ledger,
            sampling=self.difference_sampling,
            gradients=gradients,
        )
        measured = Recorders(("gradient_norm", "squared_gradient", "objective", "noise"), T, len(generators))

        # the index of the output is drawn first, so that its iterate is kept when the walk passes it
        first = 1 if self.variant == "as-printed" else 0
        chosen = np.array([generator.integers(first, first + T) for generator in generators])
        w = previous = start.copy()
        output, estimate = np.empty_like(w), np.zeros_like(w)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(T):
                output[chosen == t] = w[chosen == t]
                estimate = anchor(w).noisy if t % q == 0 else estimate + difference(w, previous).noisy
                if self.full_batch:
                    _measure(measured, estimate, *gradients.at(w))
                previous, w = w, w - eta * estimate
        output[chosen == T] = w[chosen == T]  # only as printed
        return Walked(output, chosen, measured.trace() if self.full_batch else Trace())


def anchors(steps: int, anchor_period: int) -> int:
    """N₁ = ⌈T/q⌉: how many of the T steps are anchors."""
    return -(-steps // anchor_period)


def parameters(
    problem: FiniteSum,
    rho: Fraction,
    initial_gap: Fraction | None = None,
    steps: int | None = None,
    anchor_period: int | None = None,
) -> tuple[int, int]:
    """T and q as the explicit theorem prescribes them for a zCDP budget, where they are not given.

    Args:
        problem: Supplies n, p, G, L and the initial gap, all public.
        rho: ρ > 0 that the noise amounts to.
        initial_gap: ψ, or None for the problem's.
        steps: T, or None.
        anchor_period: q, or None.

    Raises:
        InvalidValue: ``demand_smooth`` fails, or T or q is no positive whole number.

    Source: ``lowy-ullman-wright-2024/lemma-3.1/explicit``.
    """
    demand_smooth(problem)
    given: dict[sympy.Symbol | str, ExactLike | Enclosure] = {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.rho: rho,
    }
    if steps is None:
        gap = enclosed(problem.initial_gap, "initial_gap") if initial_gap is None else initial_gap
        given[symbols.initial_gap] = gap
        given[symbols.lipschitz] = enclosed(problem.lipschitz, "lipschitz")
        given[symbols.smoothness] = enclosed(problem.smoothness, "smoothness")
        steps = int(evaluate(lemma_3_1_explicit.steps(), given).exact_upper)
    T = positive_integer(steps, "steps")
    if anchor_period is None:
        period = _spider.anchor_period(sympy.Integer(T), symbols.rho)
        anchor_period = int(evaluate(period, given).exact_lower)
    return T, min(positive_integer(anchor_period, "anchor_period"), T)


def starts(problem: FiniteSum, repetitions: int, start: ArrayLike | None = None) -> Array:
    """One starting point per repetition, shape (R, p), or ``InvalidValue``."""
    points = np.array(problem.initial_point if start is None else start, dtype=np.float64)
    shape = (repetitions, problem.dimension)
    if points.shape not in (shape, shape[1:]):
        raise InvalidValue("start.shape", points.shape, f"{shape[1:]}, or {shape} with one point per repetition")
    if not np.isfinite(points).all():
        raise InvalidValue("start", "not finite", "finite numbers")
    return np.array(np.broadcast_to(points, shape))


def checked_gap(value: ExactLike | None) -> Fraction | None:
    """Return the public bound on the initial gap as an exact number at least 0 (None stays None), or raise."""
    if value is None:
        return None
    gap = exact(value, "initial_gap")
    if gap < 0:
        raise InvalidValue("initial_gap", value, "a number at least 0, or None for the problem's")
    return gap


def enclosed(constant: sympy.Expr | None, name: str) -> Enclosure:
    """Enclose a constant of the problem, or raise ``InvalidValue`` where it has none that is finite."""
    return evaluate(known(constant, name), {})


def demand_smooth(problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` where a constant is missing, F is not smooth, or a walk would leave its ball."""
    for name in ("lipschitz", "smoothness"):
        known(getattr(problem, name), name)
    demand_all_of_space(problem)


def _weight(sampling: Sampling, records: int, count: int) -> Fraction:
    """max(1, rate √(2N)): what N equal releases on such samples are given, relative to a single one."""
    if sampling is None:
        rate = Fraction(1)
    elif isinstance(sampling, Poisson):
        rate = sampling.sample_rate
    else:
        rate = Fraction(sampling.size, records)
    return max(Fraction(1), rate * root_above(2 * count))


def _released(*groups: tuple[Fraction | None, Sampling, int]) -> Mechanism:
    """N releases of a noise multiplier on such samples, group after group."""
    parts = []
    for multiplier, sampling, count in groups:
        if count and multiplier is not None:
            rate = sampling.sample_rate if isinstance(sampling, Poisson) else None
            batch = sampling if isinstance(sampling, Batch) else None
            parts.append((on_sample(Gaussian(multiplier), rate, batch), count))
    return Composed(tuple(parts))


def _measure(measured: Recorders, estimate: Array, objective: Array, gradient: Array) -> None:
    squares = squared_norms(gradient)
    measured["gradient_norm"].add(np.sqrt(squares))
    measured["squared_gradient"].add(squares)
    measured["objective"].add(objective)
    measured["noise"].add(squared_norms(estimate - gradient))
