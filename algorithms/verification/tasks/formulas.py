"""Monte Carlo twins of closed forms and of explicit bounds: counts and sums from which an interval can be made.

Each task simulates the thing that a statement is about, in the most literal way, and knows nothing of the formula.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = dict[str, float]
_BLOCK = 20_000  # draws at a time: memory stays small


def _ball(draw: np.random.Generator, count: int, dimension: int, radius: float) -> Array:
    """Uniform on the ball: a direction, and a length whose d-th power is uniform."""
    directions = draw.normal(size=(count, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points: Array = directions * (radius * draw.random((count, 1)) ** (1 / dimension))
    return points


def _blocks(draws: int) -> list[int]:
    return [min(_BLOCK, draws - start) for start in range(0, draws, _BLOCK)]


def ball_overlap(dimension: int, radius: float, distance: float, draws: int, seed: int) -> Numbers:
    """How often a point of one ball lies outside of another one at that distance."""
    draw = np.random.default_rng(seed)
    outside = 0
    for count in _blocks(draws):
        points = _ball(draw, count, dimension, radius)
        points[:, 0] -= distance
        outside += int(((points**2).sum(axis=1) > radius**2).sum())
    return {"hits": outside, "draws": draws}


def ball_descent(
    dimension: int, radius: float, distance: float, records: int, steps: int, draws: int, seed: int
) -> Numbers:
    """How often some step of a run gives one data set away: one random record per step, ball noise.

    Under the first data set record 0 has a gradient ``distance`` away from all others', which are those of the second.
    """
    draw = np.random.default_rng(seed)
    seen = 0
    for count in _blocks(draws):
        away = np.zeros(count, dtype=bool)
        for _ in range(steps):
            points = _ball(draw, count, dimension, radius)
            points[:, 0] += np.where(draw.integers(0, records, size=count) == 0, distance, 0.0)
            away |= (points**2).sum(axis=1) > radius**2
        seen += int(away.sum())
    return {"hits": seen, "draws": draws}


def gaussian_profile(multiplier: float, steps: int, epsilon: float, draws: int, seed: int) -> Numbers:
    """δ(ε) of composed Gaussian releases of unit distance, as the mean of max(0, 1 - e^(ε - loss)) step by step."""
    draw = np.random.default_rng(seed)
    total, squares = 0.0, 0.0
    for count in _blocks(draws):
        loss = np.zeros(count)
        for _ in range(steps):
            output = 1 + multiplier * draw.normal(size=count)  # where the record is there
            loss += ((output**2) - (output - 1) ** 2) / (2 * multiplier**2)
        gains = np.maximum(0.0, -np.expm1(epsilon - loss))
        total += float(gains.sum())
        squares += float((gains**2).sum())
    return {"sum": total, "squares": squares, "draws": draws}


def poisson_profile(
    multiplier: float, sample_rate: float, steps: int, epsilon: float, draws: int, seed: int
) -> Numbers:
    """The same on Poisson samples, for the data set that has the record against the one that has it not."""
    draw = np.random.default_rng(seed)
    total, squares = 0.0, 0.0
    for count in _blocks(draws):
        loss = np.zeros(count)
        for _ in range(steps):
            there = draw.random(count) < sample_rate
            output = there + multiplier * draw.normal(size=count)
            ratio = ((output**2) - (output - 1) ** 2) / (2 * multiplier**2)
            loss += np.log1p(sample_rate * np.expm1(ratio))
        gains = np.maximum(0.0, -np.expm1(epsilon - loss))
        total += float(gains.sum())
        squares += float((gains**2).sum())
    return {"sum": total, "squares": squares, "draws": draws}


def selection_shortfall(
    candidates: int, step_epsilon: float, sensitivity: float, shortfall: float, draws: int, seed: int
) -> Numbers:
    """How often the exponential mechanism falls short of the best score by more than ``shortfall``.

    One candidate is best and all others are just that much worse: the hardest case. Gumbel noise makes the draw exact.
    """
    draw = np.random.default_rng(seed)
    scores = np.full(candidates, -shortfall * (1 + 1e-9))
    scores[0] = 0.0
    scores *= step_epsilon / (2 * sensitivity)
    short = 0
    rows = max(1, _BLOCK // candidates)
    for start in range(0, draws, rows):
        noisy = scores + draw.gumbel(size=(min(rows, draws - start), candidates))
        short += int((noisy.argmax(axis=1) != 0).sum())
    return {"hits": short, "draws": draws}


def squared_dual_norm(shape: str, dimension: int, draws: int, seed: int) -> Numbers:
    """Mean square of sup <w, v>, v standard normal, over the unit l2 ball, l1 ball or box."""
    draw = np.random.default_rng(seed)
    total, squares = 0.0, 0.0
    norms = {
        "l2": lambda v: np.linalg.norm(v, axis=1),
        "l1": lambda v: np.abs(v).max(axis=1),
        "box": lambda v: np.abs(v).sum(axis=1),
    }
    rows = max(1, 10**6 // dimension)
    for start in range(0, draws, rows):
        values = norms[shape](draw.normal(size=(min(rows, draws - start), dimension))) ** 2
        total += float(values.sum())
        squares += float((values**2).sum())
    return {"sum": total, "squares": squares, "draws": draws}
