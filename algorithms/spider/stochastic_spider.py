"""Stochastic Spider on the full batch: a gradient estimate that is updated by differences, and renewed when it drifts.

Ganesh, Liu, Oh & Thakurta 2023, Algorithm 1, with the Gaussian oracles of their equation (2). Differences from the
paper:

- The drift that is tested contains the step that was just taken. The paper tests the one before (line 9), so that an
  update is asked for after a step of any length, and their Lemma 3.3 does not hold.
- The noise is calibrated and certified. The noise printed in Theorem 4.2 spends up to 4φ of zCDP in the search, of
  which φ/2 is claimed, if a record is replaced.
- What is returned begins with x_0; the paper numbers the same points from x_1 (and its "while t <= T" makes one step
  more).
- There are no kicks by default: what is proven, with constants, concerns points of first order. Kicks that are asked
  for move the point, which costs no privacy; printed kicks (line 8) query the records once more each.

The explicit bound is that of ``ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit``: the smallest gradient norm among the
iterates. Which iterate that is, a private selection has to find (``dpbounds.algorithms.selection``), with a budget of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import sympy
from attrs import Attribute, field, frozen
from numpy.typing import NDArray

from dpbounds.algorithms import fields, noise, planning
from dpbounds.algorithms.iterates import no_more_than_slope, squared_norms
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome, stddev_of_gradients
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.oracles.differences import distances
from dpbounds.algorithms.oracles.rows import Walk, asked, of_rows
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.spider.capped_queries import CappedQueries, written_for_all
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import lemma_3_3_explicit, theorem_4_2_explicit
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.evaluation import Evaluation
from dpbounds.theorems.record import Theorem

Variant = Literal["repaired", "as-printed"]
Rows = NDArray[np.bool_]

_STATEMENT = theorem_4_2_explicit.THEOREM
_HALF = Fraction(1, 2)


def at_most_one_a_step(record: Any, field: Attribute[Any], value: int) -> None:
    """Raise ``InvalidValue`` unless T₁ is at most T: a validator."""
    if value > record.steps:
        raise InvalidValue(field.name, value, f"at most steps = {record.steps}", "there is one query per step")


@frozen(field_transformer=fields.named)
class Kicks:
    """Random steps out of flat places.

    Attributes:
        below: A kick is due where the norm of the last estimate is at most this.
        wait: Γ, how many steps there are between two kicks at least: they come Γ + 1 apart, or later.
        scale: Standard deviation of a kick on every coordinate: of the point, or (as printed, ζ₁/√d) of the estimate.
    """

    below: float = field(converter=fields.length)
    wait: int = field(converter=fields.count)
    scale: float = field(converter=fields.length)


@frozen(field_transformer=fields.named)
class StochasticSpider(Method[FiniteSum]):
    """Algorithm 1 of Ganesh, Liu, Oh & Thakurta 2023 on all records, for any ``FiniteSum`` over R^p.

    ::

        drift = ∞
        for t = 0, ..., T - 1:
            if drift >= κ:  stop if T₁ fresh estimates were taken, else
                            ∇_t = ∇F(x_t) + noise;  drift = 0
            else:           ∇_t = ∇_{t-1} + ∇F(x_t) - ∇F(x_{t-1}) + noise
            x_{t+1} = x_t - ∇_t/M (+ a kick where one is due);  drift = drift + ‖x_{t+1} - x_t‖²
        return x_0, ..., x_T

    Outputs: "iterates", shape (R, T + 1, p), of which ``output`` is the last. Measured: "smallest", min_t ‖∇F(x_t)‖ for
    t < T; "largest error" of all estimates; "fresh" and "updates" count queries; "stopped" is 1 if the cap ended the
    run; at every step ‖∇F(x_t)‖² ("exact"), ‖∇_t - ∇F(x_t)‖² ("error") and F ("objective").

    Attributes:
        noise_multiplier: Standard deviation of a fresh estimate, on the sum of gradients in units of G.
        difference_multiplier: Standard deviation of an update, on the sum in units of M ‖x - y‖.
        fresh_estimates: T₁, at most T.
        drift_threshold: κ > 0, the largest squared path length on one fresh estimate.
        kicks: The kicks, or None.
        budget: See ``Method``; for "as-printed", the claim of the published version.
        variant: "repaired", or "as-printed": the drift is tested without the last step, and a kick is a fresh estimate
            with noise on top.
    """

    metric: ClassVar[str] = "smallest"
    activity: ClassVar[str] = "search"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    difference_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    fresh_estimates: int = field(converter=fields.count, validator=at_most_one_a_step)
    drift_threshold: float = field(converter=fields.length)
    kicks: Kicks | None = None
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    variant: Variant = field(default="repaired", validator=fields.one_of(Variant))
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

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
        noise: fields.WhichNoise = "gaussian",
    ) -> StochasticSpider:
        """Plan for a budget, see ``Method``; ``failure_probability`` is ω, with which the bound may fail.

        E, T, κ and T₁ are those of the explicit theorem, for the zCDP ρ of the one Gaussian release that keeps the
        budget; half of the budget goes to fresh estimates, half to updates. As printed, E, T, κ and T₁ are the same
        formulas (the paper has unknown constants), but ρ is φ/2 for the φ with φ + 2√(φ ln(1/δ)) = ε, and the noise is
        that of the printed theorem: it spends more than the budget if a record is replaced. With kicks there is no
        bound.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        omega = fields.share(failure_probability, "failure_probability")
        printed = claimed_zcdp(budget)
        single = planning.multiplier_of_one(budget)
        # the theorem's formulas are for replace-one: T₁ and T releases of multiplier z₁ and z₂ cost 2(T₁/z₁² + T/z₂²)
        rho = printed / 2 if variant == "as-printed" else 2 / single**2
        # a hair more of error, so that T₁ is large enough for noise that was rounded up
        steps, fresh, kappa = tuned(_STATEMENT, problem, rho, omega, slack=Fraction(1, 10**9))
        if variant == "as-printed":
            # G√T₁/(n√φ) and M√T/(n√φ)
            noises = planning.root_above(fresh / printed), planning.root_above(steps / printed)
            return cls(*noises, steps, fresh, kappa, kicks, budget, variant, noise)
        while True:
            groups = {"fresh": (fresh, _HALF), "differences": (steps, _HALF)}
            found = planning.multipliers_of_groups(budget, groups)
            made = cls(found["fresh"], found["differences"], steps, fresh, kappa, kicks, budget, variant, noise)
            # in few steps the error exceeds E a little, and T₁ must be larger than it is at E
            if fresh == steps or made._evaluated(problem, omega).applies:
                return made
            fresh += 1

    @property
    def planned(self) -> Mechanism:
        """The largest release of a run, for any sequence of queries, as a mechanism for the accountants.

        The number of queries of either kind depends on the run; the caps and the noise multipliers do not, which is
        what the account rests on (see ``capped_queries``).
        """
        return (
            Gaussian(self.noise_multiplier) ** self.fresh_estimates @ Gaussian(self.difference_multiplier) ** self.steps
        )

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 1."""
        demand_all_of_space(problem)
        memory = Walk(problem)
        fresh = CappedQueries(Gaussian(self.noise_multiplier), self.fresh_estimates, run.repetitions, run.ledger)
        updates = CappedQueries(Gaussian(self.difference_multiplier), self.steps, run.repetitions, run.ledger)
        gradient = run.gradients(self.noise_multiplier, memory=memory, ledger=fresh)
        difference = run.differences(self.difference_multiplier, memory=memory, ledger=updates)
        made = search(
            run,
            run.repeated(problem.initial_point),
            step_size_for(problem),
            self.drift_threshold,
            fresh,
            updates,
            partial(asked, gradient),
            partial(asked, difference),
            memory.move,
            self.kicks,
            self.variant == "as-printed",
        )
        written_for_all(fresh, updates)
        return replace(made, title="stochastic spider" + (", as printed" if self.variant == "as-printed" else ""))

    def _kept_budget(self) -> PrivacyBudget | None:
        return None if self.variant == "as-printed" else self.budget  # the paper spends more: its ledger says how much

    def error_bound(self, problem: FiniteSum, failure_probability: ExactLike = "0.1") -> Enclosure:
        """Enclose the bound on the largest error of all estimates of a run, which fails with probability ω at most.

        Raises:
            InvalidValue: The bound is not proven: as printed.
        """
        if self.variant == "as-printed":
            raise InvalidValue("variant", "as-printed", "'repaired'", "the printed drift does not bound the error")
        omega = fields.share(failure_probability, "failure_probability")
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
        omega = fields.share(failure_probability, "failure_probability")
        found = demand_enough(self._evaluated(problem, omega), self.fresh_estimates, self.steps)
        return no_more_than_slope(found, problem)

    def _evaluated(self, problem: FiniteSum, failure_probability: Fraction) -> Evaluation:
        values = self._drawn(problem) | {
            "smoothness": 1 / Fraction(step_size_for(problem)),  # η = 1/M, for an M that rounding made a hair larger
            "loss_range": at_least(problem.initial_gap, "initial_gap"),
            "steps": Fraction(self.steps),
            "failure_probability": failure_probability,
        }
        return _STATEMENT.evaluate(None, digits=15, **values)

    def _drawn(self, problem: FiniteSum) -> dict[str, Fraction]:
        """Return the parameters of the bound on errors: the noise, and the distance that an estimate is carried."""
        demand_all_of_space(problem)
        return {
            "noise_stddev": stddev_of_gradients(problem, self.noise_multiplier),
            "difference_noise_stddev": difference_stddev(self.difference_multiplier, problem, problem.records),
            "drift_threshold": Fraction(self.drift_threshold),
            "dimension": Fraction(problem.dimension),
            "fresh_estimates": Fraction(self.fresh_estimates),
        }


def search(
    run: OpenRun,
    start: Array,
    eta: float,
    kappa: float,
    fresh: CappedQueries,
    updates: CappedQueries,
    renewed: Callable[[Rows, Array], Array],
    changed: Callable[[Rows, Array, Array], Array],
    exact: Callable[[Array], tuple[Array | None, Array]],
    kicks: Kicks | None = None,
    printed: bool = False,
) -> Outcome:
    """Run Algorithm 1, for queries on any records.

    Args:
        run: Draws kicks, and keeps what is measured.
        start: x_0, shape (R, p).
        eta: Step size, 1/M.
        kappa: κ, squared length that may be travelled on one fresh estimate.
        fresh: Counts fresh estimates, up to T₁.
        updates: Counts updates, up to T.
        renewed: Noisy gradients at some rows of x_t.
        changed: Noisy differences of gradients between some rows of x_t and of x_{t-1}.
        exact: F, if it is known, and ∇F at x_t: measured, and nothing else is done with them.
        kicks: See ``StochasticSpider``.
        printed: Whether the drift is tested, and kicks are made, as in the paper.
    """
    T, (R, p) = updates.cap, start.shape
    iterates, smallest, largest = np.empty((R, T + 1, p)), np.full(R, np.inf), np.zeros(R)
    x = before = start
    estimate = np.zeros_like(x)
    drift, drift_before = np.full(R, np.inf), np.full(R, np.inf)  # "drift_0 = κ": the first estimate is a fresh one
    frozen_for, stopped, size = np.ones(R, dtype=np.int64), np.zeros(R, dtype=np.bool_), np.full(R, np.inf)
    for t in run.steps(T, first=0):
        objective, slope = exact(x)
        kicked = np.zeros(R, dtype=np.bool_)
        if kicks is not None:
            kicked = ~stopped & (size <= kicks.below) & (frozen_for <= 0)
            frozen_for[kicked] = kicks.wait
        # repaired: the drift with the step from x_{t-1} to x_t; as printed, line 9, without it
        anew = ~stopped & ((drift_before if printed else drift) >= kappa)
        if printed:
            anew |= kicked  # line 8: a kick is a fresh estimate with noise on top
        stopped |= anew & (fresh.counts >= fresh.cap)
        anew &= ~stopped
        follow = ~anew & ~stopped
        if anew.any():  # line 10
            fresh.grant(anew)
            estimate[anew] = renewed(anew, x)
            drift[anew] = 0.0
        if follow.any():  # line 12
            updates.grant(follow)
            estimate[follow] += changed(follow, x, before)
        moves = -eta * estimate
        push = kicked & ~stopped
        if kicks is not None and push.any():
            drawn = kicks.scale * noise.standard_gaussian(of_rows(run.generators, push), p)
            if printed:
                estimate[push] += drawn
                moves = -eta * estimate
            else:
                moves[push] += drawn
        following = np.where(stopped[:, None], x, x + moves)  # line 14
        drift_before, drift = drift.copy(), drift + distances(following, x) ** 2
        frozen_for[~kicked] -= 1  # not in the kick's own step: kicks are Γ + 1 steps apart
        size = np.sqrt(squared_norms(estimate))
        slopes, errors = squared_norms(slope), squared_norms(estimate - slope)
        iterates[:, t], smallest = x, np.minimum(smallest, np.sqrt(slopes))
        largest = np.where(stopped, largest, np.maximum(largest, np.sqrt(errors)))
        run.measure(exact=slopes, error=errors, **({} if objective is None else {"objective": objective}))
        before, x = x, following
    iterates[:, -1] = x
    measured = {
        "smallest": smallest,
        "largest error": largest,
        "fresh": fresh.counts.astype(np.float64),
        "updates": updates.counts.astype(np.float64),
        "stopped": stopped.astype(np.float64),
    }
    return Outcome(
        x, outputs={"iterates": iterates}, measured=measured, parameters={"step_size": eta, "drift_threshold": kappa}
    )


def tuned(
    statement: Theorem,
    problem: FiniteSum,
    rho: Fraction,
    failure_probability: Fraction,
    gap: Fraction | None = None,
    slack: Fraction = Fraction(0),
) -> tuple[int, int, float]:
    """Return T, T₁ and κ of an explicit theorem for a search that costs ρ of zCDP if a record is replaced.

    T₁ is at most T, with which it is not a cap at all, and is made for an error that is larger by a factor 1 + slack.

    Raises:
        InvalidValue: The problem lacks a constant, or has a set or a regulariser.
    """
    demand_all_of_space(problem)
    values = {
        "smoothness": at_least(problem.smoothness, "smoothness"),
        "loss_range": at_least(problem.initial_gap, "initial_gap") if gap is None else gap,
        "lipschitz": at_least(problem.lipschitz, "lipschitz"),
        "dataset_size": Fraction(problem.records),
        "dimension": Fraction(problem.dimension),
        "rho": rho,
        "failure_probability": failure_probability,
    }
    values["accuracy"] = from_above(statement, "accuracy", values)
    steps = max(1, math.ceil(from_above(statement, "steps", values)))
    kappa = from_above(statement, "drift_threshold", values)
    values |= {"accuracy": values["accuracy"] * (1 + slack), "steps": Fraction(steps), "drift_threshold": kappa}
    fresh = math.ceil(from_above(statement, "fresh_estimates", values))
    return steps, min(steps, fresh), float(kappa)


def from_above(statement: Theorem, part: str, values: Mapping[str, Fraction]) -> Fraction:
    """Return a part of a statement at exact values, rounded up to a double."""
    return Fraction(statement.evaluate(part, digits=15, **values).value.upper)


def demand_enough(found: Evaluation, fresh_estimates: int, steps: int) -> Enclosure:
    """Return the value of a bound, or ``InvalidValue`` where the cap may stop the run before the bound is reached."""
    # T₁ only serves to stop runs; one that may take a fresh estimate at every step is never stopped
    if found.applies is not True and fresh_estimates < steps:
        advice = "so that the run is not stopped before the bound is reached: more of them, or a larger κ"
        raise InvalidValue("fresh_estimates", fresh_estimates, "1 + (6B/M + 4.5 T E²/M²)/κ at least", advice)
    return found.value if found.formula_value is None else found.formula_value


def claimed_zcdp(budget: PrivacyBudget) -> Fraction:
    """Return φ with φ + 2√(φ ln(1/δ)) = ε, rounded down: (ε, δ)-privacy by φ-zCDP in the paper (its Lemma A.4)."""
    log = sympy.log(1 / sympy.Rational(budget.delta))
    root = sympy.sqrt(log + sympy.Rational(budget.epsilon)) - sympy.sqrt(log)
    return Fraction(evaluate(root**2, {}).lower)


def difference_stddev(multiplier: Fraction, problem: FiniteSum, divisor: int) -> Fraction:
    """Return σ₂, the standard deviation of an update per distance, rounded up.

    The oracle rounds up by less than a relative 2^-40. The floor that it adds for the rounding of gradients (see
    ``GradientDifferenceOracle``) is left out.
    """
    return multiplier * at_least(problem.smoothness, "smoothness") / divisor * (1 + Fraction(1, 2**40))


def step_size_for(problem: FiniteSum) -> float:
    """Return η = 1/M, rounded down to a double."""
    return to_float(1 / at_least(problem.smoothness, "smoothness"), "down")
