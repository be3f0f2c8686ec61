"""Balls around numbers, and whole numbers from balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from dpbounds.privacy.publishing.checker.verdicts import NotCovered, Unproven


def repeated(one: Any, times: int, both: Callable[[Any, Any], Any]) -> Any:
    """Combine ``times`` copies of one object (at least one), by doubling."""
    total = None
    while times:
        if times & 1:
            total = one if total is None else both(total, one)
        times >>= 1
        one = both(one, one) if times else one
    return total


def number(value: Fraction) -> arb:
    """Return the ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def rounded_up(mass: arb, bits: int) -> int:
    """Return a mass in units of 2^-bits, at least 0."""
    whole = (mass * arb(2) ** bits).upper().ceil().unique_fmpz()
    if whole is None:
        raise NotCovered("a lattice whose masses could not be enclosed")
    return max(0, int(whole))


def only_whole(ball: arb, what: str) -> int:
    """Return the whole number that a ball holds."""
    found = ball.unique_fmpz()
    if found is None:
        raise Unproven(f"{what} is enclosed")
    return int(found)


def normal_tail(t: arb) -> arb:
    """P(N(0, 1) > t)."""
    return (t / arb(2).sqrt()).erfc() / 2


def chance_of_at_least(trials: int, chance: arb, hits: int) -> arb:
    """P(Bin(trials, probability) >= hits), an incomplete beta function."""
    if hits <= 0 or hits > trials:
        return arb(1 if hits <= 0 else 0)
    if hits > trials * chance:
        return chance.beta_lower(hits, trials - hits + 1, 1)
    return 1 - (1 - chance).beta_lower(trials - hits + 1, hits, 1)


def log(value: Fraction) -> float:
    """Return the logarithm of a positive rational number, roughly."""
    return math.log(value.numerator) - math.log(value.denominator)


def shown(value: Fraction, rounding: str = ROUND_CEILING) -> str:
    """Return a number for a line of the report, rounded to 15 digits."""
    return f"{Context(15, rounding).divide(Decimal(value.numerator), Decimal(value.denominator)):.15g}"
