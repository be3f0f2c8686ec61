"""DP-STORM: gradient descent on estimates that keep a share of the last one, corrected to the new point.

Recursive momentum (Cutkosky & Orabona 2019) with noise in proportion to what one record can change; the theorem is this
library's own, ``dpbounds/storm``. In place of SPIDER's anchors every step makes a small share of the estimate anew.
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
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome, stddev_of_gradients
from dpbounds.algorithms.oracles import Gradients, at_least
from dpbounds.algorithms.oracles.constants import per_distance
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.spider.spider import demand_differences, demand_smooth, enclosed, initial_gap_of, measured_at
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.papers.ours import storm as theorem
from dpbounds.privacy.mechanisms import Composed, Gaussian

_PARTS = 10**6  # shares and step sizes are multiples of one over this number
_USUAL_STEP = 0.5  # Lη, where nothing is asked for: smaller steps gain at most 11 %, and cost more of them
_LONGEST = 80.0  # the logarithm of more steps than a run may take
_ROUNDED_UP = 1 + Fraction(1, 2**40)


@frozen(field_transformer=fields.named)
class Storm(Method[FiniteSum]):
    """DP-STORM, for any ``FiniteSum`` whose records' losses are G-Lipschitz and L-smooth, over all of R^p.

    ::

        draw R from 0, ..., T: each t < T with weight 1, T with weight 1/(Lη)
        v_0 = ∇F(w_0) + N(0, σ² I)
        for t = 0, ..., T - 1:
            w_{t+1} = w_t - η v_t
            v_{t+1} = (1-k) v_t + ∇F(w_{t+1}) - (1-k) ∇F(w_t) + N(0, σ_t² I),
                      σ_t = σ₂ (kG/L + (1-k) min(‖w_{t+1} - w_t‖, 2G/L)); not for t = T - 1
        return w_R

    Measured: ‖∇F(w_t)‖² ("squared_gradient"), ‖v_t - ∇F(w_t)‖² ("noise"), ‖v_t‖² ("estimate") and F ("objective") at
    every step; F(w_0) ("first") and F(w_T) ("last"); at the output "output_gradient_norm" and "output_objective", and
    the "mean_square" of ‖∇F(w_R)‖ over R.

    Attributes:
        first_multiplier: Standard deviation on the first sum of gradients in units of G.
        difference_multiplier: Standard deviation on the other sums, in units of kG + (1-k) min(L ‖w_{t+1} - w_t‖, 2G).
        steps: T.
        momentum: k in (0, 1], exact.
        step_size: η.
        initial_gap: As for ``Spider``.
    """

    title: ClassVar[str] = "STORM"
    metric: ClassVar[str] = "mean_square"

    first_multiplier: Fraction = field(converter=fields.multiplier)
    difference_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
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
        steps: int | None = None,
        initial_gap: ExactLike | None = None,
        step_size: float | None = None,
        momentum: ExactLike | None = None,
        first_share: ExactLike | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> Storm:
        """Plan for a budget, see ``Method``: k, η and the budget's split minimise the bound.

        - ``steps`` None: the T that suits η = 1/(2L); given, η is chosen, too
        - ``step_size``, ``momentum``, ``first_share``: η, k and the first estimate's share of the budget, in place of
          those that are found
        """
        demand_differences(problem)
        budget, gap = PrivacyBudget.of(epsilon, delta, relation), fields.initial_gap(initial_gap)
        single = planning.multiplier_of_one(budget)
        count = None if steps is None else fields.count(steps, "steps")
        T, k, eta, share = _parameters(problem, float(single), gap, count)
        eta = eta if step_size is None else fields.length(step_size, "step_size")
        k = k if momentum is None else fields.positive(momentum, "momentum")
        share = share if first_share is None else fields.share(first_share, "first_share")
        if T == 1:
            return cls(single, single, 1, k, eta, gap, budget, noise)
        groups = {"first": (1, share), "differences": (T - 1, 1 - share)}
        first, later = planning.multipliers_of_groups(budget, groups).values()
        return cls(first, later, T, k, eta, gap, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        first = Gaussian(self.first_multiplier)
        if self.steps == 1:
            return first
        return Composed(((first, 1), (Gaussian(self.difference_multiplier), self.steps - 1)))

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        demand_differences(problem)
        T, k, eta = self.steps, float(self.momentum), self.step_size
        memory = Gradients(problem)
        first = run.gradients(self.first_multiplier, memory=memory)
        later = run.differences(self.difference_multiplier, memory=memory, kept=1 - self.momentum)
        returned = run.uniform_iterate(T, first=0, ends=1 / (1 + self._reach(problem) * T))

        w = run.repeated(problem.initial_point)
        v = first(w).noisy
        for t in run.steps(T, first=0):
            returned.visit(t, w)
            objective, gradient = memory.at(w)
            squares = squared_norms(gradient)
            run.measure(
                squared_gradient=squares,
                noise=squared_norms(v - gradient),
                estimate=squared_norms(v),
                objective=objective,
            )
            if t == 0:
                run.measure(first=objective)
            previous, w = w, w - eta * v
            if t < T - 1:
                v = (1 - k) * v + later(w, previous).noisy
        returned.visit(T, w)
        objective, gradient = run.exact(w)
        run.measure(last=objective)
        last = squared_norms(gradient)
        sums = run.trace()["squared_gradient"].per_repetition * T
        weight = 1 / self._reach(problem)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={**measured_at(run, returned.point), "mean_square": (sums + weight * last) / (T + weight)},
            parameters={"step_size": eta, "momentum": k},
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F(w_R)‖² for the noise that ``run`` really draws.

        Raises:
            InvalidValue: A step is longer than 1/L, or the differences have more noise than the descent pays for.
        """
        demand_smooth(problem)
        L = at_least(problem.smoothness, "smoothness")
        rounding = _ROUNDED_UP * (1 + Fraction(problem.dimension + 64, 2**48))
        values = {
            symbols.initial_gap: initial_gap_of(problem, self.initial_gap),
            symbols.smoothness: enclosed(problem.smoothness, "smoothness"),
            symbols.lipschitz: enclosed(problem.lipschitz, "lipschitz"),
            symbols.step_size: Fraction(self.step_size),
            symbols.steps: self.steps,
            symbols.dimension: problem.dimension,
            symbols.noise_stddev: stddev_of_gradients(problem, self.first_multiplier),
            symbols.difference_noise_stddev: self.difference_multiplier * L / problem.records * rounding,
            theorem.k: self.momentum,
        }
        for condition in theorem.conditions:
            if not decide(condition.holds, values):
                told = (self.step_size, float(self.momentum))
                raise InvalidValue("step_size, momentum", told, str(condition.holds), condition.why)
        return no_more_than_slope(evaluate(theorem.square, values), problem, 2)

    def _reach(self, problem: FiniteSum) -> float:
        """Return Lη."""
        return float(per_distance(problem)) * self.step_size


def _parameters(
    problem: FiniteSum, single: float, gap: Fraction | None, steps: int | None
) -> tuple[int, Fraction, float, Fraction]:
    """Return T, k, η and the first estimate's share with a small bound, in doubles: any are sound."""
    G, L = float(at_least(problem.lipschitz, "lipschitz")), float(per_distance(problem))
    start = initial_gap_of(problem, gap)
    drop = max(float(start.exact_upper if isinstance(start, Enclosure) else start), 1e-300)
    y = problem.dimension * (single / problem.records) ** 2  # d times the first estimate's variance over G², all for it

    def square(T: float, k: float, reach: float, share: float) -> float:
        """Return the bound over G²; ``drop`` times L over G² is the problem's only other number."""
        if not (0 < k <= 1 and 0 < reach < 1 and 0 < share < 1):  # rounded: a search may go that far
            return math.inf
        later = y * (T - 1) / (1 - share)
        if later * 2 * ((1 - k) * reach) ** 2 > (1 - reach) * k * (2 - k) * (1 - 1e-6):
            return math.inf
        errors = (y / share + 2 * (T - 1) * k * k * later) / (k * (2 - k))
        return (2 * drop * L / (G * G) / reach + errors) / (T + 1 / reach)

    def unpacked(point: Array) -> tuple[float, float, float, float]:
        free, odds_k, odds_share = (float(each) for each in point)
        reach = _USUAL_STEP if steps is None else float(expit(free))
        T = max(1.0, math.exp(min(free, _LONGEST))) if steps is None else float(steps)
        return T, float(expit(odds_k)), reach, float(expit(odds_share))

    def cost(point: Array) -> float:
        found = square(*unpacked(point))
        return math.log(found) if found < math.inf else 1e3

    if G == 0 or steps == 1:  # nothing to divide
        return steps or 1, Fraction(1), _USUAL_STEP / L, Fraction(1, 2)
    tried = [
        np.array([a, b, -3.0]) for a in ((2.0, 5.0, 8.0) if steps is None else (-3.0, 0.0)) for b in (-4.0, -1.0, 3.0)
    ]
    best = min((minimize(cost, start, method="Nelder-Mead") for start in tried), key=lambda one: float(one.fun))
    long, k, reach, share = unpacked(best.x)
    T = steps or max(1, round(long))
    first = Fraction(min(_PARTS - 1, max(1, round(share * _PARTS))), _PARTS)
    while square(T, k, reach, float(first)) == math.inf and k < 1:  # T was rounded
        k = min(1.0, k * (1 + 1e-4))
    return T, Fraction(min(_PARTS, math.ceil(k * _PARTS)), _PARTS), reach / L, first
