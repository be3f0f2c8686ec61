"""Runs for the papers' figures: how the measure of stationarity falls along the way."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from algorithms import problems
from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from algorithms.problems.problem import Problem

_FEATURE_BOUND = 4  # the sigmoid loss is then 1-Lipschitz, as in Wang & Xu's experiments
_L1 = Fraction(1, 200)  # λ/2 with λ = 0.01


@cache
def wang_xu_problem(data: str, records: int) -> Problem:
    """The sigmoid loss with an l1 regulariser on the first n records of a data set ("synthetic" or "covertype")."""
    if data == "covertype":
        found = problems.covertype(feature_bound=_FEATURE_BOUND)
    else:
        found = problems.wang_xu_design(10_000, 100, seed=0, feature_bound=_FEATURE_BOUND)
    return problems.sigmoid_loss(found.features[:records], found.labels[:records], l1=_L1, feature_bound=_FEATURE_BOUND)


def projected_gradient(
    data: str, records: int, epsilon: float, delta: str, steps: int, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-PGD with the smallest proven noise; ε = 0 stands for no noise to speak of.

    Returns:
        Norms along the way (root of the mean square over repetitions) at the noisy and at the exact gradient, means of
        both over the steps for each repetition, and the noise level.
    """
    problem = wang_xu_problem(data, records)
    if epsilon > 0:
        method = ProjectedGradientDescent.calibrated(problem, epsilon=Fraction(epsilon), delta=delta, steps=steps)
    else:
        method = ProjectedGradientDescent(noise_multiplier="1e-9", steps=steps)
    run = method.run(problem, seed=seed % 2**63, repetitions=repetitions)
    return {
        "noisy_path": [value**0.5 for value in run.trace.noisy.per_step.tolist()],
        "exact_path": [value**0.5 for value in run.trace.exact.per_step.tolist()],
        "noisy": run.trace.noisy.per_repetition.tolist(),
        "exact": run.trace.exact.per_repetition.tolist(),
        "noise_stddev": float(run.ledger.gaussian_releases[0].noise_stddev),
        "certified_epsilon": run.spent.upper if run.spent is not None else float("inf"),
    }
