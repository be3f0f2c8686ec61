"""Runs for the papers' figures: how the measure of stationarity falls along the way."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np

from dpbounds.algorithms import problems
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.descents.quoted_baselines import QuotedDescent, WangYeXu2017, ZhangEtAl2017
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.verification.studies.descents import WhichBaseline, baseline
from dpbounds.algorithms.verification.sweeping.cells import Numbers
from dpbounds.algorithms.verification.sweeping.trials import means, ran
from dpbounds.expressions.enclosure import Enclosure

WhichMethod = Literal["certified"] | WhichBaseline

_QUOTED_DELTA = "1e-3"  # Wang & Xu's
_FEATURE_BOUND = 4  # the sigmoid loss is then 1-Lipschitz, as in Wang & Xu's experiments
_L1 = Fraction(1, 200)  # λ/2 with λ = 0.01


@cache
def wang_xu_problem(data: str, records: int) -> Problem:
    """The sigmoid loss with an l1 regulariser on the first n records of a dataset ("synthetic" or "covertype")."""
    if data == "covertype":
        data_set = problems.covertype(feature_bound=_FEATURE_BOUND)
    else:
        data_set = problems.wang_xu_design(10_000, 100, seed=0, feature_bound=_FEATURE_BOUND)
    return problems.sigmoid_loss(
        data_set.features[:records], data_set.labels[:records], l1=_L1, feature_bound=_FEATURE_BOUND
    )


def projected_gradient(
    data: str, records: int, epsilon: float, delta: str, steps: int, repetitions: int, seed: int
) -> Numbers:
    """DP-PGD with the smallest proven noise; ε = 0 stands for no noise to speak of.

    Norms along the way (root of the mean square over repetitions) at the noisy and at the exact gradient, means of both
    over the steps for each repetition, and the noise level.
    """
    problem = wang_xu_problem(data, records)
    if epsilon > 0:
        method = ProjectedGradientDescent.calibrated(problem, epsilon=Fraction(epsilon), delta=delta, steps=steps)
    else:
        method = ProjectedGradientDescent(noise_multiplier="1e-9", steps=steps)
    run = ran((method, problem), repetitions, seed)
    paths: Numbers = {
        "noisy_path": [value**0.5 for value in run.trace.noisy.per_step.tolist()],
        "exact_path": [value**0.5 for value in run.trace.exact.per_step.tolist()],
        "noise_stddev": float(run.ledger.gaussian_releases[0].noise_stddev),
        "certified_epsilon": run.spent.upper if run.spent is not None else float("inf"),
    }
    return paths | means("noisy", "exact")(run)


def method_posed(method: WhichMethod, records: int, epsilon: float, steps: int) -> tuple[QuotedDescent, Problem]:
    """A method of Figure 4 on Covertype: DP-PGD with the smallest proven noise, or with noise as quoted there."""
    problem = wang_xu_problem("covertype", records)
    if method == "certified":
        return QuotedDescent.calibrated(problem, Fraction(epsilon), _QUOTED_DELTA, steps), problem
    return baseline(method, epsilon, steps), problem


def method_path(
    method: WhichMethod, records: int, epsilon: float, steps: int, last: int, repetitions: int, seed: int
) -> Numbers:
    """One method of Figure 4 on Covertype, from Wang & Xu's start with their δ.

    The norm of the projected gradient (at the exact gradient) at every step, mean and standard error over repetitions;
    its mean over the last steps and its root mean square over all, one per repetition; the noise level and the ε that
    it spends, certified.
    """
    planned, problem = method_posed(method, records, epsilon, steps)
    # one run per repetition: a trace keeps means over repetitions, and here their spread is wanted, too
    runs = [ran((planned, problem), 1, seed + r) for r in range(repetitions)]
    paths = np.sqrt([run.trace.exact.per_step for run in runs])
    spent = planned.spent
    return {
        "path": paths.mean(axis=0).tolist(),
        "path_error": (paths.std(axis=0, ddof=1) / repetitions**0.5).tolist(),
        "end": paths[:, -last:].mean(axis=1).tolist(),
        "average": np.sqrt((paths**2).mean(axis=1)).tolist(),
        "noise_stddev": float(runs[0].ledger.gaussian_releases[0].noise_stddev),
        "spent_lower": spent.lower,
        "spent_upper": spent.upper,
    }


def quoted_noise(records: int, epsilon: float, steps: int, seed: int) -> Numbers:
    """Return the ε of the noise quoted for Zhang et al., as printed; both baselines with a valid budget.

    T releases at a variance that grows like ln(T/δ) spend the more the larger T is, as T/ln(T/δ) grows for T/δ > e. So
    there is a smallest T at which it spends more than ε; with it what it spends at one step less (0 at none),
    certified, and the noise multipliers of our method and of the baselines with the smallest proven noise.
    """
    claimed, problem = Fraction(epsilon), wang_xu_problem("covertype", records)

    def spent(count: int) -> Enclosure:
        return ZhangEtAl2017.quoted(claimed, _QUOTED_DELTA, count).spent

    high = 1
    while not spent(high).exact_lower > claimed:
        high *= 2
    counts = range(high // 2, high + 1)  # at the first of them it is not broken, or there is no step
    first = counts[bisect_left(counts, True, lo=1, key=lambda count: spent(count).exact_lower > claimed)]
    methods: dict[str, Any] = {"ours": ProjectedGradientDescent, "zhang": ZhangEtAl2017, "wang-ye-xu": WangYeXu2017}
    honest = {
        name: float(method.calibrated(problem, claimed, _QUOTED_DELTA, steps).noise_multiplier)
        for name, method in methods.items()
    }
    return {"broken_from": float(first), "spent_before": spent(first - 1).upper if first > 1 else 0.0, **honest}
