"""Conversion of Rényi divergences to (ε, δ), and of a target to a budget, as proven formulas.

D_λ is the Rényi divergence of order λ > 1, u = λ - 1, and ρ-zCDP means D_λ <= λρ for every λ > 1. Every number that
comes out is an exact fraction, rounded to the safe side from a ball. Sections are those of ``conversions.md`` beside
this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Literal, get_args

from flint import arb

from dpbounds.errors import NotCertified, demand_one_of
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import Direction, ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.notions.notions import Points, shown, valid_points
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import above_one, at_least_zero, open_unit, positive

Form = Literal["tight", "classical"]

_ACCURACY_BITS = 100
_LARGEST_PRECISION = 1 << 14
_FARTHEST_ORDER = float(1 << 20)  # largest |log2(λ - 1)| in the search for the best order


def proven_end(compute: Callable[[], arb], direction: Direction) -> Fraction:
    """Evaluate a formula in balls, at growing precision, and return the end on the safe side as an exact number."""
    precision = 2 * _ACCURACY_BITS
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            value = compute()
            accurate = value.is_finite() and value.rel_accuracy_bits() >= _ACCURACY_BITS
            if accurate or (value.is_finite() and 2 * precision > _LARGEST_PRECISION):  # a wide ball is a proof as well
                return ball_end(value, direction)
        precision *= 2
    raise NotCertified(f"a conversion lost all accuracy at {_LARGEST_PRECISION} bits")


def upper_end(compute: Callable[[], arb]) -> Fraction:
    """Evaluate a formula in balls and return the upper endpoint (see :func:`proven_end`)."""
    return proven_end(compute, "up")


def _best_order(slope: Callable[[arb], arb]) -> Fraction:
    """Find u = λ - 1 > 0 where a function turns from negative to positive, by bisection of log2 u.

    The choice of an order makes a bound good or poor; no proof rests on it.
    """
    low, high = -_FARTHEST_ORDER, _FARTHEST_ORDER
    with working(64):
        for _ in range(64):
            middle = (low + high) / 2
            low, high = (low, middle) if slope(arb(2) ** arb(middle)).mid() > 0 else (middle, high)
    exponent = math.floor(high)
    return 1 + Fraction(2.0 ** (high - exponent)) * Fraction(2) ** exponent


def _log_constant(u: arb) -> arb:
    """Return the logarithm of (λ-1)^{λ-1} λ^{-λ} at λ = 1 + u: the constant of section 4."""
    return -u * (1 / u).log1p() - u.log1p()


def renyi_epsilon(points: Iterable[tuple[ExactLike, ExactLike]], delta: ExactLike) -> Fraction:
    """Bound ε(δ) of whatever has D_λ <= τ at each of the given (λ, τ): the least of τ + log((λ-1)/λ) - log(δλ)/(λ-1).

    Args:
        points: At least one (order, τ); orders > 1, τ >= 0.
        delta: Greater than 0.

    Returns:
        The bound, rounded up; 0 where it would be negative, and for δ >= 1.

    Source: Canonne, Kamath & Steinke 2020; proven in section 4.

    >>> float(renyi_epsilon([(2, 1), (10, 5)], "1e-5"))
    5.918...
    """
    curve, target = valid_points(points), positive(delta, "delta")
    if target >= 1 or any(value == 0 for _, value in curve):  # D_λ = 0 says P = Q
        return Fraction(0)

    def bound(order: Fraction, value: Fraction) -> arb:
        u = ball(order - 1)
        return ball(value) + (_log_constant(u) - ball(target).log()) / u

    return max(Fraction(0), min(upper_end(partial(bound, *point)) for point in curve))


def renyi_delta(points: Iterable[tuple[ExactLike, ExactLike]], epsilon: ExactLike) -> Fraction:
    """Bound δ(ε) in the same way, for ε >= 0: the least of e^{(λ-1)(τ-ε)} (λ-1)^{λ-1} λ^{-λ}, rounded up, at most 1."""
    curve, target = valid_points(points), at_least_zero(epsilon)
    if any(value == 0 for _, value in curve):
        return Fraction(0)

    def bound(order: Fraction, value: Fraction) -> arb:
        u = ball(order - 1)
        return (u * ball(value - target) + _log_constant(u)).exp()

    return min(Fraction(1), *(upper_end(partial(bound, *point)) for point in curve))


def best_zcdp_order(rho: ExactLike, delta: ExactLike) -> Fraction:
    """Return an order λ at which D_λ <= λρ gives nearly the least ε(δ), for ρ > 0 and 0 < δ < 1 (section 4)."""
    rate, target = positive(rho, "rho"), open_unit(delta)
    return _best_order(lambda u: ball(rate) * u * u + ball(target).log() + u.log1p())


def zcdp_epsilon(rho: ExactLike, delta: ExactLike, form: Form = "tight") -> Fraction:
    """Bound ε(δ) of a ρ-zCDP mechanism, rounded up, at least 0, for ρ >= 0 and δ > 0.

    "tight": the bound of :func:`renyi_epsilon` at τ = λρ, at (nearly) the best of all real orders λ > 1; "classical":
    ρ + 2 sqrt(ρ log(1/δ)).

    Sources: Bun & Steinke 2016, proposition 1.3 (classical); Canonne, Kamath & Steinke 2020 (tight). Section 4.

    >>> [round(float(zcdp_epsilon("1/50", "1e-6", form)), 3) for form in ("tight", "classical")]
    [0.9, 1.071]
    """
    rate, target = at_least_zero(rho, "rho"), positive(delta, "delta")
    demand_one_of("form", form, get_args(Form))
    if rate == 0 or target >= 1:
        return Fraction(0)
    if form == "classical":
        return upper_end(lambda: ball(rate) + 2 * (-ball(rate) * ball(target).log()).sqrt())
    order = best_zcdp_order(rate, target)
    return renyi_epsilon([(order, order * rate)], target)


def zcdp_delta(rho: ExactLike, epsilon: ExactLike, form: Form = "tight") -> Fraction:
    """Bound δ(ε) in the same way, for ε >= 0; "classical": e^{-(ε-ρ)²/4ρ} for ε > ρ, else 1."""
    rate, target = at_least_zero(rho, "rho"), at_least_zero(epsilon)
    demand_one_of("form", form, get_args(Form))
    if rate == 0:
        return Fraction(0)
    if form == "classical":
        return Fraction(1) if target <= rate else upper_end(lambda: ball(-((target - rate) ** 2) / (4 * rate)).exp())
    order = _best_order(lambda u: (2 * u + 1) * ball(rate) - ball(target) - (1 / u).log1p())
    return renyi_delta([(order, order * rate)], target)


def renyi_budget(order: ExactLike, epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """Return the largest τ for which D_λ <= τ still gives (ε, δ) by section 4, rounded down; it may be negative.

    For λ > 1, ε >= 0 and δ in (0, 1).
    """
    chosen, target_epsilon, target_delta = above_one(order), at_least_zero(epsilon), open_unit(delta)

    def bound() -> arb:
        u = ball(chosen - 1)
        return ball(target_epsilon) + (ball(target_delta).log() - _log_constant(u)) / u

    return proven_end(bound, "down")


def zcdp_budget(epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """Return the largest ρ for which ρ-zCDP gives (ε, δ) by section 4, rounded down, for ε >= 0 and δ in (0, 1).

    >>> float(zcdp_budget(1, "1e-6"))
    0.0243...
    """
    target_epsilon, target_delta = at_least_zero(epsilon), open_unit(delta)

    def slope(u: arb) -> arb:  # slope of -τ(λ)/λ, which is quasi-convex (section 4)
        left = ball(target_delta).log() - _log_constant(u) + u * ball(target_epsilon)
        return (1 + 2 * u) * left - ((1 / u).log1p() + ball(target_epsilon)) * u * (1 + u)

    order = _best_order(slope)
    return max(Fraction(0), renyi_budget(order, target_epsilon, target_delta) / order)


def renyi_between(points: Points, order: Fraction) -> Fraction:
    """Bound D_λ between given orders: (λ-1) D_λ is convex and 0 at λ = 1, and D_λ grows with λ (section 5).

    Raises:
        Declined: The order is above all given ones.
    """
    above = [value for known, value in points if known >= order]
    if not above:
        raise Declined(f"the largest order given is {shown(points[-1][0])}, below {shown(order)}")
    below, under = max((point for point in points if point[0] < order), default=(Fraction(1), Fraction(0)))
    beyond, over = min(point for point in points if point[0] >= order)
    weight = (order - below) / (beyond - below)
    chord = ((1 - weight) * (below - 1) * under + weight * (beyond - 1) * over) / (order - 1)
    return min(chord, *above)
