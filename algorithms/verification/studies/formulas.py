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
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Task, Value
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate

Array = NDArray[Any]
_BLOCK = 20_000  # draws at a time: memory stays small


def _blocks(draws: int, most: int) -> list[int]:
    return [min(most, draws - start) for start in range(0, draws, most)]


def _counted(event: Callable[[int], Array], draws: int, most: int = _BLOCK) -> Numbers:
    """Count an event among ``draws`` draws, at most ``most`` at a time."""
    return {"hits": sum(int(event(count).sum()) for count in _blocks(draws, most)), "draws": draws}


def _summed(values: Callable[[int], Array], draws: int, most: int = _BLOCK) -> Numbers:
    """Sum ``draws`` values and their squares."""
    total, squares = 0.0, 0.0
    for count in _blocks(draws, most):
        block = values(count)
        total += float(block.sum())
        squares += float((block**2).sum())
    return {"sum": total, "squares": squares, "draws": draws}


def _ball(draw: np.random.Generator, count: int, dimension: int, radius: float) -> Array:
    """Uniform on the ball: a direction, and a length whose d-th power is uniform."""
    directions = draw.normal(size=(count, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points: Array = directions * (radius * draw.random((count, 1)) ** (1 / dimension))
    return points


def ball_overlap(dimension: int, radius: float, distance: float, draws: int, seed: int) -> Numbers:
    """Return the rate at which points of one ball lie outside of another one at that distance."""
    draw = np.random.default_rng(seed)

    def outside(count: int) -> Array:
        points = _ball(draw, count, dimension, radius)
        points[:, 0] -= distance
        beyond: Array = (points**2).sum(axis=1) > radius**2
        return beyond

    return _counted(outside, draws)


def ball_descent(
    dimension: int, radius: float, distance: float, records: int, steps: int, draws: int, seed: int
) -> Numbers:
    """Return the rate at which a step of a run reveals the dataset: one random record per step, ball noise.

    Under the first dataset record 0 has a gradient ``distance`` away from all others', which are those of the second.
    """
    draw = np.random.default_rng(seed)

    def seen(count: int) -> Array:
        away = np.zeros(count, dtype=bool)
        for _ in range(steps):
            points = _ball(draw, count, dimension, radius)
            points[:, 0] += np.where(draw.integers(0, records, size=count) == 0, distance, 0.0)
            away |= (points**2).sum(axis=1) > radius**2
        return away

    return _counted(seen, draws)


def gaussian_profile(multiplier: float, steps: int, epsilon: float, draws: int, seed: int) -> Numbers:
    """δ(ε) of composed Gaussian releases of unit distance, as the mean of max(0, 1 - e^(ε - loss)) step by step."""

    def loss(draw: np.random.Generator, count: int) -> Array:
        output = 1 + multiplier * draw.normal(size=count)  # where the record is there
        return _log_ratio(output, multiplier)

    return _gains(loss, steps, epsilon, draws, seed)


def poisson_profile(
    multiplier: float, sample_rate: float, steps: int, epsilon: float, draws: int, seed: int
) -> Numbers:
    """Return the same on Poisson samples, for the dataset that has the record against the one that has it not."""

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
    draw = np.random.default_rng(seed)

    def gains(count: int) -> Array:
        losses = np.zeros(count)
        for _ in range(steps):
            losses += loss(draw, count)
        return np.maximum(0.0, -np.expm1(epsilon - losses))

    return _summed(gains, draws)


def selection_shortfall(
    candidates: int, step_epsilon: float, sensitivity: float, shortfall: float, draws: int, seed: int
) -> Numbers:
    """Return the rate at which the exponential mechanism falls short of the best score by more than ``shortfall``.

    One candidate is best and all others are just that much worse: the hardest case. Gumbel noise makes the draw exact.
    """
    draw = np.random.default_rng(seed)
    scores = np.full(candidates, -shortfall * (1 + 1e-9))
    scores[0] = 0.0
    scores *= step_epsilon / (2 * sensitivity)

    def short(count: int) -> Array:
        noisy = scores + draw.gumbel(size=(count, candidates))
        return np.asarray(noisy.argmax(axis=1) != 0)

    return _counted(short, draws, max(1, _BLOCK // candidates))


_DUAL_NORMS: dict[str, Callable[[Array], Array]] = {
    "l2": lambda v: np.linalg.norm(v, axis=1),
    "l1": lambda v: np.abs(v).max(axis=1),
    "box": lambda v: np.abs(v).sum(axis=1),
}
_SETS: dict[str, Callable[[int, int], ConstraintSet]] = {"l2": L2Ball, "l1": L1Ball, "box": Box.cube}


def squared_dual_norm(shape: str, dimension: int, draws: int, seed: int) -> Numbers:
    """Mean square of sup <w, v>, v standard normal, over the unit l2 ball, l1 ball or box."""
    draw = np.random.default_rng(seed)

    def squares(count: int) -> Array:
        squared: Array = _DUAL_NORMS[shape](draw.normal(size=(count, dimension))) ** 2
        return squared

    return _summed(squares, draws, max(1, 10**6 // dimension))


# --- checks


def _runs(task: Task, draws: float = 1.0, **parameters: Value) -> kinds.CellsAt:
    quick, full = (int(draws * count) for count in (100_000, 4_000_000))
    return kinds.cells(task, draws=kinds.by_size(quick, full), **parameters)


def _ball_overlap(dimension: int, distance: str) -> kinds.Checks:
    statement = "tholeti-kalyani-2020/equation-6"
    return kinds.formula(
        statement,
        f"ball overlap, d = {dimension}, distance {distance}",
        _runs(ball_overlap, dimension=dimension, radius=1.0, distance=float(Fraction(distance))),
        lambda result: dp.theorem(statement).evaluate(None, dimension=dimension, radius=1, distance=distance).value,
    )


def _ball_run(dimension: int, steps: int) -> kinds.Checks:
    return kinds.formula(
        "tholeti-kalyani-2020/theorem-1/explicit",
        f"a run of ball noise, d = {dimension}, T = {steps}",
        _runs(ball_descent, 0.5, dimension=dimension, radius=1.0, distance=1.0, records=50, steps=steps),
        lambda result: dp.BallDescent(Fraction(1), dimension, 50, steps).delta(Fraction(1)),
    )


def _gaussian(multiplier: str, steps: int, epsilon: str) -> kinds.Checks:
    given = {"multiplier": float(Fraction(multiplier)), "epsilon": float(Fraction(epsilon))}
    return kinds.formula(
        "cited/dwork-roth-2014/theorem-a.1",
        f"δ({epsilon}) of {steps} Gaussian releases, z = {multiplier}",
        _runs(gaussian_profile, steps=steps, **given),
        lambda result: dp.delta(dp.Gaussian(multiplier) ** steps, epsilon),
    )


def _poisson(multiplier: str, rate: str, steps: int, epsilon: str) -> kinds.Checks:
    given = {"multiplier": multiplier, "sample_rate": rate, "epsilon": epsilon}
    return kinds.formula(
        "cited/abadi-et-al-2016/theorem-1",
        f"δ({epsilon}) of {steps} Poisson samples, q = {rate}, z = {multiplier}",
        _runs(poisson_profile, steps=steps, **{name: float(Fraction(value)) for name, value in given.items()}),
        lambda result: dp.delta(dp.PoissonSampled(dp.Gaussian(multiplier), rate) ** steps, epsilon),
    )


def _selection(candidates: int, failure: str, draws: float) -> kinds.Checks:
    statement = dp.theorem("wang-xu-2019/lemma-3")
    given: dict[str, Any] = {"candidates": candidates, "failure_probability": failure}
    shortfall = statement.evaluate(None, score_sensitivity=1, step_epsilon=1, **given).value.upper
    case: dict[str, Value] = {"step_epsilon": 1.0, "sensitivity": 1.0, "shortfall": shortfall}
    return kinds.rate_bounded(
        statement.id,
        f"shortfall of a selection, N = {candidates}, ζ = {failure}",
        _runs(selection_shortfall, draws, candidates=candidates, **case),
        lambda result: Enclosure.exactly(Fraction(failure)),
    )


def _dual_norm(shape: str, dimension: int) -> kinds.Checks:
    statement = "wang-xu-2019/lemma-4"

    def bound(result: Any) -> Enclosure:
        body = _SETS[shape](dimension, 1)
        width, largest = (
            size if isinstance(size, Enclosure) else evaluate(size, {})
            for size in (body.gaussian_width, body.norm_bound)
        )
        return dp.theorem(statement).evaluate(None, gaussian_width=width, norm_bound=largest).value

    name = f"squared dual norm of a Gaussian, {shape}, d = {dimension}"
    return kinds.mean_bounded(statement, name, _runs(squared_dual_norm, 0.2, shape=shape, dimension=dimension), bound)


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
