"""Two private algorithms for the population risk, each on records of its own: a start, then stationarity from there.

Lowy, Ullman & Wright 2024, Algorithm 4, with the exponential mechanism on a net as the first (Lemma E.3) and Stochastic
Spider on fresh batches as the second.

Differences from the paper:

- The two algorithms use different records. In the paper the second is applied to the same records as the first (proof
  of Theorem E.2). Its theorem is about independent records, and given a start that depends on them they are not
  independent. Here the first algorithm gets the first n₁ records, by position, and the second gets the others.
- Each algorithm may spend the whole budget, as no record is used by both. In the paper each gets half of it.
- The guarantee is about gradients only. Theorem E.2 promises a second-order stationary point.
- The guarantee is about the best of the iterates that are returned. A private selection has to find out which it is.

The bound on the smallest gradient is ``ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit``. Its initial gap is ψ/ζ.
Here ψ bounds the expected excess population risk of the start: by Markov's inequality the gap is larger with
probability ζ at most.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
from attrs import evolve, field, frozen
from threadpoolctl import threadpool_limits

from dpbounds.algorithms import fields
from dpbounds.algorithms.guards.counting import counted
from dpbounds.algorithms.ledger import DescribedRelease, Ledger, OpenLedger, PrivacyBudget
from dpbounds.algorithms.method import under_guard
from dpbounds.algorithms.noise import checked_seed, streams
from dpbounds.algorithms.oracles import in_batches
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.problems.linear_model import Linear, LinearModel
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.run import Run, settled
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.spider.population_stochastic_spider import PopulationStochasticSpider
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, formatted_float
from dpbounds.privacy.mechanisms import ApproximateDP, Mechanism
from dpbounds.privacy.relations import Relation


@frozen(field_transformer=fields.named)
class PopulationWarmStart:
    """Algorithm 4 of Lowy, Ullman & Wright 2024 with a sample split, for linear models.

    Under add-or-remove-one, records are assumed to have fixed places, as for ``PopulationStochasticSpider``.

    Attributes:
        start: Draws x_0 by the first part of the records, at the whole budget.
        search: Continues from there with the other part, at the whole budget.
        first_part: n₁, the number of records of the start.
        budget: The budget of each part, and so of the whole.
        failure_probability: ζ of Markov's inequality.
        outside: A bound on min over the ball - inf of the population risk. The bound depends on it, and privacy does
            not.
    """

    start: NetExponentialMechanism
    search: PopulationStochasticSpider
    first_part: int = field(converter=fields.count)
    budget: PrivacyBudget = field(validator=fields.budget)
    failure_probability: Fraction = field(converter=fields.share)
    outside: Fraction = field(default=Fraction(0), converter=fields.not_negative)

    def __attrs_post_init__(self) -> None:
        if self.search.initial_gap is None:
            allowed = "a public bound on the start's population risk"
            raise InvalidValue("search.initial_gap", None, allowed, "the problem's own is about another start")
        if self.start.noise != self.search.noise:
            raise InvalidValue("start.noise", repr(self.start.noise), f"{self.search.noise!r}, as that of the search")

    @classmethod
    def calibrated(
        cls,
        problem: Linear,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        radius: ExactLike | None = None,
        covering_radius: ExactLike | None = None,
        share: ExactLike = "1/4",
        failure_probability: ExactLike = "1/10",
        outside: ExactLike = 0,
        noise: fields.WhichNoise = "gaussian",
    ) -> PopulationWarmStart:
        """Plan for a budget, see ``Method``: the smallest proven noise in either part.

        - ``radius``: R of the ball that the net covers; has to be given, as a model on all of R^p has none
        - ``covering_radius``: of the net; None: that of Definition 4.1
        - ``share``: the start's part of the records, in (0, 1)
        - ``failure_probability``: ζ of the start and, once more, of the search
        - ``outside``: a public bound on min over the ball - inf of the population risk (the caller's assumption)
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        zeta = fields.share(failure_probability, "failure_probability")
        first = int(fields.share(share) * problem.records)
        if first < 1:
            raise InvalidValue("share", share, f"at least 1/{problem.records}", "the start needs a record at least")
        above = fields.not_negative(outside, "outside")
        own = part_of(problem, 0, first)
        start = NetExponentialMechanism.calibrated(
            own,
            budget.epsilon,
            budget.delta,
            budget.relation,
            radius=radius,
            covering_radius=covering_radius,
            noise=noise,
        )
        gap = _gap_of(start, own, above, zeta)
        rest = part_of(problem, first, problem.records - first)
        search = PopulationStochasticSpider.calibrated(
            rest, budget.epsilon, budget.delta, budget.relation, zeta, initial_gap=gap, noise=noise
        )
        return cls(start, search, first, budget, zeta, above)

    @property
    def planned(self) -> Mechanism:
        """The release of a run: each part satisfies (ε, δ) on records that the other does not have, and so do both."""
        return ApproximateDP(self.budget.epsilon, self.budget.delta, relation=self.budget.relation)

    def bound(self, problem: Linear) -> Enclosure:
        """Enclose the bound on the smallest population gradient of the search, with probability 1 - 2ζ at least.

        Raises:
            InvalidValue: The bound is not proven for these parameters, or ψ/ζ of this problem is larger than the
                initial gap of the search.
        """
        needed = _gap_of(self.start, part_of(problem, 0, self.first_part), self.outside, self.failure_probability)
        gap = self.search.initial_gap
        assert gap is not None
        if gap < needed:
            allowed = f"at least {formatted_float(needed, 'g', 'up')}"
            raise InvalidValue("search.initial_gap", float(gap), allowed, "the risk of the start may be that large")
        return self.search.bound(self._rest(problem), self.failure_probability)

    def run(self, problem: Linear, seed: int | None = None, repetitions: int = 32, *, guarded: bool = False) -> Run:
        """Run both, see ``Method.run``.

        Its ledger has one entry: the guarantee by parallel composition, after the ledgers of both parts were compared
        with the budget.
        """
        if guarded:
            return under_guard(lambda on: self.run(on, seed, repetitions), problem)
        demand_all_of_space(problem)
        own, rest = part_of(problem, 0, self.first_part), self._rest(problem)
        begun = time.perf_counter()
        known = checked_seed(seed)
        generators = streams(known, repetitions)
        pen = OpenLedger()
        with counted(generators, pen):
            x0 = self.start.starts(own, generators, pen)
        settled(pen, self.start.planned, self.budget)
        started = time.perf_counter()
        # streams of its own: those of the start would be drawn from twice
        other = None if known is None else int(np.random.SeedSequence([known, 1]).generate_state(1, np.uint64)[0])
        run = evolve(self.search, budget=self.budget).run(rest, other, repetitions, start=x0)
        ledger = Ledger((DescribedRelease(self.planned),), seeded=run.ledger.seeded)
        with threadpool_limits(limits=1, user_api="blas"):
            objective, _ = in_batches(problem, x0)
        return replace(
            run,
            algorithm="population warm start",
            outputs={**run.outputs, "start": x0},
            measured={**run.measured, "start_objective": objective},
            ledger=ledger,
            budget=self.budget,
            spent=ledger.check(self.budget),
            seed=known,
            timings={**run.timings, "start": started - begun},
            noise_drawn=f"the start: {self.start.noise_drawn}; then: {run.noise_drawn}",
            chosen=f"{run.chosen}; before these, one release on other records draws the start",
        )

    def _rest(self, problem: Linear) -> Linear:
        return part_of(problem, self.first_part, problem.records - self.first_part)


def _gap_of(
    start: NetExponentialMechanism, own: Linear, outside: Fraction, failure_probability: Fraction
) -> Fraction | float:
    """Return ψ/ζ: what the excess population risk of the start exceeds with probability ζ at most."""
    return (start.bound(own, "population").exact_upper + outside) / failure_probability


def part_of(problem: Linear, first: int, count: int) -> Linear:
    """Return the problem of ``count`` records from position ``first`` on; its constants are the same."""
    if not 0 <= first < first + count <= problem.records:
        raise InvalidValue("records", f"{first} .. {first + count}", f"positions from 0 to {problem.records}")
    rows = slice(first, first + count)
    if isinstance(problem, Problem):
        return replace(problem, signed_features=problem.signed_features[rows])
    if isinstance(problem, LinearModel):
        return replace(problem, features=problem.features[rows], targets=problem.targets[rows])
    raise InvalidValue("problem", type(problem).__name__, "a linear model, whose records can be split")
