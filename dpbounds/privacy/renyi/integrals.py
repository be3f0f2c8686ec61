"""E_Q f(dP/dQ) for convex f, in balls: the integrals behind the Rényi divergences.

A sample changes dP/dQ by an affine map or by a reflection, so every sampled pair is its base seen through another
convex function (``Weighing``). What is left to integrate is one analytic function per base, over a range whose ends
are proven not to matter. The derivations are in ``renyi.md``; everything happens at the working precision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import acb, arb

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.losses import LossDistribution, ball, law_of, upper_tail
from dpbounds.privacy.pairs.pairs import (
    BoundedRangeProfile,
    Direction,
    Draws,
    FourPoints,
    Pair,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedDiscreteLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoPoints,
    TwoResponses,
    UniformBalls,
    enlarged,
)

Atomic = (  # of finitely many losses
    UniformBalls | Responses | TwoResponses | FourPoints | TwoPoints | SampledBalls | ShiftedDiscreteLaplaces
)
WithDensity = ShiftedGaussians | ShiftedLaplaces | BoundedRangeProfile | SampledGaussians | SampledLaplaces

Branch = Callable[[acb, bool], acb]  # (r, whether it must be analytic there) -> f(r)
ClosedForm = Callable[[Pair, arb], arb]  # (pair, order) -> log E_Q r^order

_MOST_SLOTS = 5_000

INFINITY = arb("inf")


def up_to(bound: arb) -> arb:
    """The ball [0, bound]."""
    return arb(0).union(bound.upper())


def nats() -> float:
    """How small, as -log, what is left out may be without being seen at the working precision."""
    return 0.69 * (working_bits() - 10)


# --- Convex functions of the likelihood ratio -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weighing:
    """A convex f >= 0 on [0, ∞], by one formula for r >= 1 and one for r <= 1.

    Attributes:
        above: f for r >= 1.
        below: f for r <= 1; the same object where there is one formula.
        at_zero: f(0), maybe ∞.
        slope: lim f(r)/r for r -> ∞, maybe ∞.
        scale: c, with
        growth: e >= 1 such that f(r) <= c max(1, r)^e.
    """

    above: Branch
    below: Branch
    at_zero: arb
    slope: arb
    scale: arb
    growth: arb

    def __call__(self, ratio: arb) -> arb:
        """Return f at a real ratio."""
        if ratio >= 1:
            return self.above(acb(ratio), False).real
        if ratio <= 1:
            return self.below(acb(ratio), False).real
        return self.above(acb(ratio), False).real.union(self.below(acb(ratio), False).real)


def power(order: arb) -> Weighing:
    """f(r) = r^λ, λ > 1."""

    def branch(ratio: acb, analytic: bool) -> acb:
        return (order * ratio.log(analytic=analytic)).exp()

    return Weighing(branch, branch, arb(0), INFINITY, arb(1), order)


def through_sample(f: Weighing, direction: Direction, eta: arb) -> Weighing:
    """Return g such that E g(dP/dQ) over a base is E f over the base on a sample that holds the record at rate η."""
    rest = 1 - eta
    zero = f.below(acb(rest), False).real  # f at the smallest ratio of the mixture

    def mixed(branch: Branch) -> Branch:
        return lambda ratio, analytic: branch(rest + eta * ratio, analytic)

    def swapped(branch: Branch) -> Branch:
        def value(ratio: acb, analytic: bool) -> acb:
            mixture = rest + eta * ratio
            return mixture * branch(1 / mixture, analytic)

        return value

    match direction:
        case Direction.REMOVE:
            above = mixed(f.above)
            below = above if f.below is f.above else mixed(f.below)
            return Weighing(above, below, zero, _times(eta, f.slope), f.scale, f.growth)
        case Direction.ADD:
            above = swapped(f.below)
            below = above if f.below is f.above else swapped(f.above)
            scale = f.scale * (-(f.growth - 1) * rest.log()).exp()
            return Weighing(above, below, rest * f(1 / rest), _times(eta, f.at_zero), scale, arb(1))
        case Direction.REPLACE:
            centre = f(arb(1))

            def both(ratio: acb, analytic: bool) -> acb:
                mixture = rest + eta * ratio
                here, there = f.above(mixture, analytic), mixture * f.below(1 / mixture, analytic)
                return centre + (here - centre) + (there - mixture * centre)

            def constant(ratio: acb, analytic: bool) -> acb:
                return acb(centre)

            slope = _times(eta, f.slope + f.at_zero - centre)
            return Weighing(both, constant, centre, slope, 3 * f.scale, f.growth.max(arb(1)))


def _times(positive: arb, value: arb) -> arb:
    return positive * value if value.is_finite() else INFINITY


# --- E_Q f over the pairs ---------------------------------------------------------------------------------------------


def has_integral(pair: Pair) -> bool:
    """Whether ``expectation`` knows the pair: its loss is known, not only a guarantee that it keeps."""
    if isinstance(pair, Sampled):
        nested = isinstance(pair.base, Sampled | SampledGaussians)
        return has_integral(pair.base) and (pair.draws.slots == 1 or not nested)
    return isinstance(pair, Atomic | WithDensity)


def expectation(pair: Pair, f: Weighing, closed_form: ClosedForm) -> arb:
    """E_Q f(dP/dQ), with P-mass at infinite loss weighed by the slope of f and Q-mass at loss -∞ by f(0).

    Args:
        pair: One that ``has_integral``.
        f: The convex function.
        closed_form: Bounds what records that are drawn more often than is integrated contribute.

    Raises:
        UnsupportedMechanism: The pair is known by a guarantee only.
        NotCertified: A record may be drawn so often that the sum is out of reach.
    """
    match pair:
        case ShiftedGaussians(squared_shift=squared):
            return _shifted_gaussians(ball(squared), f)
        case ShiftedLaplaces(shift=shift):
            return _atoms(law_of(pair), f) + _shifted_laplaces(ball(shift), f)
        case _ if isinstance(pair, Atomic):
            return _atoms(law_of(pair), f)
        case BoundedRangeProfile(span=span):
            return _bounded_range(ball(span), f)
        case SampledGaussians(direction=Direction.REPLACE):
            return _replaced_gaussians(pair, f)
        case SampledGaussians(direction=direction, sample_rate=rate, variance=variance):
            return expectation(ShiftedGaussians(1 / variance), through_sample(f, direction, ball(rate)), closed_form)
        case SampledLaplaces(sample_rate=rate, shift=shift):
            return _atoms(law_of(pair), f) + _sampled_laplaces(ball(rate), ball(shift), f)
        case Sampled():
            return _sampled(pair, f, closed_form)
    raise UnsupportedMechanism(f"{pair} is known by its guarantee only: it has no integral")


def integral(integrand: Branch, start: arb, end: arb, size: arb, scale: arb | None = None) -> arb:
    """The integral; ``size`` is about the largest exponent in it, whose rounding no subdivision can undo.

    It is accurate relative to itself, or to ``scale`` where that is given.
    """
    tolerance = arb(2) ** (14 - working_bits()) * (1 + abs(size).mid())
    absolute = None if scale is None else tolerance * abs(scale).mid()
    return acb.integral(integrand, acb(start), acb(end), rel_tol=tolerance, abs_tol=absolute).real


def peaked(integrand: Branch, start: arb, end: arb, size: arb) -> arb:
    """The same of an integrand that is largest at one end, where e^size may fall to nothing within 1/size.

    Pieces that halve towards that end show the integrator where to look: from afar it would see an enclosure that is
    e^size too wide, and be content too early.
    """
    halvings = max(0, math.ceil(math.log2(float(abs(size).mid()) + 1)) - 4)
    peak, far = (end, start) if integrand(acb(end), False).real >= integrand(acb(start), False).real else (start, end)
    places = [peak] + [peak + (far - peak) / 2**k for k in range(halvings, -1, -1)]
    total = integral(integrand, places[0], places[1], size)
    for nearer, farther in itertools.pairwise(places[1:]):
        total = total + integral(integrand, nearer, farther, size, total)
    return total if peak is start else -total


def _atoms(law: LossDistribution, f: Weighing) -> arb:
    total = sum((point.r * f(point.loss.exp()) for point in law.points), arb(0))
    if not law.infinite.is_zero():
        total = total + _times(law.infinite, f.slope)
    if not law.vanishing.is_zero():
        total = total + _times(law.vanishing, f.at_zero)
    return total


def density(x: acb) -> acb:
    """Of N(0, 1)."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _shifted_gaussians(squared: arb, f: Weighing) -> arb:
    mu = squared.sqrt()

    def weighed(branch: Branch) -> Branch:
        return lambda x, analytic: density(x) * branch((mu * x - squared / 2).exp(), analytic)

    room = nats() + max(0.0, float(f.scale.log().mid()))
    left = arb(-math.ceil(math.sqrt(2 * room)) - 1)
    moment = f.growth * (f.growth - 1) * squared / 2
    centre = f.growth * mu
    far = math.sqrt(2 * (room + max(0.0, float(moment.mid()))))
    right = arb(math.ceil(float(centre.mid()) + far) + 1)
    # left of its end r <= 1, so that f <= c; right of its end r^e is a shifted Gaussian
    tails = f.scale * (upper_tail(-left) + moment.exp() * upper_tail(right - centre))
    need(left < mu / 2, "the left end lies where r < 1")
    need(right > mu / 2, "the right end lies where r > 1")
    bulk = integral(weighed(f.below), left, mu / 2, moment) + integral(weighed(f.above), mu / 2, right, moment)
    return bulk + up_to(tails)


def _shifted_laplaces(shift: arb, f: Weighing) -> arb:
    """The part with |L| < s: L = 2x - s for 0 < x < s."""

    def weighed(branch: Branch) -> Branch:
        return lambda x, analytic: (-x).exp() / 2 * branch((2 * x - shift).exp(), analytic)

    size = f.growth * shift
    return peaked(weighed(f.below), arb(0), shift / 2, size) + peaked(weighed(f.above), shift / 2, shift, size)


def _bounded_range(span: arb, f: Weighing) -> arb:
    """Q-density e^(-(l+η)/2) / (2 (1 - e^-η)) of the loss on [-η, η]."""
    norm = -2 * (-span).expm1()

    def weighed(branch: Branch) -> Branch:
        return lambda loss, analytic: (-(loss + span) / 2).exp() / norm * branch(loss.exp(), analytic)

    size = f.growth * span
    return peaked(weighed(f.below), -span, arb(0), size) + peaked(weighed(f.above), arb(0), span, size)


def _sampled_laplaces(rate: arb, shift: arb, f: Weighing) -> arb:
    """The part with 0 < |x| < s; right of 0 dP/dQ = (1-q + q e^(2x-s)) / c with c = 1-q + q e^-s, left its mirror."""
    c = 1 - rate + rate * (-shift).exp()

    def right(x: acb, analytic: bool) -> acb:
        grown = 1 - rate + rate * (2 * x - shift).exp()
        value: acb = (-x).exp() / 2 * (c * f.above(grown / c, analytic) + grown * f.below(c / grown, analytic))
        return value

    return peaked(right, arb(0), shift, f.growth * shift)


def _replaced_gaussians(pair: SampledGaussians, f: Weighing) -> arb:
    """In t = x/z: Q-density φ A(-t), ratio A(t)/A(-t), A(t) = 1-q + q e^(t/z - 1/2z²); r = 1 at t = 0."""
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()

    def mixture(t: acb) -> acb:
        return 1 - q + q * (t / z - 1 / (2 * v)).exp()

    def weighed(branch: Branch) -> Branch:
        def value(t: acb, analytic: bool) -> acb:
            there = mixture(-t)
            result: acb = density(t) * there * branch(mixture(t) / there, analytic)
            return result

        return value

    need(q < 1, "the sample rate is below 1")
    # right: r^e A(-t) <= A(t)^e (1-q)^(1-e) and A(t) <= e^(t/z) for t >= 0; left: f <= c
    e = f.growth
    scale = f.scale * (-(e - 1) * (1 - q).log()).exp()
    room = nats() + max(0.0, float(scale.log().mid()))
    left = arb(-math.ceil(math.sqrt(2 * room) + float((1 / z).mid())) - 1)
    far = math.sqrt(2 * (room + float((e * e / (2 * v)).mid())))
    right = arb(math.ceil(float((e / z).mid()) + far) + 1)
    tails = f.scale * ((1 - q) * upper_tail(-left) + q * upper_tail(-left - 1 / z))
    tails = tails + scale * (e * e / (2 * v)).exp() * upper_tail(right - e / z)
    size = e * e / (2 * v)
    bulk = integral(weighed(f.below), left, arb(0), size) + integral(weighed(f.above), arb(0), right, size)
    return bulk + up_to(tails)


def draw_masses(draws: Draws) -> list[arb]:
    """p_0, p_1, ..., p_slots of Binomial(slots, rate), rate < 1.

    Raises:
        NotCertified: There are more slots than can be summed.
    """
    if draws.slots > _MOST_SLOTS:
        raise NotCertified(f"{draws.slots} draws are too many for a sum over all counts: at most {_MOST_SLOTS}")
    rate = ball(draws.rate)
    masses = [(draws.slots * (-rate).log1p()).exp()]
    for k in range(1, draws.slots + 1):
        masses.append(masses[-1] * rate / (1 - rate) * (draws.slots - k + 1) / k)
    return masses


def drawn_at_all(draws: Draws) -> arb:
    """η = 1 - p_0."""
    return -(draws.slots * (-ball(draws.rate)).log1p()).expm1()


def _sampled(pair: Sampled, f: Weighing, closed_form: ClosedForm) -> arb:
    """Σ_k p_k/η E g over the base enlarged k times."""
    draws, base = pair.draws, pair.base
    need(draws.rate < 1, "the sample rate is below 1")
    eta = drawn_at_all(draws)
    g = through_sample(f, pair.direction, eta)
    if draws.slots == 1:
        return expectation(base, g, closed_form)
    shares = [mass / eta for mass in draw_masses(draws)[1:]]

    def at_most(k: int) -> arb:
        """An upper bound on E g: g <= c max(1, r)^e <= c (1 + r^e)."""
        grown = closed_form(enlarged(base, k), g.growth) if g.growth > 1 else arb(0)
        return g.scale * (1 + grown.exp())

    seen, rest = visible_terms([share * at_most(k) for k, share in enumerate(shares, start=1)], arb(1))
    parts = (shares[j] * expectation(enlarged(base, j + 1), g, closed_form) for j in seen)
    return sum(parts, arb(0)) + up_to(rest)


def visible_terms(bounds: Sequence[arb], scale: arb) -> tuple[list[int], arb]:
    """Indices of the terms that can be seen in a sum of that size, and an upper bound on the sum of all others."""
    least = scale * arb(2) ** (16 - working_bits()) / len(bounds)
    seen, rest = [], arb(0)
    for index, bound in enumerate(bounds):
        if bound < least:
            rest = rest + bound
        else:
            seen.append(index)
    return seen, rest


def need(condition: object, what: str) -> None:
    """Assert a condition of the derivation; ball comparisons are True only where every point agrees."""
    if condition is not True:
        raise NotCertified(f"condition not proven at {working_bits()} bits: {what}")
