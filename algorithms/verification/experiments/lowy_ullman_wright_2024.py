"""Figures that Lowy, Ullman & Wright 2024 lack: their algorithms against n, beside bounds with constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpbounds.algorithms.verification.experiments.base import Experiment, of_task
from dpbounds.algorithms.verification.experiments.sizes import Quantity, compared, records
from dpbounds.algorithms.verification.judging.planned_checks import Size, by_size, cells
from dpbounds.algorithms.verification.studies import spider, stochastic, warm_starts
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, number
from dpbounds.algorithms.verification.sweeping.trials import bound_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.render.curves import Panel

_PAPER = "lowy-ullman-wright-2024"

# --- a cold and a warm start

_COVERING = 30  # times 1/n is the radius of the net: like the one of Definition 4.1, it shrinks like 1/n
_WARM = Quantity("warm start", "gradient_norm", source="Theorem 3.2", printed="1/n times a logarithm")
_COLD = Quantity(
    "cold start",
    "gradient_norm",
    lambda result: Enclosure.exactly(Fraction(number(result, "bound"))),
    source="Algorithm 1",
    printed="n^(-2/3)",
)


def _start_cells(size: Size) -> Sequence[Cell]:
    shared: dict[str, Any] = {"dimension": 2, "epsilon": 2.0, "repetitions": by_size(16, 64)}
    runs: list[Cell] = []
    for n in (300, 600, 1200) if size is Size.QUICK else (300, 600, 1200, 2400, 4800):
        runs += cells(warm_starts.warm, records=n, covering_radius=str(Fraction(_COVERING, n)), **shared)(size)
        runs += cells(warm_starts.cold, records=n, **shared)(size)
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


# --- quasar-convex losses, and restarts under PL

_EXCESS = Quantity("excess risk", "excess", source="Proposition D.1", printed="1/n", axis="excess empirical risk")
_RESTARTED = Quantity("gradient norm", "gradient", bound_of(method="closed_form"), "bound")


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
        stochastic.SWEEP,
        lambda results: (_EXCESS.panel("Geman-McClure, realisable, d = 5, ε = 1", results),),
        lambda results: (_EXCESS.told(results),),
    ),
    Experiment(
        "polyak-lojasiewicz-restarted-spider",
        "dpbounds/polyak-lojasiewicz-restarted-spider",
        "SPIDER restarted on a PL landscape against n",
        spider.RESTARTS_SWEEP,
        lambda results: (_RESTARTED.panel("a PL landscape, d = 2, ε = 2", results),),
        _restarts_findings,
    ),
)
