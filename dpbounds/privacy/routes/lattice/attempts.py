"""One attempt at a width: its choices, both sides, and the choices after an attempt that was too wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.composed import (
    Choices,
    ComposedMeasure,
    Steps,
    compose,
    discretise,
)
from dpbounds.privacy.routes.lattice.discretisation import RoundingDown, settled, working_precision
from dpbounds.privacy.routes.lattice.fourier import FourierComposed, InexactFloats, compose_fourier
from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WINDOW, LARGEST_WORK, Slots, Work
from dpbounds.privacy.routes.lattice.steps import natural_spacing

_SAFETY = 0.6  # width aimed at, relative to the wanted width, so that the first attempt usually succeeds
_HOPEFUL = 1.5  # gap between the one-step measures, relative to the wanted width, up to which they are composed
_ORDER = 0.6  # power by which the spacing follows the gap, which falls with the spacing to a power from 1 to 2
_SLACK = 0.03  # loss of width by rounding down, relative to the wanted width
_FINE_BITS = 12  # bits by which rounding and cutting off should stay below the wanted width
_LARGEST_CELLS = 40_000
_WORK_PER_CELL = 7_000  # bytes of products that take as long as a cell (some 120 microseconds)
_MANY_STEPS, _PASSES = 1_000, 7  # from 1,000 steps on, the powers take about 6 to 20 times the last window in all
INFINITE = "moved to infinity"  # as a source of error
BLIND = 1.0  # width of log δ from which the needed refinement cannot be predicted
_SOMEWHAT_FINER = 0.3  # refinement used then

Engine = Literal["fourier", "integers"]
Side = FourierComposed | ComposedMeasure


@dataclass(frozen=True, slots=True)
class Attempt:
    """Both sides for one set of choices."""

    chosen: Choices
    window: int
    upper: Side
    lower: Side


@dataclass(slots=True)
class Knobs:
    """The changes after an attempt that came out too wide."""

    refinement: float = 1.0
    cut_off: float = 1.0
    guard_bits: int = 0
    rounds: int = 0
    engine: Engine = "fourier"


def choose(sketches: Sequence[choices.Sketch], aim: choices.GaussianSaddle, width: float, knobs: Knobs) -> Choices:
    """Turn the requested width in ε into choices."""
    steps = sum(part.count for part in sketches)
    effective = width * knobs.refinement**2  # the width grows with the square of the spacing
    slack = _SLACK * effective / steps
    wanted, spacing = _spacing(sketches, aim, width, slack, knobs)
    spread = 12 * aim.deviation / wanted
    if spread > 8 * LARGEST_WINDOW:
        raise Declined(f"lattice: about {spread:.3g} lattice points are needed, more than the work limit")
    fine = min(effective * aim.slope, 1.0) * 2.0 ** -(_FINE_BITS + knobs.guard_bits)
    composing, share = aim.tilt, aim.share  # where float64 sees best
    if knobs.engine == "integers":
        composing, share = choices.composing_tilt(sketches, aim, wanted, fine)
    allowance = fine * share
    tilt = Fraction(composing)
    precision = working_precision(spacing, max(part.step.extra_bits for part in sketches))
    with working(precision):
        lattices = tuple(settled(part.step, choices.lattice_for(part, spacing, slack), slack / 2) for part in sketches)
    marks = tuple(
        tuple(choices.marks_for(part, aim.tilt, lattice, allowance / steps))
        for part, lattice in zip(sketches, lattices, strict=True)
    )
    cells = sum(map(len, marks))
    if cells > _LARGEST_CELLS:
        raise Declined(f"lattice: {cells} cells are needed, more than the work limit of {_LARGEST_CELLS}")
    window = max(2 * spread, *(mark[-1] - mark[0] for mark in marks))
    bits = math.ceil(math.log2(2 * steps * window / allowance)) + 2
    slots = Slots.holding(bits)
    if knobs.engine == "integers" and steps >= _MANY_STEPS and _PASSES * spread * slots.width / 8 > LARGEST_WORK:
        raise Declined("lattice: the powers would go beyond the work limit; ask for a looser tolerance")
    return Choices(
        tilt=tilt,
        spacing=spacing,
        lattices=lattices,
        marks=marks,
        slots=slots,
        allowance=allowance,
        rules=tuple(RoundingDown(aim.tilt, part.tilted(aim.tilt)[0], slack) for part in sketches),
        precision=max(precision, 2 * bits),
    )


def _spacing(
    sketches: Sequence[choices.Sketch], aim: choices.GaussianSaddle, width: float, slack: float, knobs: Knobs
) -> tuple[float, Fraction]:
    """Return the spacing, as a double and exactly; a multiple of it where all atoms lie on a lattice of their own."""
    if len(sketches) == 1 and natural_spacing(sketches[0].step) is not None:
        aligned = choices.spacing_for(sketches, aim, _SAFETY * width * knobs.refinement**2, slack)
        return aligned, Fraction(aligned)
    wanted = choices.spacing_for(sketches, aim, _SAFETY * width, slack) * knobs.refinement
    if not (math.isfinite(wanted) and wanted > 0):
        raise Declined("lattice: no spacing is found in doubles")
    mantissa, exponent = math.frexp(wanted)
    return wanted, Fraction(math.floor(math.ldexp(mantissa, 20))) * Fraction(2) ** (exponent - 20)


def attempted(
    steps: Steps, chosen: Choices, near: float, knobs: Knobs, work: Work, slope: float, width: float
) -> Attempt | None:
    """Return both sides near an ε; or None, with new knobs, if the choices are too coarse or floats too inexact.

    ``slope`` times ``width`` is the width of log δ that is wanted; infinite where any will do.
    """
    work.spend(_WORK_PER_CELL * sum(map(len, chosen.marks)))
    discretised = discretise(steps, chosen)
    gap = discretised.gap(steps)
    if gap > _HOPEFUL * slope * width:
        knobs.refinement *= (_SAFETY * slope * width / gap) ** _ORDER
        return None
    if knobs.engine == "integers":
        upper, window = compose(steps, chosen, discretised.uppers, discretised.infinite, work)
        lower, other = compose(steps, chosen, discretised.lowers, None, work)
        return Attempt(chosen, max(window, other), upper, lower)
    try:
        high = compose_fourier(steps, chosen, discretised.uppers, discretised.infinite, near, work)
        low = compose_fourier(steps, chosen, discretised.lowers, None, near, work)
    except InexactFloats:
        knobs.engine = "integers"
        return None
    return Attempt(chosen, max(high.window.length, low.window.length), high, low)


def revise(
    knobs: Knobs, upper: Side, epsilon: float, log_delta: float, width: float, wanted: float, moved: float = 0.0
) -> None:
    """Turn the knobs: ``width`` and ``wanted`` are widths of log δ; ``epsilon`` is where δ is at least as small.

    ``moved`` is the difference of log δ from the expected one, which the next cut takes into account anyway.
    """
    shares = relative_shares(upper, epsilon, log_delta)
    infinite = shares.pop(INFINITE)
    missing = sum(shares.values())
    following = infinite * math.exp(min(moved, 600.0))
    if following > 0.1 * wanted:
        knobs.cut_off *= max(0.02 * wanted / following, 1e-30)
    if missing > 0.1 * wanted:
        knobs.guard_bits += 6 + max(0, math.ceil(math.log2(missing / wanted)))
    if max(infinite, missing) <= wanted:  # else nothing can be said about the rest yet
        rest = width - infinite - missing
        if rest > _SAFETY * wanted or max(infinite, missing) <= 0.1 * wanted:
            finer = min(0.95, math.sqrt(0.8 * wanted / max(rest, 0.8 * wanted)))
            knobs.refinement *= finer if width <= BLIND else max(finer, _SOMEWHAT_FINER)


def relative_shares(upper: Side, epsilon: float, log_delta: float) -> dict[str, float]:
    """Return the contribution of each source of error to δ, relative to δ."""
    return {name: math.exp(min(600.0, share - log_delta)) for name, share in upper.log_shares(epsilon).items()}


def proof_of(enclosure: Enclosure, attempt: Attempt, knobs: Knobs, epsilon: float, log_delta: float) -> Proof:
    """Return the proof of an enclosure, with the choices of the attempt and its sources of error at an ε."""
    chosen, upper = attempt.chosen, attempt.upper
    shares = relative_shares(upper, epsilon, log_delta)
    both = upper.approximate(epsilon) - attempt.lower.approximate(epsilon)
    budget = {"discretisation": max(0.0, math.expm1(min(both, 600.0)) - sum(shares.values())), **shares}
    engine: dict[str, object] = {"engine": "integers", "bits": chosen.slots.unit_bits}
    if isinstance(upper, FourierComposed):
        engine = {"engine": "fourier", "exact frequencies": upper.exact_frequencies}
    parameters = {
        "tilt": float(chosen.tilt),
        "lattice step": float(chosen.spacing),
        "offsets": tuple(float(lattice.offset) for lattice in chosen.lattices),
        "cells": tuple(len(marks) - 1 for marks in chosen.marks),
        "largest window": attempt.window,
        **engine,
        "working precision": chosen.precision,
        "attempts": knobs.rounds,
    }
    return Proof(enclosure, "lattice", parameters, budget)
