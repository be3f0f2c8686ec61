r"""δ(ε) of one Gaussian pair in ball arithmetic, without cancellation, for parameters of any size.

With φ the standard normal density, Q its upper tail and R = Q/φ (Mills' ratio), let

    m(a, h) = φ(a) (R(a) - R(a + h)) = Q(a) - e^{h(2a + h)/2} Q(a + h),   h > 0.

Every profile here is a positive combination of such terms, with h the distance of two means in standard deviations:

- shifted by μ: m(a, μ), a = (ε - μ²/2)/μ (Balle & Wang 2018);
- sampled with rate q, μ = 1/z: with α = e^ε the difference of the densities is a multiple of that of a shifted pair at
  another ε'', so remove: q m(a, μ) with e^{ε''} = 1 + (α - 1)/q; add: (1 - α(1-q)) m(a, μ) with
  e^{ε''} = αq/(1 - α(1-q)), and 0 where 1 <= α(1-q); a = (ε'' - μ²/2)/μ in both;
- replace: let x be the threshold where (1-q) φ(x/z) + q φ((x-1)/z) = α ((1-q) φ(x/z) + q φ((x+1)/z)), so that
  x = z² (ε/2 + asinh s), s = (1-q) sinh(ε/2)/(q e^{-μ²/2}). With a = (x-1)/z, w = x/z, d = (x+1)/z,
  δ = q (Q(a) - α Q(d)) - (1-q) (α - 1) Q(w), and the equation for x turns the last factor (1-q) (α - 1) φ(w) into
  q (φ(a) - α φ(d)): δ = q φ(a) (R(a) - R(w)) + q α φ(d) (R(w) - R(d)) = q m(a, μ) + q e^r m(w, μ),
  r = log(α φ(d)/φ(w)) = ε/2 - asinh s - μ²/2.

R(x) = ∫_0^∞ e^{-xt - t²/2} dt, so R > 0 > R' and R'' > 0: for small h the mean value theorem,
h φ(a) (-R'(a + h)) <= m(a, h) <= h φ(a) (-R'(a)) with -R'(x) = 1 - x R(x), is sharper than the difference. For large x,
R is between any two consecutive partial sums of 1/x - 1/x³ + 3/x⁵ - 15/x⁷ + ...
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Direction
from dpbounds.privacy.pairs.losses import ball

_MOST_TERMS = 1 << 14


def shifted_delta(squared_shift: Fraction, epsilon: arb) -> arb:
    """Return δ of a shift at any real ε, itself a ball: about as accurate as ε/μ - μ/2 is, absolutely."""
    mu = ball(squared_shift).sqrt()
    return moved((epsilon - ball(squared_shift) / 2) / mu, mu)


def delta_at(squared_shift: Fraction, epsilon: Fraction) -> arb:
    """Return δ of a shift at an exact ε >= 0, as a ball at the working precision."""
    mu = ball(squared_shift).sqrt()
    return moved(ball(epsilon - squared_shift / 2) / mu, mu)


def sampled_delta(direction: Direction, rate: Fraction, variance: Fraction, epsilon: Fraction) -> arb:
    """Return δ at an exact ε >= 0 of one release on a Poisson sample, as a ball at the working precision."""
    match direction:
        case Direction.REMOVE:
            return _remove(rate, variance, epsilon)
        case Direction.ADD:
            return _add(rate, variance, epsilon)
        case Direction.REPLACE:
            return _replace(rate, variance, epsilon)


def upper_bound_of_epsilon(squared_shift: Fraction, delta: Fraction) -> arb:
    """Return μ²/2 + μ sqrt(2 log 1/δ) >= ε(δ) of shifted Gaussians: δ(ε) <= Q(a) <= e^{-a²/2} for a >= 0."""
    log_delta = ball(delta).log() if 2 * delta < 1 else ball(delta - 1).log1p()
    return ball(squared_shift) / 2 + (-2 * ball(squared_shift) * log_delta).sqrt()


def _remove(rate: Fraction, variance: Fraction, epsilon: Fraction) -> arb:
    q, mu = ball(rate), (1 / ball(variance)).sqrt()
    e = ball(epsilon)
    if epsilon <= 1:
        return q * moved(((e.expm1() / q).log1p() - mu * mu / 2) / mu, mu)
    beyond = (-ball(1 - rate) * (-e).exp()).log1p() - q.log()
    return q * moved((ball(epsilon - 1 / (2 * variance)) + beyond) / mu, mu)


def _add(rate: Fraction, variance: Fraction, epsilon: Fraction) -> arb:
    q, mu = ball(rate), (1 / ball(variance)).sqrt()
    lost = -(-ball(epsilon)).expm1()  # 1 - 1/α
    room = q - lost
    if room <= 0:
        return arb(0)
    if not room > 0:
        return arb.nan()  # undecided at this precision
    return room * ball(epsilon).exp() * moved(((lost / room).log1p() - mu * mu / 2) / mu, mu)


def _replace(rate: Fraction, variance: Fraction, epsilon: Fraction) -> arb:
    if epsilon == 0:
        half = Fraction(1, 2 * variance.numerator) * variance.denominator
        mu = ball(2 * half).sqrt()
        return ball(rate) * (moved(-mu, mu) + (-ball(half)).exp() * moved(arb(0), mu))
    q, v, e = ball(rate), variance, ball(epsilon)
    mu = (1 / ball(v)).sqrt()
    rest = (ball(1 - rate) / q * -(-e).expm1()).log()  # log(2s) = ε/2 + 1/(2v) + rest
    log_twice = ball(epsilon / 2 + 1 / (2 * v)) + rest
    if log_twice > working_bits():  # asinh s - log(2s) lies between 0 and 1/(4s²)
        small = arb(0).union((-2 * log_twice).exp())
        a = (ball(epsilon - 1 / (2 * v)) + rest + small) / mu
        exponent = -ball(1 / v) - rest - small
    else:
        size = (log_twice.exp() / 2).asinh()
        a = (ball(epsilon / 2 - 1 / v) + size) / mu
        exponent = ball(epsilon / 2 - 1 / (2 * v)) - size
    return q * (moved(a, mu) + exponent.exp() * moved(a + mu, mu))


def moved(a: arb, h: arb) -> arb:
    """Return m(a, h) for h > 0, as a ball; NaN where a ball is too wide."""
    if not (a.is_finite() and h > 0):
        return arb.nan()
    b = a + h
    if h * (abs(a) + 2) < arb(2) ** -(working_bits() // 2):
        low, high = _steepness(b, a), _steepness(a, a)
        return h * low.union(high)
    return tail(a) - _weighed(b, a, h)


def _steepness(x: arb, a: arb) -> arb:
    """Return φ(a) (1 - x R(x)), for x near a."""
    density = (-a * a / 2).exp() / (2 * arb.pi()).sqrt()
    return density - x * _weighed(x, a, x - a)


def _weighed(b: arb, a: arb, h: arb) -> arb:
    """Return φ(a) R(b) = e^{h(a + b)/2} Q(b), where b = a + h."""
    if _is_far(b):
        return (-a * a / 2).exp() / (2 * arb.pi()).sqrt() * _far_ratio(b)
    return (h * (a + b) / 2).exp() * tail(b)


def tail(x: arb) -> arb:
    """Return Q(x), the upper tail of a standard normal distribution."""
    if x < 0:
        return 1 - tail(-x)
    if _is_far(x):
        return (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * _far_ratio(x)
    return (x / arb(2).sqrt()).erfc() / 2


def log_tail(x: arb) -> arb:
    """Return log Q(x), also if Q(x) is too small to be distinguished from 0."""
    if _is_far(x):
        return -x * x / 2 - (2 * arb.pi()).log() / 2 + _far_ratio(x).log()
    return tail(x).log()


def _is_far(x: arb) -> bool:
    """Return whether the alternating series reaches the working precision: its least term is about e^{-x²/2}."""
    return bool(x > 0 and x * x > arb(7) / 5 * working_bits() + 32)


def _far_ratio(x: arb) -> arb:
    inverse = 1 / (x * x)
    least = arb(2) ** -(working_bits() + 4)
    total, term = arb(1), arb(1)
    for k in range(1, _MOST_TERMS):
        term = -term * (2 * k - 1) * inverse
        if abs(term) < least:
            break
        total = total + term
    return (total + arb(0).union(term)) / x
