"""Rényi divergences on a sample of a mechanism known only by a guarantee.

The bound on a sample is derived from the curve D_λ <= ε(λ) itself; that is smaller than the bound by the pair that the
curve allows. All results are upper bounds, except for the worst two-point pair, which is exact. The derivations are in
``renyi/renyi.md``; everything happens at the working precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

from flint import arb, arb_series

from dpbounds.errors import NotCertified
from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Direction, Draws, Pair
from dpbounds.privacy.pairs.gaussian_moments import sampled_gaussians
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.weighing import INFINITY, draw_masses, drawn_at_all, up_to

AtInteger = Callable[[int], arb]  # n -> log E_Q r^n, or an upper bound, or infinity

# terms of a sum over the integer orders of a curve; beyond that order, the gain of sampling is not used
_MOST_TERMS = 2048
_MOST_CELLS = 4_000


def between(order: Fraction, left: tuple[Fraction, arb], right: tuple[Fraction, arb]) -> arb:
    """Return an upper bound on K(λ) = log E_Q r^λ from upper bounds at two orders around λ.

    K is convex, and so is log of (e^K - 1)/(λ(λ-1)): both chords are upper bounds (``renyi/renyi.md``).
    """
    (below, low), (above, high) = left, right
    weight = ball((order - below) / (above - below))
    candidates = [(1 - weight) * low + weight * high]
    if low.is_finite() and high.is_finite() and low > 0 and high > 0:
        starts = [(value.expm1() / ball(n * (n - 1))).log() for n, value in (left, right)]
        chord = (1 - weight) * starts[0] + weight * starts[1]
        candidates.append((ball(order * (order - 1)) * chord.exp()).log1p())
    return least(candidates)


def _at_integers(bound: AtInteger, order: Fraction, most_terms: float = _MOST_TERMS) -> arb:
    """Return the bound at λ >= 2 from the integer orders around it; ∞ where there would be too many terms."""
    if order > most_terms:
        return INFINITY
    below = math.floor(order)
    if below == order:
        return least([bound(below)])
    return between(order, (Fraction(below), bound(below)), (Fraction(below + 1), bound(below + 1)))


def least(candidates: Iterable[arb]) -> arb:
    """Return the smallest proven upper bound; ∞ where there is none."""
    best = INFINITY
    for value in candidates:
        if value.is_finite():
            best = value.upper() if best == INFINITY else best.min(value.upper())
    return best


# --- What a guarantee gives under sampling ----------------------------------------------------------------------------


def sampled_guarantee(direction: Direction, draws: Draws, base: Pair, order: Fraction) -> arb:
    """Return Σ_k p_k/η times the bound for at most one draw at rate η (k draws: the base enlarged k times)."""
    eta = drawn_at_all(draws)
    if draws.slots == 1:
        return _sampled_once(direction, eta, base, order)
    excess = arb(0)
    for k, mass in enumerate(draw_masses(draws)[1:], start=1):
        value = _sampled_once(direction, eta, base.enlarged(k), order)
        if not value.is_finite():
            return INFINITY
        excess = excess + mass / eta * value.expm1()
    return arb(excess.log1p().upper())


def _sampled_once(direction: Direction, q: arb, base: Pair, order: Fraction) -> arb:
    """Return the least of joint convexity, E <= 1-q + q E', and the bound that the direction allows besides."""
    moments = moments_of(base)
    match direction:
        case Direction.REMOVE:
            return least([unamplified(q, base.log_moment(order)), _removed(q, moments, base, order)])
        case Direction.ADD:  # E (1-q + qr)^(1-λ): also by its second moment, by its largest value
            exponent = ball(1 - order)
            candidates = [_from_second_moment(q, exponent, moments(2)), exponent * (-q).log1p()]
            if base.is_known and base.mirrored() == base:
                candidates.append(_removed(q, moments, base, order))
            return least([unamplified(q, base.mirrored().log_moment(order)), *candidates])
        case Direction.REPLACE:
            if base.is_known:
                replaced = _from_positive_part(q, moments, order)
            else:
                replaced = from_integers(lambda n: ternary_sum(q, moments, moments, n), order)
            return least([unamplified(q, base.log_moment(order)), replaced])


def moments_of(base: Pair) -> AtInteger:
    """Return the moments of a pair at integer orders, remembered."""
    return cache(lambda n: base.log_moment(Fraction(n)) if n > 1 else arb(0))


def unamplified(q: arb, value: arb) -> arb:
    """Return the bound by joint convexity, E <= 1-q + q E', for every order."""
    return INFINITY if not value.is_finite() else (q * value.expm1()).log1p()


def _removed(q: arb, moments: AtInteger, base: Pair, order: Fraction) -> arb:
    """Bound E (1-q + qr)^λ by Σ_k C(λ,k) (1-q)^(λ-k) q^k e^((k-1) ε(k)) at integers."""
    if order <= 2:
        return _from_second_moment(q, ball(order), moments(2))
    if base.concentration is not None:
        # e^(k(k-1)ρ) are the moments of a pair of Gaussians: the sum is theirs
        variance = 1 / (2 * ball(base.concentration))

        def of_gaussians(n: int) -> arb:
            return sampled_gaussians(Direction.REMOVE, q, variance, arb(n)).log()

        return _at_integers(of_gaussians, order, math.inf)
    return _at_integers(lambda n: _binomial_sum(q, moments, n), order)


def _binomial_sum(q: arb, moments: AtInteger, n: int) -> arb:
    excess, odds = arb(0), q / (1 - q)
    weight = (n * (-q).log1p()).exp()
    for k in range(n + 1):
        value = moments(k)
        if not value.is_finite():
            return INFINITY
        excess = excess + weight * value.expm1()
        weight = weight * odds * (n - k) / (k + 1)
    return excess.log1p()


def _from_second_moment(q: arb, exponent: arb, second: arb) -> arb:
    """Bound E (1 + q(r-1))^p by 1 + E(r-1)² ((1-q)^p - 1 + pq) for p <= 2: (f - tangent)/x² decreases."""
    if not second.is_finite():
        return INFINITY
    left = (exponent * (-q).log1p()).expm1() + exponent * q
    return (left * second.expm1()).log1p()


def _from_positive_part(q: arb, moments: AtInteger, order: Fraction) -> arb:
    """Return 1 + E[(1+y)^λ + (1+y)^(1-λ) - 2 - y; y > 0], y = q(r-1): the dominating pair of fixed-size samples."""

    def bound(n: Fraction) -> arb:
        pairs = ball(n * (n - 1) / 2)
        total = 2 * pairs * q * q * moments(2).expm1()
        weight = pairs * q * q
        for j in range(3, int(n) + 1):
            weight = weight * q * (int(n) - j + 1) / j
            total = total + weight * moments(j).exp()
        return total.log1p()

    if not moments(2).is_finite():
        return INFINITY
    return least([bound(order)]) if order <= 2 else _at_integers(lambda n: bound(Fraction(n)), order)


def ternary_sum(q: arb, present: AtInteger, replaced: AtInteger, n: int) -> arb:
    """Return the bound of Wang, Balle & Kasiviswanathan 2019, Theorem 9, for either kind of third distribution."""
    absent, total = 1 - q, arb(0)
    weight = arb(1)
    for j in range(1, n + 1):
        weight = weight * q * (n - j + 1) / j
        if j == 1:
            continue
        here, there = present(j), replaced(j)
        if not (here.is_finite() and there.is_finite()):
            return INFINITY
        if j == 2:
            apart = (4 * here.expm1()).min(2 * here.exp())
            total = total + weight * (absent * apart + q * there.expm1())
        else:
            total = total + weight * (2 * absent * here.exp() + q * there.exp())
    return total.log1p()


def from_integers(bound: AtInteger, order: Fraction) -> arb:
    """Interpolate between integer orders, as ``_at_integers``; below 2 by D_λ <= D_2."""
    return least([ball(order - 1) * bound(2)]) if order <= 2 else _at_integers(bound, order)


# --- The worst two-point pair of a bounded range ----------------------------------------------------------------------


def worst_two_points(span: arb, eta: arb, exponent: arb) -> arb:
    """Return the largest over t in [0, η'] of E_Q f(r) - 1, Q having losses t and t - η', f(r) = (1-η + ηr)^p, convex.

    Because E_Q r = 1, the tangent of f at 1 may be subtracted. With y = e^t and ρ = e^-η' the value is then V(y) =
    (f(y) (1/y - ρ) + f(ρy) (1 - 1/y)) / (1-ρ). Cells of y are halved until Taylor's formula of degree one with its
    remainder decides, or V is seen to be concave on what is left: branch and bound.

    Raises:
        NotCertified: The search does not end.
    """
    rho = (-span).exp()

    def taylor(r: arb, inner: arb) -> arb_series:
        """Expand f less its tangent at 1, composed with a linear function of slope ``inner``, to degree 2."""
        middle, base = r.mid(), (eta * (r - 1)).log1p()
        start = (exponent * (eta * (middle - 1)).log1p()).expm1() - exponent * eta * (middle - 1)
        slope = exponent * eta * ((exponent - 1) * base).expm1()
        bend = exponent * (exponent - 1) / 2 * eta * eta * ((exponent - 2) * base).exp()
        return arb_series([start + slope * (r - middle), slope * inner, bend * inner * inner], 3)

    def around(y: arb) -> arb_series:
        """Return V, V' and V''/2 at y."""
        inverse = 1 / arb_series([y, arb(1)], 3)
        return (taylor(y, arb(1)) * (inverse - rho) + taylor(rho * y, rho) * (1 - inverse)) * (1 / (1 - rho))

    top = span.exp()
    cells = [(1 + (top - 1) * j / 4, 1 + (top - 1) * (j + 1) / 4) for j in range(4)]
    best = highest = arb(0)
    for _ in range(4 * working_bits()):
        bounded = []
        for left, right in cells:
            middle, whole = ((left + right) / 2).mid(), left.union(right)
            here, bend = around(middle), around(whole)[2]
            reach = (whole - middle).abs_upper()
            best = best.max(arb(here[0].lower()))
            bound = here[0] + here[1].abs_upper() * reach + bend.max(arb(0)) * reach * reach
            bounded.append((left, right, middle, bound.upper()))
        goal = best * (1 + arb(2) ** (24 - working_bits()))
        cells = []
        for left, right, middle, bound in bounded:
            if bound <= goal:
                highest = highest.max(bound)
            else:
                cells += [(left, middle), (middle, right)]
        summit = _summit(around, cells[0][0].union(cells[-1][1])) if cells else arb(best)
        if summit is not None:
            lower = best.max(arb(summit.lower()))
            return lower.union(highest.max(lower).max(arb(summit.upper())))
        if len(cells) > _MOST_CELLS:
            break
    raise NotCertified("the worst two-point pair was not located at this precision")


def _summit(around: Callable[[arb], arb_series], hull: arb) -> arb | None:
    """Return a ball around the largest V over the hull, where V is concave on all of it; else None."""
    if not around(hull)[2] < 0:
        return None
    at = hull.mid()
    for _ in range(working_bits().bit_length() + 2):
        here = around(at)
        at = (at - here[1] / (2 * here[2])).mid()
        if not hull.contains(at):
            return None
    here = around(at)
    return here[0] + up_to(here[1].abs_upper() * (hull - at).abs_upper())
