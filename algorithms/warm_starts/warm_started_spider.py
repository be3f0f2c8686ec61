"""A private start of small excess risk, then DP-SPIDER from there.

Lowy, Ullman & Wright 2024, Algorithm 2, with the exponential mechanism on a net (Corollary 4.3) or any other private
start (DP-SGD for quasar-convex losses, Corollary 5.3) in front.

Differences from the paper. The paper gives (ε/2, δ/2) to each of the two. Here the start gets a stated share of the
budget in zCDP: an exponential mechanism of ε_E has bounded range, so that it is ε_E²/8-zCDP. SPIDER gets the smallest
noise for which *both together* are certified to keep (ε, δ). Its number of steps and of anchors follow from that noise
and from ψ, a public bound on the start's expected excess risk, and never from the risk itself.

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
from dpbounds.expressions.exact import exact, formatted_float
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
    def noise(self) -> WhichNoise:
        """The kind of its noise."""

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""

    def starts(self, problem: FiniteSum, generators: Sequence[np.random.Generator], ledger: OpenLedger) -> Array:
        """Return one start per generator, shape (R, p); the ledger gets the releases."""

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Return a number that is at least E F(w_0) - min F over the start's own set."""


@frozen(field_transformer=fields.named)
class WarmStartedSpider(Method[FiniteSum]):
    """Algorithm 2 of Lowy, Ullman & Wright 2024: a private start, then DP-SPIDER on all records.

    ::

        w_0 = a private start
        return DP-SPIDER from w_0

    Outputs: "start", w_0. Measured: as for ``Spider``, and "start_objective".

    Attributes:
        start: Draws w_0.
        spider: Walks from there, on the full batch; its ``initial_gap`` is ψ.
        outside: A bound on min over the start's own set - inf, the decrease of F outside of it. The bound depends on
            it, and privacy does not.
        quasar_convexity: q of a ``StochasticGradientDescent`` in front, see its ``bound``; None for other starts, or
            where the problem has one. The bound depends on it, and privacy does not.
    """

    title: ClassVar[str] = "warm-started SPIDER"
    metric: ClassVar[str] = "gradient_norm"

    start: Start
    spider: Spider = field()
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    outside: Fraction = field(default=Fraction(0), converter=fields.not_negative)
    quasar_convexity: Fraction | None = field(default=None)

    @spider.validator
    def _behind_a_start(self, _field: Attribute[Spider], spider: Spider) -> None:
        if spider.initial_gap is None:
            allowed = "ψ, a public bound on the start's expected excess risk"
            raise InvalidValue("spider.initial_gap", None, allowed, "the problem's own is about another start")
        if spider.budget is not None:
            raise InvalidValue("spider.budget", spider.budget, "None", "the budget is that of both together")
        if spider.noise != self.start.noise:
            raise InvalidValue("start.noise", repr(self.start.noise), f"{spider.noise!r}, as that of the spider")
        if spider.variant != "repaired" or not spider.full_batch:
            raise InvalidValue("spider", "printed or on random batches", "a repaired one on the full batch")

    @quasar_convexity.validator
    def _of_a_descent(self, _field: Attribute[Fraction | None], q: Fraction | None) -> None:
        if q is not None and not isinstance(self.start, StochasticGradientDescent):
            raise InvalidValue("quasar_convexity", float(q), "None for a start that is not a descent")

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

        - ``radius``: R of the ball that the net covers; None: the problem's, which only landscapes with shifted records
          have here
        - ``covering_radius``: of the net; None: that of Definition 4.1
        - ``share``: the start's part of the budget in zCDP, in (0, 1)
        - ``outside``: a public bound on how much lower F gets outside of the ball: min over the ball - inf. It is the
          caller's assumption (0: the ball holds a minimiser). The bound depends on it, and privacy does not.
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        part = fields.share(share)
        # zCDP of the one Gaussian release that would spend the budget: (f/z)²/2
        rho = (budget.relation.sensitivity_factor / planning.multiplier_of_one(budget)) ** 2 / 2
        # ε_E²/8 = part · ρ, rounded down; a pure start has to leave a part of ε itself, too
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
        start, beyond = evolve(net, budget=None), fields.not_negative(outside, "outside")
        return cls.behind(start, problem, start.bound(problem).exact_upper + beyond, budget, steps, beyond)

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
        q = None if quasar_convexity is None else exact(quasar_convexity, "quasar_convexity")
        gap = descent.bound(problem, q).exact_upper
        return cls.behind(descent, problem, gap, budget, steps, quasar_convexity=q)

    @classmethod
    def behind(
        cls,
        start: Start,
        problem: FiniteSum,
        gap: ExactLike,
        budget: PrivacyBudget,
        steps: int | None = None,
        outside: ExactLike = 0,
        quasar_convexity: Fraction | None = None,
    ) -> WarmStartedSpider:
        """Return DP-SPIDER behind any start, with the smallest noise for which both together keep a budget.

        Args:
            start: Already calibrated to a part of the budget.
            problem: Supplies the constants.
            gap: ψ >= E F(w_0) - inf F, public. ``bound`` asks that it is at least the start's own bound + ``outside``.
            budget: The budget of both together.
            steps: T, or None for the theorem's.
            outside: See the attributes.
            quasar_convexity: See the attributes.

        Raises:
            InvalidValue: The start alone exceeds the budget, or a number is not allowed.
        """
        psi = exact(gap, "gap")
        # all full-batch releases together are one of multiplier z, however many they are: z does not depend on T and q
        z = planning.multiplier_within(budget, lambda multiplier: start.planned @ Gaussian(multiplier))
        T, q = parameters(problem, 2 / z**2, psi, steps, None)
        N1 = anchors(T, q)
        half = Fraction(1, 2)
        groups = [(N1, half), (T - N1, half)] if N1 < T else [(N1, Fraction(1))]
        first, *rest = (z * planning.root_above(count / share) for count, share in groups)
        spider = Spider(first, rest[0] if rest else None, T, q, initial_gap=psi, noise=start.noise)
        return cls(start, spider, budget, outside, quasar_convexity)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants."""
        return self.start.planned @ self.spider.planned

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Enclose the explicit bound on E‖∇F(ŵ)‖ for the noise that ``run`` really draws; see ``Spider.bound``.

        Raises:
            InvalidValue: ψ is smaller than the start's own bound at this problem, or see ``Spider.bound``.
        """
        psi, gap = self._excess(problem).exact_upper + self.outside, self.spider.initial_gap
        assert gap is not None
        if gap < psi:
            allowed = f"at least {formatted_float(psi, 'g', 'up')}"
            raise InvalidValue("spider.initial_gap", float(gap), allowed, "the loss of the start may be that large")
        return self.spider.bound(problem)

    def _excess(self, problem: FiniteSum) -> Enclosure:
        """Return the start's own bound on E F(w_0) - min F over its set."""
        if isinstance(self.start, StochasticGradientDescent):
            return self.start.bound(problem, self.quasar_convexity)
        return self.start.bound(problem)

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
