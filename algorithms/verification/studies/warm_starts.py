"""Warm starts and random projections: privacy loss, bounds at three sizes."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from dpbounds.algorithms import PopulationWarmStart, RandomProjection, Spider, WarmStartedSpider, problems
from dpbounds.algorithms.problems import LinearModel
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.judging.planned_checks import bounded, by_size, cells, in_turn, spent
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result
from dpbounds.algorithms.verification.sweeping.trials import at_cell, means, measured, ran, reads, spending, step_count
from dpbounds.algorithms.warm_starts.random_projection import THEOREMS as PROJECTION
from dpbounds.algorithms.warm_starts.warm_started_spider import THEOREMS
from dpbounds.expressions.enclosure import Enclosure

_NOISE = 0.3  # standard deviation of the targets' noise: nothing is realisable


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


_NORMS = (means("gradient_norm"), step_count, spending)


@reads(*_NORMS, measured(start_objective="start_objective"))
@cache
def warm(
    records: int, dimension: int, epsilon: float, covering_radius: str | None
) -> tuple[WarmStartedSpider, LinearModel]:
    """A net of the unit ball in front, SPIDER behind: gradient norms, the start's risk, ε spent."""
    problem, net = regression(records, dimension), {"radius": 1, "covering_radius": covering_radius}
    return at_budget(WarmStartedSpider.calibrated, problem, budget_of(epsilon), **net)


@reads(*_NORMS, measured(start_objective="start_objective"))
@cache
def after_descent(records: int, dimension: int, epsilon: float) -> tuple[WarmStartedSpider, LinearModel]:
    """DP-SGD on a quasar-convex loss in front, SPIDER behind: the same; inf F = 0."""
    return at_budget(WarmStartedSpider.behind_descent, realisable(records, dimension), budget_of(epsilon))


def cold(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """SPIDER from the origin, with all of the budget."""
    method, problem = at_budget(Spider.calibrated, regression(records, dimension), budget_of(epsilon))
    run = ran((method, problem), repetitions, seed)
    return {"bound": method.bound(problem).upper} | means("gradient_norm")(run) | step_count(run) | spending(run)


def _both_norms(run: Run) -> Numbers:
    large, small = run.measured["gradient_norm"], run.measured["projected_gradient_norm"]
    return {"gradient_norm": large.tolist(), "ratio": (large / small).tolist()}


@reads(_both_norms, spending)
def projected(
    records: int, dimension: int, rank: int, projected_dimension: int, epsilon: float
) -> tuple[RandomProjection, LinearModel]:
    """SPIDER in a random projection: the gradient's norm in both spaces."""
    problem, inner = regression(records, dimension, rank), (Spider.calibrated, projected_dimension)
    return at_budget(RandomProjection.calibrated, problem, budget_of(epsilon), *inner, steps=20)


def _start_bound(result: Result) -> Enclosure:
    """ψ of the start: the bound on its risk."""
    method, problem = at_cell(after_descent.posed, result)
    start: Enclosure = method.start.bound(problem)
    return start


_RECORDS, _REPETITIONS = (300, 600, 1200), by_size(16, 64)
_warm = partial(cells, warm, dimension=2, epsilon=2.0, covering_radius="1/10", repetitions=_REPETITIONS)
_after = partial(cells, after_descent, dimension=2, epsilon=2.0, repetitions=_REPETITIONS)
_PROJECTED = cells(
    projected, records=300, dimension=60, rank=3, projected_dimension=30, epsilon=2.0, repetitions=_REPETITIONS
)

_BEHIND, _NAME = THEOREMS["quasar-convex"], "SPIDER behind DP-SGD, n = {records}"

CHECKS = (
    spent(THEOREMS["algorithm"], "exponential mechanism, then SPIDER: every ledger", _warm(records=_RECORDS)),
    *bounded(THEOREMS["bound"], "SPIDER behind a net, n = {records}", _warm(records=_RECORDS), "gradient_norm"),
    *in_turn(
        bounded(_BEHIND, f"{_NAME}: the start", _after(records=_RECORDS), "start_objective", _start_bound),
        bounded(_BEHIND, _NAME, _after(records=_RECORDS), "gradient_norm"),
    ),
    # what the lemma says without constants of the gradient is a rate; what it says with them is that Φ costs nothing
    spent(PROJECTION["algorithm"], "SPIDER in a random projection, k = 30: ledger", _PROJECTED),
)

_PAPER = "lowy-ullman-wright-2024"
_covering = {"radius": 1, "covering_radius": "1/5"}
_wide, _inner = partial(regression, 200, 40, 3), (Spider.calibrated, 30)

EXAMPLES = (
    Example(
        "warm-spider",
        (f"{_PAPER}/algorithm-2", f"{_PAPER}/theorem-3.2/explicit"),
        calibrated_on(WarmStartedSpider.calibrated, partial(regression, 200, 2), steps=15, **_covering),
    ),
    Example(
        "sgd-warm-spider",
        (f"{_PAPER}/algorithm-2", f"{_PAPER}/corollary-5.3/explicit"),
        calibrated_on(WarmStartedSpider.behind_descent, partial(realisable, 200, 2), steps=15),
    ),
    Example(
        "population-warm-start",
        (f"{_PAPER}/algorithm-4",),
        calibrated_on(PopulationWarmStart.calibrated, partial(regression, 2000, 2), **_covering),
    ),
    Example(
        "projected-spider",
        (f"{_PAPER}/lemma-8.1",),
        calibrated_on(RandomProjection.calibrated, _wide, *_inner, steps=120),
    ),
)
