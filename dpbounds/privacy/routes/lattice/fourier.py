"""A side of the lattice proof by fast Fourier transform in float64, with a proven bound on everything it neglects.

The same questions as in ``composed.py`` (composition in exact integers), answered faster and on longer windows. The
frequencies that matter are recomputed in ball arithmetic where float64 would not do. The proof is ``fourier.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.composed import SUM_PRECISION, Choices, Steps, largest_weight, log_of
from dpbounds.privacy.routes.lattice.discretisation import Atoms, total
from dpbounds.privacy.routes.lattice.integer_measures import Work
from dpbounds.privacy.routes.lattice.spectra import ComposedSpectrum
from dpbounds.privacy.routes.lattice.weighted_sums import Blocks, FewFrequencies, WeightedSum, norm_of_weights
from dpbounds.privacy.routes.lattice.window import Tails, TiltedMeasure, Window, choose_window

_MOST_ROUND_OFF = 128  # largest useful round-off, in units of the allowed one
_WORK_PER_POINT = 8  # bytes of products of integers that take as long as a lattice point (some 150 nanoseconds)
_WORK_PER_TERM = 80  # bytes that take as long as one atom at one frequency in ball arithmetic, about 1.4 microseconds


class InexactFloats(Declined):
    """Float64 does not suffice for a composition; exact integers may."""


@dataclass(frozen=True, slots=True)
class FourierComposed:
    """One side of the proof: with it a bound on δ(ε) for every ε >= 0."""

    sums: WeightedSum  # weighted sums of c, the composed tilted measure wrapped around to one period
    window: Window  # the period: its N positions
    tails: Tails  # what lies outside
    tilt: Fraction  # λ
    spacing: Fraction  # h
    origin: Fraction  # the loss at position 0
    log_scale: Fraction  # Σ T_i κ_i, the logarithm of what the tilted measures were divided by
    round_off: arb  # by how much the sums may be off
    # for the upper side, P-mass moved to an infinite loss, counted once per step; None for the lower side
    infinite: arb | None
    near: float  # the ε at the centre of the window
    exact_frequencies: int  # how many frequencies were computed in ball arithmetic

    def delta(self, epsilon: Fraction) -> arb:
        """Return the bound on δ(ε), as a ball; only the endpoint of this side is used."""
        with working(SUM_PRECISION):
            remaining = epsilon - self.origin
            first = self._first(remaining)
            everything = arb(0)
            if first < self.window.end:
                everything = self.sums.bound(first, ball(first * self.spacing - remaining))
            lost = self.round_off + self.wrapped(remaining)
            scale = (ball(self.log_scale) - ball(self.tilt * remaining)).exp()
            if self.infinite is None:
                return scale * (everything - lost)
            return scale * (everything + lost) + self.infinite

    def _first(self, remaining: Fraction) -> int:
        """Return the window's first position at which the loss exceeds ε."""
        return max(math.floor(remaining / self.spacing) + 1, self.window.start)

    def wrapped(self, remaining: Fraction) -> arb:
        """Bound the weight of the mass outside the window; ``remaining`` is ε' = ε less the loss at position 0."""
        start, end = self.window.start, self.window.end
        largest = largest_weight(self.tilt)
        below = largest * self.tails.at_or_below(ball((start - 1) * self.spacing))
        if self.infinite is None:
            above = largest * self.tails.at_or_above(ball((self._first(remaining) + self.window.length) * self.spacing))
            return above + below.min(self.tails.returning(ball(self.window.length * self.spacing - remaining)))
        over = end * self.spacing - remaining
        weight = (-ball(self.tilt * over)).exp() if over > 0 else largest
        above = weight * self.tails.at_or_above(ball(end * self.spacing))
        return above + below if remaining < (start - 1) * self.spacing else above

    def approximate(self, epsilon: float) -> float:
        """Return the logarithm of this side's δ(ε), in floating point."""
        remaining = Fraction(epsilon) - self.origin
        first, value = self._first(remaining), -math.inf
        if first < self.window.end:
            value = self.sums.log_estimate(first, float(first * self.spacing - remaining))
        with working(SUM_PRECISION):
            lost = log_of(self.round_off + self.wrapped(remaining))
        scale = float(self.log_scale - self.tilt * remaining)
        if self.infinite is None:
            kept = -math.expm1(lost - value) if lost < value else 0.0
            return value + math.log(kept) + scale if kept > 0 else -math.inf
        return float(np.logaddexp(np.logaddexp(value, lost) + scale, log_of(self.infinite)))

    def log_shares(self, epsilon: float) -> dict[str, float]:
        """Return logarithms of the allowed contributions of each source of error to δ(ε)."""
        remaining = Fraction(epsilon) - self.origin
        scale = float(self.log_scale - self.tilt * remaining)
        with working(SUM_PRECISION):
            return {
                "moved to infinity": -math.inf if self.infinite is None else log_of(self.infinite),
                "round-off": log_of(self.round_off) + scale,
                "wrap-around": log_of(self.wrapped(remaining)) + scale,
            }

    def solve(self, log_delta: float) -> float | None:
        """Return the ε at which this side's δ is as given, in floating point; None if δ is larger everywhere.

        Far from the window's centre the bound is useless, so the search starts at the centre.
        """
        limit = float(self.window.end * self.spacing + self.origin)
        if limit <= 0:
            return 0.0

        def above(epsilon: float) -> bool:
            return self.approximate(epsilon) > log_delta

        low = high = min(max(self.near, 0.0), limit)
        longest = self.window.deviation / 4
        step = min(longest, 1 / max(float(self.tilt), 1e-300)) / 16
        if above(low):
            while above(high):
                if high >= limit:
                    return None
                low, high, step = high, min(high + step, limit), min(2 * step, longest)
        else:
            while not above(low):
                if low <= 0:
                    return 0.0
                low, high, step = max(low - step, 0.0), low, min(2 * step, longest)
        for _ in range(80):
            if high - low <= 1e-13 * high:
                break
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) else (low, middle)
        return high


def compose_fourier(
    steps: Steps, chosen: Choices, tilted_atoms: Sequence[Atoms], infinite: arb | None, near: float, work: Work
) -> FourierComposed:
    """Return one side of the proof: the upper side where ``infinite`` mass is given, the lower side where it is None.

    Args:
        steps: The steps with their multiplicities.
        chosen: Tilt λ >= 0, spacing h > 0, lattices, and the mass (relative to a total of about one) that each source
            of error may weigh: a wish; what they weigh in the end is counted.
        tilted_atoms: Lattice index and tilted mass of each step, computed at the chosen precision, by increasing index.
        infinite: P-mass moved to an infinite loss, counted once per step.
        near: The ε about which δ will be asked for (any value is sound; a good one makes the bound narrow).
        work: The remaining work.

    Raises:
        InvalidValue: There is no step, atoms are not in order, or λ is negative.
        InexactFloats: Float64 does not suffice.
        Declined: The measure is empty, its tails are too heavy for the longest window, or there is too much work.
    """
    tilt, spacing = chosen.tilt, chosen.spacing
    if not steps:
        raise InvalidValue("product", steps, "at least one step")
    if any(second[0] <= first[0] for atoms in tilted_atoms for first, second in pairwise(atoms)):
        raise InvalidValue("tilted_atoms", tilted_atoms, "atoms in increasing order")
    if tilt < 0:
        raise InvalidValue("tilt", tilt, "at least 0")
    laws, origin, log_scale = [], Fraction(0), Fraction(0)
    with working(chosen.precision):
        for (_, count), lattice, atoms in zip(steps, chosen.lattices, tilted_atoms, strict=True):
            mass = total(atoms)
            if not (atoms and mass > 0) or not mass.is_finite():
                raise Declined("lattice: the tilted measure of one step is empty; the discretisation is too coarse")
            log_mass = Fraction(float(mass.log()))  # any number would do: it makes the total about 1
            laws.append(TiltedMeasure.of(atoms, (-ball(log_mass)).exp(), count))
            start = atoms[0][0] * spacing  # position 0 is the first atom; the tilt was taken from index 0
            log_scale += count * (log_mass - tilt * start)
            origin += count * (lattice.offset + start)
        log_weight = float(largest_weight(tilt).log())
    log_allowance = math.log(chosen.allowance)
    window = choose_window(laws, tilt, spacing, near - float(origin), log_allowance, log_weight)
    work.spend(_WORK_PER_POINT * window.length * len(laws))
    with working(SUM_PRECISION):
        norm = norm_of_weights(tilt, spacing, window.length)
        # an error in the norm of c that weighs an eighth of what is allowed
        target = math.exp(max(log_allowance + log_weight - float(norm.log()), -600.0)) / 8
    spectrum = ComposedSpectrum.of(laws, window.length, target)
    exact = spectrum.for_balls(target)
    work.spend(_WORK_PER_TERM * len(exact) * sum(map(len, tilted_atoms)))
    values = spectrum.in_balls(exact)
    with working(SUM_PRECISION):
        sums: WeightedSum
        if len(exact) == len(spectrum.frequencies):
            sums = FewFrequencies.of(values, window.length, window.start, tilt, spacing)
            error = spectrum.left_out
        else:
            masses, error = spectrum.masses(values)
            masses = np.roll(np.maximum(masses, 0.0), -(window.start % window.length))
            sums = Blocks.of(masses, window.start, tilt, spacing)
        round_off = norm * error
        if not round_off <= largest_weight(tilt) * arb(log_allowance).exp() * _MOST_ROUND_OFF:
            raise InexactFloats("lattice: float64 does not suffice for this composition; exact integers do")
        return FourierComposed(
            sums=sums,
            window=window,
            tails=Tails.of(laws, spacing, window.high if infinite is None else window.damped, window.low, window.alias),
            tilt=tilt,
            spacing=spacing,
            origin=origin,
            log_scale=log_scale,
            round_off=round_off,
            infinite=infinite,
            near=near,
            exact_frequencies=len(exact),
        )
