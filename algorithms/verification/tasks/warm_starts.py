"""Runs of warm starts and of random projections: what they measured and what they spent."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from algorithms import problems
from algorithms.problems import LinearModel
from algorithms.run import Run
from algorithms.spider.spider import Spider
from algorithms.verification.tasks.stochastic import realisable
from algorithms.warm_starts.random_projection import RandomProjection
from algorithms.warm_starts.warm_started_spider import WarmStartedSpider

DELTA = Fraction(1, 10**5)
_NOISE = 0.3  # of the targets: nothing is realisable


@cache
def regression(records: int, dimension: int, rank: int = 0) -> LinearModel:
    """Geman-McClure regression with noisy targets; features of norm 1, of a given rank (0 for full rank)."""
    draw = np.random.default_rng(0)
    features = draw.standard_normal((records, rank or dimension))
    if rank:
        features = features @ draw.standard_normal((rank, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    direction = draw.standard_normal(dimension)
    direction /= np.linalg.norm(direction)
    targets = 0.7 * features @ direction + _NOISE * draw.standard_normal(records)
    return problems.geman_mcclure(features, targets)


@cache
def planned_warm(records: int, dimension: int, epsilon: float, covering_radius: str | None) -> WarmStartedSpider:
    """A net of the unit ball in front, SPIDER behind."""
    return WarmStartedSpider.calibrated(
        regression(records, dimension),
        epsilon=Fraction(epsilon),
        delta=DELTA,
        radius=1,
        covering_radius=covering_radius,
    )


def warm(
    records: int, dimension: int, epsilon: float, covering_radius: str | None, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """A warm start and SPIDER: gradient norms (one mean per repetition), the start's risk, what was spent."""
    method = planned_warm(records, dimension, epsilon, covering_radius)
    run = method.run(regression(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    return _told(run) | {"start_objective": run.measured["start_objective"].tolist()}


@cache
def planned_after_descent(records: int, dimension: int, epsilon: float) -> WarmStartedSpider:
    """DP-SGD on a quasar-convex loss in front, SPIDER behind."""
    return WarmStartedSpider.behind_descent(realisable(records, dimension), epsilon=Fraction(epsilon), delta=DELTA)


def after_descent(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-SGD, then SPIDER: gradient norms (one mean per repetition), F at the start (inf F = 0), what was spent."""
    method = planned_after_descent(records, dimension, epsilon)
    run = method.run(realisable(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    return _told(run) | {"start_objective": run.measured["start_objective"].tolist()}


def cold(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """SPIDER from the origin, with all of the budget."""
    problem = regression(records, dimension)
    method = Spider.calibrated(problem, epsilon=Fraction(epsilon), delta=DELTA)
    run = method.run(problem, seed=seed % 2**63, repetitions=repetitions)
    return _told(run) | {"bound": method.bound(problem).upper}


def projected(
    records: int, dimension: int, rank: int, projected_dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """SPIDER in a random projection: the gradient's norm in both spaces."""
    problem = regression(records, dimension, rank)
    method = RandomProjection.calibrated(
        problem, Spider.calibrated, projected_dimension, Fraction(epsilon), DELTA, steps=20
    )
    run = method.run(problem, seed=seed % 2**63, repetitions=repetitions)
    large, small = run.measured["gradient_norm"], run.measured["projected_gradient_norm"]
    assert run.spent is not None
    return {
        "gradient_norm": large.tolist(),
        "ratio": (large / small).tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
    }


def _told(run: Run) -> dict[str, float | list[float]]:
    assert run.spent is not None
    return {
        "gradient_norm": run.trace.gradient_norm.per_repetition.tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }
