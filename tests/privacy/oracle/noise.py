"""Sums of vectors with noise on top: outcome probabilities of cells, exact up to rounding.

Cut R^d into cells. Whoever sees only the cell is weaker, so that Σ_cells (P(cell) - α Q(cell))_+ <= H_α(P ‖ Q): with
exact cell probabilities this is a lower bound that cannot be wrong (about 1e-14 of rounding apart). How much it loses:

- *Gaussian*: a cell in which p - αq changes sign loses a term of the second order in its width; the outermost cells
  reach to infinity.
- *Laplace*, product measure in the plane: beyond the outermost centres the ratio p/q does not change along that axis,
  so that the outer cells, which reach to infinity, lose nothing. Every centre is an edge.
- *Uniform ball on the line*: densities are constant between the ends of the intervals, so that these cells lose
  nothing at all.
- *Uniform ball in the plane*: squares. The area of disc ∩ quadrant has a closed form, and four of them make a square.
  Only squares that a circle's edge cuts can lose anything.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tests.privacy.oracle.samplings import Vector

Array = NDArray[np.float64]
_REACH = 9.0  # of normal laws, in standard deviations: the mass beyond is below 1e-18
Table = tuple[Array, Array]  # the probabilities of the same outcomes under the first and the second law


@dataclass(frozen=True)
class Sum:
    """The law of a sum before noise: weights of shape (k,), values of shape (k, d)."""

    weights: Array
    values: Array


def summed(batches: Mapping[tuple[Vector, ...], float], dimension: int) -> Sum:
    """The law of Σ_{v in batch} v."""
    law: dict[Vector, float] = {}
    for batch, probability in batches.items():
        total = tuple(math.fsum(vector[axis] for vector in batch) for axis in range(dimension))
        law[total] = law.get(total, 0.0) + probability
    return Sum(np.array(list(law.values())), np.array(list(law)))


class Noise(Protocol):
    """Noise that is added to a sum."""

    def table(self, first: Sum, second: Sum, width: float) -> Table:
        """Cell probabilities under both laws; ``width`` is the cells', in units of the noise's scale."""
        ...


class _Independent(ABC):
    """Noise whose coordinates are independent: products of intervals."""

    @abstractmethod
    def _edges(self, centres: Array, width: float) -> Array:
        """Along one axis, ``width`` in units of the noise; the outermost cells reach to infinity."""

    @abstractmethod
    def _intervals(self, centres: Array, edges: Array) -> Array:
        """Masses of the intervals around each centre, of shape (k, cells), accurate in both tails."""

    def table(self, first: Sum, second: Sum, width: float) -> Table:
        values = np.concatenate((first.values, second.values))
        edges = [self._edges(centres, width) for centres in values.T]
        return self._masses(first, edges), self._masses(second, edges)

    def _masses(self, law: Sum, edges: list[Array]) -> Array:
        along = [self._intervals(centres, cuts) for centres, cuts in zip(law.values.T, edges, strict=True)]
        if len(along) == 1:
            return np.asarray(law.weights @ along[0])
        return np.asarray(((law.weights[:, None] * along[0]).T @ along[1]).ravel())


@dataclass(frozen=True)
class GaussianNoise(_Independent):
    """N(0, stddev² I)."""

    stddev: float

    def _edges(self, centres: Array, width: float) -> Array:
        low, high = centres.min() - _REACH * self.stddev, centres.max() + _REACH * self.stddev
        inner = np.linspace(low, high, 1 + math.ceil((high - low) / (width * self.stddev)))
        return np.concatenate(([-np.inf], inner, [np.inf]))

    def _intervals(self, centres: Array, edges: Array) -> Array:
        scaled = (edges[None, :] - centres[:, None]) / self.stddev
        left, right = scaled[:, :-1], scaled[:, 1:]
        flipped = left > 0  # Φ(b) - Φ(a) = Φ(-a) - Φ(-b): no cancellation on the right
        upper, lower = np.where(flipped, -left, right), np.where(flipped, -right, left)
        return np.asarray(special.ndtr(upper) - special.ndtr(lower))


@dataclass(frozen=True)
class LaplaceNoise(_Independent):
    """Density Π_i e^{-|x_i| / scale} / (2 scale)."""

    scale: float

    def _edges(self, centres: Array, width: float) -> Array:
        low, high = centres.min(), centres.max()
        count = 1 + math.ceil((high - low) / (width * self.scale))
        inner = np.linspace(low, high, count) if high > low else np.array([low])
        return np.concatenate(([-np.inf], np.union1d(inner, centres), [np.inf]))

    def _intervals(self, centres: Array, edges: Array) -> Array:
        # no cell holds a centre inside, so that its mass is a difference of exponentials
        left, right = ((ends[None, :] - centres[:, None]) / self.scale for ends in (edges[:-1], edges[1:]))
        near, far = np.minimum(np.abs(left), np.abs(right)), np.maximum(np.abs(left), np.abs(right))
        return np.asarray(0.5 * np.exp(-near) * -np.expm1(near - far))


@dataclass(frozen=True)
class BallNoise:
    """Uniform on the Euclidean ball of this radius, on the line or in the plane."""

    radius: float

    def table(self, first: Sum, second: Sum, width: float) -> Table:
        if first.values.shape[1] == 1:
            return self._on_the_line(first, second)
        values = np.concatenate((first.values, second.values))
        edges = [self._edges(values[:, axis], width) for axis in range(2)]
        return self._squares(first, edges), self._squares(second, edges)

    def _on_the_line(self, first: Sum, second: Sum) -> Table:
        """Between two neighbouring ends every density is 0 or 1/2r: whichever the midpoint says."""
        centres = np.concatenate((first.values, second.values))[:, 0]
        ends = np.union1d(centres - self.radius, centres + self.radius)
        middle, length = (ends[:-1] + ends[1:]) / 2, np.diff(ends)

        def masses(law: Sum) -> Array:
            inside = np.abs(middle[None, :] - law.values) < self.radius
            return np.asarray(law.weights @ inside * length / (2 * self.radius))

        return masses(first), masses(second)

    def _edges(self, centres: Array, width: float) -> Array:
        low, high = centres.min() - self.radius, centres.max() + self.radius
        return np.linspace(low, high, 1 + math.ceil((high - low) / (width * self.radius)))

    def _squares(self, law: Sum, edges: list[Array]) -> Array:
        total = np.zeros((len(edges[0]) - 1, len(edges[1]) - 1))
        for weight, (x, y) in zip(law.weights, law.values, strict=True):
            corners = quadrant((edges[0] - x)[:, None] / self.radius, (edges[1] - y)[None, :] / self.radius)
            total += weight * np.diff(np.diff(corners, axis=0), axis=1) / math.pi
        return np.maximum(total, 0).ravel()  # differences of areas: rounding, no more


def quadrant(x: Array, y: Array) -> Array:
    """The area of {(s, t): s² + t² <= 1, s <= x, t <= y}."""
    x, y = np.clip(x, -1, 1), np.clip(y, -1, 1)

    def primitive(s: Array) -> Array:
        """∫ sqrt(1 - s²) ds."""
        return np.asarray((s * np.sqrt(np.maximum(1 - s * s, 0)) + np.arcsin(s)) / 2)

    # The chord at height y spans |s| <= w: inside it the strip at s reaches from the circle up to y, outside it holds
    # the whole strip (y > 0) or nothing (y < 0).
    w = np.sqrt(np.maximum(1 - y * y, 0))
    inner = np.clip(x, -w, w)
    area = y * (inner + w) + primitive(inner) - primitive(-w)
    outer_left = 2 * (primitive(np.minimum(x, -w)) - primitive(-np.ones_like(w)))
    outer_right = 2 * (primitive(np.maximum(x, w)) - primitive(w))
    return np.asarray(area + np.where(y > 0, outer_left + outer_right, 0.0))


@dataclass(frozen=True)
class Additive:
    """Publish Σ_{v in batch} v + noise."""

    noise: Noise
    dimension: int = 1
    width: float = 0.02

    def table(self, first: Mapping[tuple[Vector, ...], float], second: Mapping[tuple[Vector, ...], float]) -> Table:
        return self.noise.table(summed(first, self.dimension), summed(second, self.dimension), self.width)


def divergence(table: Table, alphas: Array) -> Array:
    """Σ (P - αQ)_+ over the outcomes, for every α: those with P/Q > α are a tail once outcomes are sorted by P/Q."""
    first, second = table
    threshold = np.full(first.shape, np.inf)
    with np.errstate(over="ignore"):  # as good as infinite
        np.divide(first, second, out=threshold, where=second > 0)
    order = np.argsort(threshold)
    tails = [np.concatenate((np.cumsum(masses[order][::-1])[::-1], [0.0])) for masses in (first, second)]
    above = np.searchsorted(threshold[order], alphas, side="right")
    return np.asarray(tails[0][above] - alphas * tails[1][above])
