"""DP-PMD: mirror descent with Gaussian noise on every gradient.

Wang & Xu 2019, Algorithm 3, for every distance-generating function of ``dpbounds.algorithms.problems.mirrors``: squared
l2 norm on any convex set, squared q-norm on the l1 ball, entropy on the simplex. Their Theorem 5 is made explicit in
``wang-xu-2019/theorem-5/explicit``, which also has the fourth root that is missing in the paper.

Differences from the paper: the noise is the smallest that is proven (theirs has an unstated constant), the Bregman
divergence is taken at x_k, and the regulariser r is 0, as a mirror step with one has no closed form for most w. The
runs measure the mapping in the norm N of w, at the noisy and at the true gradient. With w(x) = ‖x‖²/(2r²) on an l2 ball
of radius r this is projected gradient descent with step γr².
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy
from attrs import Attribute, field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import (
    best_count,
    demand_short_step,
    gap_at,
    inserted,
    no_more_than_step,
    of_mapping,
    products,
)
from dpbounds.algorithms.method import Array, FiniteSum, FullBatchMethod, InvalidValue, OpenRun, Outcome, computed
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_no_regulariser, demand_within, known
from dpbounds.algorithms.problems.mirrors import DistanceGenerator
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.wang_xu_2019 import theorem_5_explicit


@frozen(field_transformer=fields.named)
class MirrorDescent(FullBatchMethod[FiniteSum]):
    """Algorithm 3 of Wang & Xu 2019 for problems without a regulariser, over the set C of a mirror.

    ::

        draw R uniformly from 1, ..., T
        for k = 1, ..., T:
            g = ∇F(x_k) + N(0, σ² I)
            x_{k+1} = argmin over x in C of <g, x> + V(x, x_k)/γ, V the Bregman divergence of w
        return x_R

    Measured at every step: N(P(x_k))² ("noisy", at g; "exact", at ∇F(x_k)), "objective", N*(g - ∇F(x_k))² ("noise")
    and <g - ∇F(x_k), P(x_k)> ("product"); F(x_{T+1}) ("last").

    Attributes:
        mirror: w, with its set C and its norm N; of the dimension of the problem.
        step_size: γ, or None for 1/(2L̃) of the problem at hand, L̃ its smoothness in N.
        start: x₁ in C, where w has a gradient, chosen without looking at the data; None for the point of C nearest to
            the problem's own.
    """

    title: ClassVar[str] = "mirror descent"
    metric: ClassVar[str] = "noisy"

    mirror: DistanceGenerator
    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_size: float | None = field(default=None, converter=fields.step_size)
    start: tuple[float, ...] | None = field(default=None, converter=fields.point)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @start.validator
    def _in_the_set(self, _field: Attribute[object], value: tuple[float, ...] | None) -> None:
        if value is not None:
            _demand_start(self.mirror, value)

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
        noise: fields.WhichNoise = "gaussian",
    ) -> MirrorDescent:
        """Plan for a budget, see ``Method``; None for T: the one that minimises the bound on the noisy mapping."""
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = planning.multiplier_of_one(budget)
        once = cls(mirror, single, 1, step_size, start)
        count = once._best_steps(problem) if steps is None else fields.count(steps, "steps")
        return cls(mirror, single * planning.root_above(count), count, step_size, start, budget, noise)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 3."""
        _demand_fit(problem, self.mirror)
        w, gamma = self.mirror, self.step_size_for(problem)
        gradient = run.gradients(self.noise_multiplier)
        returned = run.uniform_iterate(self.steps)
        x = run.repeated(self.start_for(problem))
        for k in run.steps(self.steps):
            returned.visit(k, x)
            g = gradient(x)
            following = w.step(x, g.noisy, gamma)
            run.measure(
                noisy=(w.norm(x - following) / gamma) ** 2,
                exact=(computed(w.norm, x - computed(w.step, x, g.exact, gamma)) / gamma) ** 2,
                objective=g.objective,
                noise=computed(w.dual_norm, g.noisy - g.exact) ** 2,
                product=products(g.noisy - g.exact, x - following) / gamma,
            )
            x = following
        run.measure(last=run.exact(x)[0])
        return Outcome(returned.point, output_step=returned.index, parameters={"step_size": gamma})

    def smoothness(self, problem: FiniteSum) -> sympy.Expr:
        """Return L̃ = c L, exact: the smoothness of F in N, where ‖x‖₂² <= c N(x)²."""
        return known(problem.smoothness, "smoothness") * self.mirror.euclidean_square

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return γ as a double: ``step_size``, or 1/(2L̃) rounded down."""
        return evaluate(1 / (2 * self.smoothness(problem)), {}).lower if self.step_size is None else self.step_size

    def start_for(self, problem: FiniteSum) -> Array:
        """Return x₁, shape (p,): ``start``, or the point of C nearest to the problem's own start."""
        if self.start is not None:
            return np.array(self.start)
        nearest = tuple(self.mirror.constraint.project(problem.initial_point[None])[0])
        _demand_start(self.mirror, nearest)
        return np.array(nearest)

    def bound(self, problem: FiniteSum, mapping: fields.WhichMapping = "noisy") -> Enclosure:
        """Enclose the explicit bound on the mean *square* E N(P(x_R))² for the noise that ``run`` really draws.

        Args:
            problem: Supplies L, p and the bound on the initial gap.
            mapping: "noisy" (the steps that were taken) or "exact" (the stationarity measure).

        Raises:
            InvalidValue: γ is not below 2/L̃, or the problem lacks a constant: there is no bound.

        Source: Wang & Xu 2019, Theorem 5 (without constants there).
        """
        _demand_fit(problem, self.mirror)
        values = {
            "initial_gap": gap_at(problem, self.start_for(problem)),
            "relative_smoothness": self.smoothness(problem),
            "mirror_step": self._short_step(problem),
            "steps": self.steps,
            "noise_stddev": self.noise_stddev(problem),
        }
        moment = self.mirror.dual_second_moment
        if not isinstance(moment, Enclosure):
            values["dual_second_moment"] = moment
        formula = of_mapping(mapping, theorem_5_explicit.mean_square, theorem_5_explicit.at_the_gradient)
        found = evaluate(inserted(formula, problem, **values), {"dual_second_moment": moment})
        width = sympy.Rational(moment.exact_upper) if isinstance(moment, Enclosure) else moment
        noise = width * sympy.Rational(self.noise_stddev(problem)) ** 2
        return no_more_than_step(found, problem, mapping, noise, self.mirror.euclidean_square)

    def _short_step(self, problem: FiniteSum) -> Fraction:
        gamma = Fraction(self.step_size_for(problem))
        demand_short_step(gamma, self.smoothness(problem))
        return gamma

    def _best_steps(self, problem: FiniteSum) -> int:
        """Return the T that minimises the noisy bound (Δ/(γT) + (z G/n)² W T)/a, z the multiplier of one step."""
        _demand_fit(problem, self.mirror)
        slope = at_least(problem.lipschitz, "lipschitz") * self.noise_multiplier / problem.records
        moment = self.mirror.dual_second_moment
        width = Fraction(moment.exact_upper) if isinstance(moment, Enclosure) else at_least(moment, "width")
        gap = gap_at(problem, self.start_for(problem))
        return best_count(gap / self._short_step(problem) / (width * slope**2))


def _demand_start(mirror: DistanceGenerator, start: tuple[float, ...]) -> None:
    point = np.array(start, dtype=np.float64)
    if point.shape != (mirror.constraint.dimension,) or not np.isfinite(point).all():
        raise InvalidValue("start", start, f"{mirror.constraint.dimension} finite numbers")
    if not mirror.constraint.contains(point[None], 1e-12 * float(np.abs(point).max()))[0]:
        raise InvalidValue("start", start, "a point of the mirror's set", "project it on the set first")
    mirror.gradient(point[None])  # raises where w has none


def _demand_fit(problem: FiniteSum, mirror: DistanceGenerator) -> None:
    demand_no_regulariser(problem)
    demand_within(problem, mirror.constraint)
