"""Σ w_j c_j for the weights w_j = e^(-λt) - e^(-(λ+1)t), t = t_0, t_0 + h, ...: from c itself, or from its spectrum.

Section 5 of ``fourier.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import acb, arb, arb_poly, fmpq
from numpy.typing import NDArray

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.composed import largest_weight
from dpbounds.privacy.routes.lattice.transform import TINY, UNIT, Floats
from dpbounds.privacy.routes.lattice.window import PRECISION

Complexes = NDArray[np.complex128]


class WeightedSum(Protocol):
    """A sequence c on a window, with its weighted sums."""

    def bound(self, first: int, t: arb) -> arb:
        """Return Σ w_j c_j over the window's positions j >= ``first``, where the loss exceeds ε by t >= 0: a ball."""

    def log_estimate(self, first: int, t: float) -> float:
        """Return the logarithm of the sum in floats; -inf if it is not positive."""


def norm_of_weights(tilt: Fraction, spacing: Fraction, length: int) -> arb:
    """Return an upper bound on (Σ w_j²)^(1/2) over any N lattice points.

    w rises, then falls, so the sum is at most W² + ∫ w² dt / h, and ∫ (e^(-λt) - e^(-(λ+1)t))² dt is
    1/(2λ(2λ+1)(λ+1)).
    """
    largest = largest_weight(tilt) ** 2
    every = length * largest
    if tilt > 0:
        every = every.min(largest + ball(1 / (2 * spacing * tilt * (2 * tilt + 1) * (tilt + 1))))
    return every.sqrt()


@dataclass(frozen=True, slots=True)
class FewFrequencies:
    """c_p = Re Σ_k v_k exp(2πi k p / N), with few k: each weighted sum is a sum of geometric series."""

    length: int  # N
    end: int  # the position after the window's last one
    tilt: Fraction  # λ
    spacing: Fraction  # h
    frequencies: tuple[int, ...]  # k
    values: tuple[acb, ...]  # v_k, as balls
    numbers: Complexes  # values, like numbers

    @classmethod
    def of(
        cls, spectrum: Sequence[tuple[int, acb]], length: int, start: int, tilt: Fraction, spacing: Fraction
    ) -> FewFrequencies:
        """Build the sum from G_k for some 0 <= k <= N/2 (their conjugates included); the others are taken as 0."""
        with working(PRECISION):
            values = tuple(g * (1 if k in (0, length // 2) else 2) / length for k, g in spectrum)
        numbers = np.array([complex(value) for value in values])
        frequencies = tuple(k for k, _ in spectrum)
        return cls(length, start + length, tilt, spacing, frequencies, values, numbers)

    def bound(self, first: int, t: arb) -> arb:
        """See ``WeightedSum``."""
        result, count = arb(0), self.end - first
        with working(PRECISION):
            scales = [(-ball(self.tilt + extra) * t).exp() for extra in (0, 1)]
            for k, value in zip(self.frequencies, self.values, strict=True):
                slow, fast = (scales[extra] * self._series(k, self.tilt + extra, count) for extra in (0, 1))
                result += (value * self._root(k * first) * (slow - fast)).real
        return result

    def _root(self, steps: int) -> acb:
        return acb(arb(fmpq(2 * (steps % self.length), self.length))).exp_pi_i()

    def _series(self, k: int, rate: Fraction, count: int) -> acb:
        """Return Σ_(0 <= i < count) exp(-rate·h·i + 2πi k i / N)."""
        decay = ball(rate * self.spacing)
        if k == 0:
            return acb((-decay * count).expm1() / (-decay).expm1() if rate > 0 else arb(count))
        return (1 - self._root(k * count) * (-decay * count).exp()) / (1 - self._root(k) * (-decay).exp())

    def log_estimate(self, first: int, t: float) -> float:
        """See ``WeightedSum``."""
        count = self.end - first
        start, end = (self._estimated_roots(steps) for steps in (first, count))
        slow, fast = (self._estimated_series(end, float(self.tilt) + extra, count) for extra in (0, 1))
        value = float(np.sum((self.numbers * start * (slow - math.exp(-t) * fast)).real))
        return math.log(value) - float(self.tilt) * t if value > 0 else -math.inf

    def _estimated_roots(self, steps: int) -> Complexes:
        turns = np.array([k * steps % self.length for k in self.frequencies])
        return np.exp(2j * math.pi / self.length * turns)

    def _estimated_series(self, end: Complexes, rate: float, count: int) -> Complexes:
        decay = rate * float(self.spacing)
        gaps = -np.expm1(-decay + 2j * math.pi / self.length * np.array(self.frequencies))
        still = gaps == 0
        series = (1 - end * math.exp(-decay * count)) / np.where(still, 1, gaps)
        return np.where(still, count, series)


@dataclass(frozen=True, slots=True)
class Blocks:
    """c itself, not negative, in doubles; whole blocks are summed up once for all."""

    values: Floats  # c on the window, a power of two of numbers; their sum is at most 2^64
    start: int  # first position
    tilt: Fraction  # λ
    spacing: Fraction  # h
    slow: Floats  # Σ c e^(-λs) in each block, s = 0, h, 2h, ... inside it
    rising: Floats  # Σ c e^(-λs) (1 - e^(-s)) in each block

    @classmethod
    def of(cls, values: Floats, start: int, tilt: Fraction, spacing: Fraction) -> Blocks:
        """Sum up the blocks."""
        width = 1 << ((len(values).bit_length() - 1) // 2)
        table = values.reshape(-1, width)
        slow, rising = np.empty(width), np.empty(width)
        with working(PRECISION):
            for i in range(width):
                s = ball(i * spacing)
                weight = (-ball(tilt) * s).exp()
                slow[i], rising[i] = _nearest(weight), _nearest(-weight * (-s).expm1())
        return cls(values, start, tilt, spacing, np.sum(table * slow, axis=1), np.sum(table * rising, axis=1))

    def _cut(self, first: int) -> tuple[int, int, int, int]:
        """Return where to begin, where the whole blocks begin, the first of them, and their width."""
        width = len(self.values) // len(self.slow)
        begin = first - self.start
        block = -(-begin // width)
        return begin, block * width, block, width

    def bound(self, first: int, t: arb) -> arb:
        """See ``WeightedSum``."""
        begin, edge, block, width = self._cut(first)
        with working(PRECISION):
            slow, fast = ((-ball((self.tilt + extra) * self.spacing)).exp() for extra in (0, 1))
            single = self._series(self.values[begin:edge], slow, fast, t)
            t = t + (edge - begin) * ball(self.spacing)
            whole = self._series(self.slow[block:], slow**width, fast**width, t)
            whole += (-ball(self.tilt + 1) * t).exp() * arb_poly(self.rising[block:].tolist())(fast**width)
            return single + whole * (1 + arb(0, 2 * (width + 8) * UNIT)) + arb(0, TINY)

    def _series(self, masses: Floats, slow: arb, fast: arb, t: arb) -> arb:
        """Return e^(-λt) Σ m_i slow^i - e^(-(λ+1)t) Σ m_i fast^i."""
        series = arb_poly(masses.tolist())
        return (-ball(self.tilt) * t).exp() * series(slow) - (-ball(self.tilt + 1) * t).exp() * series(fast)

    def log_estimate(self, first: int, t: float) -> float:
        """See ``WeightedSum``."""
        begin, edge, block, width = self._cut(first)
        tilt, spacing = float(self.tilt), float(self.spacing)
        near = t + spacing * np.arange(edge - begin)
        far = t + spacing * (edge - begin + width * np.arange(len(self.slow) - block))
        weights = np.concatenate([-np.expm1(-near), -np.expm1(-far), np.exp(-far)])
        masses = np.concatenate([self.values[begin:edge], self.slow[block:], self.rising[block:]])
        with np.errstate(divide="ignore"):
            exponents = np.log(masses * weights) - tilt * np.concatenate([near, far, far])
        top = float(exponents.max(initial=-math.inf))
        return top + math.log(float(np.sum(np.exp(exponents - top)))) if top > -math.inf else top


def _nearest(weight: arb) -> float:
    """Return a double within 2u relative of a weight in [0, 1], or both are below 2^-1000."""
    number = float(weight)
    if not (abs(weight - number) <= 2 * UNIT * number or (weight < 2.0**-1000 and number < 2.0**-1000)):
        raise Declined("lattice: the weights could not be tabulated")
    return number
