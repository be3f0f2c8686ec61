"""Composition on a lattice in exact integers: proven bounds on δ(ε) and ε(δ) where nothing analytic is at hand.

Each step's loss is moved to a lattice, once upwards and once downwards (``discretisation.py``), tilted exponentially so
that rounding is relative to δ, and convolved as integers (``integer_measures.py``), so that what rounding lost is known
exactly. Floating point (``saddle.py``) only makes the choices. The proof, line by line, is in ``lattice.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.privacy import saddle as choices
from dpbounds.privacy.discretisation import (
    Atoms,
    Lattice,
    Step,
    as_step,
    ball,
    cut,
    lower_atoms,
    tilted,
    total,
    upper_atoms,
    working_precision,
)
from dpbounds.privacy.integer_measures import (
    LARGEST_WINDOW,
    IntegerMeasure,
    Slots,
    as_floats,
    convolution,
    mass_from,
    missing_mass,
    pack,
    power,
    scaled,
    trimmed,
    unpack,
)
from dpbounds.privacy.pairs import Pair, Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined, Proof

_ROUNDS = 8  # attempts at a width before the question is left to another route
_SAFETY = 0.6  # aim below the wanted width, so that the first attempt usually succeeds
_CUT_OFF = 1e-4  # P-mass moved to infinity, relative to δ and the tolerance
_FINE_BITS = 12  # how far below the wanted width rounding and cutting off should stay
_LARGEST_CELLS = 60_000  # some 60 microseconds each
_MARGIN = 1e-8  # in log δ: room for floating point in the search, so that the proof that follows succeeds
_SUM_PRECISION = 128  # bits in the weighted sums
_NEGLIGIBLE_EXPONENT = 45.0  # weights below exp(-45) of the first are bounded together

Steps = tuple[tuple[Step, int], ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that was chosen freely; any values give a proof, good ones a narrow one."""

    tilt: Fraction
    spacing: Fraction
    lattices: tuple[Lattice, ...]
    marks: tuple[tuple[int, ...], ...]
    slots: Slots
    allowance: float
    cut_off_mass: float
    precision: int


@dataclass(frozen=True, slots=True)
class Composed:
    """One side of the proof: the composed tilted measure, and with it a bound on δ(ε) for every ε >= 0.

    Attributes:
        measure: C, integer masses; C / 2^B is at most the exact convolution of the stored one-step measures.
        slots: How it is packed.
        tilt: λ.
        spacing: h.
        origin: Σ T_i s_i, the loss at index 0.
        log_scale: Σ T_i κ_i, the logarithm of what the stored measures were divided by.
        missing: For the upper side, the mass that C / 2^B lacks; None for the lower side, where lacking mass is right.
        infinite: For the upper side, P-mass moved to an infinite loss, counted once per step.
        masses: C as floats, to look for the answer with.
    """

    measure: IntegerMeasure
    slots: Slots
    tilt: Fraction
    spacing: Fraction
    origin: Fraction
    log_scale: Fraction
    missing: arb | None
    infinite: arb
    masses: NDArray[np.float64]

    def delta(self, epsilon: Fraction) -> arb:
        """The bound on δ(ε), as a ball: its upper end for the upper side, its lower end for the lower side."""
        with flint.ctx.workprec(_SUM_PRECISION):
            remaining = epsilon - self.origin
            result = (ball(self.log_scale) - ball(self.tilt * remaining)).exp() * self._sum(remaining)
            return result + self.infinite if self.missing is not None else result

    def _sum(self, remaining: Fraction) -> arb:
        """Σ w_j C_j / 2^B with w_j = e^(-λt) (1 - e^(-t)), t = (j h - remaining)_+, and the largest weight times what
        is missing.
        """  # noqa: D205 (one sentence)
        end = self.measure.start + self.measure.length
        first = max(math.floor(remaining / self.spacing) + 1, self.measure.start)  # where t turns positive
        rate = float(self.tilt * self.spacing)
        last = end if rate <= 0 else min(end, first + 1 + math.ceil(min(_NEGLIGIBLE_EXPONENT / rate, 1e9)))
        unit = arb(2) ** -self.slots.unit_bits
        result = arb(0)
        if first < end:
            t = ball(first * self.spacing - remaining)
            slow, fast = (-ball(self.tilt * self.spacing)).exp(), (-ball((self.tilt + 1) * self.spacing)).exp()
            first_sum, second_sum = arb(0), arb(0)
            for mass in reversed(unpack(self.measure, self.slots, first, last)):
                first_sum = first_sum * slow + mass
                second_sum = second_sum * fast + mass
            result = (-ball(self.tilt) * t).exp() * first_sum - (-ball(self.tilt + 1) * t).exp() * second_sum
            result *= unit
            if self.missing is not None and last < end:  # there the weights are at most e^(-λt), which decreases
                t = ball(last * self.spacing - remaining)
                result += (-ball(self.tilt) * t).exp() * mass_from(self.measure, self.slots, last) * unit
        return result if self.missing is None else result + largest_weight(self.tilt) * self.missing

    def approximate(self, epsilon: float) -> float:
        """log δ(ε) of this side in floating point."""
        tilt, spacing = float(self.tilt), float(self.spacing)
        remaining = self.offset_from(epsilon)
        t = (np.arange(self.measure.length) + self.measure.start) * spacing - remaining
        first = int(np.searchsorted(t, 0.0, side="right"))
        t = t[first:]
        value = float(np.sum(self.masses[first:] * np.exp(-tilt * t) * -np.expm1(-t)))
        if self.missing is not None:
            with flint.ctx.workprec(_SUM_PRECISION):
                value += float(largest_weight(self.tilt) * self.missing)
        if value <= 0:
            return -math.inf
        finite = float(self.log_scale) - tilt * remaining + math.log(value)
        return float(np.logaddexp(finite, _log(self.infinite))) if self.missing is not None else finite

    def offset_from(self, epsilon: float) -> float:
        """ε less the origin of the lattice."""
        return epsilon - float(self.origin)

    def solve(self, log_delta: float) -> float | None:
        """The ε at which this side's δ is as wanted (in floating point); None where it is above it everywhere."""
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
    """The maximum over t >= 0 of e^(-λt) (1 - e^(-t)): (λ/(λ+1))^λ / (λ+1), at t = log(1 + 1/λ)."""
    if tilt == 0:
        return arb(1)
    return (ball(tilt) * ball(tilt / (tilt + 1)).log()).exp() / ball(tilt + 1)


def _log(value: arb) -> float:
    return float(value.mid().log()) if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Discretised:
    """The one-step measures: atoms of the upper and of the lower one per step, and the P-mass moved to infinity."""

    uppers: tuple[Atoms, ...]
    lowers: tuple[Atoms, ...]
    infinite: arb

    def gap(self, steps: Steps) -> float:
        """By how much the upper side's log mass exceeds the lower side's under the tilt: the width of log δ to come."""
        pairs = zip(steps, self.uppers, self.lowers, strict=True)
        return sum(count * float((total(up) / total(low)).log().mid()) for (_, count), up, low in pairs)


def discretise(steps: Steps, chosen: Choices) -> Discretised:
    """Move each step to its lattice, both ways, and tilt it."""
    uppers: list[Atoms] = []
    lowers: list[Atoms] = []
    infinite = arb(0)
    with flint.ctx.workprec(chosen.precision):
        for (step, count), lattice, marks in zip(steps, chosen.lattices, chosen.marks, strict=True):
            cells = cut(step, lattice, marks)
            low = lower_atoms(cells, lattice, rightwards=not step.bounded_above)
            uppers.append(tilted(upper_atoms(cells, lattice), chosen.tilt, chosen.spacing))
            lowers.append(tilted(low, chosen.tilt, chosen.spacing))
            infinite += count * cells.above
    return Discretised(tuple(uppers), tuple(lowers), infinite)


def compose(
    steps: Steps, chosen: Choices, tilted_atoms: Sequence[Atoms], infinite: arb | None
) -> tuple[Composed, int]:
    """One side of the proof: the upper side where ``infinite`` mass is given, the lower side where it is None.

    Returns:
        The side, and the largest window (in lattice points) that occurred.
    """
    upwards, slots = infinite is not None, chosen.slots
    log_scale, origin = Fraction(0), Fraction(0)
    bases: list[tuple[IntegerMeasure, int]] = []
    result: IntegerMeasure | None = None
    largest = 0
    with flint.ctx.workprec(chosen.precision):
        for (_, count), lattice, atoms in zip(steps, chosen.lattices, tilted_atoms, strict=True):
            log_mass = Fraction(float(total(atoms).log().mid()))  # any number would do: it makes the total about 1
            factor = (-ball(log_mass)).exp()
            base = pack([(index, scaled(mass * factor, slots, upwards=upwards)) for index, mass in atoms], slots)
            log_scale += count * log_mass
            origin += count * lattice.offset
            bases.append((base, count))
            part, window = power(base, count, slots, chosen.allowance)
            result = part if result is None else trimmed(convolution(result, part, slots), slots, chosen.allowance)
            largest = max(largest, window, result.length)
        if result is None:
            raise InvalidValue("product", steps, "at least one step")
        missing = missing_mass(bases, result, slots) if upwards else None
    return (
        Composed(
            measure=result,
            slots=slots,
            tilt=chosen.tilt,
            spacing=chosen.spacing,
            origin=origin,
            log_scale=log_scale,
            missing=missing,
            infinite=arb(0) if infinite is None else infinite,
            masses=as_floats(result, slots),
        ),
        largest,
    )


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Both sides for one set of choices; no sides where the one-step measures already showed it to be too coarse."""

    chosen: Choices
    gap: float
    window: int = 0
    upper: Composed | None = None
    lower: Composed | None = None


@dataclass(slots=True)
class _Knobs:
    """What is turned after an attempt that came out too wide."""

    refinement: float = 1.0
    cut_off: float = 1.0
    guard_bits: int = 0
    rounds: int = 0


def _choose(
    sketches: Sequence[choices.Sketch], aim: choices.Saddle, width: float, knobs: _Knobs, cut_off_mass: float
) -> Choices:
    """Turn what is wanted (a width in ε) into choices.

    Raises:
        Declined: They would go beyond the work limit.
    """
    wanted = choices.spacing_for(sketches, aim, _SAFETY * width) * knobs.refinement
    mantissa, exponent = math.frexp(wanted)
    spacing = Fraction(math.floor(math.ldexp(mantissa, 20))) * Fraction(2) ** (exponent - 20)
    spread = 12 * aim.deviation / wanted
    if spread > 2 * LARGEST_WINDOW:
        raise Declined(f"lattice: about {spread:.3g} lattice points are needed, more than the work limit")
    steps = sum(part.count for part in sketches)
    allowance = min(width * aim.slope, 1.0) * aim.share * 2.0 ** -(_FINE_BITS + knobs.guard_bits)
    tilt = Fraction(aim.tilt)
    lattices = tuple(choices.lattice_for(part, aim.tilt, spacing) for part in sketches)
    marks = tuple(
        tuple(choices.marks_for(part, aim.tilt, lattice, allowance / steps))
        for part, lattice in zip(sketches, lattices, strict=True)
    )
    cells = sum(map(len, marks))
    if cells > _LARGEST_CELLS:
        raise Declined(f"lattice: {cells} cells are needed, more than the work limit of {_LARGEST_CELLS}")
    window = max(2 * spread, *(mark[-1] - mark[0] for mark in marks))
    bits = math.ceil(math.log2(2 * steps * window / allowance)) + 2
    rates = [part.step.sample_rate for part in sketches]
    return Choices(
        tilt=tilt,
        spacing=spacing,
        lattices=lattices,
        marks=marks,
        slots=Slots.holding(bits),
        allowance=allowance,
        cut_off_mass=cut_off_mass,
        precision=max(working_precision(spacing, rates), 2 * bits),
    )


def _attempt(steps: Steps, chosen: Choices, gap_limit: float) -> _Attempt:
    discretised = discretise(steps, chosen)
    gap = discretised.gap(steps)
    if gap > gap_limit:
        return _Attempt(chosen, gap)
    upper, window = compose(steps, chosen, discretised.uppers, discretised.infinite)
    lower, other = compose(steps, chosen, discretised.lowers, None)
    return _Attempt(chosen, gap, max(window, other), upper, lower)


def _revise(knobs: _Knobs, upper: Composed, epsilon: float, log_delta: float, width: float, wanted: float) -> None:
    """Turn the knobs: ``width`` and ``wanted`` are widths of log δ."""
    infinite, missing = _shares(upper, epsilon, log_delta)
    if infinite > 0.1 * wanted:
        knobs.cut_off *= max(0.02 * wanted / infinite, 1e-30)
    if missing > 0.1 * wanted:
        knobs.guard_bits += 6 + max(0, math.ceil(math.log2(missing / wanted)))
    rest = width - infinite - missing
    if rest > _SAFETY * wanted or max(infinite, missing) <= 0.1 * wanted:
        knobs.refinement *= min(0.8, math.sqrt(_SAFETY * wanted / max(rest, wanted)))


def _shares(upper: Composed, epsilon: float, log_delta: float) -> tuple[float, float]:
    """Relative to δ: the mass at infinity, and what missing mass may weigh."""
    infinite = math.exp(min(600.0, _log(upper.infinite) - log_delta))
    with flint.ctx.workprec(_SUM_PRECISION):
        weight = largest_weight(upper.tilt) * upper.missing if upper.missing is not None else arb(0)
        scale = float(upper.log_scale) - float(upper.tilt) * upper.offset_from(epsilon)
        missing = math.exp(min(600.0, _log(weight) + scale - log_delta))
    return infinite, missing


def _proof(enclosure: Enclosure, attempt: _Attempt, knobs: _Knobs, epsilon: float, log_delta: float) -> Proof:
    chosen, upper, lower = attempt.chosen, attempt.upper, attempt.lower
    budget = {}
    if upper is not None and lower is not None:
        infinite, missing = _shares(upper, epsilon, log_delta)
        both = upper.approximate(epsilon) - lower.approximate(epsilon)
        budget = {
            "discretisation": max(0.0, math.expm1(min(both, 600.0)) - infinite - missing),
            "moved to infinity": infinite,
            "rounding and cutting off": missing,
        }
    parameters = {
        "tilt": float(chosen.tilt),
        "lattice step": float(chosen.spacing),
        "offsets": tuple(float(lattice.offset) for lattice in chosen.lattices),
        "cells": tuple(len(marks) - 1 for marks in chosen.marks),
        "largest window": attempt.window,
        "bits": chosen.slots.unit_bits,
        "working precision": chosen.precision,
        "attempts": knobs.rounds,
    }
    return Proof(enclosure, "lattice", parameters, budget)


def _steps_of(product: Product) -> Steps:
    counts: Counter[Step] = Counter()
    for pair, count in product:
        if count < 1:
            raise InvalidValue("count", count, "a positive whole number")
        if _loses_something(pair):
            counts[as_step(pair)] += count
    return tuple(counts.items())


def _loses_something(pair: Pair) -> bool:
    return not (isinstance(pair, ShiftedGaussians) and pair.squared_shift == 0)


def _largest_loss(steps: Steps) -> Enclosure | None:
    """The least upper bound of the composed loss, where it has one."""
    if not all(step.bounded_above for step, _ in steps):
        return None
    with flint.ctx.workprec(_SUM_PRECISION):
        largest = sum((-count * (-ball(step.sample_rate)).log1p() for step, count in steps), arb(0))
        return Enclosure.from_balls(largest, largest, "lattice", _SUM_PRECISION)


def _sketches(steps: Steps, log_delta: float) -> list[choices.Sketch]:
    everyone = sum(count for _, count in steps)
    reach = math.sqrt(2 * (60 + math.log(everyone) - log_delta)) + 2
    return [choices.sketch(step, count, reach) for step, count in steps]


def _cut(sketches: Sequence[choices.Sketch], log_mass: float) -> list[choices.Sketch]:
    """The steps without the right tails of ``log_mass`` in all (before tilting: else the tail would be all there is)."""
    return [
        part if part.step.bounded_above else part.truncated(end)
        for part, end in zip(sketches, choices.cut_off(sketches, log_mass), strict=True)
    ]


def _log_fraction(number: Fraction) -> float:
    shift = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** shift) + shift * math.log(2)


def _checked_tolerance(tolerance: float) -> float:
    if not 0 < tolerance < 1:
        raise InvalidValue("tolerance", tolerance, "a number between 0 and 1")
    return tolerance


def epsilon_bounds(product: Product, delta: Fraction, *, tolerance: float = 1e-3) -> Proof:
    """Enclose ε(δ) = inf{ε >= 0: δ(ε) <= δ} for a product of dominating pairs.

    Args:
        product: Pairs with multiplicities (independent).
        delta: δ > 0.
        tolerance: Wanted relative width, in (0, 1).

    Returns:
        A proof whose enclosure has both ends proven; its relative width is at most ``tolerance``. Exactly 0 where δ is
        shown to be at least the total variation.

    Raises:
        InvalidValue: δ is not positive, a parameter of a pair or the tolerance is out of its domain.
        Declined: That width was not reached within the work limit.

    >>> from dpbounds.privacy.pairs import ShiftedGaussians
    >>> proof = epsilon_bounds(((ShiftedGaussians(Fraction(1, 4)), 4),), Fraction(1, 10**5))
    >>> proof.enclosure.contains("4.37717870") and proof.enclosure.width < 5e-3
    True
    """
    if delta <= 0:
        raise InvalidValue("delta", delta, "a number greater than 0", "for δ = 0 ask whether the loss is bounded")
    tolerance, steps = _checked_tolerance(tolerance), _steps_of(product)
    if not steps or delta >= 1:
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice"), "lattice")
    log_delta, limit = _log_fraction(delta), _largest_loss(steps)
    sketches = _sketches(steps, log_delta)
    stop = math.inf if limit is None else limit.lower * (1 - tolerance / 8)
    knobs, expected = _Knobs(cut_off=_CUT_OFF * tolerance), None
    for knobs.rounds in range(1, _ROUNDS + 1):
        cut_off = log_delta + math.log(knobs.cut_off)
        parts = _cut(sketches, cut_off)
        aim = choices.saddle_for_delta(parts, log_delta, stop)
        expected = aim.epsilon if expected is None else expected
        width = tolerance * expected
        attempt = _attempt(steps, _choose(parts, aim, width, knobs, math.exp(cut_off)), _gap_limit(aim, width))
        if attempt.upper is None or attempt.lower is None:
            knobs.refinement *= math.sqrt(_SAFETY * aim.slope * width / attempt.gap)
            continue
        high, low = attempt.upper.solve(log_delta - _MARGIN), attempt.lower.solve(log_delta + _MARGIN)
        if limit is not None:
            high = limit.upper if high is None else min(high, limit.upper)
        if high is None or low is None:
            knobs.cut_off *= 1e-3
            knobs.guard_bits += 20
            continue
        if high == 0 or high - low <= tolerance * low:
            enclosure = _certified_epsilon(attempt.upper, attempt.lower, high, low, delta, limit)
            return _proof(enclosure, attempt, knobs, high, log_delta)
        slope = _slope(attempt.upper, low, high)
        expected = high
        _revise(knobs, attempt.upper, high, log_delta, slope * (high - low), slope * tolerance * max(low, high / 4))
    raise Declined(f"lattice: a relative width of {tolerance:g} was not reached in {_ROUNDS} attempts")


def _gap_limit(aim: choices.Saddle, width: float) -> float:
    return 2 * aim.slope * width if aim.tilt > 0 else math.inf


def _slope(upper: Composed, low: float, high: float) -> float:
    step = max(high - low, 1e-6 * high)
    return max((upper.approximate(high) - upper.approximate(high + step)) / step, 1e-12)


def _certified_epsilon(
    upper: Composed, lower: Composed, high: float, low: float, delta: Fraction, limit: Enclosure | None
) -> Enclosure:
    """The ends, once δ(high) <= δ and δ(low) >= δ are decided in ball arithmetic.

    Raises:
        Declined: An inequality that held in floating point could not be decided.
    """
    with flint.ctx.workprec(_SUM_PRECISION):
        wanted = ball(delta)
    beyond_all = limit is not None and high >= limit.upper  # no loss exceeds it: δ(high) = 0
    if not beyond_all and not upper.delta(Fraction(high)) <= wanted:
        raise Declined(f"lattice: δ({high!r}) <= δ was not confirmed")
    if low > 0 and not lower.delta(Fraction(low)) >= wanted:
        raise Declined(f"lattice: δ({low!r}) >= δ was not confirmed")
    return Enclosure(Fraction(low), Fraction(high), "lattice", _SUM_PRECISION)


def delta_bounds(product: Product, epsilon: Fraction, *, tolerance: float = 1e-3) -> Proof:
    """Enclose δ(ε) = E_P[(1 - exp(ε - L_1 - ... - L_T))_+] for a product of dominating pairs.

    Args:
        product: Pairs with multiplicities (independent).
        epsilon: ε >= 0.
        tolerance: Wanted width of log δ, relative to max(1, log 1/δ); in (0, 1).

    Returns:
        A proof whose enclosure has both ends proven. Exactly 0 where no loss exceeds ε.

    Raises:
        InvalidValue: ε is negative, a parameter of a pair or the tolerance is out of its domain.
        Declined: That width was not reached within the work limit.

    >>> from dpbounds.privacy.pairs import ShiftedGaussians
    >>> proof = delta_bounds(((ShiftedGaussians(Fraction(1, 4)), 4),), Fraction(1))
    >>> proof.enclosure.contains("0.1269367359") and proof.enclosure.width < 5e-4
    True
    """
    if epsilon < 0:
        raise InvalidValue("epsilon", epsilon, "a number at least 0")
    tolerance, steps = _checked_tolerance(tolerance), _steps_of(product)
    limit = _largest_loss(steps) if steps else Enclosure(Fraction(0), Fraction(0))
    if limit is not None and limit.at_most(epsilon) is True:
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice"), "lattice")
    knobs, log_delta = _Knobs(cut_off=_CUT_OFF * tolerance), None
    value = to_float(epsilon, "up")
    for knobs.rounds in range(1, _ROUNDS + 1):
        if log_delta is None:
            log_delta = min(choices.saddle_for_epsilon(_sketches(steps, -700.0), value).log_delta, -1e-3)
        cut_off = log_delta + math.log(knobs.cut_off)
        parts = _cut(_sketches(steps, log_delta), cut_off)
        aim = choices.saddle_for_epsilon(parts, value)
        wanted = tolerance * max(1.0, -log_delta)
        chosen = _choose(parts, aim, wanted / aim.slope, knobs, math.exp(cut_off))
        attempt = _attempt(steps, chosen, 2 * wanted if aim.tilt > 0 else math.inf)
        if attempt.upper is None or attempt.lower is None:
            knobs.refinement *= math.sqrt(_SAFETY * wanted / attempt.gap)
            continue
        below, above = attempt.lower.delta(epsilon), attempt.upper.delta(epsilon)
        log_delta, lowest = _log(above), _log(below)
        wanted = tolerance * max(1.0, -log_delta)
        if log_delta - lowest <= wanted:
            enclosure = Enclosure.from_balls(below, above.min(arb(1)), "lattice", _SUM_PRECISION)
            return _proof(enclosure, attempt, knobs, value, log_delta)
        _revise(knobs, attempt.upper, value, log_delta, min(log_delta - lowest, 1e3), wanted)
    raise Declined(f"lattice: a width of {tolerance:g} was not reached in {_ROUNDS} attempts")
