"""The best that an adaptive adversary does with given attacks: games on a grid of thresholds.

An *attack* is what a step publishes about two neighbouring datasets: probabilities of the same outcomes under both. It
achieves H_α(P ‖ Q) = Σ (P - αQ)_+ at every α >= 0, where α = e^ε and ε may be negative. Let V_t(α) be the best value
of E_P (1 - α Q/P)_+ over the outputs of steps t, t+1, ..., when the datasets of a later step may depend on all earlier
outputs. Writing the sum over step t on the outside,

    V_{T+1}(α) = (1-α)_+,    V_t(α) = max over the attacks (P, Q) of step t of Σ P V_{t+1}(α Q/P),

because the later steps' contribution after an output y is P(y) times the value of the remaining game at threshold
α Q(y)/P(y): the adversary's best reaction to y depends on y through this number only. V_1 is the exact worst case over
all adaptive adversaries that are confined to the enumerated attacks.

The V_t live on a grid log α = jΔ, and a cell with mass P and ratio r splits its mass between the two grid points
e^{kΔ} <= r < e^{(k+1)Δ}, such that P- and Q-mass are both kept: exactly the linear interpolation in α of V_{t+1}, which
raises a convex function by O(Δ²). So the numbers are those of a game whose last move is the interpolated function.
Since that is convex, decreasing, between (1-α)_+ and 1, it is itself the profile of a pair, and a dominating pair
dominates in this game too: attack and pair, run with the same grid, may be compared with each other sharply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from tests.privacy.oracle.noise import Array, Table


@dataclass(frozen=True)
class Grid:
    """log α = jΔ for |j| <= half; a loss is cut off at ``reach`` grid points (where its mass is negligible)."""

    spacing: float
    half: int
    reach: int

    @property
    def alphas(self) -> Array:
        return np.asarray(np.exp(self.spacing * np.arange(-self.half, self.half + 1)))

    def between(self, low: float, high: float) -> slice:
        """The grid points with log α in [low, high]."""
        return slice(self.half + math.ceil(low / self.spacing), self.half + math.floor(high / self.spacing) + 1)


def losses(tables: Iterable[Table], grid: Grid) -> Array:
    """Shape (attacks, 2·reach+1): the P-mass that each attack puts on Q/P = e^{kΔ}, |k| <= reach.

    Both laws' masses are kept (the module's docstring says why), except where a ratio is cut off at e^{±reach Δ}. That
    changes V at α by at most α e^{-reach Δ} on the left (V has slope at least -1), and on the right by at most the
    P-mass beyond, which is below e^{-reach Δ} as well.
    """
    distinct: dict[bytes, Array] = {}
    for first, second in tables:
        inside = first > 0
        mass, ratio = first[inside], np.maximum(second[inside], 1e-300) / first[inside]
        limit = grid.reach * grid.spacing
        position = np.clip(np.log(ratio), -limit, limit * (1 - 1e-12)) / grid.spacing
        left = np.floor(position)
        clipped = np.exp(position * grid.spacing)
        low, high = np.exp(left * grid.spacing), np.exp((left + 1) * grid.spacing)
        to_the_left = (high - clipped) / (high - low)
        index = left.astype(np.int64) + grid.reach
        row = np.zeros(2 * grid.reach + 1)
        np.add.at(row, index, mass * to_the_left)
        np.add.at(row, index + 1, mass * (1 - to_the_left))
        distinct[np.round(row, 13).tobytes()] = row  # a mirror image or a translate is the same attack
    return np.array(list(distinct.values()))


def game(steps: Sequence[Array], grid: Grid) -> Array:
    """V_1 on the grid: the best that an adaptive adversary achieves with the given attacks (``losses``) per step."""
    value: Array = np.maximum(1 - grid.alphas, 0)
    size = fft.next_fast_len(2 * (grid.half + grid.reach) + 1, real=True)
    beyond = np.exp(grid.spacing * np.arange(-grid.half - grid.reach, -grid.half))
    for masses in reversed(steps):
        left = 1 - (1 - value[0]) * beyond / grid.alphas[0]  # the chord to V(0) = 1
        right = np.full(grid.reach, value[-1])  # V decreases
        padded = np.concatenate((left, value, right))
        # Σ_k masses[k] V(jΔ + kΔ): a correlation, for all attacks at once
        product = fft.rfft(padded, size)[None, :] * np.conj(fft.rfft(masses, size, axis=1))
        value = fft.irfft(product, size, axis=1)[:, : 2 * grid.half + 1].max(axis=0)
    return value
