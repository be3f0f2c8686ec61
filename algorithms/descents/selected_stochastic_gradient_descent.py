"""DP-SGD with high probability: several runs for quasar-convex losses, and a private choice of the best.

Lowy, Ullman & Wright 2024, Proposition 5.2 and its proof in Appendix D, made explicit in
``lowy-ullman-wright-2024/proposition-5.2/explicit``. K = ⌈log₂(2/ζ)⌉ runs each miss twice their mean bound with
probability at most 1/2; all K outputs are released, and an exponential mechanism on their risks picks one.

Differences from the paper: every run is projected on the ball of radius D around w₁. The paper does not project, and
gives the mechanism no sensitivity; with the range 4GD, which only points within 2D of each other have, it is private
for no more than losses of bounded range M <= 2GD. ``variant="as-printed"`` draws exactly that, and writes into the
ledger what it really costs: ε₀ where M <= 2GD, ε₀ M/(2GD) where M is larger (the run then refuses to end), and it
refuses to start where the loss has no bounded range: then nothing is known to be promised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.descents.stochastic_gradient_descent import (
    StochasticGradientDescent,
    Variant,
    enough_steps,
    printed_multiplier,
    printed_steps,
)
from dpbounds.algorithms.method import FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least, choice
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_no_regulariser
from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import exact
from dpbounds.papers.lowy_ullman_wright_2024 import proposition_5_2_explicit
from dpbounds.privacy.mechanisms import Gaussian


@frozen(field_transformer=fields.named)
class SelectedStochasticGradientDescent(Method[FiniteSum]):
    """K runs of Algorithm 3 of Lowy, Ullman & Wright 2024 on all records, and a private choice among their outputs.

    ::

        for i = 1, ..., K:
            ŵ_i = Algorithm 3
        return ŵ_i with probability in proportion to exp(-ε₀ F(ŵ_i)/(2Δ))

    Outputs: "candidates", shape (R, K, p), and "chosen". Measured: F at the chosen point ("objective": where
    the data are realisable, inf F = 0) and at the best candidate ("best"); the square of the "noise" of every step.

    Attributes:
        noise_multiplier: Standard deviation on the sum of gradients in units of G, for every step of every run.
        steps: T of each run.
        runs: K.
        selection_epsilon: ε₀ > 0 of the choice, exact.
        distance: D > 0, at least the distance from w₁ to a minimiser.
        variant: "projected" or "as-printed".
    """

    title: ClassVar[str] = "selected stochastic gradient descent"
    metric: ClassVar[str] = "objective"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    runs: int = field(converter=fields.count)
    selection_epsilon: Fraction = field(converter=fields.multiplier)
    distance: Fraction = field(default=Fraction(1), converter=fields.positive)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    variant: Variant = field(default="projected", validator=fields.one_of(Variant))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        distance: ExactLike = 1,
        failure_probability: ExactLike = "1/20",
        selection_share: ExactLike = "1/4",
        variant: Variant = "projected",
    ) -> SelectedStochasticGradientDescent:
        """Plan for a budget, see ``Method``: the smallest proven noise, besides the choice.

        - ``steps``: T of each run; None for the explicit proposition's (or, as printed, the paper's)
        - ``failure_probability``: ζ in (0, 1); K = ⌈log₂(2/ζ)⌉
        - ``selection_share``: ε₀/ε in (0, 1); the paper has 1/2, which the variant as printed takes whatever is given
          here
        - ``variant``: "projected", or "as-printed" for every run at (ε/(2K), δ/K) with the constant 1000
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        kind = fields.demand_one_of(variant, Variant, "variant")
        demand_no_regulariser(problem)
        count = enough_runs(failure_probability)
        share = Fraction(1, 2) if kind == "as-printed" else fields.share(selection_share, "selection_share")
        chosen = share * budget.epsilon
        if steps is not None:
            fields.count(steps, "steps")
        if kind == "as-printed":
            each = PrivacyBudget(budget.epsilon / (2 * count), budget.delta / count, budget.relation)
            walked = printed_steps(problem, each) if steps is None else steps
            multiplier = printed_multiplier(problem, each, walked, None)
            return cls(multiplier, walked, count, chosen, distance, budget, kind)
        single = _multiplier_beside(budget, chosen)
        each_run = single * planning.root_above(count)
        walked = enough_steps(problem, each_run) if steps is None else steps
        return cls(single * planning.root_above(count * walked), walked, count, chosen, distance, budget, kind)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return Gaussian(self.noise_multiplier) ** (self.steps * self.runs) @ choice(
            self.selection_epsilon, self.relation
        )

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Return K runs, one after the other, and the choice."""
        one, (epsilon, sensitivity) = self.one_run, self.selection(problem)
        candidates = np.empty((run.repetitions, self.runs, problem.dimension))
        each_risk = []
        for i in range(self.runs):
            candidates[:, i] = one.descend(problem, run).point
            each_risk.append(run.exact(candidates[:, i])[0])
        risks = np.stack(each_risk, axis=1)
        run.forget("objective")
        chosen = run.choose(-risks, epsilon, sensitivity)
        each = np.arange(run.repetitions)
        return Outcome(
            candidates[each, chosen],
            outputs={"candidates": candidates, "chosen": chosen},
            measured={"objective": risks[each, chosen], "best": risks.min(axis=1)},
            parameters={
                "step_size": self.step_size_for(problem),
                "runs": float(self.runs),
                "distance": float(self.distance),
            },
        )

    def selection(self, problem: FiniteSum) -> tuple[Fraction, Fraction]:
        """Return ε of the choice, and the sensitivity Δ of the scores -F: weights are exp(-ε F/(2Δ)).

        A record that is added changes F by h/n, with h the record's loss: G-Lipschitz, and of range M where M is known.
        Over points within 2D of each other h varies by at most min(2GD, M); for a record that is replaced, h is a
        difference of two, with twice that range. What moves all scores alike cancels, so Δ is half of the range.

        Returns:
            Projected: ε₀ and that Δ. As printed: the weights are exp(-ε₀ n F/(4GD)) whatever the points and whatever
            the relation; Δ is that of the range M alone, and ε belongs to these weights.

        Raises:
            UnsupportedMechanism: As printed, the loss has no bounded range: nothing is known to be promised.
        """
        factor, n = self.relation.sensitivity_factor, problem.records
        travelled = 2 * at_least(problem.lipschitz, "lipschitz") * self.distance
        ranged = problem.loss_range is not None and problem.loss_range.is_finite is not False
        bounded = at_least(problem.loss_range, "loss_range") if ranged else None
        if self.variant == "projected":
            reach = travelled if bounded is None else min(travelled, bounded)
            return self.selection_epsilon, factor * reach / (2 * n)
        if bounded is None:
            raise UnsupportedMechanism(
                "candidates that are not projected lie in no set of known diameter, and the loss has no bounded range: "
                "no ε is known that this choice keeps; use the projected variant"
            )
        sensitivity = factor * bounded / (2 * n)
        return self.selection_epsilon * factor * bounded / (2 * travelled), sensitivity

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η of every run, rounded down."""
        return self.one_run.step_size_for(problem)

    @property
    def one_run(self) -> StochasticGradientDescent:
        """Return the mechanism that runs K times."""
        return StochasticGradientDescent(self.noise_multiplier, self.steps, self.distance, variant=self.variant)

    def bound(
        self,
        problem: FiniteSum,
        failure_probability: ExactLike | None = None,
        quasar_convexity: ExactLike | None = None,
    ) -> Enclosure:
        """Enclose the level that F(ŵ) - inf F exceeds with a probability of at most ζ.

        Args:
            problem: Supplies G, n and p; its minimiser must lie within D of w₁, which the caller must know.
            failure_probability: ζ, at least 2^(1-K), for which K runs are enough; None for that.
            quasar_convexity: q in (0, 1] wherever the iterates go, or None for a linear model with realisable data.

        Raises:
            InvalidValue: As ``StochasticGradientDescent.bound``; ζ is too small; or the variant is as printed.

        Source: Lowy, Ullman & Wright 2024, Proposition 5.2 (without constants there).
        """
        if self.variant == "as-printed":
            raise InvalidValue("variant", repr(self.variant), "'projected' for a bound")
        least = Fraction(2, 2**self.runs)
        demand_no_regulariser(problem)
        failure = least if failure_probability is None else exact(failure_probability, "failure_probability")
        if not least <= failure < 1:
            allowed = f"at least 2^(1-K) = {float(least):g} for {self.runs} runs, and less than 1"
            raise InvalidValue("failure_probability", failure_probability, allowed)
        values = self.one_run.constants(problem)
        # the ρ that all runs together would have with this noise: σ² = 2G²TK/(n²ρ)
        shift = values[symbols.lipschitz] / (problem.records * values[symbols.noise_stddev])
        values |= {
            symbols.rho: 2 * shift**2 * self.steps * self.runs,
            symbols.quasar_convexity: self.one_run.quasar_constant(problem, quasar_convexity),
            symbols.candidates: sympy.Integer(self.runs),
            symbols.step_epsilon: sympy.Rational(self.selection_epsilon),
            symbols.failure_probability: sympy.Rational(failure),
        }
        return self.one_run.within(evaluate(proposition_5_2_explicit.selected.subs(values), {}), problem)


@lru_cache(maxsize=256)
def _multiplier_beside(budget: PrivacyBudget, selection_epsilon: Fraction) -> Fraction:
    """Return the smallest proven noise multiplier of one Gaussian release beside one choice."""
    selection = choice(selection_epsilon, budget.relation)
    return planning.multiplier_within(budget, lambda z: Gaussian(z) @ selection)


def enough_runs(failure_probability: ExactLike) -> int:
    """Return K = ⌈log₂(2/ζ)⌉, exactly: the smallest with 2^(-K) <= ζ/2."""
    failure = fields.share(failure_probability, "failure_probability")
    return (math.ceil(2 / failure) - 1).bit_length()
