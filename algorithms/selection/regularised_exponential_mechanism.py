"""The regularised exponential mechanism: a point of a ball, of a density proportional to exp(-β(F + (μ/2)‖x‖²)).

Ganesh, Liu, Oh & Thakurta 2023, Section 5.1, with μ = p/(D²β). No loss need be convex or smooth. What differs:

- The paper shows privacy by a log-Sobolev inequality (Theorem 5.1), which allows no β of more than the order of ln(nd).
  A sample is pure ε-DP with ε = 2βGD/n where a record is replaced (half of that where one is added or removed, n being
  kept): one record moves the exponent by a function of that range, and what is added to all points alike cancels. So
  β = εn/(2GD) is the default, ``temperature="as-printed"`` the one of Theorem 5.6, with c = 3/10.
- A sampler is not its target. "exact" draws from the target itself, by rejection from a piecewise constant envelope on
  a net (few dimensions). "alternating" is the printed sampler, Algorithm 3: if its distribution is within total
  variation τ of the target on every dataset, the release is (ε, (1 + e^ε) τ)-DP; τ is proven, and the ledger says that.
  The paper adds δ only once. Its log-Sobolev constant, e^(βGD) D²/p, makes it a sampler for small βGD.
- With a number of steps that is too small for a proof, there is no guarantee, and the ledger says so, too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

import sympy
from attrs import field, frozen

from dpbounds.algorithms import fields
from dpbounds.algorithms.fields import demand_one_of, named
from dpbounds.algorithms.iterates import no_more_than_range
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import Array, Method, OpenRun, Outcome, computed
from dpbounds.algorithms.noise import PSEUDO_RANDOM
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.selection.alternate_sample import Schedule, alternate_sample, distance, schedule_for
from dpbounds.algorithms.selection.balls import objective_in_batches, radius_of, steepest
from dpbounds.algorithms.selection.gibbs import Gibbs, sample_exactly
from dpbounds.algorithms.selection.nets import LARGEST_NET
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, formatted_float, to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import temperature_constant, theorem_5_6, theorem_5_6_explicit
from dpbounds.privacy.mechanisms import ApproximateDP, ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation, as_relation

WhichSampler = Literal["exact", "alternating"]
WhichTemperature = Literal["largest", "as-printed"]

THEOREMS = {
    "spent": "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    "bound": "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    "distance": "ganesh-liu-oh-thakurta-2023/theorem-d.1",
}

NOISE_DRAWN = f"a sample {PSEUDO_RANDOM}"

MOST_STEPS = 1_000_000
_PRINTED_CONSTANT = Fraction(3, 10)


def _failure(value: ExactLike, name: str = "failure") -> Fraction:
    number = exact(value, name)
    return number if number in (0, 1) else fields.share(value, name)


@frozen(field_transformer=named)
class RegularisedExponentialMechanism(Method[FiniteSum]):
    """One sample of the regularised Gibbs distribution, for any ``FiniteSum``.

    ::

        return a point of the ball with density in proportion to exp(-β (F(x) + (μ/2)‖x‖²))

    Measured: the "objective" at the output.

    Attributes:
        epsilon: ε > 0 of the target: β is εn/(2GD) (replace-one) or εn/(GD) (add-or-remove-one).
        radius: R > 0 of the ball around 0; D = 2R.
        relation: The neighbouring relation for β; the budget's, if there is one.
        sampler: "exact" or "alternating".
        failure: The δ of the sampler; 0 for "exact". 1, together with a schedule, means no guarantee.
        schedule: The schedule of the alternating sampler, or None for one that is proven to satisfy ``failure``; below
            1, ``run`` raises an error for a schedule that is not.
    """

    metric: ClassVar[str] = "objective"
    noise_drawn: ClassVar[str] = NOISE_DRAWN
    activity: ClassVar[str] = "sampling"

    epsilon: Fraction = field(converter=fields.positive)
    radius: Fraction = field(converter=fields.positive)
    relation: Relation = field(default=Relation.REPLACE_ONE, converter=as_relation, validator=fields.of_the_budget)
    sampler: WhichSampler = field(default="exact", validator=fields.one_of(WhichSampler))
    failure: Fraction = field(default=Fraction(0), converter=_failure)
    schedule: Schedule | None = None
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

    def __attrs_post_init__(self) -> None:
        if self.sampler == "exact":
            if self.failure != 0 or self.schedule is not None:
                given = str(self.failure), self.schedule
                raise InvalidValue("failure, schedule", given, "0 and None", "the exact sampler has neither")
        elif self.failure == 1:
            if self.schedule is None:
                raise InvalidValue("schedule", None, "a schedule", "with failure = 1 the number of steps is undefined")
        else:
            fields.share(self.failure, "failure")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        radius: ExactLike | None = None,
        sampler: WhichSampler = "exact",
        temperature: WhichTemperature | None = None,
    ) -> RegularisedExponentialMechanism:
        """Plan for a budget, see ``Method``; "exact" does not use δ.

        - ``radius`` None: that of the problem
        - ``temperature``: "largest" (pure ε-DP), or "as-printed": the β of Theorem 5.6, which wants ε, δ < 1/2. None:
          the largest for "exact", the printed one for "alternating".

        Raises:
            InvalidValue: A number is not allowed, there is no radius, or the proven number of steps is too large.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        R = radius_of(problem, radius)
        chosen = temperature or ("largest" if sampler == "exact" else "as-printed")
        demand_one_of(chosen, WhichTemperature, "temperature")
        share = budget.epsilon if chosen == "largest" else min(budget.epsilon, _printed_share(problem, R, budget))
        # a tie at δ would be one that an accountant cannot decide
        failure = Fraction(0) if sampler == "exact" else budget.delta * (1 - Fraction(1, 2**30))
        made = cls(share, R, budget.relation, sampler, failure, budget=budget)
        made.schedule_for(problem)
        return made

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        if self.sampler == "exact":
            return ExponentialMechanism(self.epsilon, relation=self.relation)
        return ApproximateDP(self.epsilon, self.failure, relation=self.relation)

    def target(self, problem: FiniteSum) -> Gibbs:
        """Return the distribution to sample from, with β rounded down to a double."""
        factor, slope = self.relation.sensitivity_factor, at_least(problem.lipschitz, "lipschitz")
        beta = to_float(self.epsilon * problem.records / (factor * slope * 2 * self.radius), "down")
        return Gibbs(problem, self.radius, Fraction(beta))

    def schedule_for(self, problem: FiniteSum) -> Schedule | None:
        """Return the run length of the alternating sampler on this problem; None for the exact one.

        Raises:
            InvalidValue: The schedule at hand is not proven to keep ``failure``, or more than a million steps would.
        """
        if self.sampler == "exact":
            return None
        if self.failure == 1:
            return self.schedule
        allowed = self._tolerance()
        if self.schedule is None:
            return schedule_for(self.target(problem), allowed, MOST_STEPS)
        reached = distance(self.target(problem), self.schedule)
        if not reached.exact_upper <= allowed:
            found = f"{self.schedule.steps} steps, proven to be within {reached.decimals(4)[1]} of the target"
            advice = "leave the schedule out; with failure = 1 such a run promises nothing"
            raise InvalidValue("schedule", found, f"one within {formatted_float(allowed, '.4g', 'down')}", advice)
        return self.schedule

    def bound(self, problem: FiniteSum, risk: Literal["empirical", "population"] = "empirical") -> Enclosure:
        """Enclose the explicit bound on the expected excess risk over the ball, at the β that is drawn.

        The alternating sampler's distance τ from its target adds at most τ S D.

        Raises:
            InvalidValue: There is no G, no such risk, or nothing is known about the sampler's distance.
        """
        target = self.target(problem)
        sizes = {
            symbols.inverse_temperature: sympy.Rational(target.inverse_temperature),
            symbols.diameter: target.diameter,
            symbols.dimension: sympy.Integer(problem.dimension),
            symbols.dataset_size: sympy.Integer(problem.records),
        }
        total = theorem_5_6_explicit.empirical.subs(sizes | {symbols.lipschitz: steepest(problem)})
        if risk == "population":
            # only the part of a record can overfit; what is public is the same under both
            overfitting = theorem_5_6_explicit.population - theorem_5_6_explicit.empirical
            slope = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
            total += overfitting.subs(sizes | {symbols.lipschitz: slope})
        elif risk != "empirical":
            raise InvalidValue("risk", repr(risk), "'empirical' or 'population'")
        if self.sampler == "alternating":
            if self.failure == 1:
                raise InvalidValue("failure", 1, "less than 1", "the bound is about the target, which this may not be")
            total += sympy.Rational(self._tolerance()) * steepest(problem) * target.diameter
        return no_more_than_range(evaluate(total, {}), problem, steepest(problem) * target.diameter)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Draw."""
        target, schedule = self.target(problem), self.schedule_for(problem)
        numbers = {"inverse_temperature": float(target.inverse_temperature)}
        if schedule is not None:
            numbers["proximal_step"] = float(schedule.proximal_step)

        def drawn() -> Array:
            run.ledger.release(self.planned)
            if schedule is None:
                return sample_exactly(target, run.generators, LARGEST_NET)
            return alternate_sample(target, schedule, run.generators)

        output = run.released(drawn)
        return Outcome(
            output,
            measured={"objective": computed(objective_in_batches, problem, output)},
            parameters=numbers,
            title=f"regularised exponential mechanism, {self.sampler} sampler",
            steps=1 if schedule is None else schedule.steps,
        )

    def _tolerance(self) -> Fraction:
        """Return τ for which (1 + e^ε) τ is at most δ: rounded down."""
        return self.failure / (1 + Fraction(evaluate(sympy.exp(sympy.Rational(self.epsilon)), {}).exact_upper))


def _printed_share(problem: FiniteSum, radius: Fraction, budget: PrivacyBudget) -> Fraction:
    """Return the ε that the β of Theorem 5.6 spends, with the largest c that is proven, rounded down; ε, δ < 1/2."""
    half = Fraction(1, 2)
    for name, number in (("epsilon", budget.epsilon), ("delta", budget.delta)):
        if number >= half:
            raise InvalidValue(name, float(number), "less than 1/2", "that is the range of the printed temperature")
    slope, n = at_least(problem.lipschitz, "lipschitz"), problem.records
    values = {
        symbols.epsilon: sympy.Rational(budget.epsilon),
        symbols.delta: sympy.Rational(budget.delta),
        symbols.dataset_size: sympy.Integer(n),
        symbols.dimension: sympy.Integer(problem.dimension),
        symbols.lipschitz: sympy.Rational(slope),
        symbols.diameter: sympy.Rational(2 * radius),
        temperature_constant: sympy.Rational(_PRINTED_CONSTANT),
    }
    beta = Fraction(evaluate(theorem_5_6.temperature.subs(values), {}).lower)
    if beta <= 0:
        raise InvalidValue("records", n, "nd >= 2", "the printed temperature is zero")
    return budget.relation.sensitivity_factor * slope * 2 * radius * beta / n
