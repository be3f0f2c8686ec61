"""Several pairs taken as one: a discrete pair that dominates their product, composed once on a lattice.

Mechanisms that run on the same sample count as a single mechanism for the sampling. Its pair is the product of its
parts' pairs; here that product becomes finitely many exact atoms by the upper side of the lattice route without a tilt.
Rounding, cutting off and the discretisation only move mass upwards (``proof.md``), some of it to infinity, so the atoms
dominate; they and the mass at infinity add up to exactly one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Discrete, Product
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.composed import Choices, compose, discretise
from dpbounds.privacy.routes.lattice.discretisation import RoundingDown, settled, working_precision
from dpbounds.privacy.routes.lattice.integer_measures import Slots, Work, unpack
from dpbounds.privacy.routes.lattice.products import certainly_infinite, cut_sketches, sketches_of, steps_of
from dpbounds.privacy.routes.lattice.steps import natural_spacing

_LOG_NEGLIGIBLE = -700.0  # P-mass that may go to infinity
_NEGLIGIBLE = math.exp(_LOG_NEGLIGIBLE)
_BITS = 1100  # bits of the integers: rounding loses less than that
_FINENESS = 6e-4  # variance that the lattice may add, relative
_MOST_POINTS = 1 << 14


@lru_cache(maxsize=32)
def as_discrete(product: Product) -> Discrete:
    """Return a discrete pair that dominates the product of the pairs; Declined beyond the work limit."""
    steps = steps_of(product)
    if certainly_infinite(steps) >= 1:  # one output distinguishes for sure, whatever the others are
        return Discrete((), Fraction(1))
    sketches = cut_sketches(sketches_of(steps, _LOG_NEGLIGIBLE), _LOG_NEGLIGIBLE)
    aim = choices.without_tilt(sketches)
    spacing = _spacing(sketches, aim.deviation)
    slack = 1e-12 * spacing
    precision = max(working_precision(Fraction(spacing), max(part.step.extra_bits for part in sketches)), 2 * _BITS)
    with working(precision):
        lattices = tuple(
            settled(part.step, choices.lattice_for(part, Fraction(spacing), slack), slack) for part in sketches
        )
        chosen = Choices(
            tilt=Fraction(0),
            spacing=Fraction(spacing),
            lattices=lattices,
            marks=tuple(
                tuple(choices.marks_for(part, 0.0, lattice, _NEGLIGIBLE))
                for part, lattice in zip(sketches, lattices, strict=True)
            ),
            slots=Slots.holding(_BITS),
            allowance=_NEGLIGIBLE,
            rules=tuple(RoundingDown(0.0, 0.0, slack) for _ in sketches),
            precision=precision,
        )
        uppers = discretise(steps, chosen, downwards=False).uppers
        side, _ = compose(steps, chosen, uppers, None, Work())  # rounded down: what is missing goes to infinity below
        scale = ball(side.log_scale).exp() * arb(2) ** -side.slots.unit_bits
        first = side.measure.start
        masses = unpack(side.measure, side.slots, first, first + side.measure.length)
        points = tuple(
            (side.origin + (first + i) * side.spacing, ball_end(scale * mass, "down"))
            for i, mass in enumerate(masses)
            if mass > 0
        )
        placed = sum((mass for _, mass in points), Fraction(0))
        return Discrete(points, 1 - placed)


def _spacing(sketches: list[choices.Sketch], deviation: float) -> float:
    count = sum(part.count for part in sketches)
    span = sum(part.count * float(part.loss[-1] - part.loss[0]) for part in sketches)
    wanted = max(deviation * math.sqrt(6 * _FINENESS / count), span / _MOST_POINTS)
    unit = natural_spacing(sketches[0].step) if len(sketches) == 1 else None
    return wanted if unit is None else unit / max(1, math.ceil(unit / wanted)) * (1 - 2.0**-48)
