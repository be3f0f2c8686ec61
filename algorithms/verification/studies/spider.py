"""DP-SPIDER and its restarts: privacy loss, explicit bounds at three sizes, exponents in n and d."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from dpbounds.algorithms import problems
from dpbounds.algorithms.planning import multiplier_of_one
from dpbounds.algorithms.problems.landscapes import Landscape
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.spider.batch_storm import BatchStorm
from dpbounds.algorithms.spider.restarted_spider import THEOREMS as RESTARTED, Growth, RestartedSpider
from dpbounds.algorithms.spider.spider import THEOREMS, Spider, enclosed
from dpbounds.algorithms.spider.storm import Storm
from dpbounds.algorithms.verification.judging.checks import Numerical
from dpbounds.algorithms.verification.judging.planned_checks import (
    bounded,
    by_size,
    cells,
    exact_slope,
    formula,
    in_turn,
    slope,
    spent,
    together,
)
from dpbounds.algorithms.verification.judging.regimes import time_constants
from dpbounds.algorithms.verification.studies.quadratics import Quadratic, moments, quadratic_of
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping import trials
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, number, vector
from dpbounds.algorithms.verification.sweeping.trials import bound_of, reads
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.registry import theorem

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


@reads(trials.samples("mean_square"), trials.spending)
def storm(records: int, dimension: int, epsilon: float) -> tuple[Storm, LinearModel]:
    """DP-STORM with its own parameters: the mean square of the gradient over the possible outputs."""
    return at_budget(Storm.calibrated, regression(records, dimension), budget_of(epsilon))


@reads(trials.samples("mean_square"), trials.spending)
def storm_on_samples(records: int, dimension: int, epsilon: float) -> tuple[BatchStorm, LinearModel]:
    """Return the same on samples."""
    return at_budget(BatchStorm.calibrated, regression(records, dimension), budget_of(epsilon))


def _stages(run: Run) -> Numbers:
    return {"stages": run.parameters["stages"]}


_NORMS = (trials.samples("gradient"), trials.measured(objective="output_objective"), trials.step_count, trials.spending)


@reads(*_NORMS, trials.means("noise"))
def spider(records: int, dimension: int, epsilon: float) -> tuple[Spider, LinearModel]:
    """DP-SPIDER with the parameters of its theorem: mean gradient norm over the iterates that may be returned."""
    return at_budget(Spider.calibrated, regression(records, dimension), budget_of(epsilon))


@reads(*_NORMS, _stages)
def restarts(records: int, epsilon: float) -> tuple[RestartedSpider, Landscape]:
    """Restarted DP-SPIDER on the PL landscape: the same of the last stage, and the gap at the output."""
    return at_budget(RestartedSpider.calibrated, wavy(records), budget_of(epsilon))


@reads(*_NORMS, _stages)
def restarts_with_shares(records: int, epsilon: float) -> tuple[RestartedSpider, Landscape]:
    """Return the same with falling shares of the budget."""
    return at_budget(RestartedSpider.calibrated, wavy(records), budget_of(epsilon), shares="falling")


@reads(*_NORMS)
def restarts_of_quartic(records: int, epsilon: float) -> tuple[RestartedSpider, Landscape]:
    """Return the same on the landscape that is KL with k = 4/3."""
    return at_budget(RestartedSpider.calibrated, quartic(records), budget_of(epsilon), growth=QUARTIC)


@cache
def _quadratic_of(dimension: int) -> Quadratic:
    return quadratic_of(regression(_MODEL, dimension))


def on_a_quadratic(records: int, dimension: int, epsilon: float, seed: int) -> Numbers:
    """Root mean squares of gradient and error of DP-SPIDER on the quadratic of the regression, computed exactly."""
    del seed  # nothing is random
    model = replace(_quadratic_of(dimension), count=records)
    algorithm, problem = at_budget(Spider.calibrated, model, budget_of(epsilon))
    found, period = moments(algorithm, problem), algorithm.anchor_period
    return {
        "gradient": math.sqrt(found.gradient),
        "error": math.sqrt(found.error),
        "η h q": algorithm.step_size_for(problem) * float(problem.spectrum.max()) * period,
        "of_bound": math.sqrt(found.gradient) / algorithm.bound(problem).upper,
    }


def of_a_quadratic(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """Return the mean square of the gradient in runs on the same quadratic."""
    model = replace(_quadratic_of(dimension), count=records)
    run = trials.ran(at_budget(Spider.calibrated, model, budget_of(epsilon)), repetitions, seed)
    squares = run.trace["squared_gradient"].per_repetition
    return {"sum": float(squares.sum()), "squares": float((squares**2).sum()), "draws": float(repetitions)}


def _computed(result: Result) -> Numerical:
    given = result.parameters
    numbers = on_a_quadratic(given["records"], given["dimension"], given["epsilon"], 0)  # type: ignore[arg-type]
    square = float(numbers["gradient"]) ** 2  # type: ignore[arg-type]
    return Numerical(square, 1e-9 * square)


def _closed_form(result: Result) -> Enclosure:
    """Return the closed form with constants, at the ρ that the budget allows a single Gaussian release."""
    method, problem = trials.at_cell(spider.posed, result)
    assert method.budget is not None
    constants: dict[str, Any] = {
        name: enclosed(getattr(problem, name), name) for name in ("lipschitz", "smoothness", "initial_gap")
    }
    sizes = {"dataset_size": problem.records, "dimension": problem.dimension}
    rho = 2 / multiplier_of_one(method.budget) ** 2
    return theorem(THEOREMS["parameters"]).evaluate(None, rho=rho, **sizes, **constants).value


def _over_root_stages(result: Result) -> list[float]:
    """The gradient falls like √J/n, where J grows like log n: it is divided by √J, a public number."""
    root = math.sqrt(number(result, "stages"))
    return [value / root for value in vector(result, "gradient")]


_MODEL = 4000  # records of the regression whose spectrum the quadratic has
_spider = partial(cells, spider, repetitions=by_size(16, 64))
_SIZES = by_size((250, 500, 1000, 2000), (250, 500, 1000, 2000, 4000, 8000))
# enough dimensions, and a large enough ε, for the smallest size to be past the plateau of the loss, whose flatness
# hides the exponent where noise is large
_large = partial(_spider, dimension=20, epsilon=4.0)
_SWEEP, _NOISIER = _large(records=_SIZES), _spider(records=_SIZES, dimension=5, epsilon=1.0)
_quadratic = partial(cells, on_a_quadratic, epsilon=4.0)
_DOUBLED = by_size(tuple(1000 * 2**k for k in range(0, 11, 2)), tuple(1000 * 2**k for k in range(11)))
_restarts = partial(cells, restarts, epsilon=2.0, repetitions=by_size(64, 256))
_storm = partial(cells, storm, dimension=20, epsilon=4.0, repetitions=by_size(16, 64))(records=(250, 500, 1000))
_BATCHES = cells(storm_on_samples, records=(250, 500, 1000), dimension=20, epsilon=4.0, repetitions=by_size(64, 256))
_quartic = partial(cells, restarts_of_quartic, epsilon=2.0, repetitions=by_size(64, 256))
_SHARED = cells(restarts_with_shares, records=(4000, 32_000, 256_000), epsilon=2.0, repetitions=by_size(64, 256))
RESTARTS_SWEEP = _restarts(
    records=by_size((4000, 32_000, 256_000), (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000))
)

_OF_RESTARTS = (("gradient", "gradient", "closed_form"), ("gap", "objective", "excess_bound"))
_LARGE, _PARAMETERS = _large(records=(500, 1000, 2000)), THEOREMS["parameters"]
_BY_DIMENSION = _spider(records=by_size(250, 500), dimension=(5, 10, 20, 40), epsilon=8.0)

CHECKS = (
    spent(THEOREMS["spent"], "DP-SPIDER, every ledger of the sweep", _SWEEP),
    *bounded(THEOREMS["bound"], "DP-SPIDER, gradient, n = {records}", _LARGE, "gradient"),
    *bounded(_PARAMETERS, "DP-SPIDER, gradient, closed form, n = {records}", _LARGE, "gradient", _closed_form),
    # At fixed ε and d. The proof bounds the estimate's error. The gradient follows it where a phase is long enough: at
    # more records than can be run through, but on a quadratic they cost nothing.
    slope(
        _PARAMETERS,
        "DP-SPIDER, squared error of the estimate against n",
        together(_SWEEP, _NOISIER),
        "noise",
        -4 / 3,
        chosen="d = 20, ε = 4",
        among="d = {dimension}, ε = {epsilon:g}",
    ),
    exact_slope(
        _PARAMETERS,
        "DP-SPIDER, gradient against n",
        _quadratic(dimension=20, records=_DOUBLED),
        "gradient",
        -2 / 3,
        ("η h q", 5.0),
        ("runs on the regression itself", _SWEEP, "gradient"),
        chosen="the quadratic with the regression's spectrum, up to n = 1 024 000",
    ),
    *formula(
        _PARAMETERS,
        "DP-SPIDER, squared gradient on a quadratic, n = 500",
        cells(of_a_quadratic, records=500, dimension=20, epsilon=4.0, repetitions=by_size(64, 256)),
        _computed,
    ),
    spent("dpbounds/storm", "DP-STORM, every ledger", _storm),
    *bounded("dpbounds/storm", "DP-STORM, squared gradient, n = {records}", _storm, "mean_square"),
    spent("dpbounds/storm/batches", "DP-STORM on samples, every ledger", _BATCHES),
    *bounded("dpbounds/storm/batches", "DP-STORM on samples, squared gradient, n = {records}", _BATCHES, "mean_square"),
    spent(RESTARTED["spent"], "restarted DP-SPIDER, every ledger of the sweep", RESTARTS_SWEEP),
    *in_turn(
        *(
            bounded(
                RESTARTED["bound"],
                f"restarted DP-SPIDER, {name}, n = {{records}}",
                _restarts(records=(4000, 32_000, 256_000)),
                quantity,
                bound_of(method=method),
            )
            for name, quantity, method in _OF_RESTARTS
        )
    ),
    spent(RESTARTED["shares"], "restarted DP-SPIDER with shares, every ledger", _SHARED),
    *in_turn(
        *(
            bounded(
                RESTARTED["shares"],
                f"restarted DP-SPIDER with shares, {name}, n = {{records}}",
                _SHARED,
                quantity,
                bound_of(method=method),
            )
            for name, quantity, method in (("gradient", "gradient", "bound"), ("gap", "objective", "excess_bound"))
        )
    ),
    *bounded(
        RESTARTED["stage"],
        "restarted DP-SPIDER, gap of |w|⁴ (KL, k = 4/3), n = {records}",
        _quartic(records=(500, 1000, 2000)),
        "objective",
        bound_of(method="excess_bound"),
    ),
    slope(
        RESTARTED["bound"],
        "restarted DP-SPIDER, gradient/√J against n",
        RESTARTS_SWEEP,
        _over_root_stages,
        -1.0,
        regime=time_constants("η h T"),
    ),
    slope(
        _PARAMETERS, "DP-SPIDER, squared error of the estimate against d", _BY_DIMENSION, "noise", 2 / 3, "dimension"
    ),
    exact_slope(
        _PARAMETERS,
        "DP-SPIDER, gradient against d",
        _quadratic(dimension=(5, 10, 20, 40), records=2**24),
        "gradient",
        1 / 3,
        ("η h q", 5.0),
        ("runs on the regression itself", _BY_DIMENSION, "gradient"),
        against="dimension",
        chosen="the quadratic with the regression's spectrum, at n = 16 777 216",
    ),
)

_example = partial(calibrated_on, Spider.calibrated, partial(regression, 400, 4), steps=20, anchor_period=8)
# many records because the condition number is that of a landscape; they cost no time
_restarted_example = calibrated_on(RestartedSpider.calibrated, partial(quartic, 4000), growth=QUARTIC, stages=2)

EXAMPLES = (
    Example("dp-spider", tuple(dict.fromkeys(THEOREMS.values())), _example()),
    Example("dp-spider-as-printed", (THEOREMS["algorithm"],), _example(variant="as-printed"), printed=True),
    Example("dp-storm", ("dpbounds/storm",), calibrated_on(Storm.calibrated, partial(regression, 400, 3), steps=20)),
    Example(
        "dp-storm-batches",
        ("dpbounds/storm/batches",),
        calibrated_on(BatchStorm.calibrated, partial(regression, 400, 3), steps=20, sample_rate=Fraction(1, 4)),
    ),
    Example("restarted-dp-spider", tuple(dict.fromkeys(RESTARTED.values())), _restarted_example),
)
