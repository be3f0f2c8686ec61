"""Sums over how often a record was drawn, in balls: Σ_k w_k P(N(0, 1) > x_k), and Σ_k w_k e^(ksx - k²s²/2).

Each term is evaluated with the bits that its size needs, and the terms beyond the last one that matters are enclosed as
a whole. Sizes are estimated in floating point: they affect the width of the answer, not its validity. The derivations
are in ``losses.md``, section 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.losses import Sums, upper_tail

Floats = NDArray[np.float64]

_SPARE_BITS = 16  # bits of the working precision: relative width at which the rest of a sum is enclosed as a whole
_GRAIN = 32  # bits by which precisions of terms differ
_NEWTON_STEPS, _ROUGH_BITS = 12, 40
_ROOT_TWO = math.sqrt(2)
_LEAST_LOG, _FARTHEST = -1e300, 1e140  # logarithm of no mass; farthest place, whose square is still finite


@dataclass(frozen=True, slots=True)
class Weights:
    """w_1, w_2, ..., w_n >= 0, prepared for sums over them.

    Attributes:
        masses: The weights.
        from_on: At j the sum of all from position j on (n + 1 of them, the last one 0).
        logs: Logarithms of the weights, in floats.
        logs_from_on: Logarithms of those sums, in floats.
    """

    masses: tuple[arb, ...]
    from_on: tuple[arb, ...]
    logs: Floats
    logs_from_on: Floats

    @classmethod
    def of(cls, masses: Sequence[arb]) -> Weights:
        """Prepare weights."""
        sums = tuple(accumulate(reversed(masses), initial=arb(0)))[::-1]
        return cls(tuple(masses), sums, _logs(masses), _logs(sums))


def _logs(masses: Sequence[arb]) -> Floats:
    return np.array([float(mass.mid().log()) if mass > 0 else _LEAST_LOG for mass in masses])


@dataclass(frozen=True, slots=True)
class Places:
    """Places where tails are evaluated: x_j as balls (j = 0, ..., n-1, at any working precision), and nearby floats.

    Attributes:
        at: j -> x_j.
        rough: About x_j: for estimates.
        steady: Whether it is proven that x_j, x_(j+1), ... is monotone (in the direction that the caller says).
    """

    at: Callable[[int], arb]
    rough: Floats
    steady: Callable[[int], bool]

    @classmethod
    def near(cls, at: Callable[[int], arb], rough: Floats, steady: Callable[[int], bool]) -> Places:
        """Return places whose rough values do not overflow in floats."""
        return cls(at, np.clip(rough, -_FARTHEST, _FARTHEST), steady)


def tails_growing(weights: Weights, places: Places) -> arb:
    """Return Σ_j w_j P(N > x_j), where x_j falls from ``steady`` on: the rest of the sum is close to the weights' own.

    With x_j >= x_(j+1) >= ... the terms from j on lie between P(N > x_j) times their weights and their weights.
    """
    from scipy.special import log_ndtr  # a quarter of a second, which not every answer needs

    sizes = weights.logs + log_ndtr(-places.rough)
    last = _first_negligible(weights.logs_from_on[:-1] + log_ndtr(places.rough), sizes, places)
    total = _summed(weights, places, sizes, last)
    if last == len(sizes):
        return total
    return total + weights.from_on[last] * (1 - arb(0).union(_crude_tail(-places.at(last))))


def tails_shrinking(weights: Weights, places: Places) -> arb:
    """Return Σ_j w_j P(N > x_j), where x_j grows from ``steady`` on: the rest of the sum is negligible.

    With x_j <= x_(j+1) <= ... the terms from j on are at most P(N > x_j) times their weights.
    """
    from scipy.special import log_ndtr

    tails = log_ndtr(-places.rough)
    sizes = weights.logs + tails
    last = _first_negligible(weights.logs_from_on[:-1] + tails, sizes, places)
    total = _summed(weights, places, sizes, last)
    if last == len(sizes):
        return total
    return total + arb(0).union(weights.from_on[last] * _crude_tail(places.at(last)))


def _crude_tail(x: arb) -> arb:
    """Return P(N > x) with few digits, where only its size matters."""
    with working(_GRAIN):
        return upper_tail(x)


def _first_negligible(rests: Floats, sizes: Floats, places: Places) -> int:
    """Return the first position with a negligible rest for which the derivation holds; n if there is none."""
    seen = float(sizes.max()) - (working_bits() - _SPARE_BITS) * math.log(2)
    visible = np.flatnonzero(rests >= seen)
    first = int(visible[-1]) + 1 if len(visible) else 0
    while first < len(sizes) and not places.steady(first):
        first += 1
    return first


def _summed(weights: Weights, places: Places, sizes: Floats, count: int) -> arb:
    """Return the first ``count`` terms: neighbours that need about as many bits are summed together."""
    if not count:
        return arb(0)
    lost = np.clip((float(sizes.max()) - sizes[:count]) / math.log(2), 0, working_bits())
    bits = working_bits() - _GRAIN * np.floor(lost / _GRAIN).astype(int)
    total = arb(0)
    for needed, group in groupby(range(count), key=lambda j: max(_GRAIN, int(bits[j]))):
        with working(needed):
            root = arb(2).sqrt()
            part = arb(0)
            for j in group:
                part += weights.masses[j] * (places.at(j) / root).erfc()
        total += part
    return total / 2


# --- The sum of likelihood ratios, and where it takes a value ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RatioSum:
    """G(x) = Σ_k w_k e^(ksx - k²s²/2), k = 1, ..., n, for weights whose ratios w_(k+1)/w_k fall (binomial ones do)."""

    weights: Weights
    shift: arb

    def value_and_slope(self, x: arb) -> tuple[arb, arb]:
        """Return G and G'; once a term is at most half the one before, all later ones add up to at most twice it."""
        step = (-self.shift * self.shift).exp()
        factor = (self.shift * x - self.shift * self.shift / 2).exp()
        before, term, value, slope = arb(0), arb(1), arb(0), arb(0)
        least = arb(2) ** (-working_bits() - 1)
        for k, mass in enumerate(self.weights.masses, start=1):
            term = term * factor
            factor = factor * step
            part = mass * term
            if part < least * value and 2 * part < before:
                value, slope = value + arb(0).union(2 * part), slope + arb(0).union((2 * k + 2) * part)
                break
            before, value, slope = part, value + part, slope + k * part
        return value, self.shift * slope

    def root(self, goal: arb) -> arb:
        """Return the x at which log G(x) = goal.

        f = log G - goal has f' >= s and 0 <= f'' <= s² n²/4, so that Newton's step from any x ends within
        n² f(x)²/(8s) of the root, and x itself lies within |f(x)|/s of it.
        """
        size, rough = len(self.weights.masses), self._rough_root(float(goal))
        x, bits = arb(rough), min(working_bits(), 2 * _ROUGH_BITS + _GRAIN)
        for _ in range(_NEWTON_STEPS):
            with working(bits):
                value, slope = self.value_and_slope(x)
                gap = value.log() - goal
                following = x - gap * value / slope
                error = size**2 * gap * gap / (8 * self.shift)
            if bits == working_bits() and error < arb(2) ** (_SPARE_BITS - working_bits()):
                return following + _up_to_either_side(error)
            x = following.mid()
            known = max(0.0, -float(error.log()) / math.log(2)) if error > 0 else float(bits)
            bits = min(working_bits(), max(2 * int(min(known, bits)) + _GRAIN, bits + _GRAIN))
        value, _ = self.value_and_slope(x)
        return x + _up_to_either_side((value.log() - goal) / self.shift)

    def _rough_root(self, goal: float) -> float:
        """Return the same in floating point: a start, whose error is measured."""
        shift, logs = float(self.shift), self.weights.logs
        k = np.arange(1, len(logs) + 1)
        offsets = logs - (k * shift) ** 2 / 2
        x = float(np.min((goal - offsets) / (k * shift)))  # one term alone reaches the goal: at or right of the root
        for _ in range(60):
            exponents = offsets + k * shift * x
            top = float(exponents.max())
            terms = np.exp(exponents - top)
            move = (top + math.log(float(terms.sum())) - goal) * float(terms.sum()) / float((k * shift * terms).sum())
            x -= move
            if abs(move) <= 1e-7 * abs(x) + 1e-300:  # the next error is about the square of this
                break
        return x


def _up_to_either_side(error: arb) -> arb:
    largest = arb(error.abs_upper())
    return (-largest).union(largest)


def sums_over_draws(masses: Sequence[arb], mu: arb) -> Sums:
    """Return the sums of ``plain_sums`` for N(kμ, 1) against N(0, 1), k = 1, 2, ..., without negligible terms.

    They are tails at l/(kμ) ∓ kμ/2, monotone in k from some k on.
    """
    weights = Weights.of(masses)
    counts = np.arange(1, len(masses) + 1, dtype=np.float64)
    shift = float(mu)

    def places(loss: arb, sign: int, side: int) -> Places:
        """Return the places side · (l/(kμ) + sign · kμ/2), monotone in real k where k²μ² >= 2|l|."""
        near, half, bound = loss / mu, mu / 2, 2 * abs(loss) / (mu * mu)
        rough = side * (float(loss) / (counts * shift) + sign * counts * shift / 2)

        def at(j: int) -> arb:
            return side * (near / (j + 1) + sign * (j + 1) * half)

        return Places.near(at, rough, lambda j: bool((j + 1) ** 2 >= bound))

    return Sums(
        lambda loss: (tails_growing(weights, places(loss, -1, 1)), tails_shrinking(weights, places(loss, 1, 1))),
        lambda loss: (tails_shrinking(weights, places(loss, -1, -1)), tails_growing(weights, places(loss, 1, -1))),
    )
