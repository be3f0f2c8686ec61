"""Tholeti & Kalyani 2020, Figure 2 again: δ of one release of ball noise against the distance of the gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from algorithms.verification.cells import Cell, Result
from algorithms.verification.estimates import measured
from algorithms.verification.experiments.base import Experiment, parameter
from algorithms.verification.suite import Size
from dpbounds.render.curves import Curve, Panel
from dpbounds.theorems.registry import theorem

_TASK = "algorithms.verification.tasks.formulas:ball_overlap"
_DIMENSIONS = (1, 2, 3, 10, 50)
_DISTANCES = (0.1, 0.25, 0.5, 1.0, 1.5)
_DRAWS = {Size.QUICK: 20_000, Size.FULL: 1_000_000}
_GRID = 40


def _cells(size: Size) -> list[Cell]:
    return [
        Cell.of(_TASK, 0, dimension=d, radius=1.0, distance=distance, draws=_DRAWS[size])
        for d in _DIMENSIONS
        for distance in _DISTANCES
    ]


def _exact(dimension: int, distance: Fraction) -> float:
    equation = theorem("tholeti-kalyani-2020/equation-6")
    return equation.evaluate(distance=distance, radius=1, dimension=dimension).value.upper


def _panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    at = [Fraction(2 * step, _GRID) for step in range(_GRID + 1)]
    curves = []
    for d in _DIMENSIONS:
        here = [each for each in results if parameter(each, "dimension") == d]
        found = [measured(each.numbers, 0.95) for each in here]
        curves.append(
            Curve(
                f"d = {d}, measured",
                tuple(parameter(each, "distance") for each in here),
                tuple(one.mean for one in found),
                tuple(one.low for one in found),
                tuple(one.high for one in found),
            )
        )
        curves.append(
            Curve(
                "exact" if d == 1 else "_exact",
                tuple(map(float, at)),
                tuple(_exact(d, one) for one in at),
                promised=True,
            )
        )
    return (Panel("one release", "distance, in radii", "δ, at every ε", tuple(curves), log_y=False),)


def _findings(results: Sequence[Result]) -> tuple[str, ...]:
    scores = []
    for each in results:
        exact = _exact(int(parameter(each, "dimension")), Fraction(parameter(each, "distance")))
        found = measured(each.numbers, 0.95)
        draws = parameter(each, "draws")
        spread = math.sqrt(max(exact * (1 - exact), 1 / draws) / draws)
        scores.append(abs(found.mean - exact) / spread)
    half = ", ".join(f"{_exact(d, Fraction(1, 2)):.3g}" for d in _DIMENSIONS)
    return (
        f"{len(results)} Monte Carlo points lie within {max(scores):.2g} standard errors of equation (6); "
        "the curves rise in the distance and in the dimension, as print says.",
        f"At half a radius δ is {half} for d = {', '.join(map(str, _DIMENSIONS))}: in many dimensions a radius of a "
        "few distances protects nothing, and the radius has to grow like the root of d.",
    )


EXPERIMENTS = (
    Experiment(
        "tholeti-kalyani-2020-figure-2",
        "tholeti-kalyani-2020/figure-2",
        "Tholeti & Kalyani 2020, Figure 2 again: δ of one release of ball noise",
        _cells,
        _panels,
        _findings,
    ),
)
