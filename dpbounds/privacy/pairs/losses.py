"""How the loss of a dominating pair is distributed, in ball arithmetic.

The loss L = log dP/dQ has a continuous part, given by the P- and Q-mass above any point, finitely many atoms, and
P-mass at infinity. Everything else follows: δ(ε) = E_P (1 - e^(ε-L))_+ is a sum over them, and the lattice cuts them
into cells. Balls are computed at the working precision, so call everything inside one ``working``.

The derivations, also of what sampling makes of a base pair's law, are in ``losses.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, pairwise

import numpy as np
from flint import arb, fmpq

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.gaussian_sums import Places, RatioSum, Weights, tails_growing, tails_shrinking, upper_tail
from dpbounds.privacy.proofs import Declined

Masses = tuple[arb, arb]  # P-mass and Q-mass


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
        lowest: No continuous loss lies below; None where they are unbounded.
        highest: No continuous loss lies above; None where they are unbounded.
        points: The atoms at finite losses.
        infinite: P-mass at loss ∞.
        vanishing: Q-mass at loss -∞.
        symmetric: Whether (Q, P) has the same profile: the law under Q of -L is the law under P of L.
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
        """H_α(P ‖ Q) at α = e^ε."""
        alpha = epsilon.exp()
        p, r = self.tail(epsilon)
        value = p - alpha * r + self.infinite
        for point in self.points:
            value = value + positive_part(point.p - alpha * point.r)
        return value

    def largest_loss(self) -> arb | None:
        """The least upper bound of the finite losses; None where they are unbounded."""
        if self.highest is None and not self.discrete:
            return None
        ends = [point.loss for point in self.points] + ([] if self.highest is None else [self.highest])
        return reduce(arb.max, ends) if ends else arb(0)  # (without ends every loss is infinite)


def nothing(loss: arb) -> Masses:
    """No continuous part."""
    return arb(0), arb(0)


def positive_part(x: arb) -> arb:
    """max(x, 0) as a ball."""
    return x if x > 0 else arb(0) if x <= 0 else x.max(arb(0))


def ball(number: Fraction | int) -> arb:
    """A ball around a rational number, at the working precision."""
    return arb(fmpq(number.numerator, number.denominator))


def law_of(pair: pairs.Pair) -> LossDistribution:
    """Return the law of a pair's loss.

    Raises:
        UnsupportedMechanism: The pair is a combination of several, whose law has no closed form.
    """
    match pair:
        case pairs.ShiftedGaussians(squared_shift=squared):
            return _shifted_gaussians(squared)
        case pairs.ShiftedLaplaces(shift=shift):
            return _shifted_laplaces(ball(shift))
        case pairs.ShiftedDiscreteLaplaces(parameter=parameter, distance=distance):
            return _shifted_discrete_laplaces(parameter, distance)
        case pairs.ShiftedDiscreteGaussians(variance=variance, distance=distance):
            return _shifted_discrete_gaussians(ball(variance), distance)
        case pairs.MixedGaussians(direction=order, parts=parts):
            return mixed_gaussians(order, parts)
        case pairs.UniformBalls(squared_shift=squared, dimension=dimension):
            tau = overlap_lost(squared, dimension)
            return _discrete([LossAtom(arb(0), 1 - tau, 1 - tau)], tau)
        case pairs.Responses(epsilon=epsilon, options=options):
            return _responses(ball(epsilon), options)
        case pairs.TwoResponses(epsilon=epsilon):
            return _two_responses(ball(epsilon))
        case pairs.FourPoints(epsilon=epsilon, delta=delta):
            return _four_points(ball(epsilon), ball(delta))
        case pairs.BoundedRangeProfile(span=span):
            return _bounded_range(ball(span))
        case pairs.TwoPoints(high=high, span=span):
            return _two_points(ball(high), ball(high - span))
        case pairs.RenyiProfile(points=points, rho=rho):
            return envelope_law(_renyi_profile(points, rho))
        case pairs.SampledGaussians():
            return _sampled_gaussians(pair)
        case pairs.Sampled(direction=order, draws=draws, base=base):
            return _sampled(order, draws, base)
        case pairs.DrawnGaussians(direction=order, draws=draws, squared_shift=squared):
            return _drawn_gaussians(order, draws, squared)
        case pairs.ReplacedGaussians(draws=draws, squared_shift=squared):
            absent = (draws.slots * (-ball(draws.rate)).log1p()).exp()
            return _replaced_gaussians(absent, *_counts(draws), ball(squared).sqrt())
        case pairs.ReplacedGroup(chances=chances, squared_shift=squared):
            absent, *weights = map(ball, chances)
            return _replaced_gaussians(absent, weights, arb(0), ball(squared).sqrt())
        case pairs.Zeroed(direction=order, draws=draws, base=base):
            law = _zeroed(draws, base)
            return _swapped(law) if order is pairs.Direction.ADD else law
        case pairs.OpposedGaussians(direction=order, rate=rate, squared_shift=squared):
            law = _opposed_gaussians(ball(rate), ball(squared).sqrt())
            return _swapped(law) if order is pairs.Direction.ADD else law
        case pairs.TaggedGaussians(atoms=atoms):
            return _tagged_gaussians(atoms)
        case pairs.SampledLaplaces(sample_rate=rate, shift=shift):
            return _sampled_laplaces(ball(rate), ball(shift))
        case pairs.SampledBalls(sample_rate=rate, squared_shift=squared, dimension=dimension):
            return _sampled_balls(ball(rate), overlap_lost(squared, dimension), overlap_lost(4 * squared, dimension))
        case pairs.TwoGuarantees(sample_rate=rate, present=present, replaced=replaced):
            return envelope_law(_two_guarantees(ball(rate), law_of(present), law_of(replaced)))
        case pairs.CrowdedGaussians(direction=order):
            from dpbounds.privacy.pairs.crowds import crowded_masses

            law = _discrete([LossAtom((p / q).log(), p, q) for p, q in crowded_masses(pair)], arb(0), symmetric=False)
            return _swapped(law) if order is pairs.Direction.ADD else law
        case pairs.Tagged(parts=parts, others=others) if others:
            weights = [ball(weight) for weight, _ in parts]
            return _tagged_apart(weights, [ball(weight) for weight in others], [law_of(part) for _, part in parts])
        case pairs.Tagged(parts=parts):
            return _tagged([ball(weight) for weight, _ in parts], [law_of(part) for _, part in parts])
        case pairs.Diluted(rate=rate, base=base):
            return _diluted(ball(rate), law_of(base))
        case pairs.Discrete(points=atoms, infinite=infinite):
            return _given(atoms, infinite)
        case pairs.ShuffledBatches(base=base):
            return law_of(base)  # which dominates it
        case pairs.Allocated() | pairs.AllocatedTo():
            raise UnsupportedMechanism(
                "the loss of steps that are allocated in secret is enclosed, and has no law in a closed form"
            )
        case pairs.Combined():
            raise UnsupportedMechanism(f"the law of several pairs taken as one has no closed form: {pair}")
    raise UnsupportedMechanism(f"the law of {pair} is not known")


@lru_cache(maxsize=64)
def law_at(pair: pairs.Pair, precision: int) -> LossDistribution:
    """The law of a pair at a precision in bits, remembered."""
    with working(precision):
        return law_of(pair)


# --- Without sampling -------------------------------------------------------------------------------------------------


def _discrete(
    points: Iterable[LossAtom], infinite: arb, vanishing: arb | None = None, *, symmetric: bool = True
) -> LossDistribution:
    kept = tuple(point for point in points if not point.p.is_zero())
    missing = infinite if vanishing is None else vanishing
    return LossDistribution(nothing, nothing, None, None, kept, infinite, missing, symmetric)


def _mirrored(tail: Callable[[arb], Masses]) -> Callable[[arb], Masses]:
    """The head of a symmetric law: P(L < l) = Q(L > -l)."""

    def head(loss: arb) -> Masses:
        p, r = tail(-loss)
        return r, p

    return head


def _mirrored_about_zero(above: Callable[[arb], Masses]) -> Callable[[arb], Masses]:
    """The tail at any loss of a symmetric law without continuous part at 0, from that at losses from 0 on."""
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


def _shifted_gaussians(squared_shift: Fraction) -> LossDistribution:
    # L ~ N(μ²/2, μ²) under P and N(-μ²/2, μ²) under Q
    mu = ball(squared_shift).sqrt()

    def tail(loss: arb) -> Masses:
        return upper_tail(loss / mu - mu / 2), upper_tail(loss / mu + mu / 2)

    return LossDistribution(tail, _mirrored(tail), None, None)


def _tagged_gaussians(atoms: Sequence[tuple[Fraction, Fraction]]) -> LossDistribution:
    parts = [(ball(weight), ball(squared).sqrt()) for squared, weight in atoms if squared > 0]

    def tail(loss: arb) -> Masses:
        p, r = arb(0), arb(0)
        for weight, mu in parts:
            p += weight * upper_tail(loss / mu - mu / 2)
            r += weight * upper_tail(loss / mu + mu / 2)
        return p, r

    still = ball(sum((weight for squared, weight in atoms if squared == 0), Fraction(0)))
    points = (LossAtom(arb(0), still, still),) if still > 0 else ()
    if not parts:
        return _discrete(points, arb(0))
    return LossDistribution(tail, _mirrored(tail), None, None, points)


def _shifted_laplaces(shift: arb) -> LossDistribution:
    # Left of 0 the loss is -s, right of s it is s; between them it is 2x - s.
    edge = (-shift).exp() / 2

    def tail(loss: arb) -> Masses:
        if loss <= -shift:
            return arb(1) / 2 - edge, arb(1) / 2 - edge
        if loss >= shift:
            return arb(0), arb(0)
        inner = loss.min(shift).max(-shift)
        return -((inner - shift) / 2).expm1() / 2, (-(shift + inner) / 2).exp() / 2 - edge

    points = (LossAtom(shift, arb(1) / 2, edge), LossAtom(-shift, edge, arb(1) / 2))
    return LossDistribution(tail, _mirrored(tail), -shift, shift, points)


def _shifted_discrete_laplaces(parameter: Fraction, distance: int) -> LossDistribution:
    # Left of 0 the loss is -aD, right of D it is aD; between them a(2j - D) at j = 1, ..., D - 1.
    a, whole = ball(parameter), ball(parameter * distance)
    inside = -(-a).expm1() / (1 + (-a).exp())
    edge = 1 / (1 + (-a).exp())
    points = [
        LossAtom(ball(parameter * (2 * j - distance)), inside * (a * (j - distance)).exp(), inside * (-a * j).exp())
        for j in range(1, distance)
    ]
    far = edge * (-whole).exp()
    return _discrete([LossAtom(whole, edge, far), *points, LossAtom(-whole, far, edge)], arb(0))


def _shifted_discrete_gaussians(variance: arb, distance: int) -> LossDistribution:
    # The loss at x is (2xD - D²)/2σ². Beyond R on either side both laws together have next to nothing: revealed.
    masses, rest = discrete_gaussian_masses(variance, distance)
    reach = len(masses) - 1
    points = [
        LossAtom(
            ball(Fraction(2 * x * distance - distance**2, 2)) / variance, masses[abs(x - distance)], masses[abs(x)]
        )
        for x in range(distance - reach, reach + 1)
    ]
    # P lacks what lies left of D - R or right of R; Q the same, mirrored
    lost = arb(0).union(2 * rest + sum(masses[reach + 1 - distance :], arb(0)))
    return _discrete(points, lost, lost)


def discrete_gaussian_masses(variance: arb, further: int = 0) -> tuple[list[arb], arb]:
    """P(X = 0), ..., P(X = R) of the discrete Gaussian, as far as they matter and so much further; a bound on P(X > R).

    The ratio of neighbouring masses falls, so that beyond R they are below a geometric series (``whole_numbers.md``).
    """
    step = (-1 / (2 * variance)).exp()  # e^(-(x+1)²/2σ²) / e^(-x²/2σ²) = step^(2x+1)
    square, ratio, mass = step * step, step, arb(1)
    negligible = arb(2) ** -max(2 * working_bits(), _NEGLIGIBLE_BITS)
    masses = [mass]
    while further or not (mass < negligible and ratio < ball(Fraction(1, 2))):
        if mass < negligible and ratio < ball(Fraction(1, 2)):
            further -= 1
        mass, ratio = mass * ratio, ratio * square
        masses.append(mass)
        if len(masses) > _MOST_WHOLE_NUMBERS:
            raise Declined(f"a discrete Gaussian of more than {_MOST_WHOLE_NUMBERS} visible whole numbers")
    rest = 2 * mass * ratio
    total = 2 * sum(masses, arb(0)) - 1 + arb(0).union(2 * rest)
    return [mass / total for mass in masses], rest / total


def overlap_lost(squared_shift: Fraction, dimension: int) -> arb:
    """τ = I_{s²/4}(1/2, (d+1)/2): the part of a unit d-ball outside of its copy at distance s; 1 from s = 2 on."""
    if squared_shift >= 4:
        return arb(1)
    return ball(squared_shift / 4).beta_lower(ball(Fraction(1, 2)), ball(Fraction(dimension + 1, 2)), 1)


def _responses(epsilon: arb, options: int) -> LossDistribution:
    odds = epsilon.exp()
    true, other = odds / (odds + (options - 1)), 1 / (odds + (options - 1))
    rest = (options - 2) * other
    return _discrete(
        [LossAtom(epsilon, true, other), LossAtom(arb(0), rest, rest), LossAtom(-epsilon, other, true)], arb(0)
    )


def _two_responses(epsilon: arb) -> LossDistribution:
    high = 1 / (1 + (-epsilon).exp())
    low = high * (-2 * epsilon).exp()
    rest = -(-epsilon).expm1() / (1 + epsilon.exp())
    return _discrete(
        [LossAtom(2 * epsilon, high, low), LossAtom(arb(0), rest, rest), LossAtom(-2 * epsilon, low, high)], arb(0)
    )


def _four_points(epsilon: arb, delta: arb) -> LossDistribution:
    if epsilon.is_zero():
        return _discrete([LossAtom(arb(0), 1 - delta, 1 - delta)], delta)
    odds = epsilon.exp()
    high, low = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    return _discrete([LossAtom(epsilon, high, low), LossAtom(-epsilon, low, high)], delta)


def _bounded_range(span: arb) -> LossDistribution:
    # P-density e^((l-η)/2) / (2 (1 - e^-η)) on [-η, η]
    norm = -(-span).expm1()

    def tail(loss: arb) -> Masses:
        if loss >= span:
            return arb(0), arb(0)
        inner = loss.min(span).max(-span)
        return -((inner - span) / 2).expm1() / norm, ((-(inner + span) / 2).exp() - (-span).exp()) / norm

    return LossDistribution(tail, _mirrored(tail), -span, span)


def _given(atoms: Sequence[tuple[Fraction, Fraction]], infinite: Fraction) -> LossDistribution:
    points = [LossAtom(ball(loss), ball(p), ball(p) * (-ball(loss)).exp()) for loss, p in atoms]
    rest = 1 - sum((point.r for point in points), arb(0))
    return _discrete(points, ball(infinite), rest.max(arb(0)), symmetric=False)


def _two_points(high: arb, low: arb) -> LossDistribution:
    # P-masses u, 1-u with Q-masses u e^-high, (1-u) e^-low that add up to 1
    share = (-low).expm1() / ((-low).exp() - (-high).exp())
    points = (LossAtom(high, share, share * (-high).exp()), LossAtom(low, 1 - share, (1 - share) * (-low).exp()))
    return _discrete(points, arb(0), symmetric=False)


# --- Profiles that are only bounded above -----------------------------------------------------------------------------

_ENVELOPE_POINTS = 800
_EXCESS_ORDERS = np.geomspace(1e-5, 1e7, 1500)  # λ - 1, to choose from
_NEGLIGIBLE_LOG = -800  # of H_α: what lies beyond counts as infinite loss


@dataclass(frozen=True, slots=True)
class ProfileBound:
    """An upper bound f on a profile: H_α <= f(log α) for α >= 1.

    Attributes:
        value: f, as a ball whose upper end counts.
        reach: From this loss on nothing is gained by looking further.
        backwards: The same for the profile of the reversal; None where that is the same.
    """

    value: Callable[[arb], arb]
    reach: arb
    backwards: Callable[[arb], arb] | None = None


def envelope_law(bound: ProfileBound) -> LossDistribution:
    """The law whose profile is the convex envelope of finitely many upper bounds on H_α.

    A profile is convex, so it lies below every chord between two upper bounds: their lower convex hull is one as well,
    and it is the profile of a pair. Its kinks are the atoms.
    """
    reach = bound.reach.mid()
    losses = [reach * k * k / _ENVELOPE_POINTS**2 for k in range(_ENVELOPE_POINTS + 1)]
    # the points (α, h) in increasing order of α: (0, 1), the mirrored ones below 1, those from 1 on
    right = [(loss, bound.value(loss).upper().min(arb(1))) for loss in losses]
    mirror = (
        right if bound.backwards is None else [(loss, bound.backwards(loss).upper().min(arb(1))) for loss in losses]
    )
    left = [(-loss, 1 - (-loss).exp() + (-loss).exp() * value) for loss, value in reversed(mirror[1:])]
    alphas = [arb(0)] + [loss.exp() for loss, _ in left + right]
    # a profile does not increase with α: what is known further left counts, too
    values = list(accumulate((value.upper() for _, value in left + right), lambda a, b: a.min(b), initial=arb(1)))
    corners = _lower_hull(alphas, values)
    slopes = [
        (values[second] - values[first]) / (alphas[second] - alphas[first]) for first, second in pairwise(corners)
    ] + [arb(0)]
    points = []
    for corner, (before, after) in zip(corners[1:], pairwise(slopes), strict=True):
        r = after - before
        points.append(LossAtom((left + right)[corner - 1][0], r * alphas[corner], r))
    return _discrete(points, values[-1], 1 + slopes[0], symmetric=False)


def _lower_hull(xs: Sequence[arb], ys: Sequence[arb]) -> list[int]:
    """Indices of the corners of the lower convex hull (the first and the last point among them)."""
    hull: list[int] = []
    for i in range(len(xs)):
        while len(hull) >= 2:
            j, k = hull[-2], hull[-1]
            turn = (xs[k] - xs[j]) * (ys[i] - ys[j]) - (ys[k] - ys[j]) * (xs[i] - xs[j])
            if turn > 0:
                break
            hull.pop()  # on or above the chord, or not told apart from it: the chord is an upper bound as well
        hull.append(i)
    return hull


def _renyi_profile(points: Sequence[tuple[Fraction, Fraction]], rho: Fraction | None) -> ProfileBound:
    """H_α <= e^((λ-1)(ε(λ) - log α)) λ^-1 (1-1/λ)^(λ-1) at the best λ (Canonne, Kamath & Steinke 2020, Prop. 12)."""

    def at(order: arb, value: arb, loss: arb) -> arb:
        return ((order - 1) * (value - loss)).exp() / order * ((order - 1) * (1 - 1 / order).log()).exp()

    if rho is None:
        curve = [(ball(order), ball(value)) for order, value in points]

        def value(loss: arb) -> arb:
            best = arb(1)
            for order, level in curve:
                best = best.min(at(order, level, loss))
            return best

        largest, level = curve[-1]
        return ProfileBound(value, level + (-_NEGLIGIBLE_LOG) / (largest - 1))
    concentrated = ball(rho)

    def tight(loss: arb) -> arb:
        # any order is sound; a good one is found in floating point
        u, reached = _EXCESS_ORDERS, float(loss)
        exponents = u * ((1 + u) * float(concentrated) - reached) - np.log1p(u) - u * np.log1p(1 / u)
        order = 1 + arb(float(u[int(np.argmin(exponents))]))
        return at(order, order * concentrated, loss).min(arb(1))

    return ProfileBound(tight, concentrated + 2 * (-_NEGLIGIBLE_LOG * concentrated).sqrt())


def _two_guarantees(rate: arb, present: LossDistribution, replaced: LossDistribution) -> ProfileBound:
    def value(loss: arb) -> arb:
        inner = (loss.expm1() / rate).log1p()  # α'' = 1 + (α-1)/q
        share = (loss - inner).exp()
        return rate * ((1 - share) * present.delta(inner) + share * replaced.delta(inner))

    top = reach_of(replaced)
    return ProfileBound(value, (rate * top.expm1()).log1p())


def reach_of(law: LossDistribution) -> arb:
    """A loss beyond which next to nothing lies: the largest finite one, or where the tail is e^-800."""
    largest = law.largest_loss()
    if largest is not None:
        return largest
    loss = arb(1)
    while law.tail(loss)[0].log() > _NEGLIGIBLE_LOG:
        loss = 2 * loss
    return loss


# --- Samples ----------------------------------------------------------------------------------------------------------


_MOST_STEPS, _ROOT_BITS, _ROUGH_STEPS = 400, 12, 100  # of Newton's method
_MOST_WHOLE_NUMBERS = 10_000  # beyond what is asked for, at any usual precision
_NEGLIGIBLE_BITS = 640  # of a chance, also where few digits are asked for: what is seen then still reaches far out


def _counts(draws: pairs.Draws) -> tuple[list[arb], arb]:
    """p_1, p_2, ..., as far as they matter, and an upper bound on the sum of the others."""
    rate, slots = ball(draws.rate), draws.slots
    if draws.rate == 1:
        return [arb(0)] * (slots - 1) + [arb(1)], arb(0)
    odds = rate / (1 - rate)
    mass = (slots * (-rate).log1p()).exp()
    masses: list[arb] = []
    negligible = arb(2) ** -max(2 * working_bits(), _NEGLIGIBLE_BITS)
    for k in range(1, slots + 1):
        mass = mass * odds * (slots - k + 1) / k
        if mass < negligible and odds * (slots - k) / (k + 1) < ball(Fraction(1, 2)):
            return masses, 2 * mass  # a geometric series of ratio below 1/2 from here on
        masses.append(mass)
    return masses, arb(0)


def _sampled(direction: pairs.Direction, draws: pairs.Draws, base: pairs.Pair) -> LossDistribution:
    weights, rest = _counts(draws)
    laws = [law_of(pairs.enlarged(base, k + 1)) for k in range(len(weights))]
    sums = _plain_sums(weights, laws)
    if isinstance(base, pairs.ShiftedGaussians) and draws.slots > 1:
        sums = _gaussian_sums(weights, ball(base.squared_shift).sqrt())
    law = _mixture(weights, laws, sums, rest, ball(draws.rate), draws.slots)
    if direction is pairs.Direction.REMOVE:
        return law
    return _swapped(law) if direction is pairs.Direction.ADD else _symmetrised(law)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Over the laws of a mixture: Σ w_k p_k and Σ w_k r_k of what lies above a loss, and of what lies below it."""

    tail: Callable[[arb], Masses]
    head: Callable[[arb], Masses]


def _plain_sums(weights: Sequence[arb], laws: Sequence[LossDistribution]) -> _Sums:
    return _Sums(
        lambda loss: _added(weights, [law.tail(loss) for law in laws]),
        lambda loss: _added(weights, [law.head(loss) for law in laws]),
    )


def _added(weights: Sequence[arb], parts: Iterable[Masses]) -> Masses:
    ps, rs = arb(0), arb(0)
    for (p, r), weight in zip(parts, weights, strict=True):
        ps, rs = ps + weight * p, rs + weight * r
    return ps, rs


def _gaussian_sums(masses: Sequence[arb], mu: arb) -> _Sums:
    """The same for N(kμ, 1) against N(0, 1), k = 1, 2, ...: tails at l/(kμ) ∓ kμ/2, monotone in k from some k on."""
    weights = Weights.of(masses)
    counts = np.arange(1, len(masses) + 1, dtype=np.float64)
    shift = float(mu)

    def places(loss: arb, sign: int, side: int) -> Places:
        """Side · (l/(kμ) + sign · kμ/2): monotone in real k where k²μ² >= 2|l|."""
        near, half, bound = loss / mu, mu / 2, 2 * abs(loss) / (mu * mu)
        rough = side * (float(loss) / (counts * shift) + sign * counts * shift / 2)

        def at(j: int) -> arb:
            return side * (near / (j + 1) + sign * (j + 1) * half)

        return Places.near(at, rough, lambda j: bool((j + 1) ** 2 >= bound))

    return _Sums(
        lambda loss: (tails_growing(weights, places(loss, -1, 1)), tails_shrinking(weights, places(loss, 1, 1))),
        lambda loss: (tails_shrinking(weights, places(loss, -1, -1)), tails_growing(weights, places(loss, 1, -1))),
    )


def _mixture(
    weights: Sequence[arb], laws: Sequence[LossDistribution], sums: _Sums, rest: arb, rate: arb, slots: int
) -> LossDistribution:
    """H_α = Σ_k w_k h_k((α-1+η)/η): P-mass w (p + r (1-η)/η) and Q-mass w r/η where the base has p and r."""
    absent = (slots * (-rate).log1p()).exp() if rate < 1 else arb(0)
    eta = -(slots * (-rate).log1p()).expm1() if rate < 1 else arb(1)
    slack = arb(0).union(rest / eta)

    def moved(p: arb, r: arb, weight: arb) -> Masses:
        return weight * (p + r * absent / eta), weight * r / eta

    whole = moved(*_added(weights, [law.whole for law in laws]), arb(1))

    def inner(loss: arb) -> arb | None:
        """The base's loss log((e^l - (1-η))/η); None at and below log(1-η)."""
        ratio = 1 + loss.expm1() / eta
        if ratio > 0:
            return ratio.log()
        if ratio <= 0:
            return None
        raise Declined("a loss cannot be told from log(1 - sample rate) at this precision")

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


def _diluted(rate: arb, base: LossDistribution) -> LossDistribution:
    """The base with all masses times the rate, and the rest of both laws at loss 0."""

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


def _swapped(law: LossDistribution) -> LossDistribution:
    """The law of (Q, P): the loss changes its sign."""

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


def _symmetrised(law: LossDistribution) -> LossDistribution:
    """The law whose profile is the given one for α >= 1, mirrored below: losses above 0, their mirror, the rest at 0.

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
            raise UnsupportedMechanism("an atom of the loss cannot be told from 0 at this precision")
    centre = 1 - law.infinite - above_p - above_r
    if not centre >= 0:  # a base that is an upper bound only need not be symmetric: its mirrored profile, made convex
        return envelope_law(ProfileBound(law.delta, reach_of(law)))

    tail = _mirrored_about_zero(law.tail)
    return LossDistribution(
        tail=nothing if law.discrete else tail,
        head=nothing if law.discrete else _mirrored(tail),
        lowest=None if law.highest is None else -law.highest,
        highest=law.highest,
        points=(*points, LossAtom(arb(0), centre, centre)),
        infinite=law.infinite,
        vanishing=law.infinite,
    )


def _sampled_gaussians(pair: pairs.SampledGaussians) -> LossDistribution:
    """One Gaussian release on a Poisson sample: by the general mixture, or (replace) by its threshold on x."""
    if pair.direction is not pairs.Direction.REPLACE:
        rate, base = ball(pair.sample_rate), _shifted_gaussians(1 / pair.variance)
        law = _mixture([rate], [base], _plain_sums([rate], [base]), arb(0), rate, 1)
        return law if pair.direction is pairs.Direction.REMOVE else _swapped(law)
    # With y = e^{x/v}: (1-q + b y) = e^l (1-q + b/y), b = q e^{-1/2v}; the positive root of b y² - c y - b e^l = 0.
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()
    b = q * (-1 / (2 * v)).exp()

    def position(loss: arb) -> arb:
        if loss < 0:
            return -position(-loss)
        c = (1 - q) * loss.expm1()
        return v * ((c + (c * c + 4 * b * b * loss.exp()).sqrt()) / (2 * b)).log()

    def tail(loss: arb) -> Masses:
        x = position(loss)
        without = (1 - q) * upper_tail(x / z)
        return without + q * upper_tail((x - 1) / z), without + q * upper_tail((x + 1) / z)

    return LossDistribution(tail, _mirrored(tail), None, None)


def _drawn_gaussians(direction: pairs.Direction, draws: pairs.Draws, squared_shift: Fraction) -> LossDistribution:
    weights, rest = _counts(draws)
    shift, rate = ball(squared_shift).sqrt(), ball(draws.rate)
    absent = (draws.slots * (-rate).log1p()).exp()
    slack = arb(0).union(rest)
    ratios = RatioSum(Weights.of(weights), shift)
    everyone = Weights.of([absent, *weights])
    counts = np.arange(len(weights) + 1, dtype=np.float64)

    def position(loss: arb) -> arb | None:
        """The x at which Σ_k p_k e^(ksx - k²s²/2) = e^l; None at and below log p_0."""
        wanted = loss.expm1() - (absent - 1)
        if wanted <= 0:
            return None
        if not wanted > 0:
            raise Declined("a loss cannot be told from the logarithm of the chance of no draw at this precision")
        return ratios.root(wanted.log())

    def places(x: arb, side: int) -> Places:
        return Places.near(
            lambda k: side * (x - k * shift), side * (float(x) - counts * float(shift)), steady=lambda _: True
        )

    def tail(loss: arb) -> Masses:
        x = position(loss)
        if x is None:
            return arb(1), arb(1)
        return tails_growing(everyone, places(x, 1)) + slack, upper_tail(x)

    def head(loss: arb) -> Masses:
        x = position(loss)
        if x is None:
            return arb(0), arb(0)
        return tails_shrinking(everyone, places(x, -1)) + slack, upper_tail(-x)

    # Whether k exceeds what is summed counts as revealed: on the upper side that is an infinite loss. On the lower side
    # cells of x keep their true masses, which lie within the slack.
    infinite = arb(0) if rest.is_zero() else arb(0).union(rest)
    law = LossDistribution(tail, head, absent.log(), None, infinite=infinite, symmetric=False)
    return law if direction is pairs.Direction.REMOVE else _swapped(law)


_SPARE_BITS = 24  # of the working precision, that a place need not have
_ROOT_STEPS = 40
_TERM_BITS = 48  # of a term, beyond what its weight makes visible
_MOST_LOG = 600.0


def _replaced_gaussians(absent: arb, weights: Sequence[arb], rest: arb, shift: arb) -> LossDistribution:
    """What lies above a loss is seen where a sum that grows with t reaches (α-1) p_0 (``sampling.md``, section 6).

    Args:
        absent: p_0.
        weights: p_1, p_2, ..., all positive.
        rest: An upper bound on the sum of those that are left out.
        shift: s.
    """
    terms = [(weight, k * shift, (-k * k * shift * shift / 2).exp()) for k, weight in enumerate(weights, start=1)]
    logs = np.array([float(weight.log()) for weight in weights])
    steps = np.arange(1, len(weights) + 1) * float(shift)
    further = tuple(accumulate(reversed(weights)))[::-1]  # from each term on
    negligible = arb(2) ** -working_bits()

    def excess(t: arb, alpha: arb) -> tuple[arb, arb]:
        """The sum less (α-1) p_0, and its derivative."""
        factor, power, value, slope = (shift * t).exp(), arb(1), -(alpha - 1) * absent, arb(0)
        for weight, step, shrunk in terms:
            power = power * factor
            low, high = power * shrunk, alpha * shrunk / power
            if not low <= alpha:
                value, slope = value + weight * positive_part(low - alpha), slope + weight * step * low
            if not high <= 1:
                value, slope = value - weight * positive_part(high - 1), slope + weight * step * high
            elif low <= alpha and t > 0 and step >= t:  # both exponents fall from here on
                break
        return value, slope

    def exceeds(t: float, loss: float) -> bool:
        """Whether it is positive, roughly."""
        gains = np.clip(steps * t - steps**2 / 2 - loss, 0.0, _MOST_LOG)
        losses = np.clip(loss - steps * t - steps**2 / 2, 0.0, _MOST_LOG)
        found = np.exp(logs) @ np.expm1(gains) - np.exp(logs - loss) @ np.expm1(losses)
        return bool(found > -math.expm1(-loss) * float(absent))

    def place(loss: arb) -> arb:
        """The t of the supremum, for a loss above 0."""
        near, alpha = float(loss), loss.exp()
        low = float((near / steps + steps / 2).min())
        high = low + 1
        while not exceeds(high, near):
            high = low + 2 * (high - low)
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (low, middle) if exceeds(middle, near) else (middle, high)
        t, width = arb(high), arb(1)
        for step in range(_ROOT_STEPS):
            bits = min(working_bits(), _TERM_BITS << step)
            with working(bits):
                value, slope = excess(t, alpha)
                move = (value / slope).mid()
            t, before, width = (t - move).mid(), width, arb(abs(move))
            if bits == working_bits() and width >= before / 2:
                break
        for _ in range(_ROOT_STEPS):
            width = (4 * width + arb(2) ** (_SPARE_BITS - working_bits())).mid()
            if excess(t - width, alpha)[0] < 0 and excess(t + width, alpha)[0] > 0:
                return (t - width).union(t + width)
        raise Declined("the place of a supremum cannot be told at this precision")

    def tail(loss: arb) -> Masses:
        if not (loss <= 0 or loss > 0):
            raise Declined("a loss cannot be told from 0 at this precision")
        t = place(loss) if loss > 0 else shift / 2
        whole = upper_tail(t)
        p = r = absent * whole
        for index, (weight, step, _) in enumerate(terms):
            if further[index] < r * negligible:  # F̄(y + D) is at most F̄(t)
                return p + arb(0).union(further[index]), r + arb(0).union(further[index] * whole)
            bits = working_bits() + math.ceil(logs[index] / math.log(2)) + _TERM_BITS
            with working(min(working_bits(), max(bits, _TERM_BITS))):
                y = (loss / step - step / 2).max(t - step).min(t)
                first, second = weight * upper_tail(y), weight * upper_tail(y + step)
            p, r = p + first, r + second
        return p, r

    infinite = arb(0) if rest.is_zero() else arb(0).union(rest)  # drawn more often than is summed: revealed
    return _symmetrised(LossDistribution(tail, nothing, arb(0), None, infinite=infinite))


def mixed_gaussians(direction: pairs.Direction, parts: Sequence[tuple[Fraction, Fraction]]) -> LossDistribution:
    """Σ_i p_i N(c_i, 1) against N(0, 1), or (replace) against Σ_i p_i N(-c_i, 1): e^L increases in x."""
    shifts = [ball(squared).sqrt() for squared, _ in parts]
    chances = [ball(chance) for _, chance in parts]
    if direction is pairs.Direction.REPLACE:
        both = _LogRatio(shifts, chances, opposed=True)

        def tail(loss: arb) -> Masses:
            x = both.root(loss)
            return _mixed_tail(shifts, chances, x), _mixed_tail([-shift for shift in shifts], chances, x)

        return LossDistribution(tail, _mirrored(tail), None, None)
    absent = sum((chance for (squared, _), chance in zip(parts, chances, strict=True) if squared == 0), arb(0))
    moved = [index for index, (squared, _) in enumerate(parts) if squared]
    ratio = _LogRatio([shifts[i] for i in moved], [chances[i] for i in moved], opposed=False)

    def position(loss: arb) -> arb | None:
        """The x at which the ratio is e^l; None where it is larger everywhere."""
        wanted = loss.exp() - absent
        if wanted <= 0:
            return None
        if not wanted > 0:
            raise Declined("a loss cannot be told from the logarithm of the chance of norm 0 at this precision")
        return ratio.root(wanted.log())

    def above(loss: arb) -> Masses:
        x = position(loss)
        return (arb(1), arb(1)) if x is None else (_mixed_tail(shifts, chances, x), upper_tail(x))

    def below(loss: arb) -> Masses:
        x = position(loss)
        if x is None:
            return arb(0), arb(0)
        return _mixed_tail([-shift for shift in shifts], chances, -x), upper_tail(-x)

    lowest = None if absent.is_zero() else absent.log()
    law = LossDistribution(above, below, lowest, None, symmetric=False)
    return law if direction is pairs.Direction.REMOVE else _swapped(law)


def _mixed_tail(shifts: Sequence[arb], chances: Sequence[arb], x: arb) -> arb:
    """P(c + N(0, 1) > x) for c drawn from the shifts."""
    return sum((chance * upper_tail(x - shift) for shift, chance in zip(shifts, chances, strict=True)), arb(0))


@dataclass(frozen=True, slots=True)
class _LogRatio:
    """log G(x), G(x) = Σ_i p_i e^(c_i x - c_i²/2), or (opposed) log G(x)/G(-x); where it takes a value.

    The slope of log G is the mean of c under weights that move to the right with x: at least the smallest c, and that
    of log G(x)/G(-x) at least its value for log G at 0 (``mixtures.md``).
    """

    shifts: Sequence[arb]
    chances: Sequence[arb]
    opposed: bool

    def _log_and_slope(self, x: arb) -> tuple[arb, arb]:
        exponents = [shift * x - shift * shift / 2 for shift in self.shifts]
        top = max(exponents, key=lambda exponent: float(exponent.mid()))
        terms = [chance * (exponent - top).exp() for chance, exponent in zip(self.chances, exponents, strict=True)]
        total = sum(terms, arb(0))
        slope = sum((shift * term for shift, term in zip(self.shifts, terms, strict=True)), arb(0)) / total
        return total.log() + top, slope

    def value_and_slope(self, x: arb) -> tuple[arb, arb]:
        """The function and its derivative."""
        value, slope = self._log_and_slope(x)
        if not self.opposed:
            return value, slope
        other, back = self._log_and_slope(-x)
        return value - other, slope + back

    def root(self, goal: arb) -> arb:
        """The x at which the function is ``goal``: Newton's method, and a proven radius around its last place."""
        least = self._log_and_slope(arb(0))[1] if self.opposed else reduce(arb.min, self.shifts)
        x, known = arb(self._start(float(goal)) if self.opposed and goal != 0 else 0), arb("inf")
        for _ in range(_MOST_STEPS):
            value, slope = self.value_and_slope(x)
            gap = value - goal
            radius = arb((gap / least).abs_upper())
            if radius < arb(2) ** (_ROOT_BITS - working_bits()) * (1 + abs(x)):
                break
            if self.opposed and 2 * radius > known:  # from that start on, it halves until rounding hides the rest
                break
            known = radius
            x = (x - gap / slope).mid()
        return x + (-radius).union(radius)

    def _start(self, goal: float) -> float:
        """Near that x, in floating point; Newton's method alone jumps to and fro where small chances make it steep."""
        terms = [
            (float(chance.log()) - float(shift) ** 2 / 2, float(shift))
            for chance, shift in zip(self.chances, self.shifts, strict=True)
            if chance > 0
        ]

        def log_and_slope(x: float) -> tuple[float, float]:
            top = max(offset + shift * x for offset, shift in terms)
            weights = [math.exp(offset + shift * x - top) for offset, shift in terms]
            total = math.fsum(weights)
            slope = math.fsum(weight * shift for weight, (_, shift) in zip(weights, terms, strict=True)) / total
            return top + math.log(total), slope

        low, x, high = 0.0, 1.0, math.inf  # the function is odd
        for _ in range(_ROUGH_STEPS):
            (value, slope), (other, back) = log_and_slope(x), log_and_slope(-x)
            gap = value - other - abs(goal)
            low, high = (low, x) if gap > 0 else (x, high)
            following = x - gap / (slope + back) if slope + back > 0 else math.inf
            if not low < following < high:
                following = 2 * x if high == math.inf else (low + high) / 2
            if abs(following - x) <= 1e-9 * x:
                break
            x = min(following, 4 * x)
        return math.copysign(x, goal)


def _sampled_laplaces(rate: arb, shift: arb) -> LossDistribution:
    # For 0 <= x <= s: e^L = (1-q + q e^(2x-s)) / (1-q + q e^-s); beyond s it is constant.
    below = 1 - rate + rate * (-shift).exp()
    largest = ((1 - rate + rate * shift.exp()) / below).log()
    near, far = (-shift).exp() / 2, (-2 * shift).exp() / 2  # mass beyond s of the unmoved and of the opposite law

    def above(loss: arb) -> Masses:
        if loss >= largest:
            return arb(0), arb(0)
        x = (shift + ((loss.min(largest).exp() * below - (1 - rate)) / rate).log()) / 2
        unmoved = (1 - rate) * ((-x).exp() / 2 - near)
        return (
            unmoved + rate * (arb(1) / 2 - (x - shift).exp() / 2),
            unmoved + rate * ((-x - shift).exp() / 2 - far),
        )

    tail = _mirrored_about_zero(above)
    p, r = (1 - rate) * near + rate / 2, (1 - rate) * near + rate * far
    return LossDistribution(
        tail, _mirrored(tail), -largest, largest, (LossAtom(largest, p, r), LossAtom(-largest, r, p))
    )


def _sampled_balls(rate: arb, one: arb, two: arb) -> LossDistribution:
    edge = -(-rate).log1p()
    gap = two - one
    centre = 1 - two + (1 - rate) * (one - gap)
    points = (
        LossAtom(edge, gap, (1 - rate) * gap),
        LossAtom(arb(0), centre, centre),
        LossAtom(-edge, (1 - rate) * gap, gap),
    )
    return _discrete(points, rate * one)


# --- Batches of a fixed size in which a record is zeroed (``zero_out.md``) --------------------------------------------


def _zeroed(draws: pairs.Draws, base: pairs.Pair) -> LossDistribution:
    """A record contributes in the first data set: k ~ ``draws`` times, which counts as revealed."""
    weights, rest = _counts(draws)
    rate = ball(draws.rate)
    eta = -(draws.slots * (-rate).log1p()).expm1() if draws.rate < 1 else arb(1)
    if draws.rate == 1:
        return law_of(pairs.enlarged(base, draws.slots))
    if isinstance(base, pairs.ShiftedGaussians):
        shift = ball(base.squared_shift).sqrt()
        parts = [_zeroed_gaussians(eta, (k + 1) * shift) for k in range(len(weights))]
        shares = [weight / eta for weight in weights]
        return parts[0] if draws.slots == 1 else _tagged(shares, parts, rest / eta)
    laws = [law_of(pairs.enlarged(base, k + 1)) for k in range(len(weights))]
    profiles, reversals = [_profile(law) for law in laws], [_profile(_swapped(law)) for law in laws]

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


_SEARCHED, _FAR, _ROUGHLY = 28, 60.0, 64  # a search that decides how large a bound is, not whether it holds


def _profile(law: LossDistribution) -> Callable[[arb], arb]:
    """Return log α -> H_α; of many atoms only those next to log α are looked at one by one."""
    if not law.discrete:
        return lambda loss: positive_part(law.delta(loss))
    points = sorted(law.points, key=lambda point: -float(point.loss.mid()))
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
    """An upper bound on V(E) - αZ(E) - κO(E), κ = (α-1)(1-η)/η: the least over b of h(α + κ/b) + (κ/b) g(b)."""
    alpha, kappa = loss.exp(), loss.expm1() * (1 - eta) / eta
    if not kappa > 0:
        return h(loss)

    def at(log_share: float) -> arb:  # of w = κ/b, in which the bound is convex
        w = arb(log_share).exp()
        return h((alpha + w).log()) + w * g((kappa / w).log())

    low, high = float(kappa.mid().log()) - _FAR, float(kappa.mid().log()) + _FAR
    with working(_ROUGHLY):  # any w bounds; which one is tried may be found roughly
        for _ in range(_SEARCHED):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if at(first).mid() < at(second).mid() else (first, high)
    return h(loss).upper().min(at((low + high) / 2).upper())


def _tagged(shares: Sequence[arb], laws: Sequence[LossDistribution], rest: arb | None = None) -> LossDistribution:
    """One of several laws, drawn and revealed; ``rest`` bounds the share of those left out."""
    sums, slack = _plain_sums(shares, laws), arb(0) if rest is None else arb(0).union(rest)
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


def _tagged_apart(firsts: Sequence[arb], seconds: Sequence[arb], laws: Sequence[LossDistribution]) -> LossDistribution:
    """One of several laws, drawn and revealed, with other weights under Q: each loss is larger by log w/v."""
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
    """Where several laws end; None where one of them does not, or there is none."""
    known = [end for end in ends if end is not None]
    return reduce(choose, known) if known and len(known) == len(ends) else None


def _zeroed_gaussians(gamma: arb, shift: arb) -> LossDistribution:
    """Above 0 the loss of N(0) and N(2s), mixed, against N(0) and N(s); below 0 that of N(0) against the latter."""
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
    """The loss falls from 0 to its least value, and then grows without end, as x does."""
    rest = 1 - gamma
    e = (s * s).exp()

    def roots(loss: arb) -> tuple[arb | None, arb] | None:
        """The x at which the loss is l, as far as there are: the smaller only below 0. None: l is below all losses."""
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
            return None if not loss >= 0 else (None, x)
        smaller = -2 * (rest / gamma) * loss.expm1() / (b + root)
        return (smaller.log() + s * s / 2) / s, x

    def masses_above(x: arb) -> Masses:
        outside = rest * upper_tail(x)
        return outside + gamma * upper_tail(x - 2 * s), outside + gamma * upper_tail(x - s)

    def tail(loss: arb) -> Masses:
        found = roots(loss)
        if found is None:
            return (arb(1), arb(1)) if loss < 0 else _straddling(loss)
        near, far = found
        p, r = masses_above(far)
        if near is None:
            return p, r
        lower_p, lower_r = masses_above(near)
        return p + 1 - lower_p, r + 1 - lower_r

    def _straddling(loss: arb) -> Masses:
        raise Declined("a loss cannot be told from 0 at this precision")

    def head(loss: arb) -> Masses:
        p, r = tail(loss)
        return 1 - p, 1 - r

    least = _least_opposed(gamma, s)
    return LossDistribution(tail, head, least, None, symmetric=False)


def _least_opposed(gamma: arb, s: arb) -> arb:
    """The least loss: where e^(2l) = 4 (1-γ)/γ (1 - e^l) e^(-s²)."""
    c = 2 * (1 - gamma) / gamma * (-(s * s)).exp()  # b² + 2cb - 2c = 0
    return (2 * c / (c + (c * c + 2 * c).sqrt())).log()
