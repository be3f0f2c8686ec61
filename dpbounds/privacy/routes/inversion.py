"""Inversion of a proven curve δ(ε) to a proven ε(δ) = inf{ε >= 0 : δ(ε) <= δ}.

Only two inequalities carry the proof, whatever the search did before: δ_upper(hi) <= δ gives ε(δ) <= hi, and
δ_lower(lo) > δ gives ε(δ) >= lo, because δ(·) is non-increasing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint

DeltaCurve = Callable[[Fraction], tuple[arb, arb]]  # maps ε to balls whose lower and upper endpoints enclose δ(ε)

_STEPS = 300
_SECANTS = 16
_NEARBY = 12  # secant steps from the guess, until a slower and safer search begins
_ROOM = 1.25  # factor by which the first margin exceeds the one that the width of the enclosure needs
_LARGEST = Fraction(10) ** 1000
_SECANT_REACH = Fraction(10) ** 100


def invert(
    curve: DeltaCurve,
    delta: arb,
    guess: float | Fraction,
    estimate: Callable[[Fraction], arb] | None = None,
    margin: Fraction | None = None,
    bits: int = 60,
    slope: float | None = None,
) -> tuple[Fraction, Fraction]:
    """Return lo <= ε(δ) <= hi, proven.

    Args:
        curve: Encloses δ(ε) for ε >= 0; it need not be monotone itself, and is never called at precision other than
            the caller's.
        delta: The target, in (0, 1).
        guess: The first value to try, at least 0.
        estimate: ε -> δ(ε), unproven, for the search; the middle of the curve's enclosure if None.
        margin: The least relative half-width tried, by default 2^(8 - ``bits``); it grows until both inequalities
            hold.
        bits: Significant bits of the ends.
        slope: About -d log δ/dε near the guess, if known.

    Returns:
        (lo, hi), dyadic rationals; both 0 where δ(0) <= δ.

    Raises:
        NotCertified: The enclosures of the curve are too wide to decide anything.
    """
    search = estimate or (lambda e: sum(curve(e), arb(0)) / 2)
    margin = Fraction(1, 1 << (bits - 8)) if margin is None else margin
    near = _nearby(search, delta, Fraction(guess), slope)
    if near is not None:
        root = _refined(near[0], search, delta, bits)
        margin = max(margin, _half_width(curve, delta, *near))
    else:
        if curve(Fraction(0))[1] <= delta:
            return Fraction(0), Fraction(0)
        root = _refined(_root(search, delta, Fraction(guess)), search, delta, bits)
    low = high = None
    while margin < 1 and (low is None or high is None):
        if high is None:
            candidate = _dyadic(root * (1 + margin), bits)
            high = candidate if curve(candidate)[1] <= delta else None
        if low is None:
            candidate = _dyadic(root * (1 - margin), bits)
            low = candidate if curve(candidate)[0] > delta else None
        margin *= 4
    if (low is None or high is None) and curve(Fraction(0))[1] <= delta:
        return Fraction(0), Fraction(0)
    if low is None:
        low = Fraction(0)  # always a valid lower bound
    while high is None:
        candidate = _dyadic(root * (1 + margin), bits)
        high = candidate if curve(candidate)[1] <= delta else None
        margin *= max(margin, Fraction(4))  # the root may be next to 0, and the curve too wide there
        if margin > 1 << 4096:
            raise NotCertified("no ε could be proven to suffice: the enclosure of δ(ε) is too wide")
    return low, high


def _dyadic(value: Fraction, bits: int = 60) -> Fraction:
    """Return a nearby number with few significant bits, so that exact arithmetic stays cheap."""
    if value <= 0:
        return Fraction(0)
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    if shift >= 0:
        return Fraction(round(value * (1 << shift)), 1 << shift)
    return Fraction(round(value / (1 << -shift)) << -shift)


def _half_width(curve: DeltaCurve, delta: arb, root: Fraction, slope: float) -> Fraction:
    """Return the relative half-width of ε that the curve's own width at the root asks for; proves nothing."""
    lower, above = curve(root)
    width = float((above - lower).abs_upper() / delta)
    return Fraction(_ROOM * width / slope) / root if math.isfinite(width / slope) else Fraction(0)


def _nearby(
    estimate: Callable[[Fraction], arb], delta: arb, guess: Fraction, slope: float | None
) -> tuple[Fraction, float] | None:
    """Return the root to some 57 bits and -d log δ/dε there, by secants from the guess; None where they do not settle.

    Slopes are doubles: a guess whose reciprocal is not a double is left to the slower search.
    """
    excess = partial(_excess, estimate, delta)
    if not 1 / _SECANT_REACH < guess < _SECANT_REACH:
        return None
    point = _dyadic(guess)
    value = excess(point)
    for attempt in range(_NEARBY):
        if not math.isfinite(value):
            return None
        step = Fraction(value / slope) if slope else point / (1 << 20)
        if abs(step) > point / 2:
            return None
        if slope and (abs(step) <= point / (1 << 56) or (attempt and abs(step) <= point / (1 << 50))):
            return _dyadic(point + step), slope
        following = _dyadic(point + step)
        after = excess(following)
        slope = (value - after) / float(following - point)
        if not 0 < slope < math.inf:
            return None
        point, value = following, after
    return None


def _log_excess(estimate: Callable[[Fraction], arb], delta: arb, epsilon: Fraction) -> arb | None:
    """Log (δ(ε)/δ), unproven; None where no positive δ(ε) is seen."""
    middle = estimate(epsilon).mid()
    return (middle / delta).mid().log().mid() if middle > 0 else None


def _excess(estimate: Callable[[Fraction], arb], delta: arb, epsilon: Fraction) -> float:
    found = _log_excess(estimate, delta, epsilon)
    return -math.inf if found is None else float(found)


def _root(estimate: Callable[[Fraction], arb], delta: arb, guess: Fraction) -> Fraction:
    """Return where the estimate crosses δ, to some 58 bits: a search, which proves nothing."""
    excess = partial(_excess, estimate, delta)
    step = Fraction(1, 8)
    low, high = Fraction(0), _dyadic(max(guess, Fraction(1, 1 << 60)))
    value_low, value_high = excess(low), excess(high)
    while value_high > 0:
        low, value_low = high, value_high
        high = _dyadic(high * (1 + step))
        step *= 4
        value_high = excess(high)
        if high > _LARGEST:
            raise NotCertified("no ε below 1e1000 brings δ(ε) down to the target")
    side = 0
    for iteration in range(_STEPS):
        checkpoint()
        if high - low <= high * Fraction(1, 1 << 58):
            break
        # regula falsi (Illinois) on log δ, which is nearly linear in ε; plain bisection where it stalls
        if math.isfinite(value_low) and math.isfinite(value_high) and value_low > value_high and iteration % 8 < 7:
            weight = Fraction(value_low) / (Fraction(value_low) - Fraction(value_high))
        else:
            weight = Fraction(1, 2)
        point = _dyadic(low + (high - low) * weight)
        if not low < point < high:
            point = _dyadic((low + high) / 2)
            if not low < point < high:
                break
        value = excess(point)
        if value == 0:
            low = high = point
            break
        if value > 0:
            low, value_low = point, value
            value_high = value_high / 2 if side == 1 else value_high
            side = 1
        else:
            high, value_high = point, value
            value_low = value_low / 2 if side == -1 else value_low
            side = -1
    return (low + high) / 2


def _refined(root: Fraction, estimate: Callable[[Fraction], arb], delta: arb, bits: int) -> Fraction:
    """Return the root to more digits than a double's, by secant steps that about double the digits each time."""
    if bits <= 60 or root == 0:
        return root
    first, second = root * (1 - Fraction(1, 1 << 50)), root * (1 + Fraction(1, 1 << 50))
    at_first, at_second = _log_excess(estimate, delta, first), _log_excess(estimate, delta, second)
    for _ in range(_SECANTS):
        if at_first is None or at_second is None or at_first == at_second:
            break
        step = ball_end((at_second / (at_first - at_second)).mid(), "down") * (second - first)
        first, second = second, _dyadic(second + step, bits + 16)
        if abs(step) <= second / (1 << bits):
            break
        at_first, at_second = at_second, _log_excess(estimate, delta, second)
    return second
