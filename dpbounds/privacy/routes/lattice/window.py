"""One period of the lattice for a composition by Fourier transform, and a proven bound on the mass outside it.

A transform of length N adds up what lies a multiple of N lattice points apart. Chernoff bounds in ball arithmetic say
how much that can be. Sections 3 and 6 of ``fourier.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import acb, arb

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.discretisation import Atoms
from dpbounds.privacy.routes.lattice.transform import LARGEST_LENGTH, Floats

PRECISION = 128  # bits of bounds that need not be accurate

_RATES = 2.0 ** (np.arange(-36, 10) / 3)  # exponents tried for Chernoff bounds, in units of the best one for a Gaussian
_BLOCK = 32  # atoms; turning a box can make it larger by the square root of 2
_ROOM = 0.5  # standard deviations left free at each end of the window, for the search of ε


@dataclass(frozen=True, slots=True)
class TiltedMeasure:
    """One step's tilted measure, total mass about one, at the positions 0, ..., positions[-1] of a lattice."""

    positions: tuple[int, ...]  # increasing, from 0
    masses: tuple[arb, ...]  # balls; the true masses in them are not negative
    nearest: Floats  # doubles near them, not negative
    count: int  # T_i, how many steps have this distribution

    @classmethod
    def of(cls, atoms: Atoms, factor: arb, count: int) -> TiltedMeasure:
        """Build the measure from atoms times a factor."""
        masses = tuple(mass * factor for _, mass in atoms)
        nearest = np.array([max(0.0, float(mass)) for mass in masses])
        return cls(tuple(index - atoms[0][0] for index, _ in atoms), masses, nearest, count)

    @property
    def length(self) -> int:
        """Lattice points from the first atom to the last."""
        return self.positions[-1] + 1

    def total(self) -> arb:
        """Return Σ b_k."""
        return sum(self.masses, arb(0))

    def moment(self, z: arb) -> arb:
        """Return Σ b_k z^k."""
        powers = {gap: z**gap for gap in set(self._gaps())}
        result = self.masses[-1]
        for mass, gap in zip(self.masses[-2::-1], self._gaps(), strict=True):
            result = result * powers[gap] + mass
        return result

    def frequency(self, z: acb) -> acb:
        """Return Σ b_k z^k, for complex z: by Horner's rule in short blocks, as a box grows whenever it is turned."""
        powers = {gap: z**gap for gap in set(self._gaps())}
        result = acb(0)
        for first in range(0, len(self.masses), _BLOCK):
            places, masses = self.positions[first : first + _BLOCK], self.masses[first : first + _BLOCK]
            block = acb(masses[-1])
            for mass, (place, following) in zip(masses[-2::-1], list(pairwise(places))[::-1], strict=True):
                block = block * powers[following - place] + mass
            result += block * z ** places[0]
        return result

    def _gaps(self) -> list[int]:
        """Return the distances between neighbours, from the right."""
        return [second - first for first, second in pairwise(self.positions)][::-1]

    def mean_and_variance(self) -> tuple[float, float]:
        """Return the mean and variance in lattice points (floats)."""
        places, everything = np.array(self.positions, dtype=float), float(np.sum(self.nearest))
        mean = float(np.sum(self.nearest * places)) / everything
        return mean, float(np.sum(self.nearest * (places - mean) ** 2)) / everything

    def cumulants(self, rates: Floats, mean: float) -> Floats:
        """Return logarithms of Σ b_k exp(r (k - mean)), for each rate r (floats)."""
        with np.errstate(divide="ignore"):
            exponents = np.log(self.nearest) + rates[:, None] * (np.array(self.positions, dtype=float) - mean)
        top = exponents.max(axis=1)
        return np.asarray(top + np.log(np.sum(np.exp(exponents - top[:, None]), axis=1)))


@dataclass(frozen=True, slots=True)
class Window:
    """The positions start, ..., start + length - 1, and where to take Chernoff bounds (all of it free choices)."""

    length: int  # N, a power of two
    start: int  # J
    high: Fraction  # θ >= 0 for what lies above
    damped: Fraction  # the same, where it counts with a weight of exp(-λt)
    low: Fraction  # θ >= 0 for what lies below
    alias: Fraction  # θ in [0, λ] for what comes back from below
    deviation: float  # standard deviation of the composed distribution, in units of loss

    @property
    def end(self) -> int:
        """The position after the last one."""
        return self.start + self.length


def choose_window(
    laws: Sequence[TiltedMeasure],
    tilt: Fraction,
    spacing: Fraction,
    aim: float,
    log_allowance: float,
    log_weight: float,
) -> Window:
    """Return the shortest window in which each of the errors weighs about exp(log_allowance) times the largest weight.

    Args:
        laws: The distributions of the steps.
        tilt: λ.
        spacing: h.
        aim: ε' = ε less the loss at position 0, where δ is asked for.
        log_allowance: Logarithm of the mass that may be lost.
        log_weight: Logarithm of the largest weight.
    """
    rate, unit = float(tilt), float(spacing)
    moments = [(law, *law.mean_and_variance()) for law in laws]
    mean = unit * sum(law.count * centre for law, centre, _ in moments)
    deviation = unit * math.sqrt(sum(law.count * max(variance, 1.0) for law, _, variance in moments))
    tail, damped = -log_allowance, -log_allowance - log_weight

    def cumulants(rates: Floats) -> Floats:
        return sum(
            (law.count * law.cumulants(unit * rates, centre) for law, centre, _ in moments), np.zeros(len(rates))
        )

    rates = math.sqrt(2 * tail) / deviation * _RATES
    upwards, downwards = cumulants(rates), cumulants(-rates)
    highs, lows = (upwards + tail) / rates, (downwards + tail) / rates
    beyond, below = mean + float(highs.min()), mean - float(lows.min())
    ends = (rate * aim + rates * mean + upwards + damped) / (rate + rates)  # under the weight exp(-λ(x - ε'))
    end = max(aim, float(ends.min()))
    slow = np.append(rates[rates < rate], rate) if rate > 0 else np.empty(0)
    with np.errstate(over="ignore"):  # no return is too far for the slightest of tilts
        returns = aim - mean + (cumulants(-slow) + damped) / slow
    room = _ROOM * deviation
    length = 1 << max(2, (max(law.length for law in laws) - 1).bit_length())
    while length <= LARGEST_LENGTH:
        period = length * unit
        first, last = end + room - period, aim - room
        if not (len(slow) and returns.min() <= period):
            last = min(last, below)
        if first <= last and period >= beyond - aim:
            return Window(
                length=length,
                start=math.floor((first + last) / (2 * unit)),
                high=Fraction(float(rates[highs.argmin()])),
                damped=Fraction(float(rates[ends.argmin()])),
                low=Fraction(float(rates[lows.argmin()])),
                alias=min(tilt, Fraction(float(slow[returns.argmin()]))) if len(slow) else Fraction(0),
                deviation=deviation,
            )
        length *= 2
    raise Declined(
        f"lattice: more than {LARGEST_LENGTH} lattice points are needed, the work limit; ask for a looser tolerance"
    )


def log_moment(laws: Iterable[TiltedMeasure], exponent: arb) -> arb:
    """Return the logarithm of Π (Σ_k b_k exp(exponent·k))^(T_i)."""
    return sum((law.count * law.moment(exponent.exp()).log() for law in laws), arb(0))


@dataclass(frozen=True, slots=True)
class Tails:
    """Chernoff bounds for the sum S (a position times h) of all T steps, from three moments M(θ) = E exp(θS)."""

    high: tuple[arb, arb]  # θ >= 0 and log M(θ), for what lies above
    low: tuple[arb, arb]  # θ >= 0 and log M(-θ), for what lies below
    alias: tuple[arb, arb]  # θ in [0, λ] and log M(-θ), for what comes back from below

    @classmethod
    def of(
        cls, laws: Sequence[TiltedMeasure], spacing: Fraction, high: Fraction, low: Fraction, alias: Fraction
    ) -> Tails:
        """Evaluate the three moments."""
        with working(PRECISION):
            up, down, back = (
                (ball(exponent), log_moment(laws, ball(sign * exponent * spacing)))
                for sign, exponent in ((1, high), (-1, low), (-1, alias))
            )
        return cls(up, down, back)

    def at_or_above(self, x: arb) -> arb:
        """Return a number that is at least b*{S >= x}."""
        exponent, moment = self.high
        return (moment - exponent * x).exp()

    def at_or_below(self, x: arb) -> arb:
        """Return a number that is at least b*{S <= x}."""
        exponent, moment = self.low
        return (moment + exponent * x).exp()

    def returning(self, distance: arb) -> arb:
        """Return a number that is at least ∫ exp(-θ (S + distance)) db*."""
        exponent, moment = self.alias
        return (moment - exponent * distance).exp()
