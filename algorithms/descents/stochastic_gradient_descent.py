"""DP-SGD for quasar-convex losses: noisy gradient steps of constant length, projected on a ball that holds a minimiser.

Lowy, Ullman & Wright 2024, Algorithm 3 with Proposition D.1. Differences from the paper: the noise is a proven
calibration (the paper has the constant 1000 where about 5 would do), the full batch is the default (it has the least
noise for a budget), and every iterate is projected on the ball of radius D around w₁, so that quasar-convexity is
needed on that ball only: on all of R^p the losses of Geman & McClure and of Cauchy, for two, have no constant. The
bound is ``lowy-ullman-wright-2024/proposition-d.1/explicit``. ``variant="as-printed"`` has the constant 1000 and no
projection.

With ``output="last"`` it is what people run: w after the last step. Where batches come in a fixed order or are shuffled
anew and losses are smooth, the last iterate spends less than all of them do, if nothing else is published
(``last_iterate.md``); the ledger says both, and ``release="last-iterate"`` calibrates for that. No bound is known of w.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.guards.plain import PlainStep
from dpbounds.algorithms.iterates import no_more_than_range, squared_norms
from dpbounds.algorithms.ledger import OpenLedger, PlainDescent, WhichRelease
from dpbounds.algorithms.method import (
    Array,
    FiniteSum,
    InvalidValue,
    Method,
    OpenRun,
    Outcome,
    UniformIterate,
    stddev_of_batches,
)
from dpbounds.algorithms.oracles import Allocated, Bins, GradientAnswer, Poisson, Scheme, at_least
from dpbounds.algorithms.oracles.batches import demand_all_records, sampled, valid_scheme
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.clipped import smoothness_of_gradients
from dpbounds.algorithms.problems.domain import demand_no_regulariser, radius_of_domain
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.sampling import Cyclic, Shuffle, Truncated, Visited
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import exact
from dpbounds.papers.lowy_ullman_wright_2024 import proposition_5_2, proposition_d_1_explicit
from dpbounds.privacy.mechanisms import Gaussian, LastIterate

Variant = Literal["projected", "as-printed"]
WhichOutput = Literal["random", "last"]


@frozen(field_transformer=fields.named)
class StochasticGradientDescent(Method[FiniteSum]):
    """Algorithm 3 of Lowy, Ullman & Wright 2024, for quasar-convex losses.

    ::

        draw R uniformly from 1, ..., T
        for t = 1, ..., T:
            g = the mean gradient at w_t of a batch, or of all records, + N(0, σ² I)
            w_{t+1} = the projection of w_t - ηg on the ball of radius D around w₁
        return w_R, or w_{T+1} (output "last")

    Measured: F at the output ("objective_at_output"); at every step the squares of the "noise" and of the exact mean
    gradient ("step") and, on the full batch, F ("objective"), whose average over t is the mean of F(w_R) over R; with
    batches, F is not measured. This is the metric: if the data are realisable, inf F = 0.

    Attributes:
        noise_multiplier: Standard deviation on the sum of a batch's gradients in units of G.
        distance: D > 0, public, at least the distance from w₁ to a minimiser.
        sampling: The sampling scheme (with or without replacement, Poisson or truncated Poisson, or bins, shuffled or
            cyclic batches in turn), or None for all records. The bound requires that a batch's mean is unbiased given
            the past.
        variant: "projected", or "as-printed": no projection.
        output: "random" for w_R, which the bound is on, or "last".
        release: "last-iterate" needs output "last", whole epochs of shuffled or cyclic batches (or all records), and a
            problem with a smoothness.
    """

    title: ClassVar[str] = "stochastic gradient descent"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    distance: Fraction = field(default=Fraction(1), converter=fields.positive)
    sampling: Scheme = field(default=None, validator=valid_scheme)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    variant: Variant = field(default="projected", validator=fields.one_of(Variant))
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))
    output: WhichOutput = field(default="random", validator=fields.one_of(WhichOutput))
    release: WhichRelease = field(default="every-iterate", validator=fields.one_of(WhichRelease))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        distance: ExactLike = 1,
        sampling: Scheme = None,
        variant: Variant = "projected",
        noise: fields.WhichNoise = "gaussian",
        output: WhichOutput = "random",
        release: WhichRelease = "every-iterate",
    ) -> StochasticGradientDescent:
        """Plan for a budget, see ``Method``; as printed: σ² = 1000 G²T ln(1/δ)/(εn)² and T = ⌈(εn)²/(p ln(1/δ))⌉.

        On the full batch T releases with multiplier z √T are one with multiplier z, what a replace-one budget of
        ρ = 2/z² would give; the explicit proposition has the T from which on more steps gain no more than a factor √2.
        Batches get that T, too (whole epochs of it for the last iterate alone), and a calibration of their own.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        kind = fields.demand_one_of(variant, Variant, "variant")
        demand_no_regulariser(problem)
        if sampling is not None:
            demand_all_records(sampling, problem.records)
        if steps is not None:
            fields.count(steps, "steps")
        made = partial(cls, distance=distance, sampling=sampling, budget=budget, variant=kind, noise=noise)
        made = partial(made, output=output, release=release)
        if kind == "as-printed":
            count = printed_steps(problem, budget) if steps is None else steps
            return made(printed_multiplier(problem, budget, count, sampling), count)
        single = planning.multiplier_of_one(budget) if sampling is None or steps is None else Fraction(1)
        count = enough_steps(problem, single) if steps is None else steps
        alone = fields.demand_one_of(release, WhichRelease, "release") == "last-iterate"
        if alone and steps is None and isinstance(sampling, Shuffle | Cyclic):
            count = -(-count // sampling.bins) * sampling.bins
        if alone:
            return made(planning.multiplier_within(budget, lambda z: made(z, count).last_iterate(problem)), count)
        if sampling is None:
            return made(single * planning.root_above(count), count)
        return made(planning.multiplier_within(budget, lambda z: released(z, sampling, count)), count)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return released(self.noise_multiplier, self.sampling, self.steps)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 3."""
        returned = self.descend(problem, run)
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={"objective_at_output": run.exact(returned.point)[0]},
            parameters={"step_size": self.step_size_for(problem), "distance": float(self.distance)},
            metric="objective" if self.sampling is None else "objective_at_output",
        )

    def starts(self, problem: FiniteSum, generators: Sequence[np.random.Generator], ledger: OpenLedger) -> Array:
        """Descend once per generator, shape (R, p), a start of another algorithm; ``bound`` is on its excess risk."""
        return self.descend(problem, OpenRun(problem, generators, ledger, self.noise)).point

    def descend(self, problem: FiniteSum, run: OpenRun) -> UniformIterate:
        """Run the pseudo-code above, in a run that may have begun before and may go on."""
        ball, eta, first = self._ball(problem), self.step_size_for(problem), problem.initial_point
        gradient = run.batch_gradients(self.sampling, self.noise_multiplier)
        returned = run.uniform_iterate(self.steps, ends=float(self.output == "last"))
        w = run.repeated(first)
        for t in run.steps(self.steps):
            returned.visit(t, w)
            g = gradient(w)
            run.measure(noise=squared_norms(g.noisy - g.exact), step=squared_norms(g.exact))
            if isinstance(g, GradientAnswer):
                run.measure(objective=g.objective)
            w = w - eta * g.noisy
            if ball is not None:
                w = first + ball.project(w - first)
        returned.visit(self.steps + 1, w)
        return returned

    def last_iterate(self, problem: FiniteSum) -> LastIterate:
        """Return the mechanism of a run that publishes its last iterate, and nothing else; its ledger has it, too.

        Raises:
            InvalidValue: The output is a random iterate, the noise is not exactly Gaussian, epochs are not whole,
                batches are drawn in another way, or no smoothness is known.

        Source: ``last_iterate.md``, sections 1 to 4.
        """
        declared, noise, scheme = self.plain_descent(problem).declared, Gaussian(self.noise_multiplier), self.sampling
        if scheme is None:
            return declared.read(noise, 1, self.steps, "fixed")
        assert isinstance(scheme, Shuffle | Cyclic)
        order = "shuffled" if isinstance(scheme, Shuffle) else scheme.order
        return declared.read(noise, scheme.bins, self.steps // scheme.bins, order)

    def plain_descent(self, problem: FiniteSum) -> PlainStep:
        """Return the updates of a run; raises as ``last_iterate``.

        With the ball, iterates stay where the problem's smoothness holds, and a step from there is Lipschitz.
        """
        fields.demand_one_of(self.output, Literal["last"], "output")
        fields.demand_one_of(self.noise, Literal["gaussian"], "noise")
        scheme = self.sampling
        if scheme is not None and not isinstance(scheme, Shuffle | Cyclic):
            advice = "of other batches nothing is proven: count all iterates"
            raise InvalidValue(
                "sampling", repr(scheme), "a Shuffle, a Cyclic or None for the last iterate alone", advice
            )
        if scheme is not None and self.steps % scheme.bins:
            raise InvalidValue("steps", self.steps, f"whole epochs of {scheme.bins} batches for the last iterate alone")
        ball, eta, first = self._ball(problem), self.step_size_for(problem), problem.initial_point
        order = scheme.order if isinstance(scheme, Cyclic) else "fixed"
        smoothness = at_least(smoothness_of_gradients(problem), "smoothness")
        declared = PlainDescent(Fraction(eta) * smoothness, order=order)
        project = None if ball is None else lambda w: first + ball.project(w - first)
        return PlainStep(declared, first, eta, project=project)

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η = D/√(T(G² + pσ²)) for the noise that is really drawn, rounded down."""
        return evaluate(proposition_d_1_explicit.step_size.subs(self.constants(problem)), {}).lower

    def bound(self, problem: FiniteSum, quasar_convexity: ExactLike | None = None) -> Enclosure:
        """Enclose the explicit bound on E F(ŵ) - inf F, for the noise that is really drawn.

        Args:
            problem: Supplies G, n and p. Its minimiser must lie within D of w₁, which the caller must know.
            quasar_convexity: q in (0, 1] wherever the iterates go. None: the constant of a linear model with realisable
                data within 2D of the minimiser, that is, anywhere in the ball of radius D around w₁.

        Raises:
            InvalidValue: Batches depend on each other or are cut, the output is the last iterate, the problem has no
                such constant, or nothing is projected and no q was
                given: within no radius
                are the iterates sure to stay.

        Source: Lowy, Ullman & Wright 2024, Proposition D.1 (without constants there).
        """
        demand_no_regulariser(problem)
        if isinstance(self.sampling, Visited):
            advice = (
                "the batches of an epoch depend on each other, so that a mean over one is not unbiased given the past"
            )
            raise InvalidValue("sampling", repr(self.sampling), "batches that do not depend on others", advice)
        if isinstance(self.sampling, Truncated):
            advice = "a sum over a sample that was cut is smaller in the mean: draw Poisson samples"
            raise InvalidValue("sampling", repr(self.sampling), "batches whose mean is unbiased", advice)
        fields.demand_one_of(self.output, Literal["random"], "output")
        q = self.quasar_constant(problem, quasar_convexity)
        values = {**self.constants(problem), symbols.quasar_convexity: q}
        return self.within(evaluate(proposition_d_1_explicit.bound.subs(values), {}), problem)

    def within(self, found: Enclosure, problem: FiniteSum) -> Enclosure:
        """Return a bound on F - inf F, at most the one in the ball: 2DG, as a minimiser lies within D of w₁, too."""
        across = 2 * sympy.Rational(self.distance) * sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
        return no_more_than_range(found, problem, None if self.variant == "as-printed" else across)

    def constants(self, problem: FiniteSum) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the constants from which step size and bound are computed.

        The proof needs E‖g_t‖² <= G² of an unbiased g_t: true for a mean over a batch. A Poisson sum divided by qn has
        E‖g_t‖² = ‖∇F‖² + (1-q)/(qn²) Σ‖∇f_i‖² <= G²(1 + (1-q)/(qn)), the variance of independent inclusions, so that G
        is taken to be larger by the root of that; a sample that is cut is no larger.
        """
        second_moment, sampling = Fraction(1), self.sampling
        if isinstance(sampling, Poisson | Truncated | Bins | Allocated):
            rate = (
                sampling.sample_rate
                if isinstance(sampling, Poisson | Truncated)
                else sampling.divisor(problem.records) / problem.records
            )
            second_moment += (1 - rate) / (rate * problem.records)
        reach = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
        return {
            symbols.lipschitz: reach * sympy.sqrt(sympy.Rational(second_moment)),
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.dataset_size: sympy.Integer(problem.records),
            symbols.steps: sympy.Integer(self.steps),
            symbols.diameter: sympy.Rational(self.distance),
            symbols.noise_stddev: sympy.Rational(stddev_of_batches(problem, sampling, self.noise_multiplier)),
        }

    def quasar_constant(self, problem: FiniteSum, given: ExactLike | None) -> sympy.Expr:
        """Return the constant q wherever the iterates go: as given, or of a linear model within 2D of its minimiser."""
        if given is not None:
            q = exact(given, "quasar_convexity")
            if not 0 < q <= 1:
                raise InvalidValue("quasar_convexity", given, "greater than 0 and at most 1")
            return sympy.Rational(q)
        if self.variant == "as-printed":
            advice = "give the constant that holds wherever the iterates go, or use the projected variant"
            raise InvalidValue("variant", repr(self.variant), "'projected' for a bound", advice)
        if not isinstance(problem, LinearModel):
            raise InvalidValue("quasar_convexity", None, "a constant for this problem")
        return problem.quasar_convexity(2 * self.distance)

    def _ball(self, problem: FiniteSum) -> L2Ball | None:
        """Return the ball onto which w - w₁ is projected, where the problem's constants hold; None as printed."""
        demand_no_regulariser(problem)
        radius = radius_of_domain(problem)
        if self.variant == "as-printed":
            if radius is not None:
                raise InvalidValue("radius", radius, "a problem on all of R^p for a method that does not project")
            return None
        reach = float(np.linalg.norm(problem.initial_point)) + float(self.distance)
        if radius is not None and reach > float(radius):
            allowed = f"a ball around w₁ within the problem's own, of radius {float(radius):g}"
            raise InvalidValue("distance", float(self.distance), allowed)
        return L2Ball(problem.dimension, self.distance)


def released(noise_multiplier: Fraction, sampling: Scheme, steps: int) -> Mechanism:
    """Return T releases, as one mechanism."""
    if isinstance(sampling, Visited):
        return sampling.visited(Gaussian(noise_multiplier), steps)
    return sampled(Gaussian(noise_multiplier), sampling) ** steps


def enough_steps(problem: FiniteSum, single_step_multiplier: Fraction) -> int:
    """Return T = ⌈n²ρ/(2p)⌉ of the explicit proposition at ρ = 2/z²."""
    values = {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.rho: 2 / single_step_multiplier**2,
    }
    return max(1, math.ceil(evaluate(proposition_d_1_explicit.enough_steps, values).upper))


def printed_steps(problem: FiniteSum, budget: PrivacyBudget) -> int:
    """Return ⌈(εn)²/(p ln(1/δ))⌉."""
    return math.ceil(evaluate(proposition_d_1_explicit.prescribed_steps, _printed(problem, budget)).upper)


def printed_multiplier(problem: FiniteSum, budget: PrivacyBudget, steps: int, sampling: Scheme) -> Fraction:
    """Return σ b/G of the printed σ² = 1000 G²T ln(1/δ)/(εn)², rounded up; b is n, or the divisor of a batch's sum."""
    values = {**_printed(problem, budget), symbols.steps: steps, symbols.lipschitz: 1}
    sigma = Fraction(evaluate(sympy.sqrt(proposition_5_2.variance), values).upper)
    return sigma * (problem.records if sampling is None else sampling.divisor(problem.records))


def _printed(problem: FiniteSum, budget: PrivacyBudget) -> dict[sympy.Symbol, int | Fraction]:
    return {
        symbols.dataset_size: problem.records,
        symbols.dimension: problem.dimension,
        symbols.epsilon: budget.epsilon,
        symbols.delta: budget.delta,
    }
