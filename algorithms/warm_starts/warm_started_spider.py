"""A private start of small excess risk, then DP-SPIDER from there.

Lowy, Ullman & Wright 2024, Algorithm 2, with the exponential mechanism on a net (Corollary 4.3) or any other private
start (DP-SGD for quasar-convex losses, Corollary 5.3) in front.

Differences from the paper. Two halves (ε/2, δ/2) compose to (ε, δ), but that is wasteful: here the start gets a stated
share of the budget in zCDP (an exponential mechanism of ε_E is of bounded range, hence ε_E²/8-zCDP), and SPIDER gets
the smallest noise for which *both together* are certified to keep (ε, δ). SPIDER's number of steps and its anchors come
from that noise and from a public bound ψ on the start's expected excess risk, never from the risk itself.

The bound is ``lowy-ullman-wright-2024/theorem-3.2/explicit``, that is the one of DP-SPIDER with ψ in the place of the
initial gap, at the noise that is really drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from attrs import Attribute, evolve, field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent, enough_steps
from dpbounds.algorithms.fields import WhichNoise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.method import Array, FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.noise import Kind
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.spider.spider import Spider, anchors, demand_smooth, parameters
from dpbounds.expressions.exact import exact
from dpbounds.privacy.mechanisms import Gaussian

THEOREMS = {
    "algorithm": "lowy-ullman-wright-2024/algorithm-2",
    "bound": "lowy-ullman-wright-2024/theorem-3.2/explicit",
    "net": "lowy-ullman-wright-2024/corollary-4.3/explicit",
    "quasar-convex": "lowy-ullman-wright-2024/corollary-5.3/explicit",
}


class Start(Protocol):
    """A private algorithm whose output has a public bound on its expected excess risk."""

    @property
    def planned(self) -> Mechanism:
        """The release of a draw of starts, per repetition."""

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""

    def starts(self, problem: FiniteSum, generators: Sequence[np.random.Generator], ledger: OpenLedger) -> Array:
        """Return one start per generator, shape (R, p); the ledger gets the releases."""

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Return a number that is at least E F(w_0) - min F over the start's own set."""


def noise_of(start: Start) -> WhichNoise:
    """Return the kind of noise of a start, "gaussian" where it does not say."""
    kind: WhichNoise = getattr(start, "noise", "gaussian")
    return kind


@frozen
class WarmStartedSpider(Method[FiniteSum]):
    """Algorithm 2 of Lowy, Ullman & Wright 2024: a private start, then DP-SPIDER on all records.

    ::

        w_0 = a private start
        return DP-SPIDER from w_0

    Outputs: "start", w_0. Measured: as for ``Spider``, and "start_objective".

    Attributes:
        start: Draws w_0.
        spider: Walks from there, on the full batch; its ``initial_gap`` is ψ.
    """

    title: ClassVar[str] = "warm-started SPIDER"
    metric: ClassVar[str] = "gradient_norm"

    start: Start
    spider: Spider = field()
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

    @spider.validator
    def _behind_a_start(self, _field: Attribute[Spider], spider: Spider) -> None:
        if spider.initial_gap is None:
            allowed = "ψ, a public bound on the start's expected excess risk"
            raise InvalidValue("spider.initial_gap", None, allowed, "the problem's own is about another start")
        if spider.budget is not None:
            raise InvalidValue("spider.budget", spider.budget, "None", "the budget is that of both together")
        if spider.noise != noise_of(self.start):
            raise InvalidValue("start.noise", repr(noise_of(self.start)), f"{spider.noise!r}, as that of the spider")
        if spider.variant != "repaired" or not spider.full_batch:
            raise InvalidValue("spider", "printed or on random batches", "a repaired one on the full batch")

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        radius: ExactLike | None = None,
        covering_radius: ExactLike | None = None,
        share: ExactLike = "1/2",
        outside: ExactLike = 0,
        steps: int | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> WarmStartedSpider:
        """Plan for a budget, see ``Method``, with an exponential mechanism in front.

        - ``radius``: R of the ball that the net covers; None: the problem's
        - ``covering_radius``: of the net; None: that of Definition 4.1
        - ``share``: the start's part of the budget in zCDP, in (0, 1)
        - ``outside``: a public bound on how much lower F gets outside of the ball: min over the ball - inf. It is the
          caller's assumption (0: the ball holds a minimiser), and the bound rests on it, the privacy does not.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        part = fields.share(share)
        # what a single Gaussian release spends that keeps the budget, in zCDP: (f/z)²/2
        rho = (budget.relation.sensitivity_factor / planning.multiplier_of_one(budget)) ** 2 / 2
        # ε_E²/8 = part · ρ, rounded down; ε itself is the most that a pure start may spend of it
        selection = min(1 / planning.root_above(1 / (8 * part * rho)), budget.epsilon * Fraction(9, 10))
        net = NetExponentialMechanism.calibrated(
            problem,
            selection,
            budget.delta,
            budget.relation,
            radius=radius,
            covering_radius=covering_radius,
            noise=noise,
        )
        start = evolve(net, budget=None)
        gap = start.bound(problem).exact_upper + fields.not_negative(outside, "outside")
        return cls.behind(start, problem, gap, budget, steps)

    @classmethod
    def behind_descent(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        distance: ExactLike = 1,
        share: ExactLike = "1/2",
        quasar_convexity: ExactLike | None = None,
        steps: int | None = None,
        noise: fields.WhichNoise = "gaussian",
    ) -> WarmStartedSpider:
        """Plan for a budget, see ``Method``, for quasar-convex losses: DP-SGD on all records in front.

        - ``distance``: D > 0: a minimiser lies within D of the initial point, which the caller must know
        - ``share``: the descent's part of 1/z², in (0, 1); z is the multiplier of one release that keeps the budget
        - ``quasar_convexity``: q in (0, 1], see ``StochasticGradientDescent.bound``

        Source: Lowy, Ullman & Wright 2024, Corollary 5.3 (without constants there).
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        alone = planning.multiplier_of_one(budget) * planning.root_above(1 / fields.share(share))
        count = enough_steps(problem, alone)
        descent = StochasticGradientDescent(alone * planning.root_above(count), count, distance, noise=noise)
        gap = descent.bound(problem, quasar_convexity).exact_upper
        return cls.behind(descent, problem, gap, budget, steps)

    @classmethod
    def behind(
        cls, start: Start, problem: FiniteSum, gap: ExactLike, budget: PrivacyBudget, steps: int | None = None
    ) -> WarmStartedSpider:
        """Return DP-SPIDER behind any start, with the smallest noise for which both together keep a budget.

        Args:
            start: Already calibrated to a part of the budget.
            problem: Supplies the constants.
            gap: ψ >= E F(w_0) - inf F, public.
            budget: The budget of both together.
            steps: T, or None for the theorem's.

        Raises:
            InvalidValue: The start alone exceeds the budget, or a number is not allowed.
        """
        psi = exact(gap, "gap")
        # full-batch releases of any number and shares are one of multiplier z, so that z does not depend on T and q
        z = planning.multiplier_within(budget, lambda multiplier: start.planned @ Gaussian(multiplier))
        T, q = parameters(problem, 2 / z**2, psi, steps, None)
        N1 = anchors(T, q)
        half = Fraction(1, 2)
        groups = [(N1, half), (T - N1, half)] if N1 < T else [(N1, Fraction(1))]
        first, *rest = (z * planning.root_above(count / share) for count, share in groups)
        spider = Spider(first, rest[0] if rest else None, T, q, initial_gap=psi, noise=noise_of(start))
        return cls(start, spider, budget)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return self.start.planned @ self.spider.planned

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on E‖∇F(ŵ)‖ for the noise that ``run`` really draws; see ``Spider.bound``."""
        return self.spider.bound(problem)

    @property
    def steps(self) -> int:
        """T of SPIDER."""
        return self.spider.steps

    @property
    def noise(self) -> Kind:
        """The noise of the start and of SPIDER."""
        return self.spider.noise

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        return f"the start: {self.start.noise_drawn}; then: {self.spider.noise_drawn}"

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run Algorithm 2."""
        demand_smooth(problem)
        w0 = self.start.starts(problem, run.generators, run.ledger)
        run.lap("start")
        made = self.spider.walk(problem, run, w0)
        start_objective, _ = run.exact(w0)
        return replace(
            made, outputs={"start": w0}, measured={**made.measured, "start_objective": start_objective}, title=None
        )
