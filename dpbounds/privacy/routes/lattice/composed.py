"""Two sides of a proof: tilted one-step measures on a lattice, composed as integers, and the bounds on δ(ε) they give.

Sections 6 and 7 of ``proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice import integer_measures as integers
from dpbounds.privacy.routes.lattice.discretisation import (
    Atoms,
    RoundingDown,
    lower_atoms,
    pieces_of,
    tilted,
    total,
    upper_atoms,
)
from dpbounds.privacy.routes.lattice.integer_measures import IntegerMeasure, Slots, Work
from dpbounds.privacy.routes.lattice.steps import AnyStep, Cells, Lattice, cut

SUM_PRECISION = 128  # bits in the weighted sums

Steps = tuple[tuple[AnyStep, int], ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """Parameters of a lattice proof; any values give a valid bound, good values a narrow one."""

    tilt: Fraction
    spacing: Fraction
    lattices: tuple[Lattice, ...]
    marks: tuple[tuple[int, ...], ...]
    slots: Slots
    allowance: float
    rules: tuple[RoundingDown, ...]
    precision: int


@dataclass(frozen=True, slots=True)
class ComposedMeasure:
    """One side of the proof: the composed tilted measure, and with it a bound on δ(ε) for every ε >= 0."""

    # C, integer masses; C / 2^B is at most the exact convolution of the stored one-step measures
    measure: IntegerMeasure
    slots: Slots  # how it is packed
    tilt: Fraction  # λ
    spacing: Fraction  # h
    origin: Fraction  # Σ T_i s_i, the loss at index 0
    log_scale: Fraction  # Σ T_i κ_i, the logarithm of what the stored measures were divided by
    # for the upper side, the mass that C / 2^B lacks; None for the lower side, where lacking mass is right
    missing: arb | None
    infinite: arb  # for the upper side, P-mass moved to an infinite loss, counted once per step
    log_masses: NDArray[np.float64]  # log C / 2^B as floats, to look for the answer with

    def delta(self, epsilon: Fraction) -> arb:
        """Return the bound on δ(ε), as a ball; only the endpoint of this side is used."""
        with working(SUM_PRECISION):
            remaining = epsilon - self.origin
            result = (ball(self.log_scale) - ball(self.tilt * remaining)).exp() * self._sum(remaining)
            return result + self.infinite if self.missing is not None else result

    def _sum(self, remaining: Fraction) -> arb:
        """Return Σ w_j C_j / 2^B + max w · missing mass, with w_j = e^(-λt) (1 - e^(-t)), t = (j h - remaining)_+."""
        end = self.measure.start + self.measure.length
        first = max(math.floor(remaining / self.spacing) + 1, self.measure.start)  # where t turns positive
        rate = float(self.tilt * self.spacing)
        last = end if rate <= 0 else min(end, first + 1 + math.ceil(min(self.slots.unit_bits / rate, 1e9)))
        unit = arb(2) ** -self.slots.unit_bits
        result = arb(0)
        if first < end:
            t = ball(first * self.spacing - remaining)
            slow, fast = (-ball(self.tilt * self.spacing)).exp(), (-ball((self.tilt + 1) * self.spacing)).exp()
            first_sum, second_sum = arb(0), arb(0)
            for mass in reversed(integers.unpack(self.measure, self.slots, first, last)):
                first_sum = first_sum * slow + mass
                second_sum = second_sum * fast + mass
            result = (-ball(self.tilt) * t).exp() * first_sum - (-ball(self.tilt + 1) * t).exp() * second_sum
            result *= unit
            if self.missing is not None and last < end:  # there the weights are at most e^(-λt), which decreases
                t = ball(last * self.spacing - remaining)
                result += (-ball(self.tilt) * t).exp() * integers.mass_from(self.measure, self.slots, last) * unit
        return result if self.missing is None else result + largest_weight(self.tilt) * self.missing

    def approximate(self, epsilon: float) -> float:
        """Return the logarithm of this side's δ(ε), in floating point."""
        tilt, spacing = float(self.tilt), float(self.spacing)
        remaining = epsilon - float(self.origin)
        t = (np.arange(self.measure.length) + self.measure.start) * spacing - remaining
        first = int(np.searchsorted(t, 0.0, side="right"))
        t = t[first:]
        exponents = self.log_masses[first:] - tilt * t  # their largest may be far from 1: keep to logarithms
        top = float(exponents.max(initial=-math.inf))
        value = -math.inf
        if top > -math.inf:
            value = top + math.log(max(float(np.sum(np.exp(exponents - top) * -np.expm1(-t))), 1e-300))
        scale = float(self.log_scale) - tilt * remaining
        if self.missing is None:
            return value + scale
        return float(np.logaddexp(np.logaddexp(value, self._log_lost()) + scale, log_of(self.infinite)))

    def log_shares(self, epsilon: float) -> dict[str, float]:
        """Return logarithms of the allowed contributions of each source of error to δ(ε)."""
        scale = float(self.log_scale) - float(self.tilt) * (epsilon - float(self.origin))
        return {"moved to infinity": log_of(self.infinite), "rounding and cutting off": self._log_lost() + scale}

    def _log_lost(self) -> float:
        """Return the logarithm of the allowed weight of the missing mass."""
        if self.missing is None:
            return -math.inf
        with working(SUM_PRECISION):
            return log_of(largest_weight(self.tilt) * self.missing)

    def solve(self, log_delta: float) -> float | None:
        """Return the ε at which this side's δ is as given, in floating point; None if δ is larger everywhere."""
        low, high = 0.0, float((self.measure.start + self.measure.length + 1) * self.spacing + self.origin)
        if high <= 0 or self.approximate(low) <= log_delta:
            return 0.0
        if self.approximate(high) > log_delta:
            return None
        for _ in range(80):
            middle = (low + high) / 2
            if high - low <= 1e-13 * high:
                break
            low, high = (middle, high) if self.approximate(middle) > log_delta else (low, middle)
        return high


def largest_weight(tilt: Fraction) -> arb:
    """Return the maximum over t >= 0 of e^(-λt) (1 - e^(-t)): (λ/(λ+1))^λ / (λ+1), at t = log(1 + 1/λ)."""
    if tilt == 0:
        return arb(1)
    return (ball(tilt) * ball(tilt / (tilt + 1)).log()).exp() / ball(tilt + 1)


def _logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(values, out=np.full_like(values, -math.inf), where=values > 0)


def log_of(value: arb) -> float:
    """Return the logarithm of a ball's centre in floating point; -inf where the ball is not known to be positive."""
    return float(value.mid().log()) if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Discretised:
    """The one-step measures: atoms of the upper and of the lower one per step, and the P-mass moved to infinity."""

    uppers: tuple[Atoms, ...]
    lowers: tuple[Atoms, ...]
    infinite: arb

    def gap(self, steps: Steps) -> float:
        """Return the excess of the upper side's log mass over the lower side's under the tilt: the width of log δ."""
        pairs = zip(steps, self.uppers, self.lowers, strict=True)
        return sum(count * float((total(up) / total(low)).log().mid()) for (_, count), up, low in pairs)


def discretise(steps: Steps, chosen: Choices, *, downwards: bool = True) -> Discretised:
    """Move each step to its lattice, upwards and (if asked for) downwards, and tilt it."""
    uppers: list[Atoms] = []
    lowers: list[Atoms] = []
    infinite = arb(0)
    with working(chosen.precision):
        for i, (step, count) in enumerate(steps):
            lattice = chosen.lattices[i]
            cells = cut(step, lattice, chosen.marks[i])
            uppers.append(tilted(upper_atoms(cells, lattice), chosen.tilt, chosen.spacing))
            if downwards:
                lowers.append(_lower_measure(cells, lattice, chosen, i))
            infinite += count * cells.above
    return Discretised(tuple(uppers), tuple(lowers), infinite)


def _lower_measure(cells: Cells, lattice: Lattice, chosen: Choices, index: int) -> Atoms:
    """Return the lower measure with the largest tilted mass; each is sound."""
    pieces, bulk = pieces_of(cells)
    swept = [lower_atoms(pieces, lattice, chosen.rules[index], meet) for meet in sorted({0, bulk, len(pieces)})]
    every = [tilted(atoms, chosen.tilt, chosen.spacing) for atoms in swept]
    if not all(every):
        raise Declined("lattice: no mass of one step could be shown to be positive")
    tilt = Fraction(chosen.rules[index].tilt)
    ranked = every if tilt == chosen.tilt else [tilted(atoms, tilt, chosen.spacing) for atoms in swept]
    masses = [float(total(atoms).log().mid()) for atoms in ranked]
    return every[masses.index(max(masses))]


def compose(
    steps: Steps, chosen: Choices, tilted_atoms: Sequence[Atoms], infinite: arb | None, work: Work
) -> tuple[ComposedMeasure, int]:
    """Return one side of the proof: the upper side where ``infinite`` mass is given, the lower side where it is None.

    Returns:
        The side, and the largest window (in lattice points) that occurred.
    """
    upwards, slots = infinite is not None, chosen.slots
    log_scale, origin = Fraction(0), Fraction(0)
    bases: list[tuple[IntegerMeasure, int]] = []
    result: IntegerMeasure | None = None
    largest = 0
    with working(chosen.precision):
        for (_, count), lattice, atoms in zip(steps, chosen.lattices, tilted_atoms, strict=True):
            log_mass = Fraction(float(total(atoms).log().mid()))  # any number would do: it makes the total about 1
            factor = (-ball(log_mass)).exp()
            masses = [(index, integers.scaled(mass * factor, slots, upwards=upwards)) for index, mass in atoms]
            base = integers.pack(masses, slots)
            log_scale += count * log_mass
            origin += count * lattice.offset
            bases.append((base, count))
            part, window = integers.power(base, count, slots, chosen.allowance, work)
            if result is not None:
                part = integers.trimmed(integers.convolution(result, part, slots, work), slots, chosen.allowance)
            result = part
            largest = max(largest, window, result.length)
        if result is None:
            raise InvalidValue("product", steps, "at least one step")
        missing = integers.missing_mass(bases, result, slots) if upwards else None
    return (
        ComposedMeasure(
            measure=result,
            slots=slots,
            tilt=chosen.tilt,
            spacing=chosen.spacing,
            origin=origin,
            log_scale=log_scale,
            missing=missing,
            infinite=arb(0) if infinite is None else infinite,
            log_masses=_logarithms(integers.as_floats(result, slots)),
        ),
        largest,
    )
