"""A point drawn from a net, then noise along the path from there, to a second-order stationary point.

The theorem is this library's own, ``dpbounds/second-order-path-noise/warm-start``: Algorithm 2 (and, for the population
risk, Algorithm 4) of Lowy, Ullman & Wright 2024 with a finder of second-order points whose proof stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias

from attrs import evolve, field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger
from dpbounds.algorithms.method import FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import choice
from dpbounds.algorithms.planning import Enclosure, ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.second_order.gradient_path_noise import GradientPathNoise
from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise
from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent, chosen_parameters
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.expressions.exact import formatted_float
from dpbounds.privacy.mechanisms import Gaussian

Walk: TypeAlias = PathNoiseDescent | IterativePathNoise | GradientPathNoise


@frozen(field_transformer=fields.named)
class WarmStartedWalk(Method[FiniteSum]):
    """A point that the exponential mechanism draws from a net of a ball, then a walk with path noise from there.

    Outputs: "start", w_0, and "found". Measured: as for the walk, and "start_objective".

    Attributes:
        start: Draws w_0.
        descent: Walks from there; its ``initial_gap`` is ψ.
        start_failure: Probability that w_0 is worse than ψ, in (0, 1).
        outside: A bound on min over the ball - inf, the decrease of F outside of the ball. The bound depends on it, and
            privacy does not.
    """

    metric: ClassVar[str] = "failure"

    start: NetExponentialMechanism
    descent: Walk
    start_failure: Fraction = field(default=Fraction(1, 20), converter=fields.share)
    outside: Fraction = field(default=Fraction(0), converter=fields.not_negative)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

    def __attrs_post_init__(self) -> None:
        if self.descent.initial_gap is None:
            allowed = "ψ, a public bound on the start's excess risk"
            raise InvalidValue("descent.initial_gap", None, allowed, "the problem's own is about another start")
        if self.start.noise != "gaussian":
            raise InvalidValue("start.noise", repr(self.start.noise), "'gaussian', as that of the descent")
        if self.descent.budget is not None:
            raise InvalidValue("descent.budget", self.descent.budget, "None", "the budget is that of both together")

    @property
    def planned(self) -> Mechanism:
        """Return the most that a run releases, as a mechanism for the accountants."""
        return self.start.planned @ self.descent.planned

    @property
    def steps(self) -> int:
        """The largest number of moves."""
        return self.descent.steps

    @property
    def stationarity(self) -> Fraction:
        """α, of the descent."""
        return self.descent.stationarity

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        return f"the start: {self.start.noise_drawn}; then: {self.descent.noise_drawn}"

    def bound(self, problem: FiniteSum) -> Enclosure:
        """Bound the probability of ``failure``: that of a worse start than ψ, and that of the path from a good one.

        Raises:
            InvalidValue: ψ is smaller than the start's theorem says, or see ``bound`` of the descent.
        """
        psi = self.start.tail(problem, self.start_failure).exact_upper + self.outside
        gap = self.descent.initial_gap
        assert gap is not None
        if gap < psi:
            allowed = f"at least {formatted_float(psi, 'g', 'up')}"
            raise InvalidValue("descent.initial_gap", float(gap), allowed, "the loss of the start may be that large")
        return self.descent.bound(problem) + Enclosure.exactly(self.start_failure)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Draw, then walk."""
        assert isinstance(run.ledger, ReservedLedger)
        run.ledger.reserve(DescribedRelease(self.start.planned))
        w0 = self.start.starts(problem, run.generators, run.ledger)
        run.lap("start")
        made = self.descent.walk(problem, run, w0)
        objective, _ = run.exact(w0)
        outputs, measured = {**made.outputs, "start": w0}, {**made.measured, "start_objective": objective}
        return replace(made, outputs=outputs, measured=measured, title=None)

    def _ledger(self) -> OpenLedger:
        return ReservedLedger()


@frozen(field_transformer=fields.named)
class WarmStartedPathNoise(WarmStartedWalk):
    """The exponential mechanism on a net of a ball, then ``PathNoiseDescent`` from the point it draws.

    ::

        w_0 = a point w of the net with probability in proportion to exp(-β F(w))
        return path noise from w_0, with caps for a gap of ψ

    Outputs: "start", w_0, and "found". Measured: as for ``PathNoiseDescent``, and "start_objective". The attributes are
    those of all walks from a drawn point: ``start`` draws w_0, ``descent`` walks from there (its ``initial_gap`` is ψ).
    """

    title: ClassVar[str] = "warm-started path noise"

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        stationarity: ExactLike | None = None,
        failure_probability: ExactLike = "1/10",
        radius: ExactLike | None = None,
        covering_radius: ExactLike | None = None,
        share: ExactLike = "1/2",
        outside: ExactLike = 0,
        curvature_kept: ExactLike | None = None,
        curvature_length: ExactLike | None = None,
        gradient_error: ExactLike | None = None,
        window: ExactLike | None = None,
    ) -> WarmStartedPathNoise:
        """Plan for a budget, see ``Method``: half of ζ for the start, half for the path.

        - ``stationarity`` None: the smallest α that the records are enough for
        - ``radius``, ``covering_radius``, ``share``, ``outside``: as for ``WarmStartedSpider``; both releases together
          use all of the budget
        - the others: as for ``PathNoiseDescent``
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        drawn = FirstPoint.for_budget(problem, budget, failure_probability, radius, covering_radius, share, outside)
        chosen = chosen_parameters(curvature_kept, curvature_length, gradient_error, window)
        descent = PathNoiseDescent.of_noise(
            problem, drawn.multiplier, stationarity, drawn.missed, drawn.gap, chosen=chosen
        )
        return cls(drawn.start, descent, drawn.missed, drawn.outside, budget)


@dataclass(frozen=True, slots=True)
class FirstPoint:
    """How the first point is drawn, and what is left for the walk from there.

    Attributes:
        multiplier: Noise multiplier of the one Gaussian release that may follow.
        missed: Probability that the start is worse than ``gap``, and the same for the walk.
        gap: ψ, with what the ball misses.
    """

    start: NetExponentialMechanism
    multiplier: Fraction
    missed: Fraction
    gap: Fraction
    outside: Fraction

    @classmethod
    def for_budget(
        cls,
        problem: FiniteSum,
        budget: PrivacyBudget,
        failure_probability: ExactLike,
        radius: ExactLike | None,
        covering_radius: ExactLike | None,
        share: ExactLike,
        outside: ExactLike,
    ) -> FirstPoint:
        """Return the start that has a share of the budget, in zCDP."""
        missed = fields.share(failure_probability, "failure_probability") / 2
        part, beyond = fields.share(share), fields.not_negative(outside, "outside")
        factor, relation = budget.relation.sensitivity_factor, budget.relation

        def selection(z: Fraction) -> Fraction:
            """Return ε_E = 2f/z √(part/(1 - part)): ε_E²/8 is the part of zCDP that f²/(2z²) leaves to the start."""
            return 1 / planning.root_above((z / (2 * factor)) ** 2 * (1 - part) / part)

        z = planning.multiplier_within(budget, lambda z: choice(selection(z), relation) @ Gaussian(z))
        net = NetExponentialMechanism.calibrated(problem, selection(z), budget.delta, relation, radius, covering_radius)
        start = evolve(net, budget=None)
        return cls(start, z, missed, Fraction(start.tail(problem, missed).exact_upper) + beyond, beyond)
