"""Sums of independent random signs, S = Σ ± ε_i with plus e^ε_i times as likely as minus, and h(ε) = E (1 - e^(ε-S))_+.

This is the loss of composed randomised responses. Two enclosures of h: a table of all values of S, and a lattice to
which the values are rounded, with exact integer masses. Proofs are in ``composition_theorems.md``, section 5.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice

import numpy as np
from flint import arb, arb_poly

from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.routes.lattice.integer_measures import (
    IntegerMeasure,
    Slots,
    Work,
    as_floats,
    convolution,
    pack,
    scaled,
    trimmed,
    unpack,
)

Signs = tuple[tuple[Fraction, int], ...]  # distinct sizes ε > 0, each with its count

_LARGEST_TABLE = 400_000  # products of masses in a table
_LARGEST_EQUAL = 2_000_000  # products of masses if all signs have one size, where no other method exists
_ATOM, _CONVOLUTION = 1 << 8, 1 << 13  # fixed cost of one atom and of one convolution, in bytes of products
_SPREAD = Fraction(3, 2)  # rounding error above which Hoeffding's inequality bounds it, in units of g√m


def largest_sum(signs: Signs) -> Fraction:
    """Return Σ k ε, the largest value of S."""
    return sum((count * size for size, count in signs), Fraction(0))


def spacing(signs: Signs) -> Fraction:
    """Return the largest step such that every value of S is Σ k ε minus a multiple of it."""
    sizes = [2 * size for size, _ in signs]
    denominator = math.lcm(*(size.denominator for size in sizes))
    return Fraction(math.gcd(*(int(size * denominator) for size in sizes)), denominator)


def minus_counts(size: Fraction, count: int, slope: Fraction) -> Iterator[arb]:
    """Yield P(j of the signs are minus), j = 0, 1, ..., count, when plus is e^(2 slope ε) times as likely as minus."""
    odds = (-2 * ball(slope * size)).exp()
    mass = (-count * odds.log1p()).exp()
    for j in range(count + 1):
        yield mass
        mass = mass * (count - j) / (j + 1) * odds


class SignTable:
    """The values of S above a floor, with their masses under both distributions, added up from the largest value down.

    Args:
        signs: Distinct sizes with their counts.
        floor: At least 0.
        limit: Largest number of products of masses; a few seconds' worth if None.

    Raises:
        Declined: The limit would be exceeded.
    """

    def __init__(self, signs: Signs, floor: Fraction = Fraction(0), limit: int | None = None) -> None:
        self.total, self.unit, self.floor = largest_sum(signs), spacing(signs), floor
        self.values = max(0, math.ceil((self.total - floor) / self.unit))  # in units below the largest one
        left = (_LARGEST_EQUAL if len(signs) == 1 else _LARGEST_TABLE) if limit is None else limit
        law: Mapping[int, arb] = {0: arb(1)}
        for size, count in signs:
            stride, grown = int(2 * size / self.unit), defaultdict[int, arb](arb)
            kept = min(count, (self.values - 1) // stride)
            left -= len(law) * (kept + 1)
            if left < 0:
                raise Declined("table: the signs have too many sums")
            for j, mass in enumerate(islice(minus_counts(size, count, Fraction(1, 2)), kept + 1)):
                for place, other in law.items():
                    at = place + stride * j
                    if at < self.values:
                        grown[at] += mass * other
            law = grown
        self.places = sorted(law)
        self.first_law, self.second_law = [arb(0)], [arb(0)]
        for place in self.places:
            loss = ball(self.total - place * self.unit)
            self.first_law.append(self.first_law[-1] + law[place])
            self.second_law.append(self.second_law[-1] + law[place] * (-loss).exp())

    def profile(self, epsilon: Fraction) -> arb:
        """Return a ball around h(ε) = E (1 - e^(ε-S))_+, for ε >= the floor; 0 exactly from the largest value on.

        Below the floor it is a lower bound only.
        """
        above = bisect_left(self.places, math.ceil((self.total - epsilon) / self.unit))
        if above == 0:
            return arb(0)
        return self.first_law[above] - ball(epsilon).exp() * self.second_law[above]


class RoundedSigns:
    """The distribution of S', that is S with each group of equal signs rounded to multiples of g, tilted by e^(κS').

    Each atom is split between the two lattice points beside it, so that its mass under both distributions is kept: h
    can only grow, by an amount of second order that is bounded too.

    Args:
        signs: Distinct sizes with their counts.
        tilt: κ >= 0. Every value is sound; one near the saddle point gives the narrowest enclosure.
        step: g > 0; where it divides every 2ε, nothing is rounded.
        bits: Bits of each mass.
        work: The allowed work.

    Raises:
        Declined: Too much work, or masses that do not fit.
    """

    def __init__(self, signs: Signs, tilt: Fraction, step: Fraction, bits: int, work: Work) -> None:
        self.total, self.tilt, self.step = largest_sum(signs), tilt, step
        self.slots = Slots.holding(bits)
        self.rounded = sum((2 * size / step).denominator != 1 for size, _ in signs)
        allowance = 2.0 ** (16 - self.slots.unit_bits)
        everything, log_scale = arb(1), arb(0)
        laws: list[tuple[int, int, IntegerMeasure]] = []
        for number, (size, count) in enumerate(signs):
            work.spend(_ATOM * (count + 1))
            measure, mass = self._group(size, count)
            everything *= mass
            slope = ball((tilt + Fraction(1, 2)) * size)
            log_scale += count * (slope.cosh() / (ball(size) / 2).cosh()).log()
            heapq.heappush(laws, (measure.length, number, measure))
        while len(laws) > 1:
            (_, number, first), (_, _, second) = heapq.heappop(laws), heapq.heappop(laws)
            work.spend(_CONVOLUTION)
            both = trimmed(convolution(first, second, self.slots, work), self.slots, allowance)
            heapq.heappush(laws, (both.length, number, both))
        law = laws[0][2]
        self.log_scale = log_scale
        self.first, self.end = law.start, law.start + law.length
        self.masses = unpack(law, self.slots, self.first, self.end)
        self.floats = as_floats(law, self.slots)
        self.unit = arb(2) ** -self.slots.unit_bits
        self.missing = everything - arb(law.sum) * self.unit

    def _group(self, size: Fraction, count: int) -> tuple[IntegerMeasure, arb]:
        """Return integer masses of a group's rounded, tilted values by distance from the largest, and its mass."""
        step, tilt = ball(self.step), ball(self.tilt)
        stride, whole = 2 * size / self.step, step.expm1()
        negligible, neglected = arb(2) ** -(self.slots.unit_bits + 32), arb(0)
        masses = defaultdict[int, arb](arb)
        for j, mass in enumerate(minus_counts(size, count, self.tilt + Fraction(1, 2))):
            if mass < negligible:
                neglected += mass
                continue
            place = stride * j
            index = math.floor(place)
            if place == index:
                masses[index] += mass
                continue
            up = ball((place - index) * self.step)  # S' exceeds S by this much where the distance is rounded down
            growth = up.expm1()
            tilted = mass * (tilt * up).exp() / whole
            masses[index] += tilted * (whole - growth)
            masses[index + 1] += tilted * growth * (-tilt * step).exp()
        integers = [(index, scaled(mass, self.slots, upwards=False)) for index, mass in sorted(masses.items())]
        kept = [(index, mass) for index, mass in integers if mass > 0]
        # what was neglected counts as missing: had it been split, it would have grown by e^(κg) at most
        return pack(kept, self.slots), sum(masses.values(), arb(0)) + neglected * (tilt * step).exp()

    def bounds(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Return two balls: h(ε) lies between the lower endpoint of the first and the upper one of the second."""
        tilt, step = ball(self.tilt), ball(self.step)
        end = max(self.first, min(self.end, math.ceil((self.total - epsilon) / self.step)))
        kept = arb(0)
        if end > self.first:
            lowest = ball(self.total - self.step * (end - 1) - epsilon)
            weights = arb_poly(self.masses[end - 1 - self.first :: -1])
            kept = (-tilt * lowest).exp() * weights((-tilt * step).exp())
            kept = (kept - (-(tilt + 1) * lowest).exp() * weights((-(tilt + 1) * step).exp())) * self.unit
        scale = (self.log_scale - tilt * ball(epsilon)).exp()
        return scale * (kept - self._excess(epsilon)), scale * (kept + self.missing / (tilt + 1))

    def _excess(self, epsilon: Fraction) -> arb:
        """Return an upper bound on the rounding error of h(ε), divided by the scale."""
        if self.rounded == 0:
            return arb(0)
        m, step, tilt = self.rounded, ball(self.step), ball(self.tilt)
        reach = m * self.step
        drift = reach * self.step / 8
        near = _SPREAD * self.step * math.isqrt(m - 1) + _SPREAD * self.step + drift  # at least 3/2 g√m + drift
        escaped = arb(0)
        if near < reach:
            escaped = 2 * (-2 * ball(near - drift) ** 2 / (m * step * step)).exp()
        else:
            near = reach
        variance = ((step / 2).cosh() ** (2 * m) - 1) * (2 * m * step).exp()
        window = near + reach
        first = max(self.first, math.ceil((self.total - epsilon - window) / self.step))
        end = min(self.end, math.floor((self.total - epsilon + window) / self.step) + 1)
        total = arb(0)
        for index in range(first, end):
            x = self.total - self.step * index - epsilon
            beyond = ball(max(Fraction(0), abs(x) - near))
            height = variance / (2 * ((variance + beyond * beyond).sqrt() + beyond))
            total += self.masses[index - self.first] * (-(tilt + 1) * ball(x)).exp() * height
        lost = self.missing * ((tilt + 1) * ball(window)).exp() * variance.sqrt() / 2
        return (total * self.unit + lost) / (1 - escaped)

    def estimate(self, epsilon: Fraction) -> arb:
        """Return h(ε) in floating point, to search with."""
        top = float(self.total - self.step * self.first - epsilon)
        x = np.maximum(top - float(self.step) * np.arange(len(self.floats)), 0.0)
        value = float(np.sum(self.floats * np.exp(-float(self.tilt) * x) * -np.expm1(-x)))
        return (self.log_scale - ball(self.tilt * epsilon)).exp() * value
