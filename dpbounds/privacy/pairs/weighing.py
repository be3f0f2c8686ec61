"""E_Q f(dP/dQ) for convex f, in balls: the integrals behind the Rényi divergences.

A sample changes dP/dQ by an affine map or by a reflection, so every sampled pair is its base seen through another
convex function (``Weighing``). One analytic function per base remains to be integrated, over a range with proven bounds
on the rest. The derivations are in ``renyi/renyi.md``; everything happens at the working precision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import acb, arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Direction, Draws, Pair
from dpbounds.privacy.pairs.losses import LossDistribution, ball

Branch = Callable[[acb, bool], acb]  # (r, whether it must be analytic there) -> f(r)

_MOST_SLOTS = 5_000

INFINITY = arb("inf")


def up_to(bound: arb) -> arb:
    """Return the ball [0, bound]."""
    return arb(0).union(bound.upper())


def nats() -> float:
    """Return the accuracy, as -log, below which omitted terms are invisible at the working precision."""
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
    """Return f(r) = r^λ, λ > 1."""

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
            return Weighing(above, below, zero, times(eta, f.slope), f.scale, f.growth)
        case Direction.ADD:
            above = swapped(f.below)
            below = above if f.below is f.above else swapped(f.above)
            scale = f.scale * (-(f.growth - 1) * rest.log()).exp()
            return Weighing(above, below, rest * f(1 / rest), times(eta, f.at_zero), scale, arb(1))
        case Direction.REPLACE:
            centre = f(arb(1))

            def both(ratio: acb, analytic: bool) -> acb:
                mixture = rest + eta * ratio
                here, there = f.above(mixture, analytic), mixture * f.below(1 / mixture, analytic)
                return centre + (here - centre) + (there - mixture * centre)

            def constant(ratio: acb, analytic: bool) -> acb:
                return acb(centre)

            slope = times(eta, f.slope + f.at_zero - centre)
            return Weighing(both, constant, centre, slope, 3 * f.scale, f.growth.max(arb(1)))


def times(positive: arb, value: arb) -> arb:
    """Return a product that is ∞ where the second factor is."""
    return positive * value if value.is_finite() else INFINITY


# --- Integrals and sums -----------------------------------------------------------------------------------------------


def integral(integrand: Branch, start: arb, end: arb, size: arb, scale: arb | None = None) -> arb:
    """Return the integral; ``size`` is about its largest exponent, whose rounding subdivision cannot reduce.

    It is accurate relative to itself, or to ``scale`` where that is given.
    """
    tolerance = arb(2) ** (14 - working_bits()) * (1 + abs(size).mid())
    absolute = None if scale is None else tolerance * abs(scale).mid()
    return acb.integral(integrand, acb(start), acb(end), rel_tol=tolerance, abs_tol=absolute).real


def peaked(integrand: Branch, start: arb, end: arb, size: arb) -> arb:
    """Return the same of an integrand that is largest at one end, where e^size may fall to nothing within 1/size.

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


def integrated(pair: Pair, order: arb) -> arb:
    """Log E_Q r^λ by the pair's own integral."""
    value = pair.expectation(power(order))
    return INFINITY if value == INFINITY else value.log()


def over_atoms(law: LossDistribution, f: Weighing) -> arb:
    """Return the atoms' part of E_Q f; P-mass at ∞ counts with the slope of f, Q-mass at -∞ with f(0)."""
    total = sum((point.r * f(point.loss.exp()) for point in law.points), arb(0))
    if not law.infinite.is_zero():
        total = total + times(law.infinite, f.slope)
    if not law.vanishing.is_zero():
        total = total + times(law.vanishing, f.at_zero)
    return total


def density(x: acb) -> acb:
    """Return the density of N(0, 1)."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def draw_masses(draws: Draws) -> list[arb]:
    """Return p_0, p_1, ..., p_slots of Binomial(slots, rate), rate < 1.

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
    """Return η = 1 - p_0."""
    return -(draws.slots * (-ball(draws.rate)).log1p()).expm1()


def visible_terms(bounds: Sequence[arb], scale: arb) -> tuple[list[int], arb]:
    """Return the indices of the terms that matter in a sum of that size, and an upper bound on all others."""
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
