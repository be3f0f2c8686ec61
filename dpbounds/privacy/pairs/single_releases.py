"""One release on all the data it is given: the pair that dominates it, and pairs that attacks attain.

The proofs are in ``laws.md`` (noise, selection, black boxes) and ``sampling.md``, section 9 (attacks).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism, shown
from dpbounds.privacy import mechanisms
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.relations import Relation

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


def single_release(mechanism: Mechanism, direction: pairs.Direction) -> StepBound:
    """The bound of one release on all the data it is given.

    Raises:
        UnsupportedMechanism: No pair is proven for it, or its guarantee is for another relation.
    """
    replace = direction is pairs.Direction.REPLACE
    match mechanism:
        case mechanisms.Gaussian():
            return StepBound.attained(pairs.ShiftedGaussians(_shift(mechanism, mechanism.noise_stddev, replace) ** 2))
        case mechanisms.Laplace():
            return StepBound.attained(pairs.ShiftedLaplaces(_shift(mechanism, mechanism.noise_scale, replace)))
        case mechanisms.UniformBall():
            shift = (mechanism.sensitivity or (2 if replace else 1)) / mechanism.radius
            return StepBound.attained(pairs.UniformBalls(shift**2, mechanism.dimension))
        case mechanisms.RandomizedResponse():
            if not replace:
                raise UnsupportedMechanism(
                    "randomised response publishes one answer per record, and so the number of records: it is private "
                    "under replace-one only; ask with relation='replace-one'"
                )
            return StepBound.attained(pairs.Responses(mechanism.epsilon, mechanism.options))
        case mechanisms.ExponentialMechanism():
            span = mechanism.loss_range * _times(mechanism, mechanism.relation, replace)
            two_points = tuple(pairs.TwoPoints(share * span, span) for share in _TWO_POINT_ATTACKS)
            return StepBound(pairs.BoundedRangeProfile(span), two_points)
        case mechanisms.AboveThreshold():
            twice = _times(mechanism, mechanism.relation, replace) == 2
            return StepBound(pairs.TwoResponses(mechanism.epsilon) if twice else pairs.Responses(mechanism.epsilon), ())
        case mechanisms.PureDP() | mechanisms.ApproximateDP() | mechanisms.ZCDP() | mechanisms.RenyiDP():
            return _black_box(mechanism, replace)
    raise UnsupportedMechanism(f"no dominating pair is proven here for {shown(mechanism)} ({direction})")


def _shift(mechanism: mechanisms.Gaussian | mechanisms.Laplace, absolute: Fraction | None, replace: bool) -> Fraction:
    """How far one record moves the answer, in units of the noise."""
    if mechanism.noise_multiplier is not None:
        return (2 if replace else 1) / mechanism.noise_multiplier
    assert absolute is not None
    assert mechanism.sensitivity is not None
    return mechanism.sensitivity / absolute


def _times(mechanism: Mechanism, declared: Relation, replace: bool) -> int:
    """How many steps of the declared relation one step of the relation asked for takes: 1, or 2 (remove, then add)."""
    if declared is Relation.REPLACE_ONE and not replace:
        raise UnsupportedMechanism(
            f"{mechanism!r} is private under replace-one, which says nothing about adding or removing a record (it may "
            "publish how many there are): establish the guarantee under add-or-remove-one, or ask under replace-one"
        )
    return 2 if replace and declared is Relation.ADD_OR_REMOVE_ONE else 1


def _black_box(
    mechanism: mechanisms.PureDP | mechanisms.ApproximateDP | mechanisms.ZCDP | mechanisms.RenyiDP, replace: bool
) -> StepBound:
    times = _times(mechanism, mechanism.relation, replace)
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
                    "a Rényi guarantee under add-or-remove-one gives none here under replace-one (the triangle "
                    "inequality of Rényi divergences changes the orders): declare it under replace-one, or use ZCDP"
                )
            pair = pairs.RenyiProfile(points)
            least = min(value / order for order, value in points)
            return StepBound(pair, (pairs.ShiftedGaussians(2 * least),) if least > 0 else ())
    if isinstance(mechanism, mechanisms.ApproximateDP) and times == 1:
        return StepBound.attained(pair)
    return StepBound(pair if times == 1 else pairs.enlarged(pair, times), (instance,))
