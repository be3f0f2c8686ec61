"""Tholeti & Kalyani 2020, Figure 2 again: δ of one release of ball noise against the distance of the gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpbounds.algorithms.verification.experiments.base import Experiment
from dpbounds.algorithms.verification.experiments.sizes import curve_of
from dpbounds.algorithms.verification.judging.estimates import measured
from dpbounds.algorithms.verification.judging.planned_checks import by_size, cells
from dpbounds.algorithms.verification.studies.formulas import ball_overlap
from dpbounds.algorithms.verification.sweeping.cells import Result, parameter
from dpbounds.render.curves import Line, Panel
from dpbounds.theorems.registry import theorem

_DIMENSIONS = (1, 2, 3, 10, 50)
_GRID = 40
_RUNS = cells(
    ball_overlap,
    dimension=_DIMENSIONS,
    radius=1.0,
    distance=(0.1, 0.25, 0.5, 1.0, 1.5),
    draws=by_size(20_000, 1_000_000),
)


def _exact(dimension: int, distance: Fraction) -> float:
    equation = theorem("tholeti-kalyani-2020/equation-6")
    return equation.evaluate(distance=distance, radius=1, dimension=dimension).value.upper


def _panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    at = [Fraction(2 * step, _GRID) for step in range(_GRID + 1)]
    curves = []
    for d in _DIMENSIONS:
        here = [result for result in results if parameter(result, "dimension") == d]
        distances = [parameter(result, "distance") for result in here]
        curves.append(curve_of(f"d = {d}, measured", distances, [measured(result.numbers, 0.95) for result in here]))
        exact = tuple(_exact(d, distance) for distance in at)
        curves.append(Line("exact" if d == 1 else "_exact", tuple(map(float, at)), exact, promised=True))
    return (Panel("one release", "distance, in radii", "δ, at every ε", tuple(curves), log_y=False),)


def _findings(results: Sequence[Result]) -> tuple[str, ...]:
    scores = []
    for result in results:
        exact = _exact(int(parameter(result, "dimension")), Fraction(parameter(result, "distance")))
        estimate = measured(result.numbers, 0.95)
        draws = parameter(result, "draws")
        spread = math.sqrt(max(exact * (1 - exact), 1 / draws) / draws)
        scores.append(abs(estimate.mean - exact) / spread)
    half = ", ".join(f"{_exact(d, Fraction(1, 2)):.3g}" for d in _DIMENSIONS)
    return (
        f"{len(results)} Monte Carlo points lie within {max(scores):.2g} standard errors of equation (6); "
        "the curves rise in the distance and in the dimension, as in the paper.",
        f"At half a radius δ is {half} for d = {', '.join(map(str, _DIMENSIONS))}: in many dimensions a radius of a "
        "few distances protects nothing, and the radius has to grow like the root of d.",
    )


EXPERIMENTS = (
    Experiment(
        "tholeti-kalyani-2020-figure-2",
        "tholeti-kalyani-2020/figure-2",
        "Tholeti & Kalyani 2020, Figure 2 again: δ of one release of ball noise",
        _RUNS,
        _panels,
        _findings,
    ),
)
