"""Closed forms and explicit bounds against their Monte Carlo twins: counts and sums that give an interval.

Each task simulates the thing that a statement is about, in the most literal way, and knows nothing of the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpbounds as dp
from dpbounds.algorithms.problems.sets import Box, ConstraintSet, L1Ball, L2Ball
from dpbounds.algorithms.verification.judging.planned_checks import (
    CellsAt,
    PlannedCheck,
    Promise,
    by_size,
    cells,
    formula,
    mean_bounded,
    rate_bounded,
)
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Task, Value
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate

Array = NDArray[np.float64]
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

    def loss(draw: np.random.Generator, count: int) -> Array:
        output = 1 + multiplier * draw.normal(size=count)  # where the record is there
        return _log_ratio(output, multiplier)

    return _gains(loss, steps, epsilon, draws, seed)


def poisson_profile(
    multiplier: float, sample_rate: float, steps: int, epsilon: float, draws: int, seed: int
) -> Numbers:
    """The same on Poisson samples, for the data set that has the record against the one that has it not."""

    def loss(draw: np.random.Generator, count: int) -> Array:
        there = draw.random(count) < sample_rate
        output = there + multiplier * draw.normal(size=count)
        return np.log1p(sample_rate * np.expm1(_log_ratio(output, multiplier)))

    return _gains(loss, steps, epsilon, draws, seed)


def _log_ratio(output: Array, multiplier: float) -> Array:
    ratio: Array = ((output**2) - (output - 1) ** 2) / (2 * multiplier**2)
    return ratio


def _gains(
    loss: Callable[[np.random.Generator, int], Array], steps: int, epsilon: float, draws: int, seed: int
) -> Numbers:
    draw, total, squares = np.random.default_rng(seed), 0.0, 0.0
    for count in _blocks(draws):
        losses = np.zeros(count)
        for _ in range(steps):
            losses += loss(draw, count)
        gains = np.maximum(0.0, -np.expm1(epsilon - losses))
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


# --- checks

_DRAWS = (100_000, 4_000_000)
Checks = tuple[PlannedCheck, ...]


def _check(
    theorem: str,
    name: str,
    task: Task,
    promise: Promise,
    *,
    kind: Callable[[str, str, CellsAt, Promise], Checks] = formula,
    draws: float = 1.0,
    **parameters: Value,
) -> Checks:
    quick, full = (int(draws * count) for count in _DRAWS)
    return kind(theorem, name, cells(task, draws=by_size(quick, full), **parameters), promise)


def _ball_overlap(dimension: int, distance: str) -> Checks:
    statement = "tholeti-kalyani-2020/equation-6"
    return _check(
        statement,
        f"ball overlap, d = {dimension}, distance {distance}",
        ball_overlap,
        lambda result: dp.theorem(statement).evaluate(None, dimension=dimension, radius=1, distance=distance).value,
        dimension=dimension,
        radius=1.0,
        distance=float(Fraction(distance)),
    )


def _ball_run(dimension: int, steps: int) -> Checks:
    return _check(
        "tholeti-kalyani-2020/theorem-1/explicit",
        f"a run of ball noise, d = {dimension}, T = {steps}",
        ball_descent,
        lambda result: dp.BallDescent(Fraction(1), dimension, 50, steps).delta(Fraction(1)),
        draws=0.5,
        dimension=dimension,
        radius=1.0,
        distance=1.0,
        records=50,
        steps=steps,
    )


def _gaussian(multiplier: str, steps: int, epsilon: str) -> Checks:
    return _check(
        "cited/dwork-roth-2014/theorem-a.1",
        f"δ({epsilon}) of {steps} Gaussian releases, z = {multiplier}",
        gaussian_profile,
        lambda result: dp.delta(dp.Gaussian(multiplier) ** steps, epsilon),
        multiplier=float(Fraction(multiplier)),
        steps=steps,
        epsilon=float(Fraction(epsilon)),
    )


def _poisson(multiplier: str, rate: str, steps: int, epsilon: str) -> Checks:
    return _check(
        "cited/abadi-et-al-2016/theorem-1",
        f"δ({epsilon}) of {steps} Poisson samples, q = {rate}, z = {multiplier}",
        poisson_profile,
        lambda result: dp.delta(dp.PoissonSampled(dp.Gaussian(multiplier), rate) ** steps, epsilon),
        multiplier=float(Fraction(multiplier)),
        sample_rate=float(Fraction(rate)),
        steps=steps,
        epsilon=float(Fraction(epsilon)),
    )


def _selection(candidates: int, failure: str, draws: float) -> Checks:
    statement = "wang-xu-2019/lemma-3"
    given: dict[str, Any] = {"candidates": candidates, "failure_probability": failure}
    shortfall = dp.theorem(statement).evaluate(None, score_sensitivity=1, step_epsilon=1, **given).value.upper
    return _check(
        statement,
        f"shortfall of a selection, N = {candidates}, ζ = {failure}",
        selection_shortfall,
        lambda result: Enclosure.exactly(Fraction(failure)),
        kind=rate_bounded,
        draws=draws,
        candidates=candidates,
        step_epsilon=1.0,
        sensitivity=1.0,
        shortfall=shortfall,
    )


def _dual_norm(shape: str, dimension: int) -> Checks:
    statement = "wang-xu-2019/lemma-4"

    def bound(result: Any) -> Enclosure:
        sets: dict[str, Callable[[int, int], ConstraintSet]] = {"l2": L2Ball, "l1": L1Ball, "box": Box.cube}
        body = sets[shape](dimension, 1)
        width, largest = (
            size if isinstance(size, Enclosure) else evaluate(size, {})
            for size in (body.gaussian_width, body.norm_bound)
        )
        return dp.theorem(statement).evaluate(None, gaussian_width=width, norm_bound=largest).value

    name = f"squared dual norm of a Gaussian, {shape}, d = {dimension}"
    given: dict[str, Any] = {"shape": shape, "dimension": dimension}
    return _check(statement, name, squared_dual_norm, bound, kind=mean_bounded, draws=0.2, **given)


CHECKS = tuple(
    check
    for checks in (
        *(_ball_overlap(dimension, distance) for dimension in (1, 2, 10) for distance in ("1/2", "3/2")),
        *(_ball_run(dimension, steps) for dimension, steps in ((2, 10), (5, 40))),
        *(_gaussian(*case) for case in (("1", 1, "1"), ("4", 16, "1/2"), ("3", 4, "0"))),
        *(_poisson(*case) for case in (("1", "1/10", 10, "1/2"), ("2", "1/4", 5, "1/4"))),
        *(_dual_norm(shape, dimension) for shape in ("l2", "l1", "box") for dimension in (3, 30)),
        # the closer to its bound, the more draws; each of them draws N numbers
        *(_selection(*case) for case in ((2, "1/10", 1.0), (50, "1/20", 4.0), (1000, "1/10", 1.0))),
    )
    for check in checks
)
EXAMPLES = ()
