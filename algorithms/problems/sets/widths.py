"""Means of the norms of a standard Gaussian vector: the Gaussian widths of unit balls.

All integrals are taken in ball arithmetic (Arb), with their tails bounded in the docstrings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import sympy
from flint import acb, arb

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working

_PRECISION = 128
_ACCURACY_BITS = 70  # bits of the truncated tails, absolute


def mean_norm(dimension: int) -> sympy.Expr:
    """Return E‖g‖₂ = √2 Γ((k+1)/2)/Γ(k/2) for g ~ N(0, I_k).

    ‖g‖₂ has density t^(k-1) e^(-t²/2) 2^(1-k/2)/Γ(k/2) on t > 0, and ∫ t^k e^(-t²/2) dt = 2^((k-1)/2) Γ((k+1)/2).
    """
    half = sympy.Rational(1, 2)
    return sympy.sqrt(2) * sympy.gamma((dimension + 1) * half) / sympy.gamma(dimension * half)


@lru_cache(maxsize=1024)
def mean_largest_magnitude(count: int) -> Enclosure:
    """Return E max |g_i| over N independent standard Gaussians, proven.

    For a variable M >= 0, E M = ∫ P(M > t) dt = ∫_0^∞ (1 - erf(t/√2)^N) dt. Beyond b >= 0 the integrand is at least 0
    and at most 2N P(g > t) (Bernoulli's inequality), and ∫_b^∞ P(g > t) dt = φ(b) - b P(g > b) lies in [0, φ(b)].
    """

    def above(t: acb) -> acb:
        return 1 - (t / acb(2).sqrt()).erf() ** count

    return _mean("mean of the largest magnitude", above, None, 2 * count)


@lru_cache(maxsize=1024)
def mean_largest(count: int) -> Enclosure:
    """Return E max g_i over N independent standard Gaussians, proven (exactly 0 for N = 1).

    E M = ∫_0^∞ (1 - Φ(t)^N) dt - ∫_0^∞ Φ(-t)^N dt. Beyond b >= 0 the first integrand is in [0, N P(g > t)] (Bernoulli's
    inequality) and the second in [0, P(g > t)]; ∫_b^∞ P(g > t) dt = φ(b) - b P(g > b) lies in [0, φ(b)].
    """
    if count == 1:
        return Enclosure.exactly(0)

    def below(t: acb) -> acb:
        return (t / acb(2).sqrt()).erfc() / 2

    return _mean("mean of the largest", lambda t: 1 - (1 - below(t)) ** count, lambda t: below(t) ** count, count)


def _mean(
    method: str, positive: Callable[[acb], acb], negative: Callable[[acb], acb] | None, tail_weight: int
) -> Enclosure:
    """Return ∫_0^∞ positive - ∫_0^∞ negative; beyond b they are in [0, weight φ(b)] and in [0, φ(b)]."""
    with working(_PRECISION):
        end = math.isqrt(2 * (tail_weight.bit_length() + _ACCURACY_BITS)) + 1  # weight e^(-b²/2) < 2^-bits
        density = (-(arb(end) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        tail = (density * tail_weight).upper()
        total = _integral(positive, end)
        lower, upper = total, total + tail
        if negative is not None:
            part = _integral(negative, end)
            lower, upper = lower - part - density, upper - part
        return Enclosure.from_balls(lower, upper, method, _PRECISION)


def _integral(integrand: Callable[[acb], acb], end: int) -> arb:
    # The integrands are entire, so that no branch needs the analytic flag.
    return acb.integral(lambda t, _: integrand(t), acb(0), acb(end), abs_tol=arb(2) ** -_ACCURACY_BITS).real
