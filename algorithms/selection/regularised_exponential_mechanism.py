"""The regularised exponential mechanism: a point of a ball, of a density proportional to exp(-β(F + (μ/2)‖x‖²)).

Ganesh, Liu, Oh & Thakurta 2023, Section 5.1, with μ = p/(D²β). No loss need be convex or smooth. What differs:

- Print shows privacy by a log-Sobolev inequality (Theorem 5.1), which allows no β of more than the order of ln(nd). A
  sample is pure ε-DP with ε = 2βGD/n where a record is replaced (half of that where one is added or removed, n being
  kept): one record moves the exponent by a function of that range, and what is added to all points alike cancels. So
  β = εn/(2GD) is the default, ``temperature="as-printed"`` the one of Theorem 5.6, with c = 3/10.
- A sampler is not its target. "exact" draws from the target itself, by rejection from a piecewise constant envelope on
  a net (few dimensions). "alternating" is the printed sampler, Algorithm 3: if its law is within total variation τ of
  the target on every data set, the release is (ε, (1 + e^ε) τ)-DP; τ is proven, and the ledger says that. Print adds δ
  only once. Its log-Sobolev constant, e^(βGD) D²/p, makes it a sampler for small βGD.
- With a number of steps that is too small for a proof, nothing is promised, and the ledger says that, too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import sympy
from threadpoolctl import threadpool_limits

from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import streams
from algorithms.oracles import at_least
from algorithms.planning import checked_share
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Run, Trace, settled
from algorithms.selection.alternate_sample import Schedule, alternate_sample, distance, schedule_for
from algorithms.selection.balls import objective_in_batches, radius_of, steepest
from algorithms.selection.gibbs import Gibbs, sample_exactly
from algorithms.selection.nets import LARGEST_NET
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, to_float
from dpbounds.privacy.mechanisms import ApproximateDP, ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023 import theorem_5_6, theorem_5_6_explicit
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import temperature_constant

WhichSampler = Literal["exact", "alternating"]
WhichTemperature = Literal["largest", "as-printed"]

THEOREMS = {
    "spent": "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    "bound": "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    "distance": "ganesh-liu-oh-thakurta-2023/theorem-d.1",
}

NOISE_DRAWN = "a sample in double precision, from a seeded generator: for experiments, not for adversarial releases"

MOST_STEPS = 1_000_000
_PRINTED_CONSTANT = Fraction(3, 10)


@dataclass(frozen=True, slots=True, init=False)
class RegularisedExponentialMechanism:
    """One sample of the regularised Gibbs distribution, for any ``FiniteSum``.

    Attributes:
        epsilon: ε of the target: β is εn/(2GD) (replace-one) or εn/(GD) (add-or-remove-one).
        radius: R of the ball around 0; D = 2R.
        relation: For which β is made.
        failure: δ that the sampler may cost; 0 for "exact". 1: nothing is promised.
        sampler: "exact" or "alternating".
        schedule: Of the alternating sampler, or None for the one that is proven to keep ``failure``.
        budget: What ``run`` holds its ledger against, or None.

    Args:
        epsilon: Greater than 0.
        radius: Greater than 0.
        relation: "replace-one" or "add-or-remove-one"; the budget's, if there is one.
        sampler: Optional.
        failure: For "alternating": in (0, 1), or 1 together with a schedule.
        schedule: Optional. With ``failure`` below 1, ``run`` refuses one that is not proven to keep it.
        budget: Optional.

    Raises:
        InvalidValue: A value is not allowed.
    """

    epsilon: Fraction
    radius: Fraction
    relation: Relation
    failure: Fraction
    sampler: WhichSampler
    schedule: Schedule | None
    budget: PrivacyBudget | None

    def __init__(
        self,
        epsilon: ExactLike,
        radius: ExactLike,
        relation: str | Relation = Relation.REPLACE_ONE,
        sampler: WhichSampler = "exact",
        failure: ExactLike = 0,
        schedule: Schedule | None = None,
        budget: PrivacyBudget | None = None,
    ) -> None:
        share, R, between = exact(epsilon, "epsilon"), exact(radius, "radius"), as_relation(relation)
        for name, number in (("epsilon", share), ("radius", R)):
            if number <= 0:
                raise InvalidValue(name, number, "a number greater than 0")
        if sampler not in get_args(WhichSampler):
            raise InvalidValue("sampler", repr(sampler), " or ".join(get_args(WhichSampler)))
        if budget is not None and budget.relation is not between:
            raise InvalidValue("relation", between, f"that of the budget, {budget.relation}")
        object.__setattr__(self, "epsilon", share)
        object.__setattr__(self, "radius", R)
        object.__setattr__(self, "relation", between)
        object.__setattr__(self, "failure", _checked_failure(failure, sampler, schedule))
        object.__setattr__(self, "sampler", sampler)
        object.__setattr__(self, "schedule", schedule)
        object.__setattr__(self, "budget", checked_budget(budget))

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
        """Return the mechanism that keeps a budget, from public numbers: n, p, G and the radius.

        Args:
            problem: Supplies these numbers; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep; "exact" uses nothing of it.
            relation: "replace-one" or "add-or-remove-one".
            radius: R, or None for that of the problem.
            sampler: "exact" or "alternating".
            temperature: "largest" (pure ε-DP), or "as-printed": the β of Theorem 5.6, which wants ε, δ < 1/2. None:
                the largest for "exact", the printed one for "alternating".

        Raises:
            InvalidValue: A number is not allowed, there is no radius, or the proven number of steps is too large.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        R = radius_of(problem, radius)
        chosen = temperature or ("largest" if sampler == "exact" else "as-printed")
        if chosen not in get_args(WhichTemperature):
            raise InvalidValue("temperature", repr(temperature), " or ".join(get_args(WhichTemperature)))
        share = budget.epsilon if chosen == "largest" else min(budget.epsilon, _printed_share(problem, R, budget))
        # a tie at δ would be one that an accountant cannot decide
        failure = Fraction(0) if sampler == "exact" else budget.delta * (1 - Fraction(1, 2**30))
        made = cls(share, R, budget.relation, sampler, failure, budget=budget)
        made.schedule_for(problem)
        return made

    @property
    def planned(self) -> Mechanism:
        """What a run releases, as a mechanism for the accountants."""
        if self.sampler == "exact":
            return ExponentialMechanism(self.epsilon, relation=self.relation)
        return ApproximateDP(self.epsilon, self.failure, relation=self.relation)

    def target(self, problem: FiniteSum) -> Gibbs:
        """What is sampled, with β rounded down to a double."""
        factor, slope = self.relation.sensitivity_factor, at_least(problem.lipschitz, "lipschitz")
        beta = to_float(self.epsilon * problem.records / (factor * slope * 2 * self.radius), "down")
        return Gibbs(problem, self.radius, Fraction(beta))

    def schedule_for(self, problem: FiniteSum) -> Schedule | None:
        """How long the alternating sampler runs on this problem; None for the exact one.

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
            found = f"{self.schedule.steps} steps, proven to be within {reached.upper:.4g} of the target"
            advice = "leave the schedule out; with failure = 1 such a run promises nothing"
            raise InvalidValue("schedule", found, f"one within {float(allowed):.4g}", advice)
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
        total = theorem_5_6_explicit.empirical().subs(sizes | {symbols.lipschitz: steepest(problem)})
        if risk == "population":
            # only the part of a record can overfit; what is public is the same under both
            overfitting = theorem_5_6_explicit.population() - theorem_5_6_explicit.empirical()
            slope = sympy.Rational(at_least(problem.lipschitz, "lipschitz"))
            total += overfitting.subs(sizes | {symbols.lipschitz: slope})
        elif risk != "empirical":
            raise InvalidValue("risk", repr(risk), "'empirical' or 'population'")
        if self.sampler == "alternating":
            if self.failure == 1:
                raise InvalidValue("failure", 1, "less than 1", "the bound is about the target, which this may not be")
            total += sympy.Rational(self._tolerance()) * steepest(problem) * target.diameter
        return evaluate(total, {})

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Draw ``repetitions`` samples, with independent randomness.

        Args:
            problem: What to minimise.
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run. ``output[r]`` is private (one repetition, at the ledger's cost); ``measured``, the objective at the
            output, is not.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, the problem does not fit, or the sampler cannot draw.
            BudgetExceeded: The ledger shows more than was planned.
        """
        generators = streams(seed, repetitions)
        target, schedule = self.target(problem), self.schedule_for(problem)
        ledger = OpenLedger()
        started = time.perf_counter()
        ledger.release(self.planned)
        with threadpool_limits(limits=1, user_api="blas"):
            if schedule is None:
                output = sample_exactly(target, generators, LARGEST_NET)
            else:
                output = alternate_sample(target, schedule, generators)
            objective = objective_in_batches(problem, output)
        drawn = time.perf_counter()
        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        numbers = {"inverse_temperature": float(target.inverse_temperature)}
        if schedule is not None:
            numbers["proximal_step"] = float(schedule.proximal_step)
        return Run(
            algorithm=f"regularised exponential mechanism, {self.sampler} sampler",
            output=output,
            trace=Trace(),
            measured={"objective": objective},
            metric="objective",
            ledger=closed,
            budget=self.budget,
            spent=spent,
            steps=1 if schedule is None else schedule.steps,
            parameters=numbers,
            seed=int(seed),
            timings={"sampling": drawn - started, "accounting": accounted - drawn},
            noise_drawn=NOISE_DRAWN,
        )

    def _tolerance(self) -> Fraction:
        """τ for which (1 + e^ε) τ is at most δ: rounded down."""
        return self.failure / (1 + Fraction(evaluate(sympy.exp(sympy.Rational(self.epsilon)), {}).exact_upper))


def _checked_failure(failure: ExactLike, sampler: WhichSampler, schedule: Schedule | None) -> Fraction:
    share = exact(failure, "failure")
    if sampler == "exact":
        if share != 0 or schedule is not None:
            raise InvalidValue("failure, schedule", (failure, schedule), "0 and None", "the exact sampler has neither")
        return share
    if share == 1 and schedule is None:
        raise InvalidValue("schedule", None, "a schedule", "with failure = 1 nothing says how long to run")
    return share if share == 1 else checked_share(share, "failure")


def _printed_share(problem: FiniteSum, radius: Fraction, budget: PrivacyBudget) -> Fraction:
    """The ε that the β of Theorem 5.6 spends, with the largest c that is proven, rounded down.

    Raises:
        InvalidValue: ε or δ is not below 1/2, as the theorem wants them.
    """
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
    beta = Fraction(evaluate(theorem_5_6.temperature().subs(values), {}).lower)
    if beta <= 0:
        raise InvalidValue("records", n, "nd >= 2", "the printed temperature is zero")
    return budget.relation.sensitivity_factor * slope * 2 * radius * beta / n
