"""Stochastic Spider on fresh batches: every record is used once, so that the bound is one for the population.

Ganesh, Liu, Oh & Thakurta 2023, Algorithm 1, with the oracles of their equation (3): a fresh estimate averages b₁
records that were never used before, an update b₂ such records at both of its points. The batches are blocks of
consecutive records, from two pools laid out in advance, and each query takes the next block of its pool; which query
that is depends on the run, but a record takes part in one query at most.

What differs from print: the drift that is tested contains the last step; noise for sensitivities 2G/b₁ and 2M ‖x -
y‖/b₂ (print has half of them; if a record is replaced its search spends 2φ of zCDP, of which φ/2 is claimed); and b₁T₁
+ b₂T does not exceed n. The explicit bound is ``ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit``, of first order, no
kicks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from algorithms.iterates import squared_norms
from algorithms.ledger import OpenLedger, PrivacyBudget, checked_budget
from algorithms.noise import Array, streams
from algorithms.oracles import GradientDifferenceOracle, GradientOracle, Gradients, at_least, in_batches
from algorithms.oracles.differences import distances
from algorithms.oracles.rows import of_rows
from algorithms.planning import checked_multiplier, checked_share, multiplier_of_one, relation_of
from algorithms.problems.domain import demand_all_of_space
from algorithms.problems.finite_sum import FiniteSum
from algorithms.run import Recorders, Run, settled
from algorithms.spider.capped_queries import CappedQueries
from algorithms.spider.spider import checked_gap, starts
from algorithms.spider.stochastic_spider import (
    checked_threshold,
    demand_enough,
    difference_stddev,
    from_above,
    step_size_for,
)
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms import Gaussian, InParallel, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023 import theorem_4_6_explicit

THEOREMS = {
    "spent": "ganesh-liu-oh-thakurta-2023/equation-3",
    "smallest": "ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit",
}

_STATEMENT = theorem_4_6_explicit.THEOREM


@dataclass(frozen=True, slots=True)
class Pool:
    """Blocks of consecutive records, of which each query takes the next.

    Attributes:
        first: The first block's first record.
        size: b, records in a block.
        blocks: How many there are.
    """

    first: int
    size: int
    blocks: int

    @property
    def end(self) -> int:
        """The record after the last one."""
        return self.first + self.size * self.blocks

    def rows(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """The records of one block per repetition, shape (R, b); blocks count from 0."""
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
        """No objective (NaN), and the block's mean gradient."""
        assert self.rows is not None
        return np.full(len(X), np.nan), self.problem.batch_gradient(X, self.rows)

    def batch_gradient(self, X: Array, rows: NDArray[np.int64]) -> Array:
        """The mean gradient over other records."""
        return self.problem.batch_gradient(X, rows)


class OnBlock(Gradients):
    """Exact gradients of a block, nothing remembered: every block is used once."""

    def at(self, X: Array) -> tuple[Array, Array]:
        """No objective, and the block's mean gradient."""
        return self.problem.objective_and_gradient(X)


@dataclass(frozen=True, slots=True, init=False)
class PopulationStochasticSpider:
    """Algorithm 1 of Ganesh, Liu, Oh & Thakurta 2023 on fresh batches, for any ``FiniteSum`` over R^p.

    Under add-or-remove-one, records are taken to carry their places with them (each has a public number, and a record
    that is missing leaves its place empty and adds 0 to its batch's sum): where a removal would move all later records
    up, every batch would change.

    Attributes:
        noise_multiplier: Standard deviation on a batch's sum in units of G (fresh) and of M ‖x - y‖ (update), exact.
        steps: T.
        fresh_estimates: T₁, at most T: how many fresh estimates a run may take.
        first_batch: b₁, records of a fresh estimate.
        second_batch: b₂, records of an update.
        drift_threshold: κ.
        budget: What ``run`` holds its ledger against, or None.
        initial_gap: ψ >= F(x_0) - inf F of the population, public; None for the problem's own, which is about its
            initial point.

    Raises:
        InvalidValue: A value is not allowed.
    """

    noise_multiplier: Fraction
    steps: int
    fresh_estimates: int
    first_batch: int
    second_batch: int
    drift_threshold: float
    budget: PrivacyBudget | None
    initial_gap: Fraction | None

    def __init__(
        self,
        noise_multiplier: ExactLike,
        steps: int,
        fresh_estimates: int,
        first_batch: int,
        second_batch: int,
        drift_threshold: float,
        budget: PrivacyBudget | None = None,
        initial_gap: ExactLike | None = None,
    ) -> None:
        object.__setattr__(self, "noise_multiplier", checked_multiplier(noise_multiplier))
        counts = {"steps": steps, "fresh_estimates": fresh_estimates}
        counts |= {"first_batch": first_batch, "second_batch": second_batch}
        for name, count in counts.items():
            object.__setattr__(self, name, positive_integer(count, name))
        if self.fresh_estimates > self.steps:
            allowed = f"at most steps = {self.steps}"
            raise InvalidValue("fresh_estimates", fresh_estimates, allowed, "there is one query per step")
        object.__setattr__(self, "drift_threshold", checked_threshold(drift_threshold))
        object.__setattr__(self, "budget", checked_budget(budget))
        object.__setattr__(self, "initial_gap", checked_gap(initial_gap))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        failure_probability: ExactLike = "0.1",
        initial_gap: ExactLike | None = None,
    ) -> PopulationStochasticSpider:
        """Return the algorithm with the smallest proven noise for a budget, and the parameters that suit it.

        A record takes part in one query, so that each query may spend the whole budget. T, κ, T₁, b₁ and b₂ are those
        of the explicit theorem, from public numbers only.

        Args:
            problem: Supplies n, p, G, M and B; no record is looked at.
            epsilon: ε > 0 to keep.
            delta: δ in (0, 1) to keep.
            relation: "replace-one" (the paper's) or "add-or-remove-one" (see above for what that means here).
            failure_probability: ω in (0, 1), with which the bound may fail.
            initial_gap: ψ, where the search will not start at the problem's initial point.

        Raises:
            InvalidValue: A number is not allowed, the problem lacks a constant, or there are too few records.
        """
        demand_all_of_space(problem)
        gap = checked_gap(initial_gap)
        if gap == 0:
            raise InvalidValue("initial_gap", 0, "a number greater than 0", "nothing is to be gained by a search")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = multiplier_of_one(budget)
        n = problem.records
        risk = {
            "smoothness": at_least(problem.smoothness, "smoothness"),
            "loss_range": at_least(problem.initial_gap, "initial_gap") if gap is None else gap,
        }
        rest = {
            "lipschitz": at_least(problem.lipschitz, "lipschitz"),
            "dataset_size": Fraction(n),
            "dimension": Fraction(problem.dimension),
            "rho": 2 / single**2,
            "failure_probability": checked_share(failure_probability, "failure_probability"),
        }
        level = {"accuracy": from_above(_STATEMENT, "accuracy", risk | rest)}
        steps = math.ceil(from_above(_STATEMENT, "steps", level | risk))
        kappa = from_above(_STATEMENT, "drift_threshold", level | risk | rest)
        counts = {"steps": Fraction(steps), "drift_threshold": kappa}
        fresh = min(steps, math.ceil(from_above(_STATEMENT, "fresh_estimates", level | counts | risk)))
        if 2 * steps > n:
            advice = "every query needs records of its own"
            raise InvalidValue("records", n, f"at least {2 * steps}, for {steps} steps", advice)
        return cls(single, steps, fresh, n // (2 * fresh), n // (2 * steps), float(kappa), budget, gap)

    @property
    def planned(self) -> Mechanism:
        """What a run spends, as a mechanism: what the one query spends that a record takes part in.

        That is what ``in_parallel`` spends, too: all of its blocks have the same noise multiplier.
        """
        return Gaussian(self.noise_multiplier)

    @property
    def in_parallel(self) -> Mechanism:
        """All queries, each on its own block of records."""
        query, replaced = Gaussian(self.noise_multiplier), relation_of(self.budget) is Relation.REPLACE_ONE
        # a place that goes with its record is a part of the record's content
        partition: Literal["index", "record"] = "index" if replaced else "record"
        return InParallel((query,) * (self.fresh_estimates + self.steps), partition=partition)

    def pools(self, records: int) -> tuple[Pool, Pool]:
        """The records set aside for fresh estimates and for updates.

        Raises:
            InvalidValue: They are more than there are.
        """
        first = Pool(0, self.first_batch, self.fresh_estimates)
        second = Pool(first.end, self.second_batch, self.steps)
        if second.end > records:
            needed = f"b₁T₁ + b₂T = {second.end} at least"
            raise InvalidValue("records", records, needed, "each record takes part in one query: smaller batches")
        return first, second

    def bound(self, problem: FiniteSum, failure_probability: ExactLike = "0.1") -> Enclosure:
        """Enclose the bound on min_t ‖∇F_P(x_t)‖ that holds with probability 1 - ω over records and noise.

        Args:
            problem: Supplies n, p, G, M and B.
            failure_probability: ω in (0, 1).

        Raises:
            InvalidValue: The bound is not proven, as T₁ is too small for κ, or there are too few records.
        """
        demand_all_of_space(problem)
        self.pools(problem.records)
        fresh = GradientOracle(Block(problem, self.first_batch), self.noise_multiplier, (), OpenLedger()).noise_stddev
        values = {
            "smoothness": 1 / Fraction(step_size_for(problem)),
            "lipschitz": at_least(problem.lipschitz, "lipschitz"),
            "loss_range": at_least(problem.initial_gap, "initial_gap")
            if self.initial_gap is None
            else self.initial_gap,
            "dataset_size": Fraction(problem.records),
            "steps": Fraction(self.steps),
            "noise_stddev": Fraction(fresh),
            "difference_noise_stddev": difference_stddev(self.noise_multiplier, problem, self.second_batch),
            "drift_threshold": Fraction(self.drift_threshold),
            "dimension": Fraction(problem.dimension),
            "fresh_estimates": Fraction(self.fresh_estimates),
            "first_batch": Fraction(self.first_batch),
            "second_batch": Fraction(self.second_batch),
            "failure_probability": checked_share(failure_probability, "failure_probability"),
        }
        return demand_enough(_STATEMENT.evaluate(None, digits=15, **values), self.fresh_estimates, self.steps)

    def run(
        self,
        problem: FiniteSum,
        seed: int = 0,
        repetitions: int = 32,
        population_gradient: Callable[[Array], Array] | None = None,
        start: ArrayLike | None = None,
    ) -> Run:
        """Run Algorithm 1 ``repetitions`` times at once, with independent noise; the records are the same.

        Args:
            problem: What to minimise, over all of R^p (a problem with a set or an l1 term is refused).
            seed: Of all streams; repetition r has its own, and its numbers depend on no other repetition.
            repetitions: How many.
            population_gradient: ∇F_P at every row, for measurement, where it is known; else that of all records.
            start: x_0, shape (p,) or one per repetition, (R, p): public, or released before by other records. None: the
                problem's initial point.

        Returns:
            The run: ``output[r]`` is the last iterate and ``outputs["iterates"][r]`` are all, x_0 .. x_T, private at
            the ledger's cost, one repetition. Measured, and not private: ``smallest`` = min_t ‖∇F(x_t)‖ for t < T,
            ``largest error`` of all estimates, ``fresh`` and ``updates`` (numbers of queries), ``stopped``.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, or there are too few records.
            BudgetExceeded: The ledger shows more than was planned.
        """
        demand_all_of_space(problem)
        pools = self.pools(problem.records)
        T, eta = self.steps, step_size_for(problem)
        generators = streams(seed, repetitions)
        R = len(generators)
        ledger, query = OpenLedger(), Gaussian(self.noise_multiplier)
        fresh, updates = CappedQueries(query, self.fresh_estimates, R, ledger), CappedQueries(query, T, R, ledger)
        measured = Recorders(("exact", "error"), T, R)

        started = time.perf_counter()
        x = starts(problem, R, start)
        before, estimate = x, np.zeros_like(x)
        iterates = np.empty((R, T + 1, problem.dimension))
        drift, stopped = np.full(R, np.inf), np.zeros(R, dtype=np.bool_)
        smallest, largest = np.full(R, np.inf), np.zeros(R)
        with threadpool_limits(limits=1, user_api="blas"):
            for t in range(T):
                iterates[:, t] = x
                anew = ~stopped & (drift >= self.drift_threshold)
                stopped |= anew & (fresh.counts >= self.fresh_estimates)
                anew &= ~stopped
                follow = ~anew & ~stopped
                if anew.any():
                    block = Block(problem, pools[0].size, pools[0].rows(fresh.counts[anew]))  # b₁ records, never used
                    fresh.grant(anew)
                    first = GradientOracle(
                        block, self.noise_multiplier, of_rows(generators, anew), fresh, gradients=OnBlock(block)
                    )
                    estimate[anew] = first(x[anew]).noisy
                    drift[anew] = 0.0
                if follow.any():
                    block = Block(
                        problem, pools[1].size, pools[1].rows(updates.counts[follow])
                    )  # b₂ records, never used
                    updates.grant(follow)
                    second = GradientDifferenceOracle(
                        block, self.noise_multiplier, of_rows(generators, follow), updates, gradients=OnBlock(block)
                    )
                    estimate[follow] += second(x[follow], before[follow]).noisy
                following = np.where(stopped[:, None], x, x - eta * estimate)
                drift = drift + distances(following, x) ** 2

                gradient = in_batches(problem, x)[1] if population_gradient is None else population_gradient(x)
                slopes, errors = squared_norms(gradient), squared_norms(estimate - gradient)
                smallest = np.minimum(smallest, np.sqrt(slopes))
                largest = np.where(stopped, largest, np.maximum(largest, np.sqrt(errors)))
                measured["exact"].add(slopes)
                measured["error"].add(errors)
                before, x = x, following
        iterates[:, T] = x
        walked = time.perf_counter()

        # a record is in one block, hence in one query: it pays for the one with the least noise, at most
        ledger.release(min((*fresh.made, *updates.made), key=lambda made: made.noise_multiplier or 0))
        closed, spent = settled(ledger, self.planned, self.budget)
        accounted = time.perf_counter()
        return Run(
            algorithm="stochastic spider on fresh batches",
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
            budget=self.budget,
            spent=spent,
            steps=T,
            parameters={"step_size": eta, "drift_threshold": self.drift_threshold},
            seed=int(seed),
            timings={"search": walked - started, "accounting": accounted - walked},
        )
