"""Stochastic Spider on fresh batches: every record is used once, so that the bound is one for the population.

Ganesh, Liu, Oh & Thakurta 2023, Algorithm 1, with the oracles of their equation (3): a fresh estimate averages b₁
records that were never used before, an update b₂ such records at both of its points. The batches are blocks of
consecutive records, from two pools laid out in advance, and each query takes the next block of its pool; which query
that is depends on the run, but a record takes part in one query at most.

Differences from the paper: the drift that is tested contains the last step; noise for sensitivities 2G/b₁ and 2M ‖x -
y‖/b₂ (the paper has half of them; if a record is replaced its search spends 2φ of zCDP, of which φ/2 is claimed); and
b₁T₁ + b₂T does not exceed n. The explicit bound is ``ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit``, of first
order, no kicks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import sympy
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import no_more_than_slope
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome, stddev_of_gradients
from dpbounds.algorithms.oracles import Gradients, at_least
from dpbounds.algorithms.oracles.rows import asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.problems.finite_sum import record_gradients
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.spider.capped_queries import CappedQueries, written_for_one
from dpbounds.algorithms.spider.spider import starts
from dpbounds.algorithms.spider.stochastic_spider import (
    Rows,
    at_most_one_a_step,
    demand_enough,
    difference_stddev,
    search,
    step_size_for,
    tuned,
)
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import theorem_4_6_explicit
from dpbounds.privacy.mechanisms import Gaussian, InParallel

_STATEMENT = theorem_4_6_explicit.THEOREM


@dataclass(frozen=True, slots=True)
class Pool:
    """Source of blocks of consecutive records; each query takes the next one.

    Attributes:
        first: The first block's first record.
        size: b, records in a block.
        blocks: The number of blocks.
    """

    first: int
    size: int
    blocks: int

    @property
    def end(self) -> int:
        """The record after the last one."""
        return self.first + self.size * self.blocks

    def rows(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the records of one block per repetition, shape (R, b); blocks count from 0."""
        assert (block < self.blocks).all()
        rows: NDArray[np.int64] = self.first + block[:, None] * self.size + np.arange(self.size)
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Each repetition's own records as a problem of b records: a query on a batch is a query on all of a block.

    Attributes:
        problem: Supplies gradients and constants.
        records: b.
        rows: Each repetition's records, shape (R, b); None where no gradient is asked for.
    """

    problem: FiniteSum
    records: int
    rows: NDArray[np.int64] | None = None

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return self.problem.dimension

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """G, of every record."""
        return self.problem.lipschitz

    @property
    def smoothness(self) -> sympy.Expr | None:
        """M, of every record."""
        return self.problem.smoothness

    def objective_and_gradient(self, X: Array) -> tuple[Array, Array]:
        """Return NaN as the objective, and the block's mean gradient."""
        assert self.rows is not None
        return np.full(len(X), np.nan), self.problem.batch_gradient(X, self.rows)

    def batch_gradient(self, X: Array, rows: NDArray[np.int64]) -> Array:
        """Return the mean gradient over other records."""
        return self.problem.batch_gradient(X, rows)

    def record_gradients(self, x: Array, rows: NDArray[np.int64]) -> Array:
        """Return gradients of any of the problem's records at one point, shape (b, p)."""
        return record_gradients(self.problem, x, rows)


class OnBlock(Gradients):
    """Exact gradients of a block, without memory: every block is used once."""

    def known(self, X: Array) -> tuple[Array, Array]:
        """Return no objective, and the block's mean gradient."""
        return self.problem.objective_and_gradient(X)


@frozen(field_transformer=fields.named)
class PopulationStochasticSpider(Method[FiniteSum]):
    """Algorithm 1 of Ganesh, Liu, Oh & Thakurta 2023 on fresh batches, for any ``FiniteSum`` over R^p.

    ::

        drift = ∞
        for t = 0, ..., T - 1:
            if drift >= κ:  stop if T₁ fresh estimates were taken, else
                            ∇_t = the mean gradient at x_t of the next b₁ records + noise;  drift = 0
            else:           ∇_t = ∇_{t-1} + the mean difference of gradients at x_t and x_{t-1}
                                  of the next b₂ records + noise
            x_{t+1} = x_t - ∇_t/M;  drift = drift + ‖x_{t+1} - x_t‖²
        return x_0, ..., x_T

    Outputs and measurements are those of ``StochasticSpider``, but for F.

    Under add-or-remove-one, records are assumed to have fixed places (each has a public number, and a missing record
    leaves its place empty and adds 0 to its batch's sum): if a removal moved all later records, every batch would
    change.

    Attributes:
        noise_multiplier: Standard deviation on a batch's sum in units of G (fresh) and of M ‖x - y‖ (update).
        fresh_estimates: T₁, at most T: the largest number of fresh estimates.
        first_batch: b₁, records of a fresh estimate.
        second_batch: b₂, records of an update.
        drift_threshold: κ > 0.
        initial_gap: ψ >= F(x_0) - inf F of the population, public; None for the problem's own, which is about its
            initial point.
    """

    title: ClassVar[str] = "stochastic spider on fresh batches"
    metric: ClassVar[str] = "smallest"
    activity: ClassVar[str] = "search"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    fresh_estimates: int = field(converter=fields.count, validator=at_most_one_a_step)
    first_batch: int = field(converter=fields.count)
    second_batch: int = field(converter=fields.count)
    drift_threshold: float = field(converter=fields.length)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        failure_probability: ExactLike = "0.1",
        initial_gap: ExactLike | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> PopulationStochasticSpider:
        """Plan for a budget, see ``Method``; ``failure_probability`` is ω, with which the bound may fail.

        A record takes part in one query, so that each query may spend the whole budget. T, κ, T₁, b₁ and b₂ are those
        of the explicit theorem. ``initial_gap`` is ψ, where the search will not start at the problem's initial point.
        """
        demand_all_of_space(problem)
        gap = fields.initial_gap(initial_gap)
        if gap == 0:
            raise InvalidValue("initial_gap", 0, "greater than 0", "nothing is to be gained by a search")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = planning.multiplier_of_one(budget)
        n = problem.records
        omega = fields.share(failure_probability, "failure_probability")
        steps, fresh, kappa = tuned(_STATEMENT, problem, 2 / single**2, omega, gap)
        if 2 * steps > n:
            advice = "every query needs records of its own"
            raise InvalidValue("records", n, f"at least {2 * steps}, for {steps} steps", advice)
        return cls(single, steps, fresh, n // (2 * fresh), n // (2 * steps), kappa, budget, gap, noise)

    @property
    def planned(self) -> Mechanism:
        """The release of a run as a mechanism: that of the one query in which a record takes part.

        That is what ``in_parallel`` spends, too: all of its blocks have the same noise multiplier.
        """
        return Gaussian(self.noise_multiplier)

    @property
    def in_parallel(self) -> Mechanism:
        """All queries, each on its own block of records."""
        query, moves = Gaussian(self.noise_multiplier), self.relation.counts_records
        # a place that goes with its record is a part of the record's content
        partition: Literal["index", "record"] = "record" if moves else "index"
        return InParallel((query,) * (self.fresh_estimates + self.steps), partition=partition)

    def run(
        self,
        problem: FiniteSum,
        seed: int | None = None,
        repetitions: int = 32,
        population_gradient: Callable[[Array], Array] | None = None,
        start: ArrayLike | None = None,
        *,
        guarded: bool = False,
    ) -> Run:
        """Run, see ``Method.run``; the noise differs between repetitions, the records are the same.

        - ``population_gradient``: ∇F_P at every row, for measurement, where it is known; else that of all records
        - ``start``: x_0, shape (p,) or one per repetition, (R, p): public, or released before by other records; None:
          the problem's initial point
        """
        return self._run(problem, seed, repetitions, guarded, population_gradient=population_gradient, start=start)

    def walk(
        self,
        problem: FiniteSum,
        run: OpenRun,
        population_gradient: Callable[[Array], Array] | None = None,
        start: ArrayLike | None = None,
    ) -> Outcome:
        """Run Algorithm 1."""
        demand_all_of_space(problem)
        first, second = self.pools(problem.records)
        z, R, query = self.noise_multiplier, run.repetitions, Gaussian(self.noise_multiplier)
        fresh = CappedQueries(query, self.fresh_estimates, R, run.ledger)
        updates = CappedQueries(query, self.steps, R, run.ledger)

        def next_of(pool: Pool, queries: CappedQueries, rows: Rows) -> Block:
            return Block(problem, pool.size, pool.rows(queries.counts[rows] - 1))  # records that were never used

        def renewed(rows: Rows, x: Array) -> Array:
            block = next_of(first, fresh, rows)
            return asked(run.gradients(z, of=block, memory=OnBlock(block), ledger=fresh), rows, x)

        def changed(rows: Rows, x: Array, before: Array) -> Array:
            block = next_of(second, updates, rows)
            return asked(run.differences(z, of=block, memory=OnBlock(block), ledger=updates), rows, x, before)

        def exact(x: Array) -> tuple[None, Array]:
            return None, run.exact(x)[1] if population_gradient is None else population_gradient(x)

        x0, eta = starts(problem, R, start), step_size_for(problem)
        made = search(run, x0, eta, self.drift_threshold, fresh, updates, renewed, changed, exact)
        written_for_one(fresh, updates)  # a record is in one block, hence in one query
        return made

    def pools(self, records: int) -> tuple[Pool, Pool]:
        """Return the records set aside for fresh estimates and for updates; ``InvalidValue`` if they are too many."""
        first = Pool(0, self.first_batch, self.fresh_estimates)
        second = Pool(first.end, self.second_batch, self.steps)
        if second.end > records:
            needed = f"at least b₁T₁ + b₂T = {second.end}"
            raise InvalidValue("records", records, needed, "each record takes part in one query: smaller batches")
        return first, second

    def bound(self, problem: FiniteSum, failure_probability: ExactLike = "0.1") -> Enclosure:
        """Enclose the bound on min_t ‖∇F_P(x_t)‖ that holds with probability 1 - ω over records and noise.

        Raises:
            InvalidValue: The bound is not proven, as T₁ is too small for κ, or there are too few records.
        """
        demand_all_of_space(problem)
        self.pools(problem.records)
        gap = self.initial_gap
        values = {
            "smoothness": 1 / Fraction(step_size_for(problem)),
            "lipschitz": at_least(problem.lipschitz, "lipschitz"),
            "loss_range": at_least(problem.initial_gap, "initial_gap") if gap is None else gap,
            "dataset_size": Fraction(problem.records),
            "steps": Fraction(self.steps),
            "noise_stddev": stddev_of_gradients(Block(problem, self.first_batch), self.noise_multiplier),
            "difference_noise_stddev": difference_stddev(self.noise_multiplier, problem, self.second_batch),
            "drift_threshold": Fraction(self.drift_threshold),
            "dimension": Fraction(problem.dimension),
            "fresh_estimates": Fraction(self.fresh_estimates),
            "first_batch": Fraction(self.first_batch),
            "second_batch": Fraction(self.second_batch),
            "failure_probability": fields.share(failure_probability, "failure_probability"),
        }
        found = demand_enough(_STATEMENT.evaluate(None, digits=15, **values), self.fresh_estimates, self.steps)
        return no_more_than_slope(found, problem)
