"""Losses on a common lattice: δ(ε) as a Fourier sum, whose negligible terms are bounded and not computed.

If the losses of all releases lie on lattices of rational steps (discrete Gaussian noise, discrete Laplace noise,
randomised responses), so does their sum, on a lattice that may be far too fine to be listed. The transform of the sum
is a product of known transforms, next to nothing wherever one of its factors is. The terms that are left out are
bounded; those that are kept are balls. Proof: ``common_lattice.md``.
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
MOST_WORK = 1_500_000  # transforms, by their cost: some three seconds
WIDEST = 1e-2  # relative width up to which an answer is worth its time

_GUARD = 64  # bits of the balls beyond those wanted, and one more for each factor of a transform
_LEAST_BITS = 60  # least accuracy, as bits cost little
_FEWER_BITS = 40, 30, 20, 10  # tried where too many frequencies matter
_MOST_INTERVALS = 1 << 23  # most intervals of frequencies at a time, times the number of unlike releases
_OCTAVES = 44  # octaves of frequencies that are looked at
_SHARES = 2 * _OCTAVES  # shares of the sum that may be left out: one for each octave, and for all beyond
_FLATTEST, _STEEPEST = -40.0, 20.0  # logs of the tilts between which the search looks
_RELATIVE_STEP = Fraction(1, 1 << 20)  # step of a difference quotient
_SMALLER = 0.125, 0.25, 0.5, 0.75  # shares of the tilt, tried to bound what lies a period below
_SLACK = 1e-6  # for doubles: of a phase in turns, and relative of sums and products of positive numbers


@dataclass(frozen=True, slots=True)
class _Losses:
    """The losses of a product, at the working precision."""

    parts: tuple[tuple[LatticeLaw, int], ...]
    step: Fraction  # h, of the common lattice
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
        offset = sum((count * law.offset for law, count in parts), Fraction(0))
        log_finite = sum((count * (-law.infinite).log1p() for law, count in parts), arb(0))
        return cls(tuple(parts), reduce(_common_step, (law.step for law, _ in parts)), offset, -log_finite.expm1())

    def log_moment(self, tilt: Fraction) -> arb:
        """Log E (e^(cL); L finite)."""
        checkpoint()
        return sum((count * law.moment(tilt).log() for law, count in self.parts), arb(0))

    def saddle(self, log_tilt: float) -> _Saddle:
        """Return the saddle point with that tilt, by difference quotients; proves nothing."""
        tilt = Fraction(math.exp(log_tilt))
        width = tilt * _RELATIVE_STEP
        low, middle, high = (self.log_moment(at) for at in (tilt - width, tilt, tilt + width))
        slope, bend = float((high - low) / ball(2 * width)), float((high + low - 2 * middle) / ball(width**2))
        c = float(tilt)
        return _Saddle(c, slope - 1 / c - 1 / (1 + c), max(bend, 0.0) + c**-2 + (1 + c) ** -2, float(middle))


@dataclass(frozen=True, slots=True)
class _Saddle:
    """The c at which log E e^(cL) - cε - log c(1+c) is least, with ε, its second derivative and log E e^(cL)."""

    tilt: float
    epsilon: float
    curvature: float
    log_moment: float

    @property
    def log_share(self) -> float:
        """About log δ, less log E e^(c(L-ε))."""
        return -math.log(self.tilt * (1 + self.tilt)) - math.log(2 * math.pi * self.curvature) / 2

    @property
    def log_delta(self) -> float:
        """About log δ."""
        return self.log_moment - self.tilt * self.epsilon + self.log_share


@dataclass(frozen=True, slots=True)
class _FourierSum:
    """A sum that encloses δ(ε) at any ε >= 0, at the working precision.

    Attributes:
        losses: The losses.
        tilt: c > 0.
        points: N, odd: the number of frequencies.
        terms: Frequencies m >= 0 that are kept, with A = Φ_m/((1 - z)(1 - z e^-h)) and A z, z = e^(-ch - 2πim/N).
        left_out: A bound on the sum of all other terms, times e^(c l) with l the first loss above ε.
        others: A larger and a smaller tilt, with E (e^(c'L); L finite), for what lies whole periods away.
    """

    losses: _Losses
    tilt: Fraction
    points: int
    terms: tuple[tuple[int, acb, acb], ...]
    left_out: arb
    others: tuple[tuple[Fraction, arb], ...]

    def curve(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Return balls whose lower and upper bounds enclose δ(ε)."""
        checkpoint()
        step, offset, infinite = self.losses.step, self.losses.offset, self.losses.infinite
        index = math.floor((epsilon - offset) / step) + 1  # index of the first loss above ε
        beyond = offset + step * index - epsilon
        ahead = (-ball(beyond)).exp()
        first, second = -(-ball(beyond)).expm1(), -ahead * (-ball(step - beyond)).expm1()
        total = arb(0)
        for m, plain, turned in self.terms:
            phase = acb(ball(Fraction(2 * (-m * index % self.points), self.points))).exp_pi_i()
            total += (phase * (plain * first + turned * second)).real * (2 if m else 1)
        scale = (-ball(self.tilt * (epsilon + beyond))).exp()
        middle, around = total * scale / self.points, self.left_out * scale
        wrapped = sum((self._whole_periods_away(epsilon, *other) for other in self.others), arb(0))
        return infinite + (middle - around - wrapped).max(arb(0)), infinite + (middle + around)

    def _whole_periods_away(self, epsilon: Fraction, tilt: Fraction, moment: arb) -> arb:
        """Bound what the whole periods above ε (a larger tilt), or below it, add to the sum."""
        ratio = (-ball(abs(tilt - self.tilt) * self.points * self.losses.step)).exp()
        c = ball(tilt)
        largest = (c * c.log() - (1 + c) * (1 + c).log()).exp()
        return largest * moment * (-ball(tilt * epsilon)).exp() * ratio / (1 - ratio)


@planned_in_doubles
def delta_on_lattice(
    product: Product, epsilon: Fraction, tolerance: float, widest: float = WIDEST, most_work: int = MOST_WORK
) -> Proof:
    """Prove an enclosure of δ(ε).

    Args:
        product: Pairs with multiplicities (independent).
        epsilon: ε >= 0.
        tolerance: Wanted relative width; it is about 2^-60 where that is less.
        widest: The relative width from which on no answer is wanted; so wide where too many terms of the sum matter.
        most_work: The largest number of transforms, by their cost.

    Raises:
        Declined: The losses are not known to lie on a common lattice, no tilt is found, or the answer would be wider.
    """
    bits, precision = _bits(tolerance, product)
    with working(precision):
        losses, at = _Losses.of(product), to_float(epsilon, "down")
        saddle = _saddle_where(lambda saddle: saddle.epsilon - at, losses)
        sums = _planned(losses, saddle, bits, widest, most_work)
        return _proof(Enclosure.from_balls(*sums.curve(epsilon), ROUTE, precision).within(0, 1), sums)


@planned_in_doubles
def epsilon_on_lattice(
    product: Product, delta: Fraction, tolerance: float, widest: float = WIDEST, most_work: int = MOST_WORK
) -> Proof:
    """Prove an enclosure of ε(δ), with the arguments of :func:`delta_on_lattice`.

    Raises:
        Declined: The same, or δ is not proven to exceed the probability of an infinite loss.
        NotCertified: The two ends could not be proven.
    """
    bits, precision = _bits(tolerance, product)
    with working(precision):
        losses, target = _Losses.of(product), ball(delta)
        finite = target - losses.infinite
        if not finite > 0:
            raise Declined(f"{ROUTE}: δ cannot be distinguished from the probability that the loss is infinite")
        log_delta = float(finite.log())
        saddle = _saddle_where(lambda saddle: log_delta - saddle.log_delta, losses)
        if saddle.epsilon <= 0:
            saddle = _saddle_where(lambda saddle: saddle.epsilon, losses)
        near = max(saddle.epsilon, 0.0)
        slope = saddle.tilt * near if near > 0 else 1.0  # change of log δ with log ε
        sums = _planned(losses, saddle, bits, widest * slope, most_work)
        low, high = invert(sums.curve, target, near, bits=bits, slope=saddle.tilt)
        return _proof(Enclosure(low, high, ROUTE, precision), sums)


def _bits(tolerance: float, product: Product) -> tuple[int, int]:
    """Return the bits wanted, and those of the balls: a product of complex balls loses half a bit with each factor."""
    wanted = max(_LEAST_BITS, math.ceil(-math.log2(tolerance)) + 12)
    return wanted, wanted + _GUARD + len(product)


def _proof(enclosure: Enclosure, sums: _FourierSum) -> Proof:
    told = {"frequencies": len(sums.terms), "points": sums.points, "tilt": float(sums.tilt)}
    return Proof(enclosure, ROUTE, {**told, "working precision": enclosure.precision})


def _common_step(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest common divisor of two rational numbers."""
    denominator = math.lcm(one.denominator, other.denominator)
    return Fraction(math.gcd(int(one * denominator), int(other * denominator)), denominator)


# --- Choices, which prove nothing -------------------------------------------------------------------------------------


def _saddle_where(excess: Callable[[_Saddle], float], losses: _Losses) -> _Saddle:
    """Return the saddle point at which a function that grows with the tilt is 0."""

    def at(log_tilt: float) -> float:
        return excess(losses.saddle(log_tilt))

    low, high = -1.0, 1.0
    while at(low) > 0:
        low -= 2
        if low < _FLATTEST:
            raise Declined(f"{ROUTE}: no tilt is small enough")
    while at(high) < 0:
        low, high = high, high + 1
        if high > _STEEPEST:
            raise Declined(f"{ROUTE}: no tilt is large enough")
    return losses.saddle(crossing(at, low, high, 1e-6, 1e-9))


def _period(losses: _Losses, saddle: _Saddle, negligible: float) -> tuple[float, Fraction, Fraction]:
    """Choose a period, and tilts on either side whose bounds on what lies whole periods away are below e^-negligible.

    Relative to δ at the saddle point.
    """
    c = saddle.tilt
    apart = math.sqrt(2 * negligible / saddle.curvature)
    if not 0 < apart < math.inf:
        raise Declined(f"{ROUTE}: the losses are out of range")
    larger = c + apart

    def needed(tilt: float) -> float:
        largest = tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)
        log_bound = largest + float(losses.log_moment(Fraction(tilt))) - tilt * saddle.epsilon
        return max(log_bound - saddle.log_delta + negligible, 1.0) / abs(tilt - c)

    smaller = min((*(share * c for share in _SMALLER), *((c - apart,) if c > 2 * apart else ())), key=needed)
    return max(needed(larger), needed(smaller)), Fraction(larger), Fraction(smaller)


# --- The sum ----------------------------------------------------------------------------------------------------------


def _planned(losses: _Losses, saddle: _Saddle, bits: int, widest: float, most_work: int) -> _FourierSum:
    """Choose the terms for a relative accuracy of about ``bits`` bits at the saddle point, and compute them.

    Raises:
        Declined: It would be worse than ``widest``.
    """
    tilt, step = Fraction(saddle.tilt), losses.step
    period, larger, smaller = _period(losses, saddle, bits * math.log(2))
    points = max(3, math.ceil(Fraction(period) / step)) | 1
    laws = [(law.tilted(tilt), int(law.step / step), count) for law, count in losses.parts]
    weight = heaviest(step, tilt, points)
    most = max(1, most_work // sum(law.cost for law, _ in losses.parts))
    log_share = saddle.log_share - float(weight.log())  # share of δ in the sum of |Φ_m/Φ_0|/m²
    left_out = math.inf
    kept: list[int] = []
    for accuracy in (bits, *(fewer for fewer in _FEWER_BITS if fewer < bits)):
        budget = log_share - accuracy * math.log(2)
        found, missing = frequencies_that_matter(laws, points, budget, most)
        if missing < left_out:
            kept, left_out = found, missing
        if left_out <= 2 * math.exp(budget):
            break
    if 2 * left_out > widest * math.exp(min(log_share, 0.0)):
        raise Declined(f"{ROUTE}: too many frequencies matter")
    whole = _transform(laws, 0, points)
    terms = [(m, *_weighed(_transform(laws, m, points), m, points, tilt, step)) for m in (0, *kept)]
    others = tuple((other, losses.log_moment(other).exp()) for other in (larger, smaller))
    return _FourierSum(losses, tilt, points, tuple(terms), whole.real * arb(left_out) * weight, others)


def _transform(laws: Sequence[tuple[Tilted, int, int]], m: int, points: int) -> acb:
    """Return Φ_m of the sum."""
    checkpoint()
    value = acb(1)
    for law, multiple, count in laws:
        value *= law.at(Fraction(multiple * m % points, points)) ** count
    return value


def _weighed(value: acb, m: int, points: int, tilt: Fraction, step: Fraction) -> tuple[acb, acb]:
    """Return Φ_m/((1 - z)(1 - z e^-h)), and the same times z; nothing is lost where h is tiny."""
    exponent = acb(-ball(tilt * step), -2 * arb.pi() * ball(Fraction(m, points)))
    plain = value / (exponent.expm1() * (exponent - ball(step)).expm1())
    return plain, plain * exponent.exp()


def heaviest(step: Fraction, tilt: Fraction, points: int) -> arb:
    """Bound 2 m² |K_m|/N over the frequencies 0 < m < N/2."""
    return (ball(step) / 2).sinh() * ball(tilt * step).exp() * points / 4


def frequencies_that_matter(
    laws: Sequence[tuple[Tilted, int, int]], points: int, budget: float, most: int
) -> tuple[list[int], float]:
    """Return the frequencies whose terms are not proven negligible, and a bound on what the others add up to.

    Args:
        laws: Transforms, each with its step in units of the common one, and its count.
        points: N, odd.
        budget: Log of the sum of |Φ_m/Φ_0|/m² that may be left out.
        most: The largest number of frequencies that are kept.

    Returns:
        Frequencies 0 < m < N/2, and a bound on the sum of |Φ_m/Φ_0|/m² over all others; it exceeds e^budget where
        more would have to be kept, or looked at.
    """
    kept: list[int] = []
    left_out = 0.0
    for octave in range(_OCTAVES):
        first = 1 << octave
        if first > points // 2:
            return kept, left_out * (1 + _SLACK)
        log_negligible = budget - math.log(_SHARES) + octave * math.log(2)
        found = _in_octave(laws, points, first, log_negligible) if log_negligible < 0 else None
        if found is None or len(kept) + len(found[0]) > most:
            return kept, (left_out + 1 / max(first - 1, 0.5)) * (1 + _SLACK)
        kept += found[0]
        left_out += found[1]
    return kept, (left_out + 1 / (2 * first - 1)) * (1 + _SLACK)


def _in_octave(
    laws: Sequence[tuple[Tilted, int, int]], points: int, first: int, log_negligible: float
) -> tuple[list[int], float] | None:
    """Return the frequencies from ``first`` to twice as much with |Φ_m/Φ_0| not proven below a number, and the rest.

    Intervals are halved until a bound on all of one is small enough, or a single frequency is left. None: too many.
    """
    import numpy as np

    turns = [Fraction(multiple, points) - round(Fraction(multiple, points)) for _, multiple, _ in laws]
    starts, length, left_out = np.array([first], np.uint64), first, 0.0
    last = np.uint64(min(points // 2, 2 * first))
    while True:
        checkpoint()
        bound = np.zeros(len(starts))
        for (law, _, count), turn in zip(laws, turns, strict=True):
            half = float(turn) * (length - 1) / 2
            if abs(half) >= 0.5:
                continue
            phase = starts * np.uint64(round(turn * (1 << 64)) % (1 << 64))  # in 2^-64 turns, without whole ones
            centre = phase.astype(np.float64) / 2.0**64 + half
            apart = np.abs(centre - np.round(centre)) - abs(half) - _SLACK
            square = np.sin(np.pi * np.clip(apart, 0, 0.5)) ** 2
            if law.lone:
                bound += count * np.log1p(-np.minimum(4 * law.spread * square, 1 - _SLACK)) / 2
            else:
                bound -= count * 2 * law.spread * square
        bound *= 1 - _SLACK
        small = bound <= log_negligible
        left_out += float(np.sum(np.exp(bound[small]) * length / starts[small].astype(np.float64) ** 2))
        starts = starts[~small]
        if length == 1:
            return [int(start) for start in np.sort(starts)], left_out
        length //= 2
        starts = np.concatenate([starts, starts + np.uint64(length)])
        starts = starts[starts <= last]
        if len(starts) * len(laws) > _MOST_INTERVALS:
            return None
