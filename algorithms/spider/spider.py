"""DP-SPIDER: gradient descent on estimates that are carried from step to step by noisy gradient differences.

Arora et al. 2023, Algorithm 2, as used by Lowy, Ullman & Wright 2024, Algorithm 1. Every q-th step is an anchor, a
noisy mean gradient; in between, the estimate is the last one plus a noisy difference of mean gradients, whose noise is
in proportion to how far the iterate moved.

What is repaired. The paper makes the estimates ∇_0, ..., ∇_{T-1} and returns one of w_1, ..., w_T, so that at w_T no
estimate was ever made and the proof has nothing to say about it; here one of w_0, ..., w_{T-1} is returned
(``variant="as-printed"`` returns what the paper says, at the same cost in privacy). The noise is printed up to a
universal constant; here it is the smallest that is proven to keep the budget, split evenly between anchors and
differences, whose largest noise (σ̂₂ in the paper, a parameter of its own) is σ₂ 2G/L. T and q are those of the
statement ``lowy-ullman-wright-2024/lemma-3.1/explicit``, and the bound is
``lowy-ullman-wright-2024/algorithm-1/explicit`` at the noise that is really drawn.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import no_more_than_slope, norms, squared_norms
from dpbounds.algorithms.method import (
    Array,
    FiniteSum,
    InvalidValue,
    Method,
    OpenRun,
    Outcome,
    UniformIterate,
    stddev_of_gradients,
)
from dpbounds.algorithms.oracles import Gradients, Poisson, Sampling, at_least
from dpbounds.algorithms.oracles.batches import demand_sampling, sampled, valid_sampling
from dpbounds.algorithms.oracles.constants import per_distance
from dpbounds.algorithms.oracles.differences import enforced
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space, known
from dpbounds.algorithms.run import Run
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.papers.lowy_ullman_wright_2024 import _spider, algorithm_1_explicit, lemma_3_1_explicit
from dpbounds.privacy.mechanisms import Composed, Gaussian

Variant = Literal["repaired", "as-printed"]

THEOREMS = {
    "algorithm": "lowy-ullman-wright-2024/algorithm-1",
    "spent": "lowy-ullman-wright-2024/algorithm-1",
    "parameters": "lowy-ullman-wright-2024/lemma-3.1/explicit",
    "bound": "lowy-ullman-wright-2024/algorithm-1/explicit",
}

_HALF, _ALL = Fraction(1, 2), Fraction(1)


def _multiplier_or_none(value: ExactLike | None, name: str = "difference_multiplier") -> Fraction | None:
    return None if value is None else fields.multiplier(value, name)


@frozen(field_transformer=fields.named)
class Spider(Method[FiniteSum]):
    """DP-SPIDER, for any ``FiniteSum`` whose records' losses are G-Lipschitz and L-smooth, over all of R^p.

    ::

        draw R uniformly from 0, ..., T - 1 (as printed: from 1, ..., T)
        for t = 0, ..., T - 1:
            if t is a multiple of q:  ∇_t = ∇F(w_t) + N(0, σ₁² I)
            else:                     ∇_t = ∇_{t-1} + ∇F(w_t) - ∇F(w_{t-1}) + N(0, (σ₂ min(‖w_t - w_{t-1}‖, 2G/L))² I)
            w_{t+1} = w_t - η ∇_t
        return w_R

    There are no projections: the radius of a linear model is ignored. Measured at the output: "output_gradient_norm",
    "output_objective"; at every step, on the full batch only (on random batches a step does not see all records):
    ‖∇F(w_t)‖ ("gradient_norm"), its square, F ("objective"), ‖∇_t‖² ("estimate") and ‖∇_t - ∇F(w_t)‖² ("noise"); F(w_0)
    ("first") and F(w_T) ("last").

    Attributes:
        anchor_multiplier: Standard deviation on an anchor's sum of gradients in units of G.
        difference_multiplier: Standard deviation on a difference, in units of min(L ‖w_t - w_{t-1}‖, 2G); None if every
            step is an anchor.
        anchor_period: q; values above T are equivalent to T.
        step_size: η, or None for 1/(2L) of the problem at hand.
        initial_gap: ψ >= E F(w_0) - inf F, public; None for the problem's own, which is about its initial point.
        anchor_sampling: The records of an anchor: a ``Batch``, ``Poisson``, or None for all of them.
        difference_sampling: The records of a difference (the same at both of its points).
        variant: "repaired" or "as-printed".
    """

    metric: ClassVar[str] = "gradient_norm"

    anchor_multiplier: Fraction = field(converter=fields.multiplier)
    difference_multiplier: Fraction | None = field(converter=_multiplier_or_none)
    steps: int = field(converter=fields.count)
    anchor_period: int = field(converter=fields.count)
    step_size: float | None = field(default=None, converter=fields.step_size)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    anchor_sampling: Sampling = field(default=None, validator=valid_sampling)
    difference_sampling: Sampling = field(default=None, validator=valid_sampling)
    variant: Variant = field(default="repaired", validator=fields.one_of(Variant))
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "anchor_period", min(self.anchor_period, self.steps))
        if self.difference_multiplier is None and self.anchor_period > 1:
            raise InvalidValue("difference_multiplier", None, "greater than 0", "no noise, no privacy")

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
        noise: fields.WhichNoise = "gaussian",
    ) -> Spider:
        """Plan for a budget, see ``Method``; None for T and q: those of the explicit theorem.

        On the full batch everything is one Gaussian release of multiplier z; the theorem's noise for ρ-zCDP is that of
        z = √(2/ρ), so its T and q are taken at ρ = 2/z², and utility is that of ρ although the proof of privacy is
        the accountant's. On random batches the theorem says nothing, and its T and q are a mere default; the noise
        then is z max(1, rate √(2N)) on a batch's sum for each of N releases (the shape of Arora et al.'s), with the
        smallest z that is proven. ``initial_gap`` is ψ, where the walk will not start at the problem's initial point.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        gap = fields.initial_gap(initial_gap)
        demand_sampling(anchor_sampling, "anchor_sampling")
        demand_sampling(difference_sampling, "difference_sampling")
        T, q = parameters(problem, 2 / planning.multiplier_of_one(budget) ** 2, gap, steps, anchor_period)
        N1 = anchors(T, q)
        if anchor_sampling is None and (difference_sampling is None or N1 == T):
            shared = {"anchors": (N1, _HALF), "differences": (T - N1, _HALF)}
            multipliers = planning.multipliers_of_groups(budget, shared if N1 < T else {"anchors": (N1, Fraction(1))})
            first, second = multipliers["anchors"], multipliers.get("differences")
        else:
            weight = _weight(anchor_sampling, problem.records, N1)
            other = _weight(difference_sampling, problem.records, T - N1) if N1 < T else None

            def released(z: Fraction) -> Mechanism:
                return _released((weight * z, anchor_sampling, N1), (other and other * z, difference_sampling, T - N1))

            z = planning.multiplier_within(budget, released)
            first, second = weight * z, other and other * z
        return cls(first, second, T, q, step_size, gap, budget, anchor_sampling, difference_sampling, variant, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        N1 = anchors(self.steps, self.anchor_period)
        return _released(
            (self.anchor_multiplier, self.anchor_sampling, N1),
            (self.difference_multiplier, self.difference_sampling, self.steps - N1),
        )

    @property
    def full_batch(self) -> bool:
        """Whether every release is about all records."""
        return self.anchor_sampling is None and (self.difference_sampling is None or self.anchor_period == 1)

    def run(
        self,
        problem: FiniteSum,
        seed: int | None = None,
        repetitions: int = 32,
        start: ArrayLike | None = None,
        *,
        guarded: bool = False,
    ) -> Run:
        """Run, see ``Method.run``, from any w_0.

        ``start`` is w_0, shape (p,) or one per repetition, (R, p): public, or released before (which this ledger then
        does not show). None: the problem's initial point.
        """
        return self._run(problem, seed, repetitions, guarded, start=start)

    def walk(self, problem: FiniteSum, run: OpenRun, start: ArrayLike | None = None) -> Outcome:
        """Run ``descend``, and return its result."""
        returned = self.descend(problem, run, starts(problem, run.repetitions, start))
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured=measured_at(run, returned.point),
            parameters={"step_size": self.step_size_for(problem), "anchor_period": float(self.anchor_period)},
            title="SPIDER" if self.variant == "repaired" else "SPIDER as printed",
            metric=self.metric if self.full_batch and self.variant == "repaired" else "output_gradient_norm",
        )

    def descend(self, problem: FiniteSum, run: OpenRun, start: Array) -> UniformIterate:
        """Run the pseudo-code above, from given points, in a run that may have begun before and may go on.

        That is how other algorithms build on this one: a warm start before it, restarts of it. ``start`` is w_0, shape
        (R, p): public, or released by entries that the ledger already has.
        """
        demand_differences(problem)
        T, q, eta = self.steps, self.anchor_period, self.step_size_for(problem)
        memory = Gradients(problem)  # shared: what a difference needs at the last point was computed there
        anchor = run.batch_gradients(self.anchor_sampling, self.anchor_multiplier, memory=memory)
        difference = run.differences(
            self.difference_multiplier or Fraction(1), sampling=self.difference_sampling, memory=memory
        )
        returned = run.uniform_iterate(T, first=1 if self.variant == "as-printed" else 0)
        measure = run.measured_by(_measured)
        w = previous = start.copy()
        estimate = np.zeros_like(w)
        for t in run.steps(T, first=0):
            returned.visit(t, w)
            estimate = anchor(w).noisy if t % q == 0 else estimate + difference(w, previous).noisy
            if self.full_batch:
                objective, gradient = memory.at(w)
                measure(objective, gradient, estimate)
                if t == 0:
                    run.measure(first=objective)
            previous, w = w, w - eta * estimate
        if self.full_batch:
            run.measure(last=run.exact(w)[0])
        returned.visit(T, w)  # only as printed
        return returned

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η as a double: ``step_size``, or 1/(2L) rounded down."""
        if self.step_size is not None:
            return self.step_size
        return evaluate(1 / (2 * smoothness_of_steps(problem)), {}).lower

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on E‖∇F(ŵ)‖ for the noise that ``run`` really draws.

        It bounds √E‖∇F(ŵ)‖² as well: it is √(2Δ/(ηT) + dσ₁²), for every σ₂ with d σ₂² η² (q - 1) <= 1 - Lη.

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
        values = {
            symbols.initial_gap: initial_gap_of(problem, self.initial_gap),
            symbols.smoothness: enclosed(problem.smoothness, "smoothness"),
            symbols.step_size: Fraction(self.step_size_for(problem)),
            symbols.steps: self.steps,
            symbols.anchor_period: self.anchor_period,
            symbols.dimension: problem.dimension,
            symbols.noise_stddev: stddev_of_gradients(problem, self.anchor_multiplier),
            symbols.difference_noise_stddev: self.difference_noise_stddev(problem),
        }
        for condition in algorithm_1_explicit.conditions:
            if not decide(condition.holds, values):
                allowed = "values with d σ₂² η² (q - 1) <= 1 - Lη, where the bound holds"
                raise InvalidValue(
                    "step_size, anchor_period",
                    (self.step_size_for(problem), self.anchor_period),
                    allowed,
                    "shorten either, or add more noise to the anchors than to the differences",
                )
        return no_more_than_slope(evaluate(algorithm_1_explicit.bound, values), problem)

    def difference_noise_stddev(self, problem: FiniteSum) -> Fraction:
        """Return σ₂, at least the standard deviation of the noise of a full-batch difference per distance.

        The oracle rounds distances and constants up, by less than (p + 64) 2^-48 relatively. The floor that it adds for
        the rounding of gradients (see ``GradientDifferenceOracle``) is left out.
        """
        if self.difference_multiplier is None:
            return Fraction(0)
        rounding = 1 + Fraction(problem.dimension + 64, 2**48)
        return self.difference_multiplier * at_least(problem.smoothness, "smoothness") / problem.records * rounding


def _measured(objective: Array, gradient: Array, estimate: Array) -> dict[str, Array]:
    squares = squared_norms(gradient)
    return {
        "gradient_norm": np.sqrt(squares),
        "squared_gradient": squares,
        "objective": objective,
        "noise": squared_norms(estimate - gradient),
        "estimate": squared_norms(estimate),
    }


def anchors(steps: int, anchor_period: int) -> int:
    """Return N₁ = ⌈T/q⌉: how many of the T steps are anchors."""
    return -(-steps // anchor_period)


def parameters(
    problem: FiniteSum,
    rho: Fraction,
    initial_gap: Fraction | None = None,
    steps: int | None = None,
    anchor_period: int | None = None,
) -> tuple[int, int]:
    """Return T and q of ``lowy-ullman-wright-2024/lemma-3.1/explicit`` for ρ-zCDP, where they are not given."""
    demand_differences(problem)
    given: dict[sympy.Symbol | str, ExactLike | Enclosure] = {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.rho: rho,
    }
    if steps is None:
        given[symbols.initial_gap] = initial_gap_of(problem, initial_gap)
        given[symbols.lipschitz] = enclosed(problem.lipschitz, "lipschitz")
        given[symbols.smoothness] = enclosed(problem.smoothness, "smoothness")
        steps = int(evaluate(lemma_3_1_explicit.steps, given).exact_upper)
    T = fields.count(steps, "steps")
    if anchor_period is None:
        period = _spider.anchor_period(sympy.Integer(T), symbols.rho)
        anchor_period = int(evaluate(period, given).exact_lower)
    return T, min(fields.count(anchor_period, "anchor_period"), T)


def starts(problem: FiniteSum, repetitions: int, start: ArrayLike | None = None) -> Array:
    """Return one starting point per repetition, shape (R, p), or ``InvalidValue``."""
    points = np.array(problem.initial_point if start is None else start, dtype=np.float64)
    shape = (repetitions, problem.dimension)
    if points.shape not in (shape, shape[1:]):
        raise InvalidValue("start.shape", points.shape, f"{shape[1:]}, or {shape} with one point per repetition")
    if not np.isfinite(points).all():
        raise InvalidValue("start", "not finite", "finite numbers")
    return np.array(np.broadcast_to(points, shape))


def measured_at(run: OpenRun, points: Array) -> dict[str, Array]:
    """Return ‖∇F‖ and F at the points that are returned: not private."""
    objective, gradient = run.exact(points)
    return {"output_gradient_norm": norms(gradient), "output_objective": objective}


def enclosed(constant: sympy.Expr | None, name: str) -> Enclosure:
    """Enclose a constant of the problem, or raise ``InvalidValue`` where it has none that is finite."""
    return evaluate(known(constant, name), {})


def initial_gap_of(problem: FiniteSum, given: Fraction | None) -> Fraction | Enclosure:
    """Return ψ: the given one, or the problem's own bound on F(w_0) - inf F, which is about its initial point."""
    return enclosed(problem.initial_gap, "initial_gap") if given is None else given


def demand_smooth(problem: FiniteSum) -> None:
    """Raise ``InvalidValue`` if a constant is missing, F is not smooth, or a walk would leave its ball."""
    for name in ("lipschitz", "smoothness"):
        known(getattr(problem, name), name)
    demand_all_of_space(problem)


def demand_differences(problem: FiniteSum) -> None:
    """Check as ``demand_smooth``, for walks: a problem may clip differences instead of being smooth."""
    if not enforced(problem):
        demand_smooth(problem)
    demand_all_of_space(problem)


def smoothness_of_steps(problem: FiniteSum) -> sympy.Expr:
    """Return L, or the clipping constant of differences: steps and weights may be any public number."""
    return sympy.Rational(per_distance(problem)) if enforced(problem) else known(problem.smoothness, "smoothness")


def _weight(sampling: Sampling, records: int, count: int) -> Fraction:
    """Return max(1, rate √(2N)): the weight of N equal releases on such samples, relative to a single one."""
    if sampling is None:
        rate = Fraction(1)
    elif isinstance(sampling, Poisson):
        rate = sampling.sample_rate
    else:
        rate = Fraction(sampling.size, records)
    return max(Fraction(1), rate * planning.root_above(2 * count))


def _released(*groups: tuple[Fraction | None, Sampling, int]) -> Mechanism:
    """Return N releases of a noise multiplier on such samples, group after group."""
    asked = [each for each in groups if each[2] and each[0] is not None]
    return Composed(tuple((sampled(Gaussian(z), sampling), count) for z, sampling, count in asked))
