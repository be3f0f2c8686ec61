"""DP-SPIDER along binary trees: every record is used once, and the bound is on the mean population gradient.

The theorem is this library's own, ``dpbounds/population-tree-spider/explicit``. Trees and moves of one length are those
of Arora et al. 2023. Records are laid out by position in the order of the releases, which is fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import no_more_than_slope, norms, squared_norms
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome, stddev_of_gradients
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.oracles.rows import asked
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_all_of_space
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.spider.capped_queries import CappedQueries, written_for_one
from dpbounds.algorithms.spider.population_stochastic_spider import Block, OnBlock
from dpbounds.algorithms.spider.spider import starts
from dpbounds.algorithms.spider.stochastic_spider import difference_stddev
from dpbounds.papers.ours import population_tree_spider_explicit as theorem
from dpbounds.privacy.mechanisms import Gaussian

Whole: TypeAlias = int | NDArray[np.int64]

_MOST_LEVELS = 20
_GRID = 24


@frozen(field_transformer=fields.named)
class PopulationTreeSpider(Method[FiniteSum]):
    """Tree-SPIDER on fresh records, for any ``FiniteSum`` whose records' losses are G-Lipschitz and L-smooth on R^p.

    ::

        draw R uniformly from 0, ..., T - 1, T = S 2ᴶ
        for t = 0, ..., T - 1:
            if 2ᴶ divides t:  v_t = the mean gradient at w_t of the next b₁ records + noise
            else:             2ʲ is the largest power of 2 that divides t, u = t - 2ʲ
                              v_t = v_u + the mean difference of gradients at w_t and w_u of the next 2ʲ b₂ records
                                    + noise
            w_{t+1} = w_t - r v_t/‖v_t‖
        return w_R

    The noise of a difference is in proportion to min(L‖w_t - w_u‖, 2G)/(2ʲ b₂). Measured: ‖∇F_P(w_t)‖ ("gradient"),
    ‖v_t - ∇F_P(w_t)‖ ("error") and its square ("noise") at every step, and the mean of the first and the last over the
    steps ("mean_norm", "mean_error"); ‖∇F_P(w_R)‖ ("output_gradient_norm"); F(w_0) ("first") and F(w_T) ("last"), with
    the records in place of the population.

    Under add-or-remove-one, records are assumed to have fixed places, as for ``PopulationStochasticSpider``.

    Attributes:
        noise_multiplier: Standard deviation on a batch's sum in units of G (fresh) and of min(L ‖x - y‖, 2G).
        segments: S.
        levels: J >= 1.
        first_batch: b₁.
        leaf_batch: b₂, records of a difference for each step that it spans.
        move_length: r.
        initial_gap: ψ >= F_P(w_0) - inf F_P, public; None for the problem's own, which is about its initial point.
    """

    title: ClassVar[str] = "tree-SPIDER on fresh batches"
    metric: ClassVar[str] = "mean_norm"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    segments: int = field(converter=fields.count)
    levels: int = field(converter=fields.count)
    first_batch: int = field(converter=fields.count)
    leaf_batch: int = field(converter=fields.count)
    move_length: float = field(converter=fields.length)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    def __attrs_post_init__(self) -> None:
        if self.levels > _MOST_LEVELS:
            raise InvalidValue("levels", self.levels, f"at most {_MOST_LEVELS}", "a segment has 2^levels steps")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        initial_gap: ExactLike | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> PopulationTreeSpider:
        """Plan for a budget, see ``Method``: the S, J, b₁, b₂ and r of a grid that make the bound small.

        A record takes part in one release, which may spend the whole budget. ``initial_gap`` is ψ, where the search
        will not start at the problem's initial point.
        """
        demand_all_of_space(problem)
        gap = fields.initial_gap(initial_gap)
        budget = PrivacyBudget.of(epsilon, delta, relation)
        single = planning.multiplier_of_one(budget)
        psi = at_least(problem.initial_gap, "initial_gap") if gap is None else gap
        G, L = (float(at_least(getattr(problem, name), name)) for name in ("lipschitz", "smoothness"))
        shape = _shape(problem.records, problem.dimension, float(single), G, L, float(psi))
        return cls(single, *shape, budget, gap, noise)

    @property
    def planned(self) -> Mechanism:
        """The release of a run as a mechanism: the one release in which a record takes part."""
        return Gaussian(self.noise_multiplier)

    @property
    def steps(self) -> int:
        """T."""
        return self.segments << self.levels

    def records_needed(self) -> int:
        """Return S (b₁ + J 2ᴶ b₂/2)."""
        return self.segments * (self.first_batch + self.levels * (1 << self.levels - 1) * self.leaf_batch)

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
        """See ``PopulationStochasticSpider.run``."""
        return self._run(problem, seed, repetitions, guarded, population_gradient=population_gradient, start=start)

    def walk(
        self,
        problem: FiniteSum,
        run: OpenRun,
        population_gradient: Callable[[Array], Array] | None = None,
        start: ArrayLike | None = None,
    ) -> Outcome:
        """Run the pseudo-code above."""
        self._demand(problem)
        z, R, m = self.noise_multiplier, run.repetitions, 2**self.levels
        fresh = CappedQueries(Gaussian(z), self.segments, R, run.ledger)
        differences = CappedQueries(Gaussian(z), self.segments * (m - 1), R, run.ledger)
        returned = run.uniform_iterate(self.steps, first=0)
        everyone, used = np.ones(R, dtype=np.bool_), 0

        def next_block(size: int) -> Block:
            nonlocal used
            rows = np.broadcast_to(np.arange(used, used + size), (R, size))
            used += size
            return Block(problem, size, rows)

        def exact(x: Array) -> tuple[Array | None, Array]:
            return run.exact(x) if population_gradient is None else (None, population_gradient(x))

        w = starts(problem, R, start)
        kept: list[
            tuple[int, Array, Array]
        ] = []  # step, point and estimate: of the steps whose bits the next ones have
        for t in run.steps(self.steps, first=0):
            returned.visit(t, w)
            at = t % m
            if at == 0:
                fresh.grant(everyone)
                block = next_block(self.first_batch)
                v = asked(run.gradients(z, of=block, memory=OnBlock(block), ledger=fresh), everyone, w)
                kept = []
            else:
                span = at & -at
                while kept[-1][0] > at - span:
                    kept.pop()
                _, before, estimate = kept[-1]
                differences.grant(everyone)
                block = next_block(span * self.leaf_batch)
                oracle = run.differences(z, of=block, memory=OnBlock(block), ledger=differences)
                v = estimate + asked(oracle, everyone, w, before)
            kept.append((at, w, v))
            risk, slope = exact(w)
            errors = squared_norms(v - slope)
            run.measure(gradient=norms(slope), noise=errors, error=np.sqrt(errors))
            if t == 0 and risk is not None:
                run.measure(first=risk)
            length = norms(v)[:, None]
            w = w - self.move_length * np.divide(v, length, out=np.zeros_like(v), where=length > 0)
        written_for_one(fresh, differences)  # a record is in one block, hence in one query
        slope = exact(returned.point)[1]
        if population_gradient is None:
            run.measure(last=run.exact(w)[0])
        trace = run.trace()
        return Outcome(
            returned.point,
            output_step=returned.index,
            measured={
                "mean_norm": trace["gradient"].per_repetition,
                "mean_error": trace["noise"].per_repetition,
                "output_gradient_norm": norms(slope),
            },
        )

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F_P(w_R)‖, over records and noise.

        Raises:
            InvalidValue: There are too few records.
        """
        return no_more_than_slope(self._promised(problem, "bound"), problem)

    def error_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on the root mean square of the estimates' errors, over all steps."""
        return self._promised(problem, "error")

    def _promised(self, problem: FiniteSum, part: str) -> Enclosure:
        self._demand(problem)
        gap = self.initial_gap
        values = {
            "smoothness": at_least(problem.smoothness, "smoothness"),
            "lipschitz": at_least(problem.lipschitz, "lipschitz"),
            "excess_risk": at_least(problem.initial_gap, "initial_gap") if gap is None else gap,
            "dataset_size": Fraction(problem.records),
            "dimension": Fraction(problem.dimension),
            "segments": Fraction(self.segments),
            "levels": Fraction(self.levels),
            "first_batch": Fraction(self.first_batch),
            "leaf_batch": Fraction(self.leaf_batch),
            "move_length": Fraction(self.move_length),
            "noise_stddev": stddev_of_gradients(Block(problem, self.first_batch), self.noise_multiplier),
            "difference_noise_stddev": difference_stddev(self.noise_multiplier, problem, self.leaf_batch),
        }
        return theorem.THEOREM.evaluate(part, digits=15, **values).value

    def _demand(self, problem: FiniteSum) -> None:
        demand_all_of_space(problem)
        if self.records_needed() > problem.records:
            needed = f"at least S (b₁ + J 2ᴶ b₂/2) = {self.records_needed()}"
            raise InvalidValue("records", problem.records, needed, "each record takes part in one release")


def _shape(
    n: int, dimension: int, multiplier: float, G: float, L: float, psi: float
) -> tuple[int, int, int, int, float]:
    """Return S, J, b₁, b₂ and r with a small bound, in doubles: any are sound where the records suffice."""
    noise = dimension * multiplier**2

    def bound(r: Array | float, S: Whole, J: int, b1: Whole, b2: Whole) -> Array:
        fixed = G**2 / b1 + noise * (G / b1) ** 2
        moved = (2**J - 1) / (2 * b2) + J * noise / (2 * np.square(b2))
        found: Array = psi / (S * 2**J * r) + L * r / 2 + 2 * np.sqrt(fixed + moved * (L * r) ** 2)
        return found

    best, found = math.inf, (1, 1, 1, 1)
    if n < 2:
        raise InvalidValue("records", n, "at least 2", "a segment has two releases at least")
    for J in range(1, _MOST_LEVELS + 1):
        half = J * 2 ** (J - 1)
        if 1 + half > n:
            break
        S = np.unique(np.geomspace(1, n // (1 + half), 2 * _GRID).astype(np.int64))[:, None, None]
        share = np.linspace(0, 1, _GRID, endpoint=False)[None, 1:, None]
        b2 = np.maximum(1, (n // S * share / half).astype(np.int64))
        b1 = n // S - half * b2
        longest = np.sqrt(2 * max(psi, 1e-300) / (S * 2.0**J * L))  # without errors of differences
        values = np.where(
            b1 >= 1,
            bound(longest * np.geomspace(1e-2, 1, _GRID)[None, None], S, J, np.maximum(b1, 1), b2),
            math.inf,
        )
        s, b, _ = np.unravel_index(np.argmin(values), values.shape)
        if values.min() < best:
            best, found = float(values.min()), (int(S[s, 0, 0]), J, int(b1[s, b, 0]), int(b2[s, b, 0]))
    S_, J_, b1_, b2_ = found
    longest_ = math.log(math.sqrt(2 * max(psi, 1e-300) / (S_ * 2.0**J_ * L)))
    r = minimize_scalar(
        lambda x: float(bound(math.exp(x), S_, J_, b1_, b2_)), bounds=(longest_ - 12, longest_), method="bounded"
    )
    return S_, J_, b1_, b2_, math.exp(float(r.x))
