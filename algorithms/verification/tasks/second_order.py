"""Runs of the second-order algorithms: from an exact saddle point, at the number of records that is guaranteed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from algorithms import problems
from algorithms.problems.landscapes import DOUBLE_WELL, Landscape
from algorithms.problems.problem import Problem
from algorithms.problems.sets import L2Ball
from algorithms.run import Run
from algorithms.second_order.constrained_second_order import ConstrainedSecondOrder
from algorithms.second_order.gradient_descent import GradientDescent
from algorithms.second_order.negative_curvature_descent import NegativeCurvatureDescent
from algorithms.second_order.stationary_point_selection import StationaryPointSelection, Variant

_DELTA = Fraction(1, 10**6)
FAILURE = Fraction(1, 5)
Numbers = dict[str, float | list[float]]


def double_well(records: int, dimension: int = 2, radius: str = "3/2") -> Landscape:
    """Σ w⁴/4 - w²/2 from its saddle point (for p = 1, its maximum) 0, with n records in the memory of one.

    The guarantees ask for a million records and more. Records f(w, z_i) = F(w) + <z_i, w> with |z_i| <= 1/10 are what
    the constants allow for; that all z_i are 0 is one such data set, and the noise does not know.
    """
    shifts = np.broadcast_to(np.zeros((1, dimension)), (records, dimension))
    return Landscape(
        profile=DOUBLE_WELL,
        shifts=shifts,
        shift_bound=Fraction(1, 10),
        radius=Fraction(radius),
        start=np.zeros(dimension),
    )


def regression(records: int, dimension: int) -> Problem:
    """The sigmoid loss on Wang & Xu's synthetic design, without a regulariser."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, l1=0, feature_bound=4)


def planned_descent(records: int, dimension: int, epsilon: float) -> GradientDescent:
    """DP-GD with the noise and the number of steps that its explicit bound asks for."""
    return GradientDescent.calibrated(regression(records, dimension), Fraction(epsilon), _DELTA)


def gradient_descent(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-GD: ‖∇F‖² at a random iterate (its average over them), one per repetition; ε that was spent."""
    run = planned_descent(records, dimension, epsilon).run(regression(records, dimension), seed % 2**63, repetitions)
    return {"exact": run.samples.tolist(), **_spent(run)}


def selection(
    stationarity: str, steps: int, epsilon: float, repetitions: int, seed: int, variant: Variant = "repaired"
) -> Numbers:
    """Algorithm 5 at the smallest n that its tests' guarantee asks for."""
    algorithm = StationaryPointSelection.calibrated(
        double_well(2), Fraction(epsilon), _DELTA, stationarity, FAILURE, steps, variant=variant
    )
    problem = double_well(math.ceil(algorithm.records_needed(double_well(2)).exact_upper))
    return _success(algorithm.run(problem, seed % 2**63, repetitions), problem.records)


def negative_curvature(stationarity: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-NC at the smallest n that its guarantee asks for."""
    algorithm = NegativeCurvatureDescent.calibrated(double_well(2), Fraction(epsilon), _DELTA, stationarity, FAILURE)
    problem = double_well(math.ceil(algorithm.records_needed(double_well(2)).exact_upper))
    algorithm.bound(problem)  # raises where the guarantee does not hold at this size
    return _success(algorithm.run(problem, seed % 2**63, repetitions), problem.records)


def constrained(
    dimension: int,
    radius: str,
    gap_tolerance: str,
    curvature_tolerance: str,
    epsilon: float,
    repetitions: int,
    seed: int,
) -> Numbers:
    """Algorithm 6 on an l2 ball at the smallest n that its guarantee asks for."""
    algorithm = ConstrainedSecondOrder.calibrated(
        double_well(2, dimension, radius),
        L2Ball(dimension, radius),
        gap_tolerance,
        curvature_tolerance,
        Fraction(epsilon),
        _DELTA,
        FAILURE,
    )
    needed = algorithm.records_needed(double_well(2, dimension, radius))
    problem = double_well(math.ceil(needed.exact_upper), dimension, radius)
    algorithm.bound(problem)
    return _success(algorithm.run(problem, seed % 2**63, repetitions), problem.records)


def operator_norm(dimension: int, failure: float, draws: int, seed: int) -> Numbers:
    """How often symmetric noise, N(0, 1) on and above the diagonal, has an operator norm above its tail bound."""
    generator = np.random.default_rng(seed)
    limit = 2 * (math.sqrt(dimension) + math.sqrt(math.log(2 / failure)))
    above, hits = np.triu_indices(dimension), 0
    for start in range(0, draws, 1000):
        count = min(1000, draws - start)
        matrices = np.zeros((count, dimension, dimension))
        matrices[:, above[0], above[1]] = generator.standard_normal((count, len(above[0])))
        matrices[:, above[1], above[0]] = matrices[:, above[0], above[1]]
        hits += int((np.abs(np.linalg.eigvalsh(matrices)).max(axis=1) > limit).sum())
    return {"hits": float(hits), "draws": float(draws)}


def _success(run: Run, records: int) -> Numbers:
    return {
        "hits": float(run.measured["failure"].sum()),
        "draws": float(run.repetitions),
        "found": float(run.outputs["found"].sum()),
        "records": float(records),
        "steps": float(run.steps),
        **_spent(run),
    }


def _spent(run: Run) -> Numbers:
    assert run.spent is not None
    return {"spent_lower": run.spent.lower, "spent_upper": run.spent.upper}
