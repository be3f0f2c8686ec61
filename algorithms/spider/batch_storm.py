"""DP-STORM on Poisson samples: a first estimate from all records, and a sample for each of its corrections.

The theorem is this library's own, ``dpbounds/storm/batches``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import field, frozen
from scipy.optimize import minimize
from scipy.special import expit

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import no_more_than_slope, squared_norms
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.oracles.constants import per_distance
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.sampling import Poisson
from dpbounds.algorithms.spider.spider import demand_differences, demand_smooth, enclosed, initial_gap_of
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.papers.ours import storm_batches as theorem
from dpbounds.papers.ours.storm import k as momentum_share
from dpbounds.privacy.mechanisms import Composed, Gaussian

_PARTS = 10**9  # k is rounded up to a multiple of one over this number
_ROUNDED_UP = 1 + Fraction(1, 2**40)


@frozen(field_transformer=fields.named)
class BatchStorm(Method[FiniteSum]):
    """DP-STORM on samples, for any ``FiniteSum`` whose records' losses are G-Lipschitz and L-smooth, over all of R^p.

    ::

        draw R from 0, ..., T: each t < T with weight 1, T with weight 1/(Lη)
        v_0 = ∇F(w_0) + N(0, (rzG/n)² I)
        for t = 0, ..., T - 1:
            w_{t+1} = w_t - η v_t
            B = a sample: each record with probability q; not for t = T - 1, nor what follows
            C = kG + (1-k) min(L ‖w_{t+1} - w_t‖, 2G)
            v_{t+1} = (1-k) v_t + (Σ_{i in B} (∇f_i(w_{t+1}) - (1-k) ∇f_i(w_t)) + N(0, (zC)² I)) / (qn)
        return w_R

    Measured: ‖∇F(w_R)‖² ("mean_square": its mean is bounded) and F(w_R) ("objective_at_output"); ‖v_t‖² ("estimate") at
    every step.

    Attributes:
        noise_multiplier: z.
        first_ratio: r, exact.
        steps: T.
        sample_rate: q, rounded down as ``Poisson`` says.
        momentum: k in (0, 1], exact.
        step_size: η.
        initial_gap: As for ``Spider``.
    """

    title: ClassVar[str] = "STORM on samples"
    metric: ClassVar[str] = "mean_square"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    first_ratio: Fraction = field(converter=fields.positive)
    steps: int = field(converter=fields.count)
    sample_rate: Fraction = field(converter=fields.sample_rate)
    momentum: Fraction = field(converter=fields.positive)
    step_size: float = field(converter=fields.length)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def __attrs_post_init__(self) -> None:
        if self.momentum > 1:
            raise InvalidValue("momentum", float(self.momentum), "greater than 0 and at most 1")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        steps: int = 1000,
        sample_rate: ExactLike = "1/20",
        initial_gap: ExactLike | None = None,
        step_size: float | None = None,
        momentum: ExactLike | None = None,
        first_ratio: ExactLike | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> BatchStorm:
        """Plan for a budget, see ``Method``: r, η and k minimise the bound. `dpbounds plan` finds T and q.

        ``first_ratio``, ``step_size``, ``momentum`` replace the computed values.
        """
        demand_differences(problem)
        budget, gap = PrivacyBudget.of(epsilon, delta, relation), fields.initial_gap(initial_gap)
        T, rate = fields.count(steps, "steps"), Poisson(sample_rate).sample_rate
        single = float(planning.multiplier_of_one(budget)) if None in (first_ratio, step_size) else 1.0
        ratio, eta = _parameters(problem, single, gap, T, float(rate))
        ratio = ratio if first_ratio is None else fields.positive(first_ratio, "first_ratio")
        eta = eta if step_size is None else fields.length(step_size, "step_size")
        z = planning.multiplier_within(budget, lambda noise: _released(noise, ratio, T, rate))
        if momentum is None:
            reach = float(per_distance(problem)) * eta
            k = _momentum(*_moments(problem, float(z), float(ratio), float(rate)), T, min(reach, 1 - 1e-9))
            momentum = Fraction(min(_PARTS, math.ceil(k * (1 + 1e-9) * _PARTS)), _PARTS)
        return cls(z, ratio, T, rate, fields.positive(momentum, "momentum"), eta, gap, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return _released(self.noise_multiplier, self.first_ratio, self.steps, self.sample_rate)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        demand_differences(problem)
        T, k, eta = self.steps, float(self.momentum), self.step_size
        first = run.gradients(self.noise_multiplier * self.first_ratio)
        later = run.differences(self.noise_multiplier, sampling=Poisson(self.sample_rate), kept=1 - self.momentum)
        returned = run.uniform_iterate(T, first=0, ends=1 / (1 + float(per_distance(problem)) * eta * T))
        w = run.repeated(problem.initial_point)
        v = first(w).noisy
        for t in run.steps(T, first=0):
            returned.visit(t, w)
            run.measure(estimate=squared_norms(v))
            previous, w = w, w - eta * v
            if t < T - 1:
                v = (1 - k) * v + later(w, previous).noisy
        returned.visit(T, w)
        objective, slope = run.exact(returned.point)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={"mean_square": squared_norms(slope), "objective_at_output": objective},
            parameters={"step_size": eta, "momentum": k},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖² for the noise that ``run`` really draws.

        Raises:
            InvalidValue: A step is longer than 1/L, or the differences have more noise than the descent pays for.
        """
        demand_smooth(problem)
        rounding = _ROUNDED_UP * (1 + Fraction(problem.dimension + 64, 2**48))
        values = {
            symbols.initial_gap: initial_gap_of(problem, self.initial_gap),
            symbols.smoothness: enclosed(problem.smoothness, "smoothness"),
            symbols.lipschitz: enclosed(problem.lipschitz, "lipschitz"),
            symbols.step_size: Fraction(self.step_size),
            symbols.steps: self.steps,
            symbols.dimension: problem.dimension,
            symbols.dataset_size: problem.records,
            symbols.sample_rate: self.sample_rate,
            symbols.noise_multiplier: self.noise_multiplier * rounding,
            theorem.ratio: self.first_ratio,
            momentum_share: self.momentum,
        }
        for condition in theorem.conditions:
            if not decide(condition.holds, values):
                told = (self.step_size, float(self.momentum))
                raise InvalidValue("step_size, momentum", told, str(condition.holds), condition.why)
        return no_more_than_slope(evaluate(theorem.square, values), problem, 2)


def _released(z: Fraction, ratio: Fraction, steps: int, rate: Fraction) -> Mechanism:
    first = Gaussian(z * ratio)
    return first if steps == 1 else Composed(((first, 1), (Poisson(rate).sample(Gaussian(z)), steps - 1)))


def _moments(problem: FiniteSum, z: float, ratio: float, rate: float) -> tuple[float, float]:
    """Return the mean squares of the errors of the first estimate and of a sample's, over G² and C²."""
    batch, d = rate * problem.records, problem.dimension
    return d * (ratio * z / problem.records) ** 2, (1 - rate) / batch + d * (z / batch) ** 2


def _momentum(first: float, later: float, steps: int, reach: float) -> float:
    """Return the least k that the condition allows, or the one at which the errors are least, if that is larger."""
    paid = 2 * later * reach**2 / (1 - reach)
    least = paid / (math.sqrt(1 + paid) * (1 + math.sqrt(1 + paid)))  # 1 - 1/√(1 + paid)
    return max(least, 2 * first / (first + math.sqrt(first**2 + 8 * (steps - 1) * later * first)))


def _parameters(
    problem: FiniteSum, single: float, gap: Fraction | None, steps: int, rate: float
) -> tuple[Fraction, float]:
    """Return R and η with a small bound, in doubles, for the privacy of ``Privacy.guess``: any are sound."""
    G, L = float(at_least(problem.lipschitz, "lipschitz")), float(per_distance(problem))
    start = initial_gap_of(problem, gap)
    drop = (
        2 * L * max(float(start.exact_upper if isinstance(start, Enclosure) else start), 1e-300) / max(G, 1e-300) ** 2
    )

    def square(point: Array) -> float:
        log_ratio, reach = float(np.clip(point[0], -40, 40)), float(expit(point[1]))
        z = math.asinh(single**-2 / (math.exp(-2 * log_ratio) + (steps - 1) * rate**2)) ** -0.5
        first, later = _moments(problem, z, math.exp(log_ratio), rate)
        if not 0 < reach < 1:
            return math.inf
        k = _momentum(first, later, steps, reach)
        errors = (first + 2 * (steps - 1) * k**2 * later) / (k * (2 - k))
        return math.log((drop / reach + errors) / (steps + 1 / reach))

    tried = [np.array([a, b]) for a in (0.0, 3.0, 6.0) for b in (-3.0, 0.0)]
    best = min((minimize(square, at, method="Nelder-Mead") for at in tried), key=lambda one: float(one.fun))
    return Fraction(f"{math.exp(float(np.clip(best.x[0], -40, 40))):.6g}"), float(expit(best.x[1])) / L
