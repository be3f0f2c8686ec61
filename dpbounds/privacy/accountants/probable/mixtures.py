"""Mixtures of Gaussians for sampling losses: over the steps, bins or sets of steps of a record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpbounds.errors import NotCertified
from dpbounds.privacy.accountants.probable.drawing import Bits, Floats, normal, uniform

_LARGEST_LOG = 200.0  # largest logarithm of a factor whose products with others are doubles
_SCALED = 1e100  # sums beyond this, or below its inverse, are divided by a common factor
_LEAST = 1e-250  # a ratio below that, relative to its largest term, may have lost terms
_SPANS = "the likelihood ratios span more scales than doubles have; ask for a certified epsilon"


class Mixture(Protocol):
    """A mixture of Gaussians against the Gaussian at 0; all lengths in units of the noise."""

    @property
    def columns(self) -> int:
        """The number of coordinates of a draw."""

    @property
    def operations(self) -> float:
        """Largest number of rounded operations in a log-ratio, each with an error of a unit in the last place of 1."""

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖², and c = Σ w(A) ‖s_A‖²/2."""

    def normaliser(self, tilt: float) -> float:
        """Return log Z."""

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Return draws of the tilted mixture."""

    def mean_shift(self) -> Floats:
        """Return s̄, the mean shift."""

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """Log Σ w(A) X_A^power."""


@dataclass(frozen=True, slots=True)
class Subsets:
    """A uniformly random set of ``taken`` of ``columns`` steps, each with the shift ``shift``."""

    columns: int
    taken: int
    shift: float

    @property
    def operations(self) -> float:
        """Three for each step and number of steps, and those of the exponents."""
        return 8.0 * self.columns + 64 * self.taken * (1 + self.shift) ** 2

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return (self.shift * self.taken) ** 2 / self.columns, self.taken * self.shift**2 / 2

    def normaliser(self, tilt: float) -> float:
        """Return log Z: all sets have shifts of one length."""
        return tilt * (1 + tilt) * self.taken * self.shift**2 / 2

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Draw the noise, and the steps one after the other, each with its conditional probability."""
        draws, chances = normal(bits, rows, self.columns), uniform(bits, rows, self.columns)
        left = np.full(rows, float(self.taken))
        for step in range(self.columns):
            chosen = chances[:, step] * (self.columns - step) < left
            left -= chosen
            draws[:, step] += (1 + tilt) * self.shift * chosen
        return draws

    def mean_shift(self) -> Floats:
        """Return s̄, the mean shift."""
        return np.full(self.columns, self.shift * self.taken / self.columns)

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """Return the mean over all sets of the product of factors, step by step; all terms are positive."""
        logs = power * (self.shift * draws - self.shift**2 / 2)
        largest = logs.max(axis=1)
        factors = np.exp(logs - largest[:, None])
        means = np.zeros((self.taken + 1, len(draws)))
        means[0] = 1
        for step in range(1, self.columns + 1):
            for taken in range(min(step, self.taken), 0, -1):
                share = taken / step
                means[taken] = (1 - share) * means[taken] + share * factors[:, step - 1] * means[taken - 1]
        found: Floats = _log_of(means[-1]) + self.taken * largest
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Shifts in all coordinates, one in each row."""

    shifts: Floats

    @property
    def columns(self) -> int:
        """The number of coordinates of a shift."""
        return len(self.shifts[0])

    def _squares(self) -> Floats:
        found: Floats = (self.shifts**2).sum(axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Bins(_Rows):
    """One of the rows of ``shifts``, uniformly."""

    @property
    def operations(self) -> float:
        """Number of operations of an inner product, whose error is n u ‖c‖ ‖y‖."""
        longest = math.sqrt(float(self._squares().max()))
        return 64 + len(self.shifts) + self.columns * (1 + longest) * (math.sqrt(self.columns) + longest + 16)

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return float((self.mean_shift() ** 2).sum()), float(self._squares().mean()) / 2

    def _weights(self, tilt: float) -> Floats:
        found: Floats = tilt * (1 + tilt) * self._squares() / 2
        return found

    def normaliser(self, tilt: float) -> float:
        """Return log Z."""
        return float(np.logaddexp.reduce(self._weights(tilt))) - math.log(len(self.shifts))

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Return a bin by its weight, then the noise."""
        weights = self._weights(tilt)
        ends = np.cumsum(np.exp(weights - weights.max()))
        chosen = np.searchsorted(ends, uniform(bits, rows) * ends[-1]).clip(max=len(ends) - 1)
        found: Floats = normal(bits, rows, self.columns) + (1 + tilt) * self.shifts[chosen]
        return found

    def mean_shift(self) -> Floats:
        """Return s̄, the mean shift."""
        found: Floats = self.shifts.mean(axis=0)
        return found

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """Return the mean over the bins."""
        logs = power * (draws @ self.shifts.T - self._squares() / 2)
        largest = logs.max(axis=1)
        found: Floats = _log_of(np.exp(logs - largest[:, None]).mean(axis=1)) + largest
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Apart(_Rows):
    """Steps at distance ``separation`` or more, each taken with probability ``rate``; their shifts do not overlap.

    Attributes:
        shifts: A row for each step, its shift in all coordinates; those of steps at distance ``separation`` share none.
    """

    separation: int
    rate: float

    @property
    def bands(self) -> int:
        """Largest number of coordinates in which a shift is not 0."""
        return int((self.shifts != 0).sum(axis=1).max())

    @property
    def operations(self) -> float:
        """Three a step, and those of an inner product of few terms for each step that is taken."""
        longest, bands = math.sqrt(float(self._squares().max())), self.bands
        taken = len(self.shifts) // self.separation + 1
        return 64.0 + 8 * len(self.shifts) + taken * bands * (1 + longest) * (9 * math.sqrt(bands) + longest + 16)

    def _chances(self) -> Floats:
        """Return the probability of each step to be taken: that it is free there, times the rate."""
        steps = len(self.shifts)
        free, taken = np.zeros(steps + self.separation), np.zeros(steps)
        free[0] = 1.0
        for step in range(steps):
            taken[step] = self.rate * free[step]
            free[step + 1] += free[step] - taken[step]
            free[step + self.separation] += taken[step]
        return taken

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return float((self.mean_shift() ** 2).sum()), float(self._chances() @ self._squares()) / 2

    def mean_shift(self) -> Floats:
        """Return s̄, the mean shift."""
        found: Floats = self._chances() @ self.shifts
        return found

    def _ahead(self, factors: Floats) -> tuple[Floats, Floats]:
        """Log mean of the product of factors, shape (rows,), and each step's probability given the later steps.

        f(l) = (1 - p) f(l + 1) + p F_l f(l + b), with f = 1 behind the last step; all terms are positive.
        """
        steps, rows = factors.shape
        found, logs, chances = np.ones((steps + self.separation, rows)), np.zeros(rows), np.empty((steps, rows))
        for step in range(steps - 1, -1, -1):
            taken = self.rate * factors[step] * found[step + self.separation]
            found[step] = (1 - self.rate) * found[step + 1] + taken
            chances[step] = taken / found[step]
            if not (found[step].max() < _SCALED and found[step].min() > 1 / _SCALED):
                scale = found[step].copy()
                found[step : step + self.separation] /= scale
                logs += np.log(scale)
        return _log_of(found[0]) + logs, chances

    def _weights(self, tilt: float) -> Floats:
        found: Floats = np.exp(self._log_weights(tilt))[:, None]
        return found

    def _log_weights(self, tilt: float) -> Floats:
        logs: Floats = tilt * (1 + tilt) * self._squares() / 2
        if not logs.max() < _LARGEST_LOG:
            raise NotCertified(_SPANS)
        return logs

    def normaliser(self, tilt: float) -> float:
        """Log Z; infinite where doubles end."""
        if not (tilt * (1 + tilt) * self._squares() / 2).max() < _LARGEST_LOG:
            return math.inf
        logs, _ = self._ahead(self._weights(tilt))
        return float(logs[0])

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Draw the steps one after the other, each given the steps ahead of it; then the noise."""
        _, chances = self._ahead(self._weights(tilt))
        draws, tossed = normal(bits, rows, self.columns), uniform(bits, rows, len(self.shifts))
        free = np.zeros(rows, dtype=np.int64)  # the first step that may be taken
        for step in range(len(self.shifts)):
            taken = (free <= step) & (tossed[:, step] < chances[step, 0])
            free[taken] = step + self.separation
            where = self.shifts[step].nonzero()[0]
            draws[np.ix_(taken, where)] += (1 + tilt) * self.shifts[step, where]
        return draws

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """Return the mean over all sets of steps, from the last one back."""
        logs = power * (self.shifts @ draws.T - self._squares()[:, None] / 2)
        if not logs.max() < _LARGEST_LOG:
            raise NotCertified(_SPANS)
        found, _ = self._ahead(np.exp(logs))
        return found


def _log_of(ratios: Floats) -> Floats:
    if not (ratios > _LEAST).all():
        raise NotCertified(_SPANS)
    found: Floats = np.log(ratios)
    return found
