"""From a proven curve δ(ε) to a proven ε(δ) = inf{ε >= 0 : δ(ε) <= δ}.

Only two inequalities carry the proof, whatever the search did before: δ_upper(hi) <= δ gives ε(δ) <= hi, and
δ_lower(lo) > δ gives ε(δ) >= lo, because δ(·) is non-increasing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified

Curve = Callable[[Fraction], tuple[arb, arb]]  # ε -> balls whose lower and upper ends enclose δ(ε)

_STEPS = 200


def invert(
    curve: Curve,
    delta: arb,
    guess: float,
    estimate: Callable[[Fraction], arb] | None = None,
    margin: Fraction = Fraction(1, 1 << 52),
) -> tuple[Fraction, Fraction]:
    """Return lo <= ε(δ) <= hi, proven.

    Args:
        curve: Encloses δ(ε) for ε >= 0; it need not be monotone itself, and is never called at precision other than
            the caller's.
        delta: The target, in (0, 1).
        guess: Where to start looking, at least 0.
        estimate: ε -> δ(ε), unproven, for the search; the middle of the curve's enclosure if None.
        margin: The first relative half-width tried; it grows fourfold until both inequalities hold.

    Returns:
        (lo, hi), dyadic rationals; both 0 where δ(0) <= δ.

    Raises:
        NotCertified: The enclosures of the curve are too wide to decide anything.
    """
    if curve(Fraction(0))[1] <= delta:
        return Fraction(0), Fraction(0)
    root = _root(estimate or (lambda e: sum(curve(e), arb(0)) / 2), delta, guess)
    low = high = None
    while margin < 1 and (low is None or high is None):
        if high is None:
            candidate = _dyadic(root * (1 + margin))
            high = candidate if curve(candidate)[1] <= delta else None
        if low is None:
            candidate = _dyadic(root * (1 - margin))
            low = candidate if curve(candidate)[0] > delta else None
        margin *= 4
    if low is None:
        low = Fraction(0)  # always a valid lower end
    while high is None:
        candidate = _dyadic(root * (1 + margin))
        high = candidate if curve(candidate)[1] <= delta else None
        margin *= 4
        if margin > 1 << 60:
            raise NotCertified("no ε could be proven to suffice: the enclosure of δ(ε) is too wide")
    return low, high


def _dyadic(value: Fraction) -> Fraction:
    """A nearby number with few bits (60 significant ones), so that exact arithmetic stays cheap."""
    if value <= 0:
        return Fraction(0)
    shift = 60 - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * (Fraction(2) ** shift)
    return Fraction(round(scaled)) / (Fraction(2) ** shift)


def _root(estimate: Callable[[Fraction], arb], delta: arb, guess: float) -> Fraction:
    """Where the estimate crosses δ, to about 60 bits: a search, which proves nothing."""

    def excess(epsilon: Fraction) -> float:
        middle = estimate(epsilon).mid()
        return float((middle / delta).mid().log().mid()) if middle > 0 else -math.inf

    step = Fraction(1, 8)
    low, high = Fraction(0), _dyadic(Fraction(max(guess, 2.0**-60)))
    value_low, value_high = excess(low), excess(high)
    while value_high > 0:
        low, value_low = high, value_high
        high = _dyadic(high * (1 + step))
        step *= 4
        value_high = excess(high)
        if high > Fraction(10) ** 30:
            raise NotCertified("no ε below 1e30 brings δ(ε) down to the target")
    side = 0
    for iteration in range(_STEPS):
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
            return point
        if value > 0:
            low, value_low = point, value
            value_high = value_high / 2 if side == 1 else value_high
            side = 1
        else:
            high, value_high = point, value
            value_low = value_low / 2 if side == -1 else value_low
            side = -1
    return (low + high) / 2
