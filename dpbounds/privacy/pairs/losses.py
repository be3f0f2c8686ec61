"""The distribution of the loss of a dominating pair, in ball arithmetic.

The loss L = log dP/dQ has a continuous part, given by the P- and Q-mass above any point, finitely many atoms, and
P-mass at infinity. Everything else follows: δ(ε) = E_P (1 - e^(ε-L))_+ is a sum over them, and the lattice cuts them
into cells. Balls are computed at the working precision, so call everything inside one ``working``.

This file has the operations that all pairs share, such as sampling, tags and mirrors. Each pair has its own
distribution as a method. The derivations are in ``losses.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from flint import arb, fmpq

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.proofs import Declined

if TYPE_CHECKING:
    from dpbounds.privacy.pairs.core import Draws, Pair

Masses = tuple[arb, arb]  # P-mass and Q-mass

ROUNDING_PRECISION = 160  # bits at which a rational number is rounded up
# probabilities below 2^-640 are negligible, at low precision, too, so that large losses are covered
NEGLIGIBLE_BITS = 640
NEGLIGIBLE_LOG = -800  # log H_α below which loss counts as infinite
_ENVELOPE_POINTS = 800


@dataclass(frozen=True, slots=True)
class LossAtom:
    """An atom of the loss: where it lies, its P-mass and its Q-mass (p = r e^loss)."""

    loss: arb
    p: arb
    r: arb


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """The loss of one pair.

    Attributes:
        tail: P- and Q-mass of the continuous part above a loss.
        head: The same below a loss.
        lowest: A lower bound on the continuous losses; None if they are unbounded, or there are none.
        highest: An upper bound on the continuous losses; None likewise.
        points: The atoms at finite losses.
        infinite: P-mass at loss ∞.
        vanishing: Q-mass at loss -∞.
        symmetric: Whether (Q, P) has the same profile: the distribution under Q of -L is the distribution under P of L.
    """

    tail: Callable[[arb], Masses]
    head: Callable[[arb], Masses]
    lowest: arb | None
    highest: arb | None
    points: tuple[LossAtom, ...] = ()
    infinite: arb = field(default_factory=arb)
    vanishing: arb = field(default_factory=arb)
    symmetric: bool = True

    @property
    def whole(self) -> Masses:
        """P- and Q-mass of the continuous part."""
        if self.discrete:
            return arb(0), arb(0)
        p = sum((point.p for point in self.points), self.infinite)
        r = sum((point.r for point in self.points), self.vanishing)
        return 1 - p, 1 - r

    @property
    def discrete(self) -> bool:
        """Whether there is no continuous part."""
        return self.tail is nothing

    def delta(self, epsilon: arb) -> arb:
        """Return H_α(P ‖ Q) at α = e^ε."""
        alpha = epsilon.exp()
        p, r = self.tail(epsilon)
        value = p - alpha * r + self.infinite
        for point in self.points:
            value = value + positive_part(point.p - alpha * point.r)
        return value

    def largest_loss(self) -> arb | None:
        """Return the least upper bound of the finite losses; None where they are unbounded."""
        if self.highest is None and not self.discrete:
            return None
        ends = [point.loss for point in self.points] + ([] if self.highest is None else [self.highest])
        return reduce(arb.max, ends) if ends else arb(0)  # (without ends every loss is infinite)


def nothing(loss: arb) -> Masses:
    """Return masses 0, for a distribution without a continuous part."""
    return arb(0), arb(0)


def positive_part(x: arb) -> arb:
    """Return max(x, 0) as a ball."""
    return x if x > 0 else arb(0) if x <= 0 else x.max(arb(0))


def ball(number: Fraction | int) -> arb:
    """Return a ball around a rational number, at the working precision."""
    return arb(fmpq(number.numerator, number.denominator))


def rounded_up(value: Callable[[], arb]) -> Fraction:
    """Return an upper bound of a ball, at a precision that suffices for a rational number to be published."""
    with working(ROUNDING_PRECISION):
        return ball_end(value(), "up")


def unbounded() -> arb:
    """Return the largest loss where losses are unbounded: ∞."""
    return arb("inf")


def as_ball(loss: Fraction | arb) -> arb:
    """Return a loss as a ball at the working precision."""
    return ball(loss) if isinstance(loss, Fraction) else loss


def least_loss(pair: Pair) -> Fraction | arb:
    """Return the largest lower bound of a pair's loss under its second distribution; -∞ where it is unbounded."""
    return -pair.mirrored().largest_loss()


def sum_of_losses(losses: Iterable[tuple[Fraction | arb, int]]) -> Fraction | arb:
    """Return the sum of the largest losses of independent pairs, each times its count; a Fraction if all are."""
    losses = list(losses)
    known = sum((count * loss for loss, count in losses if isinstance(loss, Fraction)), Fraction(0))
    balls = [count * loss for loss, count in losses if not isinstance(loss, Fraction)]
    return sum(balls, ball(known)) if balls else known


def diluted_loss(rate: arb, loss: Fraction | arb) -> arb:
    """Return log(1 - q + q e^l) at a rate q > 0, for any l: ∞ at ∞, and log(1 - q) at -∞."""
    value = as_ball(loss)
    if value.is_finite():
        return (rate * value.expm1()).log1p()
    if value > 0:
        return unbounded()
    return _log_of_rest(rate) if value < 0 else value  # undecided: NaN


def _log_of_rest(rate: arb) -> arb:
    """Return log(1 - q); -∞ at q = 1."""
    return -unbounded() if rate == 1 else (-rate).log1p()


def upper_tail(x: arb) -> arb:
    """Return P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def law_of(pair: Pair) -> LossDistribution:
    """Return the distribution of a pair's loss.

    Raises:
        UnsupportedMechanism: It has no closed form.
    """
    return pair.distribution()


@lru_cache(maxsize=64)
def law_at(pair: Pair, precision: int) -> LossDistribution:
    """Return the distribution of a pair at a precision in bits, remembered."""
    with working(precision):
        return pair.distribution()


def of_atoms(
    points: Iterable[LossAtom], infinite: arb, vanishing: arb | None = None, *, symmetric: bool = True
) -> LossDistribution:
    """Return the distribution of atoms only; Q-mass at loss -∞ equals P-mass at ∞, unless it is given."""
    kept = tuple(point for point in points if not point.p.is_zero())
    missing = infinite if vanishing is None else vanishing
    return LossDistribution(nothing, nothing, None, None, kept, infinite, missing, symmetric)


def mirrored_tail(tail: Callable[[arb], Masses]) -> Callable[[arb], Masses]:
    """Return the head of a symmetric distribution: P(L < l) = Q(L > -l)."""

    def head(loss: arb) -> Masses:
        p, r = tail(-loss)
        return r, p

    return head


def mirrored_about_zero(above: Callable[[arb], Masses]) -> Callable[[arb], Masses]:
    """Return the tail of a symmetric distribution at any loss, from that at losses >= 0; no continuous part at 0."""
    p, r = above(arb(0))
    whole = p + r

    def tail(loss: arb) -> Masses:
        if loss >= 0:
            return above(loss)
        p, r = above((-loss).max(arb(0)))
        if loss <= 0:
            return whole - r, whole - p
        right_p, right_r = above(loss.max(arb(0)))
        return right_p.union(whole - r), right_r.union(whole - p)

    return tail


# --- Mixtures of distributions ----------------------------------------------------------------------------------------


def counts_of(draws: Draws) -> tuple[list[arb], arb]:
    """Return p_1, p_2, ..., as far as they matter, and an upper bound on the sum of the others."""
    rate, slots = ball(draws.rate), draws.slots
    if draws.rate == 1:
        return [arb(0)] * (slots - 1) + [arb(1)], arb(0)
    odds = rate / (1 - rate)
    mass = (slots * (-rate).log1p()).exp()
    masses: list[arb] = []
    negligible = arb(2) ** -max(2 * working_bits(), NEGLIGIBLE_BITS)
    for k in range(1, slots + 1):
        mass = mass * odds * (slots - k + 1) / k
        if mass < negligible and odds * (slots - k) / (k + 1) < ball(Fraction(1, 2)):
            return masses, 2 * mass  # a geometric series of ratio below 1/2 from here on
        masses.append(mass)
    return masses, arb(0)


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the parts of a mixture: Σ w_k p_k and Σ w_k r_k of the mass above a loss, and of the mass below it."""

    tail: Callable[[arb], Masses]
    head: Callable[[arb], Masses]


def plain_sums(weights: Sequence[arb], laws: Sequence[LossDistribution]) -> Sums:
    """Return the sums, term by term."""
    return Sums(
        lambda loss: added(weights, [law.tail(loss) for law in laws]),
        lambda loss: added(weights, [law.head(loss) for law in laws]),
    )


def added(weights: Sequence[arb], parts: Iterable[Masses]) -> Masses:
    """Return Σ w_k p_k and Σ w_k r_k."""
    ps, rs = arb(0), arb(0)
    for (p, r), weight in zip(parts, weights, strict=True):
        ps, rs = ps + weight * p, rs + weight * r
    return ps, rs


def mixture(
    weights: Sequence[arb], laws: Sequence[LossDistribution], sums: Sums, rest: arb, rate: arb, slots: int
) -> LossDistribution:
    """Return H_α = Σ_k w_k h_k((α-1+η)/η): P-mass w (p + r (1-η)/η) and Q-mass w r/η where the base has p and r."""
    absent = (slots * (-rate).log1p()).exp() if rate < 1 else arb(0)
    eta = -(slots * (-rate).log1p()).expm1() if rate < 1 else arb(1)
    slack = arb(0).union(rest / eta)

    def moved(p: arb, r: arb, weight: arb) -> Masses:
        return weight * (p + r * absent / eta), weight * r / eta

    whole = moved(*added(weights, [law.whole for law in laws]), arb(1))

    def inner(loss: arb) -> arb | None:
        """Return the base's loss log((e^l - (1-η))/η); None at and below log(1-η)."""
        ratio = 1 + loss.expm1() / eta
        if ratio > 0:
            return ratio.log()
        if ratio <= 0:
            return None
        raise Declined("a loss cannot be distinguished from log(1 - sample rate) at this precision")

    def tail(loss: arb) -> Masses:
        at = inner(loss)
        p, r = whole if at is None else moved(*sums.tail(at), arb(1))
        return p + slack, r + slack

    def head(loss: arb) -> Masses:
        at = inner(loss)
        p, r = (arb(0), arb(0)) if at is None else moved(*sums.head(at), arb(1))
        return p + slack, r + slack

    points = []
    for law, weight in zip(laws, weights, strict=True):
        for point in law.points:
            p, r = moved(point.p, point.r, weight)
            points.append(LossAtom((eta * point.loss.expm1()).log1p(), p, r))
        if not law.vanishing.is_zero() and rate < 1:
            p, r = moved(arb(0), law.vanishing, weight)
            points.append(LossAtom((-eta).log1p(), p, r))
    continuous = [law for law in laws if not law.discrete]
    ends = [law.highest for law in continuous]
    known = [end for end in ends if end is not None]
    highest = known[-1] if known and len(known) == len(ends) else None  # the base enlarged most reaches farthest
    infinite = sum((weight * law.infinite for law, weight in zip(laws, weights, strict=True)), arb(0))
    return LossDistribution(
        tail=tail if continuous else nothing,
        head=head if continuous else nothing,
        lowest=(-eta).log1p() if rate < 1 else None,
        highest=None if highest is None else (eta * highest.expm1()).log1p(),
        points=tuple(points),
        infinite=infinite + arb(0).union(rest) if not rest.is_zero() else infinite,
        vanishing=arb(0) if rate < 1 else laws[-1].vanishing,
        symmetric=False,
    )


def diluted(rate: arb, base: LossDistribution) -> LossDistribution:
    """Return the base with all masses times the rate, and the rest of both distributions at loss 0."""

    def tail(loss: arb) -> Masses:
        p, r = base.tail(loss)
        return rate * p, rate * r

    def head(loss: arb) -> Masses:
        p, r = base.head(loss)
        return rate * p, rate * r

    continuous = not base.discrete
    return LossDistribution(
        tail=tail if continuous else nothing,
        head=head if continuous else nothing,
        lowest=base.lowest,
        highest=base.highest,
        points=(
            *(LossAtom(point.loss, rate * point.p, rate * point.r) for point in base.points),
            LossAtom(arb(0), 1 - rate, 1 - rate),
        ),
        infinite=rate * base.infinite,
        vanishing=rate * base.vanishing,
        symmetric=base.symmetric,
    )


def tagged(shares: Sequence[arb], laws: Sequence[LossDistribution], rest: arb | None = None) -> LossDistribution:
    """Return one of several distributions, drawn and revealed; ``rest`` bounds the share of those left out."""
    sums, slack = plain_sums(shares, laws), arb(0) if rest is None else arb(0).union(rest)
    continuous = [law for law in laws if not law.discrete]

    def widened(masses: Masses) -> Masses:
        return masses[0] + slack, masses[1] + slack

    weighted = list(zip(shares, laws, strict=True))
    return LossDistribution(
        tail=(lambda loss: widened(sums.tail(loss))) if continuous else nothing,
        head=(lambda loss: widened(sums.head(loss))) if continuous else nothing,
        lowest=_extreme([law.lowest for law in continuous], arb.min),
        highest=_extreme([law.highest for law in continuous], arb.max),
        points=tuple(
            LossAtom(point.loss, share * point.p, share * point.r) for share, law in weighted for point in law.points
        ),
        infinite=sum((share * law.infinite for share, law in weighted), slack),
        vanishing=sum((share * law.vanishing for share, law in weighted), arb(0)),
        symmetric=rest is None and all(law.symmetric for law in laws),
    )


def tagged_apart(firsts: Sequence[arb], seconds: Sequence[arb], laws: Sequence[LossDistribution]) -> LossDistribution:
    """Return one of several distributions, drawn with other weights under Q and revealed: losses grow by log w/v."""
    gains = [(first / second).log() for first, second in zip(firsts, seconds, strict=True)]
    weighed = list(zip(firsts, seconds, gains, laws, strict=True))
    continuous = [(gain, law) for gain, law in zip(gains, laws, strict=True) if not law.discrete]

    def beyond(side: Callable[[LossDistribution, arb], Masses]) -> Callable[[arb], Masses]:
        def masses(loss: arb) -> Masses:
            found = [(first, second, side(law, loss - gain)) for first, second, gain, law in weighed]
            return (
                sum((first * p for first, _, (p, _) in found), arb(0)),
                sum((second * r for _, second, (_, r) in found), arb(0)),
            )

        return masses if continuous else nothing

    return LossDistribution(
        tail=beyond(lambda law, loss: law.tail(loss)),
        head=beyond(lambda law, loss: law.head(loss)),
        lowest=_extreme([None if law.lowest is None else law.lowest + gain for gain, law in continuous], arb.min),
        highest=_extreme([None if law.highest is None else law.highest + gain for gain, law in continuous], arb.max),
        points=tuple(
            LossAtom(point.loss + gain, first * point.p, second * point.r)
            for first, second, gain, law in weighed
            for point in law.points
        ),
        infinite=sum((first * law.infinite for first, _, _, law in weighed), arb(0)),
        vanishing=sum((second * law.vanishing for _, second, _, law in weighed), arb(0)),
        symmetric=False,
    )


def _extreme(ends: Sequence[arb | None], choose: Callable[[arb, arb], arb]) -> arb | None:
    """Return the extreme loss of several distributions; None if one of them is unbounded, or there is none."""
    known = [end for end in ends if end is not None]
    return reduce(choose, known) if known and len(known) == len(ends) else None


# --- The same pair from the other side --------------------------------------------------------------------------------


def swapped(law: LossDistribution) -> LossDistribution:
    """Return the distribution of (Q, P): the loss changes its sign."""

    def tail(loss: arb) -> Masses:
        p, r = law.head(-loss)
        return r, p

    def head(loss: arb) -> Masses:
        p, r = law.tail(-loss)
        return r, p

    return LossDistribution(
        tail=nothing if law.discrete else tail,
        head=nothing if law.discrete else head,
        lowest=None if law.highest is None else -law.highest,
        highest=None if law.lowest is None else -law.lowest,
        points=tuple(LossAtom(-point.loss, point.r, point.p) for point in law.points),
        infinite=law.vanishing,
        vanishing=law.infinite,
        symmetric=law.symmetric,
    )


def symmetrised(law: LossDistribution) -> LossDistribution:
    """Return the symmetric distribution with the same profile for α >= 1; the remaining mass lies at loss 0.

    Raises:
        UnsupportedMechanism: It is not decided which atoms lie above 0.
    """
    above_p, above_r = law.tail(arb(0))
    points = []
    for point in law.points:
        if point.loss > 0:
            points += [point, LossAtom(-point.loss, point.r, point.p)]
            above_p, above_r = above_p + point.p, above_r + point.r
        elif not point.loss <= 0:
            raise UnsupportedMechanism("an atom of the loss cannot be distinguished from 0 at this precision")
    centre = 1 - law.infinite - above_p - above_r
    if not centre >= 0:  # a base that is an upper bound only need not be symmetric: its mirrored profile, made convex
        return envelope_law(ProfileBound(law.delta, reach_of(law)))

    tail = mirrored_about_zero(law.tail)
    return LossDistribution(
        tail=nothing if law.discrete else tail,
        head=nothing if law.discrete else mirrored_tail(tail),
        lowest=None if law.highest is None else -law.highest,
        highest=law.highest,
        points=(*points, LossAtom(arb(0), centre, centre)),
        infinite=law.infinite,
        vanishing=law.infinite,
    )


# --- Profiles that are only bounded above -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileBound:
    """An upper bound f on a profile: H_α <= f(log α) for α >= 1.

    Attributes:
        value: f, as a ball whose upper endpoint counts.
        reach: Larger losses do not improve the bound.
        backwards: The same for the profile of the reversal; None where that is the same.
    """

    value: Callable[[arb], arb]
    reach: arb
    backwards: Callable[[arb], arb] | None = None


def envelope_law(bound: ProfileBound) -> LossDistribution:
    """Return the distribution whose profile is the convex envelope of finitely many upper bounds on H_α.

    A profile is convex, so it lies below every chord between two upper bounds: their lower convex hull is one as well,
    and it is the profile of a pair. Its kinks are the atoms.
    """
    reach = bound.reach.mid()
    losses = [reach * k * k / _ENVELOPE_POINTS**2 for k in range(_ENVELOPE_POINTS + 1)]
    right = [(loss, bound.value(loss)) for loss in losses]
    return hull_law(right, right if bound.backwards is None else [(loss, bound.backwards(loss)) for loss in losses])


def hull_law(
    right: Sequence[tuple[arb, arb]], mirror: Sequence[tuple[arb, arb]], *, attained: bool = False
) -> LossDistribution:
    """Return the distribution whose profile is the lower convex hull of upper bounds on H_α at finitely many α.

    Args:
        right: Losses log α >= 0, increasing, each with a bound.
        mirror: The same for the profile of the reversal.
        attained: Whether the hull of these bounds is itself a profile that is asked for, so that its values are kept as
            balls. Otherwise only the upper endpoint of each bound counts.
    """
    end = arb if attained else arb.upper
    right = [(loss, end(value).min(arb(1))) for loss, value in right]
    # the points (α, h) in increasing order of α: (0, 1), the mirrored ones below 1, those from 1 on
    left = [
        (-loss, 1 - (-loss).exp() + (-loss).exp() * end(value).min(arb(1)))
        for loss, value in reversed(mirror)
        if not loss.is_zero()
    ]
    alphas = [arb(0)] + [loss.exp() for loss, _ in left + right]
    # a profile does not increase with α, so that bounds further left count, too
    values = list(accumulate((end(value) for _, value in left + right), lambda a, b: a.min(b), initial=arb(1)))
    corners = _lower_hull(alphas, values)
    while len(corners) > 1 and not values[corners[-1]] < values[corners[-2]]:
        corners.pop()  # the function is horizontal from the corner before on, which is an upper bound as well
    slopes = [
        (values[second] - values[first]) / (alphas[second] - alphas[first]) for first, second in pairwise(corners)
    ] + [arb(0)]
    points = []
    for corner, (before, after) in zip(corners[1:], pairwise(slopes), strict=True):
        r = after - before
        points.append(LossAtom((left + right)[corner - 1][0], r * alphas[corner], r))
    # where corners were left out at the end, the hull ends at the last one that was kept
    return of_atoms(points, values[corners[-1]].union(values[-1]), 1 + slopes[0], symmetric=False)


def _lower_hull(xs: Sequence[arb], ys: Sequence[arb]) -> list[int]:
    """Return the indices of the corners of the lower convex hull, first and last point included."""
    hull: list[int] = []
    for i in range(len(xs)):
        while len(hull) >= 2:
            j, k = hull[-2], hull[-1]
            turn = (xs[k] - xs[j]) * (ys[i] - ys[j]) - (ys[k] - ys[j]) * (xs[i] - xs[j])
            if turn > 0:
                break
            hull.pop()  # on or above the chord, or not distinguished from it: the chord is an upper bound as well
        hull.append(i)
    return hull


def reach_of(law: LossDistribution) -> arb:
    """Return a loss beyond which the mass is negligible: the largest finite one, or where the tail is e^-800."""
    largest = law.largest_loss()
    if largest is not None:
        return largest
    loss = arb(1)
    while law.tail(loss)[0].log() > NEGLIGIBLE_LOG:
        loss = 2 * loss
    return loss
