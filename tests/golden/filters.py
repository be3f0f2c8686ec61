"""Filters and odometers over a stream of releases that were not planned."""

from __future__ import annotations

import dpbounds as dp
from tests.golden.mechanisms import RELATIONS, made
from tests.golden.recording import Answer

_ADD_OR_REMOVE, _REPLACE, _ = RELATIONS
_STREAMS = {
    "gaussians": ("gaussian(8)", "gaussian(9)", "gaussian(30)"),
    "sampled": ('poisson(gaussian(1), "0.01")', 'poisson(gaussian(2), "0.05")', 'poisson(laplace(4), "0.01")'),
    "mixed": ("gaussian(8)", "laplace(9)", "discrete_gaussian(9, 1, 1)"),
}


def questions():
    """Every kind of filter over every stream."""
    for stream, expressions in _STREAMS.items():
        for relation in (_ADD_OR_REMOVE, _REPLACE):
            steps = [made(one) for one in expressions] * 30
            for name, start in {
                "Rényi": lambda relation=relation: dp.RenyiFilter.for_target((2, 4, 8, 16, 32), 2, "1e-5", relation),
                "zCDP": lambda relation=relation: dp.ZCDPFilter.for_target(2, "1e-5", relation),
                "Gaussian": lambda relation=relation: dp.GaussianFilter.for_target(2, "1e-5", relation),
            }.items():
                yield f"{name} filter: {stream}, {relation}", lambda start=start, steps=steps: _filtered(start(), steps)
            yield (
                f"odometer: {stream}, {relation}",
                lambda r=relation, steps=steps: _odometer(dp.Odometer.ladder("1e-6", r), steps),
            )


def _filtered(budget, steps):
    """How many steps it admits, and what is left then."""
    admitted = 0
    while admitted < len(steps) and budget.admits(steps[admitted]):
        budget, admitted = budget.spend(steps[admitted]), admitted + 1
    left, cost = budget.remaining, budget.cost(steps[0])
    return Answer([admitted, left, cost, budget.least_noise_multiplier], text=repr(budget))


def _odometer(odometer, steps):
    for step in steps:
        odometer = odometer.spend(step)
    epsilon, delta = odometer.spent()
    return Answer(delta, {"epsilon": (0, epsilon)}, repr(odometer))
