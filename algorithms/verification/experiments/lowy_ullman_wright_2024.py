"""Figures that Lowy, Ullman & Wright 2024 lack: their algorithms against n, beside bounds with constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpbounds.algorithms.verification.experiments.base import Experiment, of_task
from dpbounds.algorithms.verification.experiments.sizes import Quantity, compared, records
from dpbounds.algorithms.verification.judging.planned_checks import Size, by_size, cells
from dpbounds.algorithms.verification.studies import spider, stochastic, warm_starts
from dpbounds.algorithms.verification.studies.running import bound_of
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, number
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.render.curves import Panel

_PAPER = "lowy-ullman-wright-2024"

# --- a cold and a warm start

_START_SIZES = {Size.QUICK: (300, 600, 1200), Size.FULL: (300, 600, 1200, 2400, 4800)}
_START_REPETITIONS = by_size(16, 64)
_COVERING = 30  # times 1/n is the radius of the net: like the one of Definition 4.1, it shrinks like 1/n
_WARM = Quantity("warm start", "gradient_norm", bound_of(warm_starts.warm), "Theorem 3.2", "1/n times a logarithm")
_COLD = Quantity(
    "cold start",
    "gradient_norm",
    lambda result: Enclosure.exactly(Fraction(number(result, "bound"))),
    "Algorithm 1",
    "n^(-2/3)",
)


def _start_cells(size: Size) -> Sequence[Cell]:
    runs: list[Cell] = []
    for n in _START_SIZES[size]:
        given: dict[str, Any] = {"records": n, "dimension": 2, "epsilon": 2.0, "repetitions": _START_REPETITIONS}
        runs += cells(warm_starts.warm, covering_radius=str(Fraction(_COVERING, n)), **given)(size)
        runs += cells(warm_starts.cold, **given)(size)
    return runs


def _start_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    warm, cold = of_task(results, warm_starts.warm), of_task(results, warm_starts.cold)
    curves = (*_WARM.curves(warm), *_COLD.curves(cold))
    return (Panel("Geman-McClure regression, d = 2, ε = 2", "records n", "gradient norm", curves, log_x=True),)


def _start_findings(results: Sequence[Result]) -> tuple[str, ...]:
    warm, cold = of_task(results, warm_starts.warm), of_task(results, warm_starts.cold)
    names = "the gradient after a warm start", "that after a cold start"
    steps = " and ".join(", ".join(f"{number(result, 'steps'):g}" for result in here) for here in (warm, cold))
    bounds = [c / w for w, c in zip(_WARM.bounds(warm), _COLD.bounds(cold), strict=True)]
    return (
        _WARM.told(warm),
        _COLD.told(cold),
        compared(_WARM.measured(warm), _COLD.measured(cold), names, records(warm)),
        f"The cold start's bound over the warm start's: {', '.join(f'{ratio:.3g}' for ratio in bounds)}; steps of "
        f"SPIDER behind them: {steps}.",
    )


# --- quasar-convex losses

_QUASAR_SIZES = by_size((100, 200, 400, 800), (100, 200, 400, 800, 1600))
_QUASAR_REPETITIONS = by_size(32, 64)
_EXCESS = Quantity(
    "excess risk",
    "excess",
    bound_of(stochastic.stochastic),
    "Proposition D.1",
    "1/n",
    "excess empirical risk",
)


def _quasar_cells(size: Size) -> Sequence[Cell]:
    given: dict[str, Any] = {"dimension": 5, "epsilon": 1.0, "sampling": "full", "loss": "geman-mcclure"}
    return cells(stochastic.stochastic, records=_QUASAR_SIZES, repetitions=_QUASAR_REPETITIONS, **given)(size)


# --- restarts under PL

_RESTARTS_SIZES = by_size((4000, 32_000, 256_000), (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000))
_RESTARTS_REPETITIONS = by_size(64, 256)
_RESTARTED = Quantity("gradient norm", "gradient", bound_of(spider.restarts, method="closed_form"), "bound")


def _restarts_cells(size: Size) -> Sequence[Cell]:
    return cells(spider.restarts, records=_RESTARTS_SIZES, epsilon=2.0, repetitions=_RESTARTS_REPETITIONS)(size)


def _restarts_findings(results: Sequence[Result]) -> tuple[str, ...]:
    stages = ", ".join(f"{number(result, 'stages'):g}" for result in results)
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
        lambda results: (_EXCESS.panel("Geman-McClure, realisable, d = 5, ε = 1", results),),
        lambda results: (_EXCESS.told(results),),
    ),
    Experiment(
        "polyak-lojasiewicz-restarted-spider",
        "dpbounds/polyak-lojasiewicz-restarted-spider",
        "SPIDER restarted on a PL landscape against n",
        _restarts_cells,
        lambda results: (_RESTARTED.panel("a PL landscape, d = 2, ε = 2", results),),
        _restarts_findings,
    ),
)
