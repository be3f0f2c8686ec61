"""The composed loss by a transform in plain floating point: estimates of δ, its slope and its density.

A saddle point takes the tilted, composed loss as Gaussian; where few rare, large losses decide it is not. Like all of
``saddle.py`` this proves nothing: it chooses, and spares attempts that would turn out too coarse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpbounds.privacy.routes.lattice.saddle import Floats, GaussianSaddle, Sketch, cumulants

_REACH = 12  # deviations on either side of the mean
_SHORTEST, _LONGEST = 1 << 10, 1 << 18  # lengths of the transform
_BLUR = 2e-3  # what splitting losses between grid points may add to log δ
_NEAR = 8  # grid points over which the density is averaged
_BISECTIONS = 30
_TRUSTED = 3  # deviations from the saddle point: farther out, the tilt would be another one


@dataclass(frozen=True, slots=True)
class Rough:
    """The composed loss under a tilt, on a grid."""

    tilt: float  # λ
    log_mass: float  # log E e^(λL), without the tilt's normalisation
    places: Floats  # grid points
    masses: Floats  # what lies there, tilted and normalised

    @classmethod
    def of(cls, sketches: Sequence[Sketch], tilt: float) -> Rough:
        """Compose the steps."""
        log_mass, mean, deviation = cumulants(sketches, tilt)
        steps, parts, farthest = sum(part.count for part in sketches), [], 0.0
        for part in sketches:
            _, weights = part.tilted(tilt)
            moved = part.loss - float(np.sum(weights * part.loss))
            farthest = max(farthest, float(np.max(np.abs(moved))))
            parts.append((moved, weights, part.count))
        period = 2 * (_REACH * deviation + farthest)
        finest = math.sqrt(6 * _BLUR / steps) / (tilt + 1)
        length = 1 << math.ceil(math.log2(min(max(period / finest, _SHORTEST), _LONGEST)))
        unit = period / length
        frequencies = np.ones(length // 2 + 1, dtype=complex)
        for moved, weights, count in parts:
            below = np.floor(moved / unit)
            share = moved / unit - below
            index = below.astype(np.int64)
            grid = np.bincount(index % length, weights * (1 - share), length)
            grid += np.bincount((index + 1) % length, weights * share, length)
            frequencies *= np.fft.rfft(grid) ** count
        places = np.asarray(mean + unit * (np.arange(length) - length // 2), dtype=np.float64)
        return cls(tilt, log_mass, places, np.maximum(np.roll(np.fft.irfft(frequencies, length), length // 2), 0.0))

    def at(self, epsilon: float) -> tuple[float, float, float] | None:
        """Return log δ, -d log δ/dε, and the density of the loss over -dδ/dε at ε; None if ε is out of range."""
        first = int(np.searchsorted(self.places, epsilon, side="right"))
        above, masses = self.places[first:] - epsilon, self.masses[first:]
        weights = masses * np.exp(-self.tilt * above)
        value, steepness = float(np.sum(weights * -np.expm1(-above))), float(np.sum(weights * np.exp(-above)))
        near = self.masses[max(0, first - _NEAR) : first + _NEAR]
        if not (value > 0 and steepness > 0 and len(near) == 2 * _NEAR):
            return None
        density = float(np.mean(near)) / float(self.places[1] - self.places[0])
        return self.log_mass - self.tilt * epsilon + math.log(value), steepness / value, density / steepness

    def epsilon_for(self, log_delta: float) -> float | None:
        """Return the ε >= 0 at which δ is as wanted; None where that lies outside the grid."""
        low, high = max(0.0, float(self.places[0])), float(self.places[-1])
        if not low < high:
            return None
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            there = self.at(middle)
            low, high = (middle, high) if there is not None and there[0] > log_delta else (low, middle)
        return high


def sharpened(sketches: Sequence[Sketch], aim: GaussianSaddle, log_delta: float | None = None) -> GaussianSaddle:
    """Return the same tilt, improved by a transform at its ε (or, given log δ, at the ε with that δ)."""
    rough = Rough.of(sketches, aim.tilt)
    epsilon = aim.epsilon if log_delta is None else rough.epsilon_for(log_delta)
    seen = None if epsilon is None else rough.at(epsilon)
    if epsilon is None or seen is None:
        return aim
    found, slope, sharpness = seen
    if not math.isfinite(found) or abs(epsilon - aim.epsilon) > _TRUSTED * aim.deviation or (aim.tilt > 0 >= epsilon):
        return aim
    return replace(aim, epsilon=epsilon, log_delta=found, slope=slope, sharpness=sharpness)
