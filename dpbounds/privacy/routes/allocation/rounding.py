"""Rounding errors of sums of products of non-negative numbers, and the grid for likelihood ratios.

Masses are doubles, none of them negative, and none between 0 and ``LEAST``; so no product of two of them and a weight
underflows, and each operation keeps its relative accuracy (``proof.md``, section 3). Ratios are rounded to the points
e^(jh) of a geometric grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined

Floats = NDArray[np.float64]
_T = TypeVar("_T")

LEAST = 2.0**-450  # no mass is smaller, unless it is 0
LEAST_WEIGHT = 2.0**-60
UNIT = 2.0**-53  # one operation returns x (1 + d), |d| <= UNIT, where x is 0 or at least 2^-1022
PRECISION = 128  # bits, of balls
MASS_PRECISION = 160  # bits, where masses of cells are differences of balls
ACCURATE_BITS = 60  # bits of every mass and weight, before it becomes a double
LARGEST_LOSS = 600.0  # its exponential, and the products of it with masses, are doubles
_LARGEST_COUNT = 1 << 40  # roundings, so that their product is next to 1


def growth(roundings: int) -> float:
    """Return g with (1 - UNIT)^-(roundings + 1) <= g: a sum of ``roundings`` additions, times g, is an upper bound.

    Raises:
        Declined: There are too many roundings.
    """
    if roundings > _LARGEST_COUNT:
        raise Declined("allocation: too many roundings in floating point")
    # with x = (n + 1) u <= 2^-12: (1 - u)^-(n+1) <= 1/(1 - x) <= 1 + 2x; the sum of doubles is exact or rounded by u
    return float(1 + 4 * (roundings + 2) * UNIT)


def double_above(x: arb) -> float:
    """Return a double that is at least all of a ball; Declined where nothing is known of it."""
    end = x.upper()
    if not end.is_finite():
        raise Declined("allocation: the working precision does not suffice for a mass")
    value = float(end)
    while not arb(value) >= end:
        value = math.nextafter(value, math.inf)
    return value


def raised(masses: Floats) -> Floats:
    """Return the same masses, those between 0 and ``LEAST`` raised to it."""
    return np.where((masses > 0) & (masses < LEAST), LEAST, masses)


def at_least(mass: float) -> float:
    """Return the same for one mass that was rounded up (and may have come out below 0)."""
    return 0.0 if mass <= 0 else max(mass, LEAST)


def repeated(first: _T, times: int, both: Callable[[_T, _T], _T]) -> _T:
    """Join ``times`` independent copies, by doubling."""
    doubled, found = first, None
    while True:
        if times & 1:
            found = doubled if found is None else both(found, doubled)
        times >>= 1
        if not times:
            assert found is not None
            return found
        doubled = both(doubled, doubled)


@dataclass(frozen=True, slots=True)
class Table:
    """Sums of two ratios d points apart: e^(ih) + e^((i-d)h) lies between the points i + s_d and i + s_d + 1.

    Attributes:
        places: s_d for d = 0, 1, ...
        near: At least 1 - x_d, with x_d the weight of the upper point that keeps the mean; proven to lie in [0, 1].
        far: At least x_d.
    """

    places: NDArray[np.int64]
    near: Floats
    far: Floats


def table(spacing: Fraction, length: int) -> Table:
    """Return the table for distances below ``length``, or more.

    Raises:
        Declined: A sum could not be distinguished from a point of the grid.
    """
    return _table(spacing, max(9, (length - 1).bit_length()))


@lru_cache(maxsize=64)
def _table(spacing: Fraction, bits: int) -> Table:
    """Return the table for distances below 2^bits."""
    length = 1 << bits
    places, near, far = np.zeros(length, np.int64), np.zeros(length), np.zeros(length)
    with working(PRECISION):
        h = ball(spacing)
        step, width = h.exp(), h.expm1()
        falling = (-h).exp()
        smaller, shrunk, s = arb(1), arb(1), 0  # e^(-dh), e^(-sh), s
        for d in range(length):
            place = (smaller.log1p() / h).mid().floor().unique_fmpz()
            assert place is not None
            if int(place) != s:
                s = int(place)
                shrunk = step ** (-s)
            x = (((1 + smaller) * shrunk - 1) if s else smaller) / width
            if not (x >= 0 and x <= 1):
                raise Declined("allocation: a sum of two ratios cannot be distinguished from a point of the grid")
            places[d] = s
            near[d] = max(double_above(1 - x), LEAST_WEIGHT)
            far[d] = max(double_above(x), LEAST_WEIGHT)
            smaller = smaller * falling
    return Table(places, near, far)


@lru_cache(maxsize=64)
def powers(spacing: Fraction, length: int) -> Floats:
    """Return doubles that are at least e^(dh), d = 0, 1, ...; infinite where none is."""
    found = np.full(length, math.inf)
    with working(PRECISION):
        step, power = ball(spacing).exp(), arb(1)
        for d in range(length):
            if power >= 2.0**1000:
                break
            found[d] = double_above(power)
            power = power * step
    return found
