"""One release on all the data it is given: the pair that dominates it, and pairs that attacks attain.

The proofs are in ``losses.md`` (noise, selection, black boxes) and ``sampling.md``, section 9 (attacks).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpbounds.errors import UnsupportedMechanism, shown
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy import mechanisms
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.relations import Order, Relation

_PRECISION = 128
_TWO_POINT_ATTACKS = (Fraction(1, 2), Fraction(5, 8), Fraction(3, 4))  # of the range; the best depends on ε


@dataclass(frozen=True, slots=True)
class StepBound:
    """One step: the pair that dominates it, and pairs that attacks attain.

    Attributes:
        pair: Dominates the step.
        attacks: Attained, each by some mechanism of the description and two data sets, in every step of a composition.
        only_once: In a single step, not in a composition, the dominating pair itself is attained at every ε.
        size: The number of records of the data sets that attain the attacks, where it matters.
    """

    pair: pairs.Pair
    attacks: tuple[pairs.Pair, ...]
    only_once: bool = False
    size: int | None = None

    @classmethod
    def attained(cls, pair: pairs.Pair, size: int | None = None) -> StepBound:
        """A step whose dominating pair is attained."""
        return cls(pair, (pair,), size=size)

    @property
    def tight(self) -> bool:
        """Whether the dominating pair is attained."""
        return self.attacks == (self.pair,)


def single_release(mechanism: Mechanism, order: Order) -> StepBound:
    """The bound of one release on all the data it is given.

    Raises:
        UnsupportedMechanism: No pair is proven for it, or its guarantee is for another relation.
    """
    match mechanism:
        case mechanisms.Gaussian():
            return StepBound.attained(pairs.ShiftedGaussians(_shift(mechanism, mechanism.noise_stddev, order) ** 2))
        case mechanisms.Laplace():
            return StepBound.attained(pairs.ShiftedLaplaces(_shift(mechanism, mechanism.noise_scale, order)))
        case mechanisms.UniformBall():
            shift = (mechanism.sensitivity or (2 if order.moves_twice else 1)) / mechanism.radius
            return StepBound.attained(pairs.UniformBalls(shift**2, mechanism.dimension))
        case mechanisms.RandomizedResponse():
            if order is not Order.REPLACE:
                raise UnsupportedMechanism(
                    "randomised response publishes one answer per record, and so the number of records, and a record "
                    "that contributes nothing has no answer: it is private under replace-one only; ask with "
                    "relation='replace-one'"
                )
            return StepBound.attained(pairs.Responses(mechanism.epsilon, mechanism.options))
        case mechanisms.ExponentialMechanism():
            span = mechanism.loss_range * _times(mechanism, mechanism.relation, order)
            two_points = tuple(pairs.TwoPoints(share * span, span) for share in _TWO_POINT_ATTACKS)
            return StepBound(pairs.BoundedRangeProfile(span), two_points)
        case mechanisms.DiscreteLaplace(noise_scale=scale, bound=bound):
            times = 2 if order.moves_twice else 1
            pair = pairs.discrete_laplaces(1 / scale, times * bound)
            return StepBound.attained(pair) if isinstance(pair, pairs.ShiftedDiscreteLaplaces) else StepBound(pair, ())
        case mechanisms.DiscreteGaussian():
            return _discrete_gaussian(mechanism, order)
        case mechanisms.MixtureOfGaussians(noise_stddev=stddev, norms=norms):
            parts = tuple((norm**2 / stddev**2, chance) for norm, chance in norms)
            return StepBound.attained(_mixed(pairs.Direction.of(order), parts))
        case mechanisms.PermuteAndFlip():
            shift = mechanism.largest_loss * _times(mechanism, mechanism.relation, order)
            return StepBound(pairs.ShiftedLaplaces(shift), _two_candidates(shift), only_once=True)
        case mechanisms.AboveThreshold():
            twice = _times(mechanism, mechanism.relation, order) == 2
            return StepBound(pairs.TwoResponses(mechanism.epsilon) if twice else pairs.Responses(mechanism.epsilon), ())
        case mechanisms.PureDP() | mechanisms.ApproximateDP() | mechanisms.ZCDP() | mechanisms.RenyiDP():
            return _black_box(mechanism, order)
    raise UnsupportedMechanism(f"no dominating pair is proven here for {shown(mechanism)} ({order})")


def _discrete_gaussian(mechanism: mechanisms.DiscreteGaussian, order: Order) -> StepBound:
    """One coordinate that moves, exactly; for other vectors what holds in any dimension (``whole_numbers.md``)."""
    variance, times = mechanism.noise_stddev**2, 2 if order.moves_twice else 1
    scalar = mechanism.dimension == 1
    squared = (times * (math.floor(mechanism.bound) if scalar else mechanism.bound)) ** 2
    distance = times * math.floor(mechanism.bound) if scalar else math.isqrt(math.floor(squared))
    visible = pairs.are_listed(variance, distance)
    attained = pairs.ShiftedDiscreteGaussians(variance, distance, scalar)
    if visible and (scalar or squared < 2):
        return StepBound.attained(attained)
    if visible and squared < 4:  # no coordinate moves by more than 1, and the dearest moves as many as it may
        moved = min(math.floor(squared), mechanism.dimension or math.floor(squared))
        one = pairs.ShiftedDiscreteGaussians(variance, 1, scalar)
        return StepBound.attained(pairs.Combined(((one, moved),)))
    # one coordinate moves by the whole distance where the norms of both vectors are whole numbers
    attacks = (pairs.ShiftedDiscreteGaussians(variance, times * math.floor(mechanism.bound), scalar),)
    return StepBound(pairs.RenyiProfile((), squared / (2 * variance)), attacks if visible else ())


def _mixed(direction: pairs.Direction, parts: tuple[tuple[Fraction, Fraction], ...]) -> pairs.Pair:
    """A mixture of Gaussians; one law, or that of a Poisson sample, by its own name."""
    (least, _), (largest, chance) = parts[0], parts[-1]
    if len(parts) == 1:
        return pairs.ShiftedGaussians(4 * largest if direction is pairs.Direction.REPLACE else largest)
    if len(parts) == 2 and least == 0:
        return pairs.SampledGaussians(direction, chance, 1 / largest)
    return pairs.MixedGaussians(direction, parts)


def _two_candidates(shift: Fraction) -> tuple[pairs.Pair, ...]:
    """Two candidates: whether Laplace noise, moved or not, exceeds a part of the shift; losses rounded towards 0."""

    def loss(near: Fraction, far: Fraction) -> Fraction:
        """Log (1 - e^-far / 2) / (e^-near / 2), rounded down."""
        return ball_end(ball(near) + (2 - (-ball(far)).exp()).log(), "down")

    with working(_PRECISION):
        places = [part * shift for part in _TWO_POINT_ATTACKS]
        ends = [(loss(place, shift - place), loss(shift - place, place)) for place in places]
    return tuple(pairs.TwoPoints(high, high + low) for high, low in ends)


def _shift(mechanism: mechanisms.Gaussian | mechanisms.Laplace, absolute: Fraction | None, order: Order) -> Fraction:
    """How far one record moves the answer, in units of the noise."""
    if mechanism.noise_multiplier is not None:
        return (2 if order.moves_twice else 1) / mechanism.noise_multiplier
    assert absolute is not None
    assert mechanism.sensitivity is not None
    return mechanism.sensitivity / absolute


def _times(mechanism: Mechanism, declared: Relation, order: Order) -> int:
    """How many links of the declared relation one step of that order takes: 1, or 2 (out, then in)."""
    if order in declared.orders:
        return 1
    match order:
        case Order.REPLACE:
            return 2  # remove and add; or zero, and restore with other content
        case Order.ZERO | Order.RESTORE:
            raise UnsupportedMechanism(
                f"{mechanism!r} is private under {declared}: declare it under zero-out-one if its guarantee covers "
                "a record that contributes nothing in the place of a real one (as it does where that is a legal record "
                "under replace-one, or where nothing tells it from one that is absent)"
            )
        case Order.REMOVE | Order.ADD:
            raise UnsupportedMechanism(
                f"{mechanism!r} is private under {declared}, which says nothing about adding or removing a record (it "
                "may publish how many there are): establish the guarantee under add-or-remove-one, or ask under "
                f"{declared}"
            )
    assert_never(order)


def _black_box(
    mechanism: mechanisms.PureDP | mechanisms.ApproximateDP | mechanisms.ZCDP | mechanisms.RenyiDP, order: Order
) -> StepBound:
    times = _times(mechanism, mechanism.relation, order)
    pair: pairs.Pair
    instance: pairs.Pair
    match mechanism:
        case mechanisms.PureDP(epsilon=epsilon):
            return StepBound.attained(pairs.Responses(epsilon) if times == 1 else pairs.TwoResponses(epsilon))
        case mechanisms.ApproximateDP(epsilon=epsilon, delta=delta):
            pair = instance = pairs.FourPoints(epsilon, delta)
        case mechanisms.ZCDP(rho=rho):
            pair, instance = pairs.RenyiProfile((), rho), pairs.ShiftedGaussians(2 * rho * times**2)
        case mechanisms.RenyiDP(points=points):
            if times > 1:
                raise UnsupportedMechanism(
                    f"a Rényi guarantee under {mechanism.relation} gives none here under replace-one (the triangle "
                    "inequality of Rényi divergences changes the orders): declare it under replace-one, or use ZCDP"
                )
            pair = pairs.RenyiProfile(points)
            least = min(value / order for order, value in points)
            return StepBound(pair, (pairs.ShiftedGaussians(2 * least),) if least > 0 else ())
    if isinstance(mechanism, mechanisms.ApproximateDP) and times == 1:
        return StepBound.attained(pair)
    return StepBound(pair if times == 1 else pairs.enlarged(pair, times), (instance,))
