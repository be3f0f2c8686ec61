"""Range of frequencies: periods, and where the tails fall below an allowance. In floating point, nothing is proven.

These are the floating-point twins of the bounds in ``tails``; a poor choice only widens the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk, bend, dyadic
from dpbounds.privacy.routes.contour.landscape import (
    CutDistribution,
    Floats,
    LossSum,
    RepeatedPair,
    SaddlePoint,
    log_erfc,
)

MOST_FREQUENCIES = 40_000


def shortest_period(landscape: LossSum, saddle: SaddlePoint, nats: float) -> tuple[float, float, float]:
    """Return the shortest period Λ whose aliases cost e^-nats of δ, and the two alias tilts that show it."""
    tilt = saddle.tilt
    steps = np.geomspace(1e-3, 60.0, 48)
    right = steps / saddle.spread
    left = np.minimum(steps / saddle.spread, tilt)
    left = np.append(left[left < tilt], tilt)
    lengths = []
    chosen = []
    for shift, sign in ((right, 1.0), (left, -1.0)):
        sigma = tilt + sign * shift
        need = landscape.log_moment(sigma) + saddle.deepest(sigma) + nats
        length = np.where(np.isfinite(need), need, np.inf) / shift
        index = int(np.argmin(length))
        lengths.append(max(float(length[index]), 1e-3 * saddle.spread))
        chosen.append(float(sigma[index]))
    return max(lengths) * 1.02, chosen[0], chosen[1]


def _histogram(law: CutDistribution, tilt: float) -> tuple[Floats, Floats]:
    """Return rectangles (mass, length) below the tilted density of the loss, as ``tails.Rectangles`` in floats."""
    exponent = law.log_mass + tilt * law.loss
    weight = np.exp(exponent - exponent.max())
    weight = weight / weight.sum()
    keep = np.flatnonzero(weight > 1e-9)
    loss, weight = law.loss[keep], weight[keep]
    lengths = np.abs(np.diff(loss))
    spacing = np.abs(np.gradient(loss))
    density = weight / np.maximum(spacing, 1e-300)
    heights = np.minimum(density[1:], density[:-1]) * 0.97
    found = layers(heights.tolist(), lengths.tolist())
    return np.array([height * length for height, length in found]), np.array([length for _, length in found])


def layers(heights: list[float], lengths: list[float]) -> list[tuple[float, float]]:
    """Split a histogram into horizontal rectangles (height, length) whose sum it is (exact on integers)."""
    found = []
    stack: list[list[float]] = []  # increasing heights, each with the length it spans so far
    for height, length in zip([*heights, 0], [*lengths, 0], strict=True):
        span: float = 0
        while stack and stack[-1][0] >= height:
            top, width = stack.pop()
            span += width
            below = max(stack[-1][0] if stack else 0, height)
            if top > below:
                found.append((top - below, span))
            if stack and stack[-1][0] >= height:
                stack[-1][1] += span
                span = 0
        if height > 0:
            stack.append([height, span + length])
    return found


def _envelope(x: Floats) -> Floats:
    """Return S(x) >= sup over y >= x of |sin y / y|, non-increasing."""
    return np.where(x <= 3, np.maximum(np.sinc(x / np.pi), 0.25), np.minimum(0.25, 1 / np.maximum(x, 3)))


def last_frequency(landscape: LossSum, saddle: SaddlePoint, spacing: float, nats: float) -> int:
    """Return the smallest K at which the rectangles' tail bound is e^-nats of δ."""
    histograms = [_histogram(law, saddle.tilt) for law in landscape.laws]
    counts = np.array([law.part.count for law in landscape.laws], dtype=float)
    masses = np.concatenate([mass for mass, _ in histograms]) if histograms else np.array([])
    lengths = np.concatenate([length for _, length in histograms]) if histograms else np.array([])
    starts = np.cumsum([0] + [len(mass) for mass, _ in histograms[:-1]])
    allowance = depth(landscape, saddle) - nats

    def enough(K: int) -> bool:
        w = (K + 1) * spacing
        decay = -0.5 * w * w * landscape.squared_shift
        if histograms:
            lost = np.add.reduceat(masses * (1 - _envelope(w * lengths / 2)), starts)
            decay += float(counts @ np.log1p(-np.minimum(lost, 1 - 1e-12)))
        return decay - math.log(math.pi * spacing * K) < allowance

    found = first_index(enough, 2 * MOST_FREQUENCIES, 64)
    if found is None:
        raise Declined("the tilted distribution decays too slowly in the frequency")
    return found


def first_index(enough: Callable[[int], bool], most: int, fineness: int) -> int | None:
    """Return about the first sufficient K > 3, to K/``fineness``; None if even ``most`` does not suffice."""
    low, high = 3, 4
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > max(1, high // fineness):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def depth(landscape: LossSum, saddle: SaddlePoint) -> float:
    """Log of δ e^{λε} / G(λ), the least of all ε that are served: bounds relative to G(λ) are compared with it."""
    tilt = np.array([saddle.tilt])
    return -float((saddle.deepest(tilt) + landscape.log_moment(tilt))[0])


@dataclass(frozen=True)
class TurnTable:
    """log of the turned-line bound, relative to M(λ), for many turns v = y/z at once."""

    turns: Floats
    weight: Floats  # (turns, cells): everything but the frequency
    angle: Floats

    def best(self, frequency: float) -> tuple[float, float]:
        """Return the smallest bound at this frequency, and its turn."""
        values = np.logaddexp.reduce(self.weight - frequency * self.angle, axis=1)
        index = int(np.argmin(values))
        return float(values[index]), float(self.turns[index])


def turn_table(law: CutDistribution, tilt: float, bulk: Bulk | None) -> TurnTable:
    """Tabulate the turned-line bound of a distribution, or of its jumps where it is split."""
    part = law.part
    v = np.geomspace(0.02, min(3.0 * part.z, 12.0), 36) / part.z
    weight = law.log_mass + tilt * law.loss - float(law.log_moment(np.array([tilt]))[0])
    if bulk is not None:
        weight = weight + log_erfc((bulk.edge - law.t) / bulk.softness)
    keep = weight > weight.max() - 90
    angle, gain = part.turned(v, law.t[keep])
    return TurnTable(v, weight[keep] + tilt * gain + ((v * part.z) ** 2 * bend(law, bulk))[:, None], angle)


def last_jump(
    landscape: LossSum, tilt: float, bulks: tuple[Bulk, ...], spacing: float, allowance: float
) -> tuple[float, tuple[float, ...]]:
    """Return the frequency beyond which the jumps' bound is small enough, and the turns of the lines that show it."""
    tables = [turn_table(law, tilt, bulk) for law, bulk in zip(landscape.laws, bulks, strict=True)]

    def bound(w: float) -> tuple[float, tuple[float, ...]]:
        choices = [table.best(w) for table in tables]
        share = np.logaddexp.reduce(
            [math.log(law.part.count) + value for law, (value, _) in zip(landscape.laws, choices, strict=True)]
        )
        turns = tuple(dyadic(v * law.part.z) for law, (_, v) in zip(landscape.laws, choices, strict=True))
        return float(share) - 0.5 * w * w * landscape.squared_shift - math.log(math.pi * w) + 0.5, turns

    low, high = spacing, spacing * MOST_FREQUENCIES
    if bound(high)[0] > allowance:
        raise Declined("the jumps decay too slowly in the frequency")
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if bound(middle)[0] <= allowance else (middle, high)
    return high, bound(high)[1]


def bulk_level(landscape: LossSum, saddle: SaddlePoint, nats: float, sharpness: float) -> tuple[float, float]:
    """Return the highest loss level whose bulk reaches ε with at most e^-nats of δ (Chernoff), and the tilt."""
    target = -nats - 1
    least = min([saddle.epsilon, *(epsilon for epsilon, _ in saddle.others)])

    tilts = saddle.tilt * np.geomspace(1.0, 3000.0, 60)
    noise = tilts * (tilts + 1) * landscape.squared_shift / 2 + saddle.deepest(tilts)

    @cache  # levels of the same edges are one
    def reached_below(edges: tuple[float, ...]) -> tuple[float, float]:
        total = noise
        for law, edge in zip(landscape.laws, edges, strict=True):
            log_mass = law.log_mass + log_erfc((law.t - edge) / bulk_softness(law.part, sharpness))
            exponent = np.multiply.outer(tilts, law.loss)
            exponent += log_mass
            top = exponent.max(axis=1)
            exponent -= top[:, None]
            total = total + law.part.count * (top + np.log(np.exp(exponent, out=exponent).sum(axis=1)))
        best = int(np.argmin(total))
        return float(total[best]), float(tilts[best])

    def reached(level: float) -> tuple[float, float]:
        return reached_below(tuple(edge_at(law, level) for law in landscape.laws))

    low, high = -14.0, math.log(max(least, 1e-12))
    if least <= 0 or reached(math.exp(low) * least)[0] > target:
        raise Declined("the bulk alone can reach ε")
    low += math.log(least)
    while high - low > 0.05:
        middle = (low + high) / 2
        if reached(math.exp(middle))[0] <= target:
            low = middle
        else:
            high = middle
    return math.exp(low), reached(math.exp(low))[1]


def bulk_softness(part: RepeatedPair, sharpness: float) -> float:
    """Return C_b of a split, in standard deviations."""
    return dyadic(min(1.0, part.z) / sharpness, 4)


def edge_at(law: CutDistribution, level: float) -> float:
    """Return the position of the bulk's soft edge for which losses above ``level`` are clearly jumps."""
    index = int(np.searchsorted(law.loss, level))
    t = float(law.t[min(index, len(law.t) - 1)])
    return dyadic(t, 20)
