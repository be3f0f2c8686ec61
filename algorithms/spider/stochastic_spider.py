"""Stochastic Spider on the full batch: a gradient estimate that is updated by differences, and renewed when it drifts.

Ganesh, Liu, Oh & Thakurta 2023, Algorithm 1, with the Gaussian oracles of their equation (2). What differs from print:

- The drift that is tested contains the step that was just taken. Print tests the one before (line 9), so that an update
  is asked for after a step of any length, and their Lemma 3.3 does not hold.
- The noise is calibrated and certified. The noise printed in Theorem 4.2 spends up to 4φ of zCDP in the search, of
  which φ/2 is claimed, if a record is replaced.
- There are no kicks by default: what is proven, with constants, concerns points of first order. Kicks that are asked
  for move the point, which costs no privacy; printed kicks (line 8) query the records once more each.

The explicit bound is that of ``ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit``: the smallest gradient norm among the
iterates. Which iterate that is, a private selection has to find (``algorithms.selection``), with a budget of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import sympy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from algorithms import noise
from algorithms.iterates import squared_norms
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import Array, streams
from algorithms.oracles import GradientDifferenceOracle, GradientOracle, at_least
from algorithms.oracles.differences import distances
from algorithms.oracles.rows import Walk, of_rows
from algorithms.planning import (
    Group,
    checked_multiplier,
    checked_share,
    multiplier_of_one,
    multipliers_of_groups,
    root_above,
)
from algorithms.problems.domain import demand_all_of_space
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, settled
from algorithms.spider.capped_queries import CappedQueries
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, positive_integer, to_float
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.evaluation import Evaluation
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023 import lemma_3_3_explicit, theorem_4_2_explicit
from dpbounds.theorems.record import Theorem

Variant = Literal["repaired", "as-printed"]

THEOREMS = {
    "spent": "ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit",
    "smallest": "ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit",
    "as-printed": "ganesh-liu-oh-thakurta-2023/theorem-4.2",
}

_STATEMENT = theorem_4_2_explicit.THEOREM
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Kicks:
    """Random steps out of flat places.

    Attributes:
        below: A kick is due where the norm of the last estimate is at most this.
        wait: Γ, how many steps there are between two kicks at least.
        scale: Standard deviation of a kick on every coordinate: of the point, or (as printed, ζ₁/√d) of the estimate.

    Raises:
        InvalidValue: A number is not allowed.
    """

    below: float
    wait: int
    scale: float

    def __post_init__(self) -> None:
        positive_integer(self.wait, "wait")
        for name, number in (("below", self.below), ("scale", self.scale)):
            if not (math.isfinite(number) and number > 0):
                raise InvalidValue(name, number, "a finite number greater than 0")


@dataclass(frozen=True, slots=True, init=False)
class StochasticSpider:
    """Algorithm 1 of Ganesh, Liu, Oh & Thakurta 2023 on all records, for any ``FiniteSum`` over R^p.

    Attributes:
        noise_multiplier: Of a fresh estimate: standard deviation on the sum of gradients in units of G, exact.
        difference_multiplier: Of an update: standard deviation on the sum in units of M ‖x - y‖, exact.
        steps: T.
        fresh_estimates: T₁, how many fresh estimates a run may take; it stops where it would take one more.
        drift_threshold: κ, squared length that may be travelled on one fresh estimate.
        kicks: Or None.
        budget: What ``run`` holds its ledger against (as printed: what print claims), or None.
        variant: "repaired" or "as-printed".

    Args:
        noise_multiplier: Greater than 0.
        difference_multiplier: Greater than 0.
        steps: A positive whole number.
        fresh_estimates: A positive whole number, at most ``steps`` (more are never asked for).
        drift_threshold: Greater than 0.
        kicks: Optional.
        budget: Optional.
        variant: "as-printed" tests the drift without the last step, and kicks by fresh estimates.

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    difference_multiplier: Fraction
    steps: int
    fresh_estimates: int
    drift_threshold: float
    kicks: Kicks | None
    budget: PrivacyBudget | None
    variant: Variant

    def __init__(
        self,
        noise_multiplier: ExactLike,
        difference_multiplier: ExactLike,
        steps: int,
        fresh_estimates: int,
        drift_threshold: float,
        kicks: Kicks | None = None,
        budget: PrivacyBudget | None = None,
        variant: Variant = "repaired",
    ) -> None:
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        differences = checked_multiplier(difference_multiplier, "difference_multiplier")
        object.__setattr__(self, "difference_multiplier", differences)
        object.__setattr__(self, "steps", positive_integer(steps, "steps"))
        cap = positive_integer(fresh_estimates, "fresh_estimates")
        if cap > self.steps:
            raise InvalidValue("fresh_estimates", cap, f"at most steps = {self.steps}", "there is one query per step")
        object.__setattr__(self, "fresh_estimates", cap)
        object.__setattr__(self, "drift_threshold", checked_threshold(drift_threshold))
        object.__setattr__(self, "kicks", kicks)
        object.__setattr__(self, "budget", checked_budget(budget))
        if variant not in get_args(Variant):
            raise InvalidValue("variant", repr(variant), " or ".join(get_args(Variant)))
        object.__setattr__(self, "variant", variant)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        failure_probability: ExactLike = "0.1",
        kicks: Kicks | None = None,
        variant: Variant = "repaired",
    ) -> StochasticSpider:
        """Return the algorithm with the smallest proven noise for a budget, and the parameters that suit it.

        E, T, κ and T₁ are those of the explicit theorem, for the zCDP ρ of the one Gaussian release that keeps the
        budget; half of the budget goes to fresh estimates, half to updates. As printed, E, T, κ and T₁ are the same
        formulas (print has unknown constants), but ρ is φ/2 for the φ with φ + 2√(φ ln(1/δ)) = ε, and the noise is that
        of the printed theorem: it spends more than the budget if a record is replaced.

        Args:
            problem: Supplies n, p, G, M and the bound B on the initial gap; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            relation: "replace-one" (the paper's) or "add-or-remove-one".
            failure_probability: ω in (0, 1), with which the bound may fail.
            kicks: Optional; there is no bound then.
            variant: "repaired" or "as-printed".

        Raises:
            InvalidValue: A number is not allowed, or the problem lacks a constant.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        omega = checked_share(failure_probability, "failure_probability")
        printed = claimed_zcdp(budget)
        single = multiplier_of_one(budget)
        # the theorem's formulas are for replace-one: T₁ and T releases of multiplier z₁ and z₂ cost 2(T₁/z₁² + T/z₂²)
        rho = printed / 2 if variant == "as-printed" else 2 / single**2
        steps, fresh, kappa = tuned(problem, rho, omega)
        if variant == "as-printed":
            # G√T₁/(n√φ) and M√T/(n√φ)
            noises = root_above(fresh / printed), root_above(steps / printed)
            return cls(*noises, steps, fresh, kappa, kicks, budget, variant)
        while True:
            groups = {"fresh": Group(fresh, _HALF), "differences": Group(steps, _HALF)}
            found = multipliers_of_groups(budget, groups)
            made = cls(found["fresh"], found["differences"], steps, fresh, kappa, kicks, budget, variant)
            # in few steps the error exceeds E a little, and T₁ must be larger than it is at E
            if fresh == steps or made._evaluated(problem, omega).applies:
                return made
            fresh += 1

    @property
    def planned(self) -> Mechanism:
        """The most that a run releases, whichever queries it makes, as a mechanism for the accountants.

        The number of queries of either kind depends on the run; the caps and the noise multipliers do not, which is
        what the account rests on (see ``capped_queries``).
        """
        return (
            Gaussian(self.noise_multiplier) ** self.fresh_estimates @ Gaussian(self.difference_multiplier) ** self.steps
        )

    def error_bound(self, problem: FiniteSum, failure_probability: ExactLike = "0.1") -> Enclosure:
        """Enclose the bound on the largest error of all estimates of a run, which fails with probability ω at most.

        Raises:
            InvalidValue: The bound is not proven: as printed.
        """
        if self.variant == "as-printed":
            raise InvalidValue("variant", "as-printed", "'repaired'", "the printed drift bounds no error")
        omega = checked_share(failure_probability, "failure_probability")
        values = self._drawn(problem) | {"failure_probability": omega}
        found: Enclosure = lemma_3_3_explicit.THEOREM.evaluate(None, digits=15, **values).value
        return found

    def bound(self, problem: FiniteSum, failure_probability: ExactLike = "0.1") -> Enclosure:
        """Enclose the bound on min_t ‖∇F(x_t)‖ that holds with probability 1 - ω, for the noise really drawn.

        Args:
            problem: Supplies n, p, G, M and B.
            failure_probability: ω in (0, 1).

        Raises:
            InvalidValue: The bound is not proven: as printed, with kicks, or where T₁ is too small for κ.
        """
        if self.variant == "as-printed" or self.kicks is not None:
            what = "as printed" if self.variant == "as-printed" else "with kicks"
            advice = "nothing else has a proven bound"
            raise InvalidValue("variant", what, "the repaired algorithm without kicks", advice)
        omega = checked_share(failure_probability, "failure_probability")
        return demand_enough(self._evaluated(problem, omega), self.fresh_estimates, self.steps)

    def _evaluated(self, problem: FiniteSum, failure_probability: Fraction) -> Evaluation:
        values = self._drawn(problem) | {
            "smoothness": 1 / Fraction(step_size_for(problem)),  # η = 1/M, for an M that rounding made a hair larger
            "loss_range": at_least(problem.initial_gap, "initial_gap"),
            "steps": Fraction(self.steps),
            "failure_probability": failure_probability,
        }
        return _STATEMENT.evaluate(None, digits=15, **values)

    def _drawn(self, problem: FiniteSum) -> dict[str, Fraction]:
        """What the bound on errors depends on: the noise that is drawn, how far an estimate is carried."""
        demand_all_of_space(problem)
        fresh = GradientOracle(problem, self.noise_multiplier, (), OpenLedger()).noise_stddev
        return {
            "noise_stddev": Fraction(fresh),
            "difference_noise_stddev": difference_stddev(self.difference_multiplier, problem, problem.records),
            "drift_threshold": Fraction(self.drift_threshold),
            "dimension": Fraction(problem.dimension),
            "fresh_estimates": Fraction(self.fresh_estimates),
        }

    def run(self, problem: FiniteSum, seed: int = 0, repetitions: int = 32) -> Run:
        """Run Algorithm 1 ``repetitions`` times at once, with independent randomness.

        Args:
            problem: What to minimise, over all of R^p (a problem with a set or an l1 term is refused).
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.

        Returns:
            The run: ``output[r]`` is the last iterate and ``outputs["iterates"][r]`` are all, x_0 .. x_T, private at
            the ledger's cost, one repetition. The trace, and what was measured, are not: ``smallest`` is min_t
            ‖∇F(x_t)‖ for t < T, ``largest error`` that of all estimates, ``fresh`` and ``updates`` count queries,
            ``stopped`` is 1 where the cap ended the run.

        Raises:
            InvalidValue: Seed or repetitions are not allowed.
            BudgetExceeded: The ledger shows more than was planned.
        """
        demand_all_of_space(problem)
        T, eta, is_printed = self.steps, step_size_for(problem), self.variant == "as-printed"
        generators = streams(seed, repetitions)
        R = len(generators)
        ledger, exact_gradients = OpenLedger(), Walk(problem)
        fresh = CappedQueries(Gaussian(self.noise_multiplier), self.fresh_estimates, R, ledger)
        updates = CappedQueries(Gaussian(self.difference_multiplier), T, R, ledger)
        first = GradientOracle(problem, self.noise_multiplier, generators, fresh, gradients=exact_gradients)
        second = GradientDifferenceOracle(
            problem, self.difference_multiplier, generators, updates, gradients=exact_gradients
        )
        measured = Recorders(("exact", "error", "objective"), T, R)

        started = time.perf_counter()
        x = np.tile(problem.initial_point, (R, 1))
        before, estimate = x, np.zeros_like(x)
        iterates = np.empty((R, T + 1, problem.dimension))
        drift, drift_before = np.full(R, np.inf), np.full(R, np.inf)  # "drift_0 = κ": the first estimate is a fresh one
        frozen, stopped = np.zeros(R, dtype=np.int64), np.zeros(R, dtype=np.bool_)
        size = np.full(R, np.inf)
        smallest, largest = np.full(R, np.inf), np.zeros(R)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(T):
                iterates[:, t] = x
                objective, gradient = exact_gradients.move(x)
                kicked = ~stopped & self._due(size, frozen)
                frozen[kicked] = 0 if self.kicks is None else self.kicks.wait
                # repaired: the drift with the step from x_{t-1} to x_t; as printed, line 9, without it
                anew = ~stopped & ((drift_before if is_printed else drift) >= self.drift_threshold)
                if is_printed:
                    anew |= kicked  # line 8: a kick is a fresh estimate with noise on top
                stopped |= anew & (fresh.counts >= self.fresh_estimates)
                anew &= ~stopped
                follow = ~anew & ~stopped
                if anew.any():
                    # line 10
                    estimate[anew] = _asked(first, fresh, exact_gradients, generators, anew, x)
                    drift[anew] = 0.0
                if follow.any():
                    # line 12
                    estimate[follow] += _asked(second, updates, exact_gradients, generators, follow, x, before)
                moves = -eta * estimate
                if self.kicks is not None and (kicked & ~stopped).any():
                    push = kicked & ~stopped
                    drawn = self.kicks.scale * noise.standard_gaussian(of_rows(generators, push), x.shape[1])
                    if is_printed:
                        estimate[push] += drawn
                        moves = -eta * estimate
                    else:
                        moves[push] += drawn
                following = np.where(stopped[:, None], x, x + moves)  # line 14
                drift_before, drift = drift.copy(), drift + distances(following, x) ** 2
                before, x = x, following
                frozen -= 1
                size = np.sqrt(squared_norms(estimate))

                slopes, errors = squared_norms(gradient), squared_norms(estimate - gradient)
                smallest = np.minimum(smallest, np.sqrt(slopes))
                largest = np.where(stopped, largest, np.maximum(largest, np.sqrt(errors)))
                measured["exact"].add(slopes)
                measured["error"].add(errors)
                measured["objective"].add(objective)
        iterates[:, T] = x
        walked = time.perf_counter()

        fresh.write()
        updates.write()
        budget = None if is_printed else self.budget  # print spends more than it claims: its ledger says how much
        closed, spent = settled(ledger, self.planned, budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="stochastic spider" + (", as printed" if is_printed else ""),
            output=x,
            outputs={"iterates": iterates},
            trace=measured.trace(),
            measured={
                "smallest": smallest,
                "largest error": largest,
                "fresh": fresh.counts.astype(np.float64),
                "updates": updates.counts.astype(np.float64),
                "stopped": stopped.astype(np.float64),
            },
            metric="smallest",
            ledger=closed,
            budget=budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta, "drift_threshold": self.drift_threshold},
            seed=int(seed),
            timings={"search": walked - started, "accounting": accounted - walked},
        )

    def _due(self, size: Array, frozen: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self.kicks is None:
            return np.zeros(len(size), dtype=np.bool_)
        due: NDArray[np.bool_] = (size <= self.kicks.below) & (frozen <= 0)
        return due


def tuned(problem: FiniteSum, rho: Fraction, failure_probability: Fraction) -> tuple[int, int, float]:
    """T, T₁ and κ of the explicit theorem for a search that costs ρ of zCDP if a record is replaced.

    T₁ is at most T, with which it is no cap at all.

    Raises:
        InvalidValue: The problem lacks a constant, or has a set or a regulariser.
    """
    demand_all_of_space(problem)
    risk = {
        "smoothness": at_least(problem.smoothness, "smoothness"),
        "loss_range": at_least(problem.initial_gap, "initial_gap"),
    }
    slope = {"lipschitz": at_least(problem.lipschitz, "lipschitz")}
    given = {"rho": rho, "failure_probability": failure_probability}
    sizes = {"dataset_size": Fraction(problem.records), "dimension": Fraction(problem.dimension)}
    level = {"accuracy": from_above(_STATEMENT, "accuracy", risk | slope | given | sizes)}
    steps = max(1, math.ceil(from_above(_STATEMENT, "steps", level | risk)))
    lengths = {"smoothness": risk["smoothness"]} | slope
    kappa = from_above(_STATEMENT, "drift_threshold", level | lengths)
    # a hair more, so that T₁ is large enough for noise that was rounded up
    reached = {"accuracy": level["accuracy"] * (1 + Fraction(1, 10**9))}
    counts = {"steps": Fraction(steps), "drift_threshold": kappa}
    fresh = math.ceil(from_above(_STATEMENT, "fresh_estimates", reached | counts | risk))
    return steps, min(steps, fresh), float(kappa)


def from_above(statement: Theorem, part: str, values: Mapping[str, Fraction]) -> Fraction:
    """A part of a statement at exact values, rounded up to a double."""
    return Fraction(statement.evaluate(part, digits=15, **values).value.upper)


def demand_enough(found: Evaluation, fresh_estimates: int, steps: int) -> Enclosure:
    """The value of a bound whose conditions hold, or hold because nothing stops the run.

    Raises:
        InvalidValue: The cap on fresh estimates may stop the run before the bound is reached.
    """
    # a run that may take a fresh estimate at every step is never stopped, which is all that T₁ is needed for
    if found.applies is not True and fresh_estimates < steps:
        advice = "so that the run is not stopped before the bound is reached: more of them, or a larger κ"
        raise InvalidValue("fresh_estimates", fresh_estimates, "1 + (6B/M + 4.5 T E²/M²)/κ at least", advice)
    return found.value


def claimed_zcdp(budget: PrivacyBudget) -> Fraction:
    """φ with φ + 2√(φ ln(1/δ)) = ε, rounded down: what the paper calls (ε, δ)-privacy by φ-zCDP (its Lemma A.4)."""
    log = sympy.log(1 / sympy.Rational(budget.delta))
    root = sympy.sqrt(log + sympy.Rational(budget.epsilon)) - sympy.sqrt(log)
    return Fraction(evaluate(root**2, {}).lower)


def difference_stddev(multiplier: Fraction, problem: FiniteSum, divisor: int) -> Fraction:
    """σ₂, the standard deviation of an update per distance, rounded up: the oracle rounds within a relative 2^-40."""
    return multiplier * at_least(problem.smoothness, "smoothness") / divisor * (1 + Fraction(1, 2**40))


def step_size_for(problem: FiniteSum) -> float:
    """η = 1/M, rounded down to a double."""
    return to_float(1 / at_least(problem.smoothness, "smoothness"), "down")


def checked_threshold(value: float) -> float:
    """κ as a double greater than 0, or ``InvalidValue``."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidValue("drift_threshold", value, "a finite number greater than 0")
    return float(value)


def _asked(
    oracle: GradientOracle | GradientDifferenceOracle,
    queries: CappedQueries,
    exact_gradients: Walk,
    generators: tuple[np.random.Generator, ...],
    rows: NDArray[np.bool_],
    *points: Array,
) -> Array:
    """One query by some of the repetitions, granted first; returns the noisy answers."""
    queries.grant(rows)
    exact_gradients.show(rows)
    asked = replace(oracle, generators=of_rows(generators, rows))
    answer: Array = asked(*(each[rows] for each in points)).noisy
    return answer
