"""Runs of DP-SPIDER and of its restarts on problems with known constants: gradients, gaps and what was spent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms import problems
from algorithms.problems.landscapes import Landscape
from algorithms.problems.linear_model import LinearModel
from algorithms.run import Run
from algorithms.spider.restarted_spider import Growth, RestartedSpider
from algorithms.spider.spider import Spider

_DELTA = Fraction(1, 10**5)

QUARTIC = Growth(Fraction(1, 4), Fraction(4, 3))
"""|w|⁴ = (|4w³|/4)^{4/3} in one dimension, attained everywhere."""


def regression(records: int, dimension: int) -> LinearModel:
    """Geman-McClure regression on unit features with noisy targets: the same records for every cell of a size."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((records, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    direction = rng.standard_normal(dimension)
    return problems.geman_mcclure(features, features @ direction + 0.3 * rng.standard_normal(records))


def wavy(records: int) -> Landscape:
    """w² + 3 sin² w in two dimensions: PL on all of R², and not convex."""
    return problems.landscape(problems.WAVY, records, [0.8, -0.5], 2)


def quartic(records: int) -> Landscape:
    """|w|⁴ on [-1, 1]."""
    return problems.landscape(problems.power(4), records, [0.9], 1)


def planned_spider(records: int, dimension: int, epsilon: float) -> Spider:
    """DP-SPIDER with the noise and the parameters that its theorem prescribes."""
    return Spider.calibrated(regression(records, dimension), Fraction(epsilon), _DELTA)


def planned_restarts(records: int, epsilon: float) -> RestartedSpider:
    """Restarted DP-SPIDER on the PL landscape."""
    return RestartedSpider.calibrated(wavy(records), Fraction(epsilon), _DELTA)


def planned_quartic(records: int, epsilon: float) -> RestartedSpider:
    """Restarted DP-SPIDER on the landscape that is KL with k = 4/3."""
    return RestartedSpider.calibrated(quartic(records), Fraction(epsilon), _DELTA, growth=QUARTIC)


def spider(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """DP-SPIDER: mean gradient norm over the iterates that may be returned, one per repetition; ε that was spent."""
    algorithm = planned_spider(records, dimension, epsilon)
    return _numbers(algorithm.run(regression(records, dimension), seed=seed % 2**63, repetitions=repetitions))


def restarts(records: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """Restarts under PL: the same of the last stage, and the gap at the output."""
    algorithm = planned_restarts(records, epsilon)
    run = algorithm.run(wavy(records), seed=seed % 2**63, repetitions=repetitions)
    return {**_numbers(run), "stages": run.parameters["stages"]}


def restarts_of_quartic(records: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """Restarts under KL with k = 4/3."""
    algorithm = planned_quartic(records, epsilon)
    return _numbers(algorithm.run(quartic(records), seed=seed % 2**63, repetitions=repetitions))


def _numbers(run: Run) -> dict[str, float | list[float]]:
    assert run.spent is not None
    return {
        "gradient": run.samples.tolist(),
        "objective": run.measured["output_objective"].tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }
