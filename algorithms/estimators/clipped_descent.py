"""Noisy gradient descent on clipped losses of linear scores: the default of the estimators.

Nothing here is a theorem about accuracy. Privacy needs none: every record's gradient is clipped (``scores``), every
answer gets noise from an oracle, and iterates, their average and the steps are made from answers and public numbers.

How long to walk. In units of the clipped norm, T releases that share a budget put noise of z √T/n on each clipped mean
gradient, with z the multiplier of a single release: a walk of length H = Tη has then gathered noise of about H z/n per
coordinate, whatever T is. So one number matters, H, and T only has to be large enough for η to be stable. What suited
the datasets of ``TUNED_ON`` is H that grows like ρ^(3/4) or ρ, with ρ = n/(z √p), the signal of one coordinate over
the noise; T = 400; and the mean of the later half of the iterates. Slopes are clipped at c = 1/8 or so, where a record
with a margin of less than 1.9 pulls with all it may: halving c halves the noise, and what is lost is how far a record
is on the wrong side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import Attribute, field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.estimators import scores
from dpbounds.algorithms.estimators.scores import LinearScores, Records
from dpbounds.algorithms.method import InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import PaidTogether, choice, in_batches
from dpbounds.algorithms.planning import ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.sampling import Poisson, sampled
from dpbounds.privacy.mechanisms import Gaussian

TUNED_ON = (
    "synthetic sets of 300 to 30 000 records and 6 to 81 features made for the purpose: Gaussian clusters, log-normal "
    "factors, one-hot categories with numbers, smooth random images, and linear functions with noise, some heavy-tailed"
)

# T, unless a walk is so long that its steps would be, too.
STEPS = 400

# The norms among which a scale is chosen: powers of √2 from 2^-20 to 2^20, rounded to doubles.
SCALES = tuple(Fraction(float(2.0 ** (k / 2))) for k in range(-40, 41))

# Half-widths among which the range of a feature is chosen: powers of √2, and how many of them its middle may be from 0.
_HALF_WIDTHS = 2.0 ** (np.arange(-60, 81) / 2)
_FARTHEST = 256
_WIDER = 3.0  # width of a range relative to one that holds half of the records: for a normal feature, two deviations

# Records that a step may ask about at least, where steps are fewer because of the cost.
_SMALLEST_BATCH = 256


@frozen
class Tuned:
    """A clipped loss and the public numbers of a walk on it, in units where records have norm 1; for all datasets.

    Attributes:
        loss: With its clipping.
        factor, power, shortest, longest: H = factor ρ^power, kept between the last two.
        longest_step: T is at least H over this, and at least ``STEPS``.
    """

    loss: scores.ScoreLoss
    factor: float
    power: float
    shortest: float
    longest: float
    longest_step: float

    def path(self, records: int, features: int, single: Fraction) -> float:
        """Return H for n records of p features, given the noise multiplier z of a single release."""
        signal = records / (float(single) * math.sqrt(features))
        return min(max(self.factor * math.pow(signal, self.power), self.shortest), self.longest)


LOGISTIC = Tuned(scores.LOGISTIC, 480.0, 0.75, 2000.0, 48_000.0, 80.0)
MULTINOMIAL = Tuned(scores.MULTINOMIAL, 96.0, 1.0, 400.0, 40_000.0, 80.0)
HUBER = Tuned(scores.HUBER, 20.0, 0.9, 50.0, 3000.0, 1.0)
_TUNED = {each.loss: each for each in (LOGISTIC, MULTINOMIAL, HUBER)}


@frozen(field_transformer=fields.named)
class ScaleChoice:
    """A private choice of the norm to which records are clipped: the exponential mechanism on ``SCALES``.

    The score of a norm s is -|#{i: ‖a_i‖ <= s} - n/2|: of the grid, it finds a norm near the median. Replacing, adding
    or removing one record (n stays) moves every score by at most 1.

    Attributes:
        epsilon: ε₀ > 0 of the choice, part of the budget.
    """

    epsilon: Fraction = field(converter=fields.positive)

    def planned(self, relation: Relation) -> Mechanism:
        """Return the choice as a mechanism."""
        return choice(self.epsilon, relation)

    def clipped(self, problem: Records, run: OpenRun) -> tuple[LinearScores, dict[str, Array]]:
        """Return records clipped to the chosen norm, and no other release."""
        return problem.clipped_to(self.made(problem, run)), {}

    def made(self, problem: Records, run: OpenRun) -> Fraction:
        """Return the norm that was chosen, for a run of one repetition."""
        largest = np.abs(problem.features).max(axis=1, initial=0.0)
        lengths = largest * np.sqrt(
            ((problem.features / np.where(largest > 0, largest, 1.0)[:, None]) ** 2).sum(axis=1)
        )
        below = np.searchsorted(np.sort(lengths), [float(scale) for scale in SCALES], side="right")
        nearness = -np.abs(below - problem.records / 2)[None]
        return SCALES[int(run.choose(nearness, self.epsilon, Fraction(1))[0])]


def _poisson_or_none(_record: object, field: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, Poisson):
        raise InvalidValue(field.name, repr(value), "a Poisson, or None for all records")


@frozen(field_transformer=fields.named)
class RangesChoice:
    """A private choice of the range of every feature, one exponential mechanism each.

    The candidates are the intervals [c - s, c + s] with s = 2^(k/2) from 2^-30 to 2^40, and c = j s, |j| <= 256. The
    score is -|#{i: a_i in it} - n/2|: the chosen interval holds about half of the records. Replacing, adding or
    removing one record (n stays) moves every score by at most 1. Features are then cut to [c - 3s, c + 3s] and mapped
    to [-1, 1].

    With N candidates and p features, every score is within (2/ε₀) ln(Np/β) of the best, but with a probability of β.

    Attributes:
        epsilon: ε₀ > 0 of each choice; part of the budget.
        features: p.
        bound: To which records in these units are clipped, with their intercept.
        centred: Whether c may differ from 0.
    """

    epsilon: Fraction = field(converter=fields.positive)
    features: int = field(converter=fields.count)
    bound: Fraction = field(converter=fields.positive)
    centred: bool = True

    @classmethod
    def within(cls, epsilon: Fraction, features: int, bound: Fraction, centred: bool) -> RangesChoice:
        """Return one choice per feature, with ε/√p each, rounded down, which spend about as much as one of ε."""
        return cls(epsilon / Fraction(math.sqrt(features) * (1 + 1e-12)), features, bound, centred)

    def planned(self, relation: Relation) -> Mechanism:
        """Return all choices as one concentrated mechanism, since their exact account would take long."""
        return PaidTogether.together(self.epsilon, self.features, relation)

    @property
    def least_records(self) -> int:
        """Return the number of records for which every score is within 2n/5 of the best, with probability 19/20."""
        candidates = len(_HALF_WIDTHS) * len(self._places)
        return math.ceil(5 / float(self.epsilon) * math.log(20 * candidates * self.features))

    @property
    def _places(self) -> Array:
        return np.arange(-_FARTHEST, _FARTHEST + 1.0) if self.centred else np.zeros(1)

    def clipped(self, problem: Records, run: OpenRun) -> tuple[LinearScores, dict[str, Array]]:
        """Return records in the chosen units, clipped, and the middle and half-width of each range, (1, p)."""
        widths = np.repeat(_HALF_WIDTHS, len(self._places))
        middles = np.outer(_HALF_WIDTHS, self._places).ravel()
        chosen, paid = [], PaidTogether(self.epsilon, self.features, run.relation, run.ledger)
        for column in problem.features.T:
            ordered = np.sort(column)
            last = np.searchsorted(ordered, middles + widths, side="right")
            inside = last - np.searchsorted(ordered, middles - widths, side="left")
            nearness = -np.abs(inside - problem.records / 2)[None]
            chosen.append(int(run.choose(nearness, self.epsilon, Fraction(1), "concentrated", ledger=paid)[0]))
        middle, half = middles[chosen], _WIDER * widths[chosen]
        return problem.in_units(middle, half).clipped_to(self.bound), {"middle": middle[None], "half": half[None]}


@frozen(field_transformer=fields.named)
class ClippedDescent(Method[LinearScores | Records]):
    """Noisy gradient descent on clipped losses, for ``LinearScores``, or ``Records`` whose scale is then chosen first.

    ::

        (choose B, or ranges of features, privately)
        for t = 1, ..., T:
            g = mean of clipped gradients at w + N(0, σ² I)      (of all records, or of a Poisson sample)
            w = w - (η/B²) g
        return the mean of w over the last ⌈T/2⌉ steps

    Measured: the mean loss, not clipped, at the output ("objective"). Outputs: "middle" and "half" of every range,
    shape (1, p), where ranges were chosen.

    Attributes:
        step_size: η, in units where records have norm 1.
        sampling: The sampling scheme, or None for all records.
        scale: The private choice of B, or of ranges, for unclipped records, or None.
        watch: Called with the number of every step; None: not called.
    """

    title: ClassVar[str] = "clipped gradient descent"
    metric: ClassVar[str] = "objective"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_size: float = field(converter=fields.length)
    sampling: Poisson | None = field(default=None, validator=_poisson_or_none)
    scale: ScaleChoice | RangesChoice | None = None
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)
    noise: fields.WhichNoise = field(default="gaussian", validator=fields.one_of(fields.WhichNoise))
    watch: Callable[[int], None] | None = field(default=None, eq=False)

    @classmethod
    def calibrated(
        cls,
        problem: LinearScores | Records,
        tuned: Tuned | None = None,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int | None = None,
        relation: str | Relation = Relation.REPLACE_ONE,
        noise: fields.WhichNoise = "gaussian",
        scale_share: ExactLike = "1/10",
        max_gradients: int | None = None,
        ranges: RangesChoice | None = None,
    ) -> ClippedDescent:
        """Plan for a budget, see ``Method``.

        - ``tuned``: of the problem's loss; None where that is one of ``LOGISTIC``, ``MULTINOMIAL``, ``HUBER``
        - ``scale_share``: the part of ε that a choice of B spends as pure ε₀, where records are not clipped yet
        - ``max_gradients``: how many gradients of single records a walk may ask for, n T at most. Where it is less,
          steps are about Poisson samples, at the certified account of their sampling; with "secure" noise, which has
          none, and where samples would have fewer than 256 records, there are fewer steps.
        - ``ranges``: to be chosen instead of a norm, where records are not clipped yet
        """
        tuned = _TUNED.get(problem.loss) if tuned is None else tuned
        if tuned is None:
            raise InvalidValue("tuned", None, f"the numbers of a walk on {problem.loss.name}")
        budget = PrivacyBudget.of(epsilon, delta, relation)
        scale: ScaleChoice | RangesChoice | None = None
        if not isinstance(problem, LinearScores):
            scale = ScaleChoice(budget.epsilon * fields.share(scale_share)) if ranges is None else ranges
        n, p = problem.records, problem.dimension // problem.outputs
        path = tuned.path(n, p, planning.multiplier_of_one(budget))
        usual = max(STEPS, math.ceil(path / tuned.longest_step))
        count = usual if steps is None else fields.count(steps, "steps")
        rate = Fraction(1)
        if max_gradients is not None and fields.count(max_gradients, "max_gradients") < n * count:
            size = n if noise == "secure" else min(n, _SMALLEST_BATCH)
            count = max(1, min(count, max_gradients // size))
            rate = Fraction(1) if noise == "secure" else min(Fraction(1), Fraction(max_gradients, n * count))
        sampling = Poisson(rate) if rate < 1 else None

        def released(z: Fraction) -> Mechanism:
            return cls(z, count, 1.0, sampling, scale, budget, noise).planned

        if sampling is None and scale is None:
            z = planning.multiplier_of_steps(budget, count)
        else:
            z = planning.multiplier_within(budget, released)
        return cls(z, count, min(path / count, tuned.longest_step), sampling, scale, budget, noise)

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all iterates together, and the scale."""
        one = Gaussian(self.noise_multiplier)
        walk = sampled(one, self.sampling) ** self.steps
        if self.scale is None:
            return walk
        return self.scale.planned(self.relation) @ walk

    def walk(self, problem: LinearScores | Records, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        if not isinstance(problem, LinearScores | Records):
            raise InvalidValue("problem", type(problem).__name__, "LinearScores, whose records are clipped, or Records")
        released: dict[str, Array] = {}
        if isinstance(problem, Records):
            if self.scale is None or run.repetitions > 1:
                allowed = "clipped records, or one repetition whose scale is chosen"
                raise InvalidValue("problem", "records that are not clipped", allowed, "clipped_to(bound)")
            problem, released = self.scale.clipped(problem, run)
        gradient = run.batch_gradients(self.sampling, self.noise_multiplier, of=problem)
        step = self.step_size / float(problem.feature_bound) ** 2
        w, later, first = run.repeated(problem.initial_point), run.repeated(problem.initial_point), self.steps // 2 + 1
        for t in run.steps(self.steps):
            w = w - step * gradient(w).noisy
            if t >= first:
                later += (w - later) / (t - first + 1)
            if self.watch is not None:
                self.watch(t)
        return Outcome(
            later,
            outputs=released,
            measured={"objective": in_batches(problem, later)[0]},
            parameters={"step_size": self.step_size, "feature_bound": float(problem.feature_bound)},
        )

    def gradients(self, problem: LinearScores | Records) -> int:
        """Return the expected number of gradients of single records in a run: public."""
        rate = Fraction(1) if self.sampling is None else self.sampling.sample_rate
        return math.ceil(rate * problem.records * self.steps)
