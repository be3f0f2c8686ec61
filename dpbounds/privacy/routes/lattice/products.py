"""Steps of a product on the lattice route: counts, infinite losses, the largest loss, sketches in floats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product, ShiftedGaussians
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.composed import (
    SUM_PRECISION,
    Steps,
)
from dpbounds.privacy.routes.lattice.steps import AnyStep, as_step


def steps_of(product: Product) -> Steps:
    """Return the steps of a product, equal ones counted together."""
    counts: Counter[AnyStep] = Counter()
    for pair, count in product:
        if count < 1:
            raise InvalidValue("count", count, "a positive whole number")
        if not (isinstance(pair, ShiftedGaussians) and pair.squared_shift == 0):  # a pair without shift loses nothing
            counts[as_step(pair)] += count
    return tuple(counts.items())


def largest_loss_of(steps: Steps) -> Enclosure | None:
    """Return the least upper bound of the composed finite losses, where they have one."""
    with working(SUM_PRECISION):
        largest = arb(0)
        for step, count in steps:
            one = step.largest_loss()
            if one is None:
                return None
            largest += count * one
        return Enclosure.from_balls(largest, largest, "lattice", SUM_PRECISION)


def certainly_infinite(steps: Steps) -> arb:
    """Return P(some loss is infinite) = 1 - Π (1 - a_i)^(T_i): δ(ε) is at least that for every ε."""
    with working(SUM_PRECISION):
        exponent = arb(0)
        for step, count in steps:
            one = step.infinite()
            if one >= 1:
                return arb(1)
            exponent += count * (-one).log1p()
        return -exponent.expm1()


def total_variation_at_most(steps: Steps, delta: Fraction) -> bool:
    """Return whether already Σ T_i TV_i <= δ: the total variation of a product is at most the sum of its factors'."""
    with working(SUM_PRECISION):
        everything = sum((count * step.total_variation() for step, count in steps), arb(0))
        return bool(everything <= ball(delta))


def sketches_of(steps: Steps, log_delta: float) -> list[choices.Sketch]:
    """Return the steps in floats, as far out as δ of that size needs."""
    everyone = sum(count for _, count in steps)
    reach = math.sqrt(2 * (60 + math.log(everyone) - log_delta)) + 2
    return [choices.sketch(step, count, reach) for step, count in steps]


def cut_sketches(sketches: Sequence[choices.Sketch], log_mass: float) -> list[choices.Sketch]:
    """Return the steps without right tails of total ``log_mass``, cut before tilting lets the tail dominate."""
    return [
        part if part.step.bounded_above else part.truncated(end)
        for part, end in zip(sketches, choices.cut_off(sketches, log_mass), strict=True)
    ]
