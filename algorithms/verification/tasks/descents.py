"""Runs of the reference algorithms on problems with known constants: what they measured and what they spent."""

from __future__ import annotations

from fractions import Fraction

from algorithms import problems
from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from algorithms.problems.problem import Problem

_DELTA = Fraction(1, 10**5)


def design(records: int, dimension: int) -> Problem:
    """The sigmoid loss on Wang & Xu's synthetic design: the same records for every cell of the same size."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, feature_bound=4)


def planned_descent(records: int, dimension: int, epsilon: float) -> ProjectedGradientDescent:
    """DP-PGD with the noise and the number of steps that its theorem prescribes."""
    return ProjectedGradientDescent.calibrated(design(records, dimension), epsilon=Fraction(epsilon), delta=_DELTA)


def projected_gradient(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-PGD: mean squares of the mapping (noisy and exact) and of the noise, one per repetition; ε that was spent."""
    algorithm = planned_descent(records, dimension, epsilon)
    run = algorithm.run(design(records, dimension), seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {
        "noisy": run.trace.noisy.per_repetition.tolist(),
        "exact": run.trace.exact.per_repetition.tolist(),
        "noise": run.trace.noise.per_repetition.tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }
