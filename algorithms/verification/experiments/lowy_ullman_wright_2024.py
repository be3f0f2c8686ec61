"""Figures that Lowy, Ullman & Wright 2024 lack: their algorithms against n, beside bounds with constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from algorithms.verification.cells import Cell, Result
from algorithms.verification.experiments.base import Experiment, parameter, task, text, vector
from algorithms.verification.experiments.sizes import Quantity, compared, records
from algorithms.verification.suite import Size
from algorithms.verification.tasks import spider, stochastic, warm_starts
from dpbounds.render.curves import Panel

_PAPER = "lowy-ullman-wright-2024"
_TASKS = "algorithms.verification.tasks"

# --- a cold and a warm start ------------------------------------------------------------------------------------------

_DIMENSION, _START_EPSILON = 2, 2.0
_START_SIZES = {Size.QUICK: (300, 600, 1200), Size.FULL: (300, 600, 1200, 2400, 4800)}
_START_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}
_COVERING = 30  # times 1/n is the radius of the net: like the one of Definition 4.1, it shrinks like 1/n


def _start_cells(size: Size) -> list[Cell]:
    found = []
    for n in _START_SIZES[size]:
        repetitions = _START_REPETITIONS[size]
        each = {"records": n, "dimension": _DIMENSION, "epsilon": _START_EPSILON, "repetitions": repetitions}
        found += [
            Cell.of(f"{_TASKS}.warm_starts:warm", 0, covering_radius=str(Fraction(_COVERING, n)), **each),
            Cell.of(f"{_TASKS}.warm_starts:cold", 0, **each),
        ]
    return found


@cache
def _warm_bound(n: int, dimension: int, epsilon: float, covering_radius: str) -> float:
    problem = warm_starts.regression(n, dimension)
    return float(warm_starts.planned_warm(n, dimension, epsilon, covering_radius).bound(problem).upper)


def _sizes(each: Result) -> tuple[int, int, float]:
    return int(parameter(each, "records")), int(parameter(each, "dimension")), parameter(each, "epsilon")


_WARM = Quantity(
    "warm start",
    "gradient_norm",
    lambda each: _warm_bound(*_sizes(each), text(each, "covering_radius")),
    "Theorem 3.2",
    "1/n times a logarithm",
)
_COLD = Quantity("cold start", "gradient_norm", lambda each: vector(each, "bound")[0], "Algorithm 1", "n^(-2/3)")


def _of(results: Sequence[Result], name: str) -> list[Result]:
    return [each for each in results if task(each) == name]


def _start_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    curves = (*_WARM.curves(_of(results, "warm")), *_COLD.curves(_of(results, "cold")))
    title = f"Geman-McClure regression, d = {_DIMENSION}, ε = {_START_EPSILON:g}"
    return (Panel(title, "records n", "gradient norm", curves, log_x=True),)


def _start_findings(results: Sequence[Result]) -> tuple[str, ...]:
    warm, cold = _of(results, "warm"), _of(results, "cold")
    names = "the gradient after a warm start", "that after a cold start"
    steps = " and ".join(", ".join(f"{vector(each, 'steps')[0]:g}" for each in here) for here in (warm, cold))
    bounds = [c / w for w, c in zip(_WARM.bounds(warm), _COLD.bounds(cold), strict=True)]
    return (
        _WARM.told(warm),
        _COLD.told(cold),
        compared(_WARM.measured(warm), _COLD.measured(cold), names, records(warm)),
        f"The cold start's bound over the warm start's: {', '.join(f'{ratio:.3g}' for ratio in bounds)}; steps of "
        f"SPIDER behind them: {steps}.",
    )


# --- quasar-convex losses ---------------------------------------------------------------------------------------------

_QUASAR_DIMENSION, _QUASAR_EPSILON = 5, 1.0
_QUASAR_SIZES = {Size.QUICK: (100, 200, 400, 800), Size.FULL: (100, 200, 400, 800, 1600)}
_QUASAR_REPETITIONS = {Size.QUICK: 32, Size.FULL: 64}


def _quasar_cells(size: Size) -> list[Cell]:
    return [
        Cell.of(
            f"{_TASKS}.stochastic:stochastic",
            0,
            records=n,
            dimension=_QUASAR_DIMENSION,
            epsilon=_QUASAR_EPSILON,
            sampling="full",
            loss="geman-mcclure",
            repetitions=_QUASAR_REPETITIONS[size],
        )
        for n in _QUASAR_SIZES[size]
    ]


@cache
def _quasar_bound(n: int, dimension: int, epsilon: float) -> float:
    algorithm = stochastic.planned_stochastic(n, dimension, epsilon)
    return float(algorithm.bound(stochastic.realisable(n, dimension)).upper)


_EXCESS = Quantity("excess risk", "excess", lambda each: _quasar_bound(*_sizes(each)), "Proposition D.1", "1/n")


def _quasar_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    title = f"Geman-McClure, realisable, d = {_QUASAR_DIMENSION}, ε = {_QUASAR_EPSILON:g}"
    return (Panel(title, "records n", "excess empirical risk", _EXCESS.curves(results), log_x=True),)


# --- restarts under PL ------------------------------------------------------------------------------------------------

_RESTARTS_EPSILON = 2.0
_RESTARTS_SIZES = {
    Size.QUICK: (4000, 32_000, 256_000),
    Size.FULL: (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000),
}
_RESTARTS_REPETITIONS = {Size.QUICK: 64, Size.FULL: 256}


def _restarts_cells(size: Size) -> list[Cell]:
    each = {"epsilon": _RESTARTS_EPSILON, "repetitions": _RESTARTS_REPETITIONS[size]}
    return [Cell.of(f"{_TASKS}.spider:restarts", 0, records=n, **each) for n in _RESTARTS_SIZES[size]]


@cache
def _restarts_bound(n: int, epsilon: float) -> float:
    return float(spider.planned_restarts(n, epsilon).closed_form(spider.wavy(n)).upper)


_RESTARTED = Quantity(
    "gradient norm",
    "gradient",
    lambda each: _restarts_bound(int(parameter(each, "records")), parameter(each, "epsilon")),
    "bound",
)


def _restarts_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    title = f"a PL landscape, d = 2, ε = {_RESTARTS_EPSILON:g}"
    return (Panel(title, "records n", "gradient norm", _RESTARTED.curves(results), log_x=True),)


def _restarts_findings(results: Sequence[Result]) -> tuple[str, ...]:
    stages = ", ".join(f"{vector(each, 'stages')[0]:g}" for each in results)
    return _RESTARTED.told(results), f"Stages: {stages}, which share one budget."


EXPERIMENTS = (
    Experiment(
        f"{_PAPER}-warm-start",
        f"{_PAPER}/theorem-3.2/explicit",
        "Lowy, Ullman & Wright 2024: SPIDER, cold and warm start",
        _start_cells,
        _start_panels,
        _start_findings,
    ),
    Experiment(
        f"{_PAPER}-quasar-convex",
        f"{_PAPER}/proposition-d.1/explicit",
        "Lowy, Ullman & Wright 2024: DP-SGD, quasar-convex",
        _quasar_cells,
        _quasar_panels,
        lambda results: (_EXCESS.told(results),),
    ),
    Experiment(
        "polyak-lojasiewicz-restarted-spider",
        "dpbounds/polyak-lojasiewicz-restarted-spider",
        "SPIDER restarted on a PL landscape against n",
        _restarts_cells,
        _restarts_panels,
        _restarts_findings,
    ),
)
