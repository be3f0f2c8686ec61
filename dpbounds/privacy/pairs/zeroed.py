"""Pairs of batches of a fixed size in which a record is zeroed (``zero_out.md``)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import arb

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.core import DirectedPair, Direction, Draws, LargestLoss, Moments, Pair, Product, Writer
from dpbounds.privacy.pairs.gaussian import ShiftedGaussians
from dpbounds.privacy.pairs.losses import (
    LossAtom,
    LossDistribution,
    Masses,
    ProfileBound,
    as_ball,
    ball,
    counts_of,
    diluted_loss,
    envelope_law,
    least_loss,
    positive_part,
    reach_of,
    swapped,
    tagged,
    unbounded,
    upper_tail,
)
from dpbounds.privacy.pairs.sampled import OnDraws, Sampled
from dpbounds.privacy.pairs.sampled_moments import least, unamplified
from dpbounds.privacy.proofs import Declined

_SEARCHED, _FAR, _ROUGHLY = 28, 60.0, 64  # parameters of a search that affects the size of a bound, not its validity


_THREE_LAWS = "zero_out.md, sections 4 and 5 (three distributions, derived there)"


@dataclass(frozen=True, slots=True)
class Zeroed(OnDraws):
    """A batch of fixed size in which a record is zeroed: the batch that holds it lacks some other record.

    With η = 1 - p_0, h_k the profile of the base (first distribution: the record contributes) enlarged k times, g_k
    that of its reversal, and κ = (α-1)(1-η)/η:

    - remove (the record contributes in the first dataset): for α >= 1 H_α = Σ_{k>=1} p_k inf_{b>0} h_k(α + κ/b) +
      (κ/b) g_k(b); for α < 1 the reversal of Σ_{k>=1} p_k g_k(1 + (α-1)/η). Add: the same pair, swapped.
    - For a Gaussian base and α >= 1 the k-th infimum is the profile of (1-η) N(0) + η N(2ks) against (1-η) N(0) +
      η N(ks), over η.

    For at most one draw it is attained in a single step (Gaussian noise), by one of two pairs of datasets. Derived in
    ``zero_out.md``, sections 4 and 5.
    """

    direction: Direction
    draws: Draws
    base: Pair

    proof = _THREE_LAWS

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"[{self.base.in_words(write)}] for a record {self.draws.in_words(write)} against the same record zeroed, "
            "where another record is in its place otherwise"
        )

    def distribution(self) -> LossDistribution:
        """Return the envelope of the profile at many losses; for Gaussian noise two mixtures."""
        law = _zeroed(self.draws, self.base)
        return swapped(law) if self.direction is Direction.ADD else law

    def largest_loss(self) -> LargestLoss:
        """Return the sum over all slots of the largest loss of one draw: slots are exchanged one by one."""
        rate, slots = ball(self.draws.rate), self.draws.slots
        if self.direction is Direction.ADD:
            return slots * diluted_loss(rate, self.base.mirrored().largest_loss())
        there, least = as_ball(self.base.largest_loss()), as_ball(least_loss(self.base))
        if not there.is_finite():
            return unbounded()
        other = (1 - rate) / rate * least.exp()
        return slots * ((there.exp() + other) / (1 + other)).log()

    def log_moment(self, order: Fraction) -> arb:
        """Return the least of the bounds of two proofs."""
        return _log_moment(self, order)


@dataclass(frozen=True, slots=True)
class OpposedGaussians(DirectedPair):
    """(1-γ) N(0, 1) + γ N(2s, 1) against (1-γ) N(0, 1) + γ N(s, 1), s² = ``squared_shift``, or (add) swapped.

    A batch of fixed size in which a record is zeroed while all others pull the other way. Attained; dominates nothing
    but itself. ``zero_out.md``, section 4.
    """

    direction: Direction
    rate: Fraction
    squared_shift: Fraction

    claims = Moments.EXACT_AND_OWN
    proof = _THREE_LAWS

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"N(0, 1) and N(2s, 1) against N(0, 1) and N(s, 1), mixed at rate {write(self.rate)}, "
            f"s² = {write(self.squared_shift)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the losses, which fall from 0 to a minimum and then grow without bound in x."""
        law = _opposed_gaussians(ball(self.rate), ball(self.squared_shift).sqrt())
        return swapped(law) if self.direction is Direction.ADD else law

    def largest_loss(self) -> LargestLoss:
        """Return ∞; for add the least loss of the pair from the other side."""
        if self.direction is Direction.ADD:
            return -_least_opposed(ball(self.rate), ball(self.squared_shift).sqrt())
        return unbounded()

    def revealed(self) -> Product | None:
        """Return None: no such pair is proven."""
        return None

    @property
    def participation(self) -> Draws:
        """Return how often it is drawn."""
        return Draws(self.rate)


def _zeroed(draws: Draws, base: Pair) -> LossDistribution:
    """Return the pair of a record that contributes k ~ ``draws`` times in the first dataset; k counts as revealed."""
    if draws.rate == 1:
        return base.enlarged(draws.slots).distribution()
    weights, rest = counts_of(draws)
    eta = -(draws.slots * (-ball(draws.rate)).log1p()).expm1()
    if isinstance(base, ShiftedGaussians):
        shift = ball(base.squared_shift).sqrt()
        parts = [_zeroed_gaussians(eta, (k + 1) * shift) for k in range(len(weights))]
        shares = [weight / eta for weight in weights]
        return parts[0] if draws.slots == 1 else tagged(shares, parts, rest / eta)
    laws = [base.enlarged(k + 1).distribution() for k in range(len(weights))]
    profiles, reversals = [_profile(law) for law in laws], [_profile(swapped(law)) for law in laws]

    def value(loss: arb) -> arb:
        found = rest
        for weight, profile, reversal in zip(weights, profiles, reversals, strict=True):
            found = found + weight * _three_laws(profile, reversal, loss, eta)
        return found

    def backwards(loss: arb) -> arb:
        inner = (loss.expm1() / eta).log1p()
        return sum((weight * reversal(inner) for weight, reversal in zip(weights, reversals, strict=True)), rest)

    reach = max((reach_of(law) for law in laws), key=lambda top: float(top.mid()))
    return envelope_law(ProfileBound(value, 2 * reach, backwards))


def _profile(law: LossDistribution) -> Callable[[arb], arb]:
    """Return log α -> H_α; of many atoms only those next to log α are summed one by one."""
    if not law.discrete:
        return lambda loss: positive_part(law.delta(loss))
    points = sorted(law.points, key=lambda point: point.loss.mid(), reverse=True)
    places = [-point.loss.mid() for point in points]
    radius = max((point.loss.rad() for point in points), default=arb(0))
    ps = list(accumulate((point.p for point in points), initial=law.infinite))
    rs = list(accumulate((point.r for point in points), initial=arb(0)))

    def at(loss: arb) -> arb:
        surely = bisect_left(places, -(loss + radius).upper())
        possibly = max(surely, bisect_right(places, -(loss - radius).lower()))
        alpha = loss.exp()
        value = ps[surely] - alpha * rs[surely]
        for point in points[surely:possibly]:
            value = value + positive_part(point.p - alpha * point.r)
        return positive_part(value)

    return at


def _three_laws(h: Callable[[arb], arb], g: Callable[[arb], arb], loss: arb, eta: arb) -> arb:
    """Return an upper bound on V(E) - αZ(E) - κO(E), κ = (α-1)(1-η)/η: the least over b of h(α + κ/b) + (κ/b) g(b)."""
    alpha, kappa = loss.exp(), loss.expm1() * (1 - eta) / eta
    if not kappa > 0:
        return h(loss)

    def at(log_share: float) -> arb:  # bound at w = κ/b, in which it is convex
        w = arb(log_share).exp()
        return h((alpha + w).log()) + w * g((kappa / w).log())

    low, high = float(kappa.mid().log()) - _FAR, float(kappa.mid().log()) + _FAR
    with working(_ROUGHLY):  # any w gives a bound, so that a rough search suffices
        for _ in range(_SEARCHED):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if at(first).mid() < at(second).mid() else (first, high)
    return h(loss).upper().min(at((low + high) / 2).upper())


def _zeroed_gaussians(gamma: arb, shift: arb) -> LossDistribution:
    """Return the losses of N(0) and N(2s) mixed against N(0) and N(s) above 0, and of N(0) against these below 0."""
    s, rest = shift, 1 - gamma

    def above(loss: arb) -> Masses:  # (1-γ + γ u² e^(-2s²)) = e^l (1-γ + γ u e^(-s²/2)) at u = e^(sx), one root
        b = loss.exp()
        # with w = u e^(-s²/2): γ e^(-s²) w² - γ e^l w - (1-γ)(e^l - 1) = 0
        e = (s * s).exp()
        w = e * (b + (b * b + 4 * (rest / gamma) * loss.expm1().max(arb(0)) / e).sqrt()) / 2
        x = (w.log() + s * s / 2) / s
        outside = rest * upper_tail(x)
        return outside + gamma * upper_tail(x - 2 * s), outside + gamma * upper_tail(x - s)

    def below(loss: arb) -> Masses:  # P = N(0), Q = (1-γ) N(0) + γ N(s): P-mass and Q-mass of losses below l < 0
        ratio = 1 + (-loss).expm1() / gamma  # e^(sx - s²/2) at the place where the loss is l
        x = ratio.log() / s + s / 2
        p = upper_tail(x)
        return p, rest * p + gamma * upper_tail(x - s)

    (above_p, above_r), (below_p, below_r) = above(arb(0)), below(arb(0))
    centre = rest * (upper_tail(-s / 2) - upper_tail(3 * s / 2))

    def tail(loss: arb) -> Masses:
        if loss >= 0:
            return above(loss)
        left = (-loss).max(arb(0))
        p, r = below(-left)
        found = above_p + below_p - p, above_r + below_r - r
        if loss <= 0:
            return found
        right_p, right_r = above(loss.max(arb(0)))
        return found[0].union(right_p), found[1].union(right_r)

    def head(loss: arb) -> Masses:
        if loss <= 0:
            return below(loss)
        p, r = above(loss.max(arb(0)))
        found = below_p + above_p - p, below_r + above_r - r
        if loss >= 0:
            return found
        left_p, left_r = below(-(-loss).max(arb(0)))
        return found[0].union(left_p), found[1].union(left_r)

    return LossDistribution(tail, head, None, None, (LossAtom(arb(0), centre, centre),), symmetric=False)


def _opposed_gaussians(gamma: arb, s: arb) -> LossDistribution:
    """Return the losses, which fall from 0 to a minimum and then grow without bound in x."""
    rest = 1 - gamma
    e = (s * s).exp()

    def roots(loss: arb) -> tuple[arb | None, arb] | None:
        """Return the x at which the loss is l: two below 0, else one; None if l is below all losses.

        Raises:
            Declined: The loss is not distinguished from 0 at this precision.
        """
        b = loss.exp()
        # with w = e^(sx - s²/2): γ w² / e - γ e^l w - (1-γ)(e^l - 1) = 0
        flat = (rest / gamma) * loss.expm1() / e
        squared = b * b + 4 * flat
        if squared < 0:
            return None
        root = squared.max(arb(0)).sqrt()
        larger = e * (b + root) / 2
        x = (larger.log() + s * s / 2) / s
        if not loss < 0:
            if not loss >= 0:
                raise Declined("a loss cannot be distinguished from 0 at this precision")
            return None, x
        smaller = -2 * (rest / gamma) * loss.expm1() / (b + root)
        return (smaller.log() + s * s / 2) / s, x

    def masses_above(x: arb) -> Masses:
        outside = rest * upper_tail(x)
        return outside + gamma * upper_tail(x - 2 * s), outside + gamma * upper_tail(x - s)

    def tail(loss: arb) -> Masses:
        found = roots(loss)
        if found is None:
            return arb(1), arb(1)
        near, far = found
        p, r = masses_above(far)
        if near is None:
            return p, r
        lower_p, lower_r = masses_above(near)
        return p + 1 - lower_p, r + 1 - lower_r

    def head(loss: arb) -> Masses:
        p, r = tail(loss)
        return 1 - p, 1 - r

    least = _least_opposed(gamma, s)
    return LossDistribution(tail, head, least, None, symmetric=False)


def _least_opposed(gamma: arb, s: arb) -> arb:
    """Return the least loss: where e^(2l) = 4 (1-γ)/γ (1 - e^l) e^(-s²)."""
    c = 2 * (1 - gamma) / gamma * (-(s * s)).exp()  # b² + 2cb - 2c = 0
    return (2 * c / (c + (c * c + 2 * c).sqrt())).log()


def _log_moment(pair: Zeroed, order: Fraction) -> arb:
    """Bound log E_Q r^λ of a batch in which a record is zeroed: by joint convexity, and by the cost of replacing one.

    The three distributions (record there, zeroed, another one) lie within two links of each other (``zero_out.md``,
    section 6).
    """
    candidates = []
    if pair.draws.slots == 1:
        base = pair.base.mirrored() if pair.direction is Direction.ADD else pair.base
        candidates.append(unamplified(ball(pair.draws.rate), base.log_moment(order)))
    try:
        twice = pair.base.enlarged(2)
    except UnsupportedMechanism:
        pass
    else:
        candidates.append(Sampled(Direction.REPLACE, pair.draws, twice).log_moment(order))
    return least(candidates)
