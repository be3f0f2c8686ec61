"""Restarted DP-SPIDER, for losses whose gap is bounded by a power of the gradient (PL, and KL with 1 <= k < 2).

J stages of full-batch DP-SPIDER, each with one anchor and then differences; a stage ends in a uniformly drawn iterate,
where the next one begins. Each stage has a J-th of the budget, in terms of 1/z². For PL this is the statement
``dpbounds/polyak-lojasiewicz-restarted-spider``.

What is proven, stage by stage. Let F - inf F <= γᵏ‖∇F‖ᵏ, 1 <= k <= 2 (PL: k = 2, γ² = 1/(2μ)), and let D_j be at least
the mean gap at the start of stage j. ``lowy-ullman-wright-2024/algorithm-1/explicit``, given that start and then in the
mean, says that the stage's output has √E‖∇F‖² <= b_j = √(4L D_j/T_j + dσ₁²). As k <= 2, Jensen's inequality gives

    E F - inf F <= γᵏ E‖∇F‖ᵏ <= (γ b_j)ᵏ = D_{j+1},

and the last stage's b bounds what is returned. With T_j = ⌈4Lγ² 2^{2/k} D_j^{1 - 2/k}⌉ (⌈4L/μ⌉ for PL) the first term
alone would give D_j/2: a stage halves the gap until noise takes over. All D_j are public: they follow from G, L, γ, k
and a bound on the first gap, never from a realised one. (Lowy, Ullman & Wright 2024, section 6, treat KL by another
algorithm, of Menart et al. 2023; this scheme is not published.)

What the proof needs, and where that fails. The inequality and the smoothness are used at every iterate, and Gaussian
noise is not bounded: a guarantee needs both on all of R^d. On a ``Landscape``, whose G (and, for ``power``, whose L)
holds on a ball only, a walk that leaves the ball is refused with an error. That costs no privacy, as whether it happens
is a function of what was released before. For utility it means this: the bound is about the walk on R^d at that noise,
which is covered where F goes on beyond the ball with the same L and γ (``WAVY`` does); a run that was not refused is
such a walk. For ``power`` nothing continues it so, and the bound is proven up to the event of leaving only. Choose the
radius so large that leaving is out of the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

import sympy
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.fields import demand_one_of
from dpbounds.algorithms.method import FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.spider.spider import Spider, enclosed, initial_gap_of, measured_at, starts
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.expressions.exact import exact
from dpbounds.papers.lowy_ullman_wright_2024 import definition_6_1
from dpbounds.papers.ours import polyak_lojasiewicz_restarted_spider as statement
from dpbounds.privacy.mechanisms import Composed, parts_of

Shares: TypeAlias = Literal["equal", "falling"]

THEOREMS = {
    "algorithm": "dpbounds/polyak-lojasiewicz-restarted-spider",
    "spent": "dpbounds/polyak-lojasiewicz-restarted-spider",
    "bound": "dpbounds/polyak-lojasiewicz-restarted-spider",
    "shares": "dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares",
    "stage": "lowy-ullman-wright-2024/algorithm-1/explicit",
}

_MOST_STAGES = 200
_LONGEST = 1e15  # more steps of a stage are not affordable
_TURNS = 20
_ROUNDED_UP = 1 + Fraction(1, 10**7)
_SMALLEST_GAP = 1e-100  # a larger gap than there is does no harm, and keeps powers within the doubles


def _exponent(value: ExactLike, name: str = "exponent") -> Fraction:
    exponent = exact(value, name)
    if not 1 <= exponent <= 2:
        raise InvalidValue(name, exponent, "a number from 1 to 2", "the proof needs the power concave")
    return exponent


def _stages(stages: Sequence[Spider], name: str = "stages") -> tuple[Spider, ...]:
    if not stages:
        raise InvalidValue(name, 0, "at least one stage")
    if any(stage.variant != "repaired" or not stage.full_batch for stage in stages):
        raise InvalidValue(name, "printed or on random batches", "repaired stages on the full batch")
    if any(stage.budget is not None for stage in stages):
        raise InvalidValue(name, "with budgets", "stages without one", "the budget is that of all together")
    if any(stage.noise != "gaussian" for stage in stages):
        raise InvalidValue(name, "with a kind of noise", "stages without one", "the kind is that of all together")
    return tuple(stages)


@frozen(field_transformer=fields.named)
class Growth:
    """F - inf F <= γᵏ‖∇F‖ᵏ, everywhere: public knowledge about the loss.

    Attributes:
        constant: γ > 0, rounded up where it is irrational.
        exponent: 1 <= k <= 2.
    """

    constant: Fraction = field(converter=fields.positive)
    exponent: Fraction = field(converter=_exponent)

    @classmethod
    def polyak_lojasiewicz(cls, pl_constant: sympy.Expr | ExactLike) -> Growth:
        """Return the growth for ‖∇F‖² >= 2μ(F - inf F): k = 2 and γ = 1/√(2μ)."""
        mu = pl_constant if isinstance(pl_constant, sympy.Expr) else sympy.Rational(exact(pl_constant, "pl_constant"))
        if not evaluate(mu, {}) > 0:
            raise InvalidValue("pl_constant", pl_constant, "greater than 0")
        return cls(at_least(definition_6_1.of_pl.subs(symbols.pl_constant, mu), "pl_constant"), Fraction(2))

    def gap_above(self, gradient_norm: Enclosure) -> Fraction:
        """Return (γ b)ᵏ, rounded up: at least the gap where √E‖∇F‖² is at most the upper bound of b."""
        base = sympy.Rational(self.constant) * sympy.Rational(Fraction(gradient_norm.upper))
        return Fraction(evaluate(base ** sympy.Rational(self.exponent), {}).upper)


@frozen(field_transformer=fields.named)
class RestartedSpider(Method[FiniteSum]):
    """Full-batch DP-SPIDER, several times in a row, each time from where the last one ended.

    ::

        for j = 1, ..., J:
            w = DP-SPIDER from w, T_j steps with one anchor
        return w

    The trace is that of the last stage, and so is ``output_step``.

    Attributes:
        stages: The algorithm of each stage: a repaired ``Spider`` on the full batch, without its own budget.
        growth: γ and k; None for those of the problem's ``pl_constant``.
        initial_gap: ψ >= F(w_0) - inf F, public; None for the problem's own.
    """

    title: ClassVar[str] = "restarted SPIDER"
    metric: ClassVar[str] = "gradient_norm"

    stages: tuple[Spider, ...] = field(converter=_stages)
    growth: Growth | None = None
    initial_gap: Fraction | None = field(default=None, converter=fields.initial_gap)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        growth: Growth | None = None,
        stages: int | None = None,
        initial_gap: ExactLike | None = None,
        shares: Shares = "equal",
        noise: fields.WhichNoise = "gaussian",
    ) -> RestartedSpider:
        """Plan for a budget, see ``Method``.

        - ``growth``: γ and k; None: from the problem's ``pl_constant``
        - ``stages``: J; None: the one that minimises the bound on the gradient among all J for which the theorem's
          hypothesis holds in every stage
        - ``initial_gap``: ψ, where the walk will not start at the problem's initial point
        - ``shares``: "equal" parts for all stages, half of each for its differences; or "falling" ones, the statement
          ``THEOREMS["shares"]``: differences get what the descent asks for, and of the rest an anchor gets √2 times
          what the one before it has
        """
        demand_one_of(shares, Shares, "shares")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        gap, known = fields.initial_gap(initial_gap), growth_of(problem, growth)
        rho = 2 / planning.multiplier_of_one(budget) ** 2  # the zCDP that this noise amounts to under replace-one
        candidates = range(1, _MOST_STAGES + 1) if stages is None else [fields.count(stages, "stages")]
        falling = shares == "falling"
        planned = _planned_shares if falling else _planned_steps
        plans = [planned(problem, known, gap, float(rho), J) for J in candidates]
        admissible = [plan for plan in plans if plan is not None]
        if not admissible:
            most = "J d (T - 1)² < n² ρ" if falling else "2 J d (T - 1)² <= n² ρ in every stage"
            allowed = f"as many as keep {most}, where the bound holds"
            advice = f"ρ is {float(rho):.4g} here: spend more, or use a loss that is better conditioned"
            raise InvalidValue("records", problem.records, allowed, advice)
        _, steps = min(admissible)
        groups = _falling(problem, rho, steps) if falling else _equal(steps)
        z = planning.multipliers_of_groups(budget, groups)
        made = (Spider(z[f"anchor {j}"], z.get(f"differences {j}"), T, T) for j, T in enumerate(steps))
        return cls(tuple(made), known, gap, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return Composed(tuple(part for stage in self.stages for part in parts_of(stage.planned)))

    @property
    def steps(self) -> int:
        """The number of steps of all stages."""
        return sum(stage.steps for stage in self.stages)

    def run(
        self,
        problem: FiniteSum,
        seed: int | None = None,
        repetitions: int = 32,
        start: ArrayLike | None = None,
        *,
        guarded: bool = False,
    ) -> Run:
        """Run, see ``Method.run``, from any w_0; see ``Spider.run``."""
        return self._run(problem, seed, repetitions, guarded, start=start)

    def walk(self, problem: FiniteSum, run: OpenRun, start: ArrayLike | None = None) -> Outcome:
        """Return all stages."""
        w = starts(problem, run.repetitions, start)
        for stage in self.stages:
            run.forget()
            returned = stage.descend(problem, run, w)
            w = returned.point
        return Outcome(
            w,
            output_step=returned.index,
            measured=measured_at(run, w),
            parameters={"step_size": self.stages[0].step_size_for(problem), "stages": float(len(self.stages))},
        )

    def bounds(self, problem: FiniteSum) -> tuple[Enclosure, ...]:
        """Enclose b_j >= √E‖∇F‖² at the output of every stage, for the noise that ``run`` really draws.

        Raises:
            InvalidValue: The hypothesis fails in a stage, or γ and k are not known.
        """
        growth, gap, found = growth_of(problem, self.growth), self.initial_gap, []
        for stage in self.stages:
            found.append(evolve(stage, initial_gap=gap).bound(problem))
            gap = growth.gap_above(found[-1])
        return tuple(found)

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on E‖∇F‖ at the output; see ``bounds``."""
        return self.bounds(problem)[-1]

    def excess_bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound (γ b)ᵏ on E F - inf F at the output; only its upper bound means something."""
        return Enclosure.exactly(growth_of(problem, self.growth).gap_above(self.bound(problem)))

    def closed_form(self, problem: FiniteSum) -> Enclosure:
        """Enclose the bound on E‖∇F‖ as ``dpbounds/polyak-lojasiewicz-restarted-spider`` states it, for PL.

        It is no smaller than ``bound``, and the noise that is drawn enters by the ρ that it amounts to.

        Raises:
            InvalidValue: A condition of the statement fails, or the stages are not all alike.
        """
        self.bound(problem)  # raises where the differences have more noise than the descent pays for
        first = self.stages[0]
        if any(stage != first for stage in self.stages):
            raise InvalidValue("stages", "of different kinds", "equal stages: the statement is about those")
        J = len(self.stages)
        values = {
            symbols.dataset_size: problem.records,
            symbols.dimension: problem.dimension,
            symbols.lipschitz: enclosed(problem.lipschitz, "lipschitz"),
            symbols.smoothness: enclosed(problem.smoothness, "smoothness"),
            symbols.initial_gap: initial_gap_of(problem, self.initial_gap),
            symbols.pl_constant: enclosed(getattr(problem, "pl_constant", None), "pl_constant"),
            symbols.steps: first.steps,
            # σ₁ = (2G/n)√(J/ρ) solved for ρ, with σ₁ = z G/n rounded up to a double
            symbols.rho: 4 * J / first.anchor_multiplier**2 / (1 + Fraction(1, 2**50)),
            statement.stages: J,
        }
        for condition in statement.conditions:
            if not decide(condition.holds, values):
                raise InvalidValue("stages", J, f"values with {condition.holds}: {condition.why}")
        return evaluate(statement.gradient, values)


def growth_of(problem: FiniteSum, growth: Growth | None) -> Growth:
    """Return the given growth, or that of the problem's PL constant; ``InvalidValue`` if there is neither."""
    if growth is not None:
        return growth
    constant = getattr(problem, "pl_constant", None)
    if constant is None:
        raise InvalidValue("growth", None, "γ and k with F - inf F <= γᵏ‖∇F‖ᵏ", "the problem has no pl_constant")
    return Growth.polyak_lojasiewicz(constant)


def _equal(steps: Sequence[int]) -> dict[str, tuple[int, Fraction]]:
    """Return the number of releases of each kind, and its part of the budget."""
    part = Fraction(1, 2 * len(steps))
    # a stage of one step has no differences, and leaves their part to its anchor
    groups = {f"anchor {j}": (1, part if T > 1 else 2 * part) for j, T in enumerate(steps)}
    return groups | {f"differences {j}": (T - 1, part) for j, T in enumerate(steps) if T > 1}


def _falling(problem: FiniteSum, rho: Fraction, steps: Sequence[int]) -> dict[str, tuple[int, Fraction]]:
    """Return the same with falling shares."""
    parts = [_ROUNDED_UP * problem.dimension * (T - 1) ** 2 / (problem.records**2 * rho) for T in steps]
    weights = [Fraction(math.sqrt(2) ** -(len(steps) - 1 - j)) for j in range(len(steps))]
    left, total = 1 - sum(parts), sum(weights)
    groups = {f"anchor {j}": (1, left * weight / total) for j, weight in enumerate(weights)}
    return groups | {
        f"differences {j}": (T - 1, part) for j, (T, part) in enumerate(zip(steps, parts, strict=True)) if T > 1
    }


def _planned_shares(
    problem: FiniteSum, growth: Growth, initial_gap: Fraction | None, rho: float, stages: int
) -> tuple[float, tuple[int, ...]] | None:
    """Plan as ``_planned_steps``, with falling shares; the costs of differences and numbers of steps alternate."""
    weights = [math.sqrt(2) ** -(stages - 1 - j) for j in range(stages)]
    spent = 0.0
    for _ in range(_TURNS):
        variances = [sum(weights) / weight / (2 * (1 - spent) * stages) for weight in weights]
        value, steps = _steps_of(problem, growth, initial_gap, rho, variances)
        cost = sum(problem.dimension * (T - 1) ** 2 / (problem.records**2 * rho) for T in steps) * (1 + 1e-6)
        if cost <= spent:
            return value, steps
        if cost >= 1:
            return None
        spent = cost
    return None


def _planned_steps(
    problem: FiniteSum, growth: Growth, initial_gap: Fraction | None, rho: float, stages: int
) -> tuple[float, tuple[int, ...]] | None:
    """Return the bound and the T_j of J stages in plain doubles, or None where the hypothesis fails.

    Doubles do: whatever T_j come out, ``bounds`` proves its bound for these very numbers.
    """
    value, steps = _steps_of(problem, growth, initial_gap, rho, [1.0] * stages)
    longest = 1 + problem.records * math.sqrt(rho / (2 * stages * problem.dimension)) * (1 - 1e-6)
    return None if max(steps) > longest else (value, steps)  # where d σ₂² η² (T - 1) <= 1/2


def _steps_of(
    problem: FiniteSum, growth: Growth, initial_gap: Fraction | None, rho: float, variances: Sequence[float]
) -> tuple[float, tuple[int, ...]]:
    """Return the bound and the T_j, at variances of the stages' anchors in units of that of equal shares."""
    n, d, k = problem.records, problem.dimension, float(growth.exponent)
    G, L = enclosed(problem.lipschitz, "lipschitz").upper, enclosed(problem.smoothness, "smoothness").upper
    gap = enclosed(problem.initial_gap, "initial_gap").upper if initial_gap is None else float(initial_gap)
    gamma, unit = float(growth.constant), 4 * G**2 * len(variances) / (n**2 * rho)
    steps, square = [], 0.0
    for variance in variances:
        gap = max(gap, _SMALLEST_GAP)
        T = max(1, math.ceil(min(_LONGEST, 4 * L * gamma**2 * 2 ** (2 / k) * gap ** (1 - 2 / k))))
        square = 4 * L * gap / T + d * variance * unit
        gap = (gamma * math.sqrt(square)) ** k
        steps.append(T)
    return math.sqrt(square), tuple(steps)
