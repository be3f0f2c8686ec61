"""Losses on a common lattice: δ(ε) as a Fourier sum, of which only the terms that matter are computed.

If the losses of all releases lie on lattices of rational steps (discrete Gaussian noise, discrete Laplace noise,
randomised responses), so does their sum, on a lattice that may be too fine to be listed. The transform of the sum is a
product of known transforms, and it is next to nothing wherever one of its factors is. What is left out is bounded, and
the terms that are kept are balls. Proof: ``common_lattice.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import acb, arb

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.lattice_laws import LatticeLaw, Tilted
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.routes.searching import crossing

ROUTE = "common lattice"

_GUARD = 64  # bits of the balls beyond those wanted
_LEAST_BITS = 60
_MOST_TERMS = 60_000  # terms of transforms, times frequencies: some seconds
_MOST_INTERVALS = 1 << 20  # of frequencies, looked at together
_SHELLS = 44  # octaves of frequencies that are looked at
_SHARES = 2 * _SHELLS  # of what may be left out
_FLAT, _STEEP = 2.0**-20, 2.0**20  # the tilts between which the search looks
_STEP = Fraction(1, 1 << 20)  # of a difference quotient, relative to the tilt
_NEARER = (0.125, 0.25, 0.5, 0.75)  # smaller tilts that are tried for what lies a period below, relative to the tilt
_TURNS = 1e-6  # room for a rounded phase, in turns


@dataclass(frozen=True, slots=True)
class _Losses:
    """The losses of a product, at the working precision."""

    parts: tuple[tuple[LatticeLaw, int], ...]
    step: Fraction  # of the common lattice
    offset: Fraction  # one of its points
    infinite: arb  # P(some loss is infinite)

    @classmethod
    def of(cls, product: Product) -> _Losses:
        parts = []
        for pair, count in product:
            law = pair.on_lattice()
            if law is None:
                raise Declined(f"{ROUTE}: not all losses are known to lie on lattices of rational steps")
            parts.append((law, count))
        finite = sum((count * (-law.infinite).log1p() for law, count in parts), arb(0))
        step = reduce(_common, (law.step for law, _ in parts))
        return cls(tuple(parts), step, sum((count * law.offset for law, count in parts), Fraction(0)), -finite.expm1())

    def log_moment(self, tilt: Fraction) -> arb:
        """Log E e^(cL; L finite)."""
        checkpoint()
        return sum((count * law.tilted(tilt).at(Fraction(0)).real.log() for law, count in self.parts), arb(0))

    def near(self, tilt: float) -> _Saddle:
        """Return the loss that a tilt belongs to, and what it says of δ there; in floating point, proves nothing."""
        c = Fraction(tilt)
        width = c * _STEP
        low, middle, high = (self.log_moment(at) for at in (c - width, c, c + width))
        slope, bend = float((high - low) / ball(2 * width)), float((high + low - 2 * middle) / ball(width**2))
        curvature = max(bend, 0.0) + tilt**-2 + (1 + tilt) ** -2
        return _Saddle(tilt, slope - 1 / tilt - 1 / (1 + tilt), curvature, float(middle))


@dataclass(frozen=True, slots=True)
class _Saddle:
    """Where log E e^(cL) - cε - log c(1+c) is least in c: the tilt, ε, the second derivative, log E e^(cL)."""

    tilt: float
    epsilon: float
    curvature: float
    log_moment: float

    @property
    def log_scale(self) -> float:
        """Log of δ over e^(-cε) E e^(cL), about."""
        return -math.log(self.tilt * (1 + self.tilt)) - math.log(2 * math.pi * self.curvature) / 2

    @property
    def log_delta(self) -> float:
        """About log δ."""
        return self.log_moment - self.tilt * self.epsilon + self.log_scale


@dataclass(frozen=True, slots=True)
class _FourierSum:
    """The sum that encloses δ(ε) of the finite losses, at any ε, at the working precision."""

    losses: _Losses
    tilt: Fraction
    points: int  # N, odd: frequencies in a period
    terms: tuple[tuple[int, acb], ...]  # frequencies m >= 0 that are kept, with Φ
    left_out: arb  # bound on the sum of |Φ_m|/m² over the other m > 0
    wrapped: tuple[tuple[Fraction, arb], ...]  # a larger tilt, and a smaller one, with E e^(c'L)

    def curve(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Return balls whose lower and upper ends enclose δ(ε)."""
        checkpoint()
        step, c, count = self.losses.step, self.tilt, self.points
        index = math.floor((epsilon - self.losses.offset) / step) + 1  # the first loss above ε
        beyond = self.losses.offset + step * index - epsilon
        height, shifted, ahead = ball(c * step), ball((c + 1) * step), (-ball(beyond)).exp()
        top, rest = -(-ball(beyond)).expm1(), -ahead * (-ball(step - beyond)).expm1()
        total = arb(0)
        for m, value in self.terms:
            turn = acb(ball(Fraction(2 * m, count)))
            turned, phase = (-turn).exp_pi_i(), acb(ball(Fraction(2 * (-m * index % count), count))).exp_pi_i()
            angle = acb(0, 2 * arb.pi() * ball(Fraction(m, count)))
            weight = (top + turned * (-height).exp() * rest) / ((-height - angle).expm1() * (-shifted - angle).expm1())
            total += (value * phase * weight).real * (2 if m else 1)
        total = total / count
        missing = self.left_out * _largest_weight(step, c, count)
        scale = (-ball(c * (epsilon + beyond))).exp()
        middle, around = total * scale, missing * scale
        wrapped = sum((self._wrapped(epsilon, *tilted) for tilted in self.wrapped), arb(0))
        infinite = self.losses.infinite
        return infinite + (middle - around - wrapped).max(arb(0)), infinite + (middle + around)

    def _wrapped(self, epsilon: Fraction, tilt: Fraction, moment: arb) -> arb:
        """Bound what whole periods above ε, or below it, add to the sum."""
        c = ball(tilt)
        ratio = (-ball(abs(tilt - self.tilt) * self.points * self.losses.step)).exp()
        largest = (c * c.log() - (1 + c) * (1 + c).log()).exp()
        return largest * moment * (-ball(tilt * epsilon)).exp() * ratio / (1 - ratio)


def has_common_lattice(product: Product) -> bool:
    """Return whether the losses of all releases lie on lattices of rational steps."""
    with working(_GUARD):
        return all(pair.on_lattice() is not None for pair, _ in product)


@planned_in_doubles
def delta_on_lattice(product: Product, epsilon: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of δ(ε), to some 18 digits or ``tolerance``, whichever is narrower.

    It is wider where too many frequencies matter.

    Raises:
        Declined: The losses are not known to lie on a lattice, or the search for a tilt fails.
    """
    bits = max(_LEAST_BITS, math.ceil(-math.log2(tolerance)) + 8)
    with working(bits + _GUARD):
        losses = _Losses.of(product)
        at = to_float(epsilon, "down")
        sums = _planned(losses, _tilt(lambda saddle: saddle.epsilon - at, losses), bits)
        low, high = sums.curve(epsilon)
        return _proof(Enclosure.from_balls(low, high, ROUTE, bits + _GUARD).within(0, 1), sums)


@planned_in_doubles
def epsilon_on_lattice(product: Product, delta: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of ε(δ), as narrow as for δ(ε).

    Raises:
        Declined: As for :func:`delta_on_lattice`, or δ is not proven to exceed the probability of an infinite loss.
        NotCertified: The two ends could not be proven.
    """
    bits = max(_LEAST_BITS, math.ceil(-math.log2(tolerance)) + 8)
    with working(bits + _GUARD):
        losses, target = _Losses.of(product), ball(delta)
        finite = target - losses.infinite
        if not finite > 0:
            raise Declined(f"{ROUTE}: δ cannot be distinguished from the probability that the loss is infinite")
        aim = float(finite.log())
        saddle = _tilt(lambda saddle: aim - saddle.log_delta, losses)
        if saddle.epsilon <= 0:
            saddle = _tilt(lambda saddle: saddle.epsilon, losses)
        sums = _planned(losses, saddle, bits)
        guess = Fraction(max(saddle.epsilon, 0.0))
        low, high = invert(sums.curve, target, guess, bits=bits, slope=saddle.tilt)
        return _proof(Enclosure(low, high, ROUTE, bits + _GUARD), sums)


def _proof(enclosure: Enclosure, sums: _FourierSum) -> Proof:
    told = {"frequencies": len(sums.terms), "lattice points": sums.points, "tilt": float(sums.tilt)}
    return Proof(enclosure, ROUTE, {**told, "working precision": enclosure.precision})


def _common(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest number of which both are whole multiples."""
    denominator = math.lcm(one.denominator, other.denominator)
    return Fraction(math.gcd(int(one * denominator), int(other * denominator)), denominator)


def _tilt(excess: Callable[[_Saddle], float], losses: _Losses) -> _Saddle:
    """Return the saddle point at which a function that grows with the tilt is 0; proves nothing."""

    def at(log_tilt: float) -> float:
        return excess(losses.near(math.exp(log_tilt)))

    low, high = -1.0, 1.0
    while at(low) > 0:
        low -= 2
        if low < math.log(_FLAT):
            raise Declined(f"{ROUTE}: no tilt is small enough")
    while at(high) < 0:
        low, high = high, high + 1
        if high > math.log(_STEEP):
            raise Declined(f"{ROUTE}: no tilt is large enough")
    return losses.near(math.exp(crossing(at, low, high, 1e-6, 1e-9)))


def _planned(losses: _Losses, saddle: _Saddle, bits: int) -> _FourierSum:
    """Choose the number of frequencies and the terms, for a relative accuracy of about so many bits at the saddle."""
    tilt, negligible = Fraction(saddle.tilt), bits * math.log(2)
    period, larger, smaller = _period(losses, saddle, negligible)
    points = max(3, math.ceil(Fraction(period) / losses.step)) | 1
    laws = [(law.tilted(tilt), int(law.step / losses.step), count) for law, count in losses.parts]
    budget = saddle.log_scale - negligible - float(_largest_weight(losses.step, tilt, points).log())
    most = max(1, _MOST_TERMS // sum(law.size for law, _ in losses.parts))
    kept, left_out = frequencies_that_matter(laws, points, budget, most)
    moment = _transform(laws, 0, points)
    terms = [(0, moment), *((m, _transform(laws, m, points)) for m in kept)]
    wrapped = tuple((each, losses.log_moment(each).exp()) for each in (larger, smaller))
    return _FourierSum(losses, tilt, points, tuple(terms), moment.real * arb(left_out), wrapped)


def _transform(laws: Sequence[tuple[Tilted, int, int]], m: int, points: int) -> acb:
    """Return the transform of the sum at m/N of a turn of the common lattice."""
    checkpoint()
    value = acb(1)
    for law, multiple, count in laws:
        value *= law.at(Fraction(multiple * m % points, points)) ** count
    return value


def _largest_weight(step: Fraction, tilt: Fraction, points: int) -> arb:
    """2 N max_m m² |K_m|/N² over the frequencies 0 < m < N/2, as a bound."""
    return (ball(step) / 2).sinh() * ball(tilt * step).exp() * points / 4


def _period(losses: _Losses, saddle: _Saddle, negligible: float) -> tuple[float, Fraction, Fraction]:
    """Return a period of the sum, with a larger and a smaller tilt that show that other periods are negligible."""
    c, deviation = saddle.tilt, math.sqrt(saddle.curvature)
    shortest = deviation * math.sqrt(2 * negligible)
    larger = c + shortest / saddle.curvature
    smaller = [c * share for share in _NEARER]

    def needed(tilt: float) -> float:
        """Return the period from which on the bound at another tilt is negligible."""
        log_moment = float(losses.log_moment(Fraction(tilt)))
        largest = tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)
        excess = largest + log_moment - tilt * saddle.epsilon - saddle.log_delta + negligible
        return max(excess, 1.0) / abs(tilt - c)

    if c > 2 * shortest / saddle.curvature:
        smaller.append(c - shortest / saddle.curvature)
    below = min(smaller, key=needed)
    return max(needed(larger), needed(below), shortest), Fraction(larger), Fraction(below)


def frequencies_that_matter(
    laws: Sequence[tuple[Tilted, int, int]], points: int, budget: float, most: int
) -> tuple[list[int], float]:
    """Return the frequencies whose terms are not proven negligible, and a bound on what the others add up to.

    Args:
        laws: Transforms, the multiple of the common step that each has as its own, and counts.
        points: N, odd.
        budget: Log of the sum of |Φ_m/Φ_0|/m² that may be left out.
        most: The largest number of frequencies that are kept.

    Returns:
        Frequencies 0 < m < N/2, and an upper bound on the sum of |Φ_m/Φ_0|/m² over all others of that range.
    """
    import numpy as np

    turns = [Fraction(multiple, points) - round(Fraction(multiple, points)) for _, multiple, _ in laws]  # of m = 1
    kept: list[int] = []
    left_out = 0.0
    for shell in range(_SHELLS):
        first = 1 << shell
        if first > points // 2:
            return kept, left_out * (1 + _TURNS)
        least = budget - math.log(_SHARES) + shell * math.log(2)  # log |Φ/Φ_0| that may be left out here
        starts, length, lost = np.array([first], np.uint64), first, 0.0
        while least < 0 and len(starts) and len(starts) <= _MOST_INTERVALS:
            checkpoint()
            bound = np.zeros(len(starts))
            for (law, _, count), turn in zip(laws, turns, strict=True):
                half = float(turn) * (length - 1) / 2
                if abs(half) >= 0.5:
                    continue
                begin = starts * np.uint64(round(turn * (1 << 64)) % (1 << 64))  # in 2^-64 turns, whole turns dropped
                centre = begin.astype(np.float64) / 2.0**64 + half
                apart = np.abs(centre - np.round(centre)) - abs(half) - _TURNS
                square = np.sin(np.pi * np.clip(apart, 0, 0.5)) ** 2
                if law.lone:
                    bound += count * np.log1p(-np.minimum(4 * law.spread * square, 1 - 1e-9)) / 2
                else:
                    bound -= 2 * count * law.spread * square
            bound *= 1 - _TURNS
            small = bound <= least
            lost += float(np.sum(np.exp(bound[small]) * length / starts[small].astype(np.float64) ** 2))
            starts = starts[~small]
            if length == 1:
                break
            length //= 2
            starts = np.concatenate([starts, starts + np.uint64(length)])
            starts = starts[starts <= np.uint64(points // 2)]
        if least >= 0 or len(starts) > _MOST_INTERVALS or len(kept) + len(starts) > most:
            break
        kept += sorted(int(start) for start in starts)
        left_out += lost
    else:
        first <<= 1
    return kept, (left_out + 1 / max(first - 1, 0.5)) * (1 + _TURNS)
