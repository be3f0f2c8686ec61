"""Runs for exponents in other quantities than n: the same data at every size, so that only the noise changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from algorithms import problems
from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent, best_steps
from algorithms.ledger import PrivacyBudget
from algorithms.planning import root_above
from algorithms.problems.problem import Problem
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.wang_xu_2019 import theorem_1_explicit

_DELTA = Fraction(1, 10**5)
_FEATURES, _FEATURE_BOUND, _FLIPPED, _RADIUS = 4, 4, 0.2, 1
_NONE, _L1 = Fraction(0), Fraction(1, 100)


def padded(
    records: int, dimension: int, *, flipped: float = _FLIPPED, l1: Fraction = _NONE, radius: int | None = _RADIUS
) -> Problem:
    """The sigmoid loss, of four features and of zeros: the dimension enters by the noise alone.

    Where some labels are flipped the loss does not vanish far away from 0.
    """
    generator = np.random.default_rng(0)
    raw = generator.standard_normal((records, _FEATURES))
    signs = np.where(generator.random(records) < flipped, -1.0, 1.0)
    labels = np.where(raw.sum(axis=1) > 0, 1.0, -1.0) * signs
    features = np.zeros((records, dimension))
    features[:, :_FEATURES] = raw * (_FEATURE_BOUND / np.linalg.norm(raw, axis=1, keepdims=True))
    return problems.sigmoid_loss(features, labels, l1=l1, feature_bound=_FEATURE_BOUND, radius=radius)


def design(records: int, dimension: int, *, radius: int | None) -> Problem:
    """The sigmoid loss on Wang & Xu's synthetic design, whose features fill all dimensions."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=_FEATURE_BOUND)
    return problems.sigmoid_loss(data.features, data.labels, l1=0, feature_bound=_FEATURE_BOUND, radius=radius)


# The problems on which the exponents of DP-PGD are measured: labels, an l1 term, a ball, and Wang & Xu's design.
CHOSEN = "a fifth of the labels flipped, a ball"
PROBLEMS: Mapping[str, Callable[[int, int], Problem]] = {
    CHOSEN: padded,
    "the same with an l1 term": partial(padded, l1=_L1),
    "the same without a ball": partial(padded, radius=None),
    "the same with an l1 term, without a ball": partial(padded, l1=_L1, radius=None),
    "no labels flipped, a ball": partial(padded, flipped=0.0),
    "no labels flipped, without a ball": partial(padded, flipped=0.0, radius=None),
    "Wang & Xu's design, a ball": partial(design, radius=_RADIUS),
    "Wang & Xu's design, without a ball": partial(design, radius=None),
}


def prescribed_descent(problem: Problem, epsilon: float) -> ProjectedGradientDescent:
    """DP-PGD with the noise variance that the explicit theorem prescribes, σ² ∝ T/(n² ρ(ε)), at the best T for it.

    An accountant would need less; what it needs is no power of ε.
    """
    budget = PrivacyBudget.of(Fraction(epsilon), _DELTA)
    share = 2 / theorem_1_explicit.budget()
    square = evaluate(share, {symbols.epsilon: budget.epsilon, symbols.delta: budget.delta}).exact_upper
    single = root_above(Fraction(square))
    steps = best_steps(problem, single, ProjectedGradientDescent(1, 1).step_size_for(problem))
    return ProjectedGradientDescent(single * root_above(steps), steps, budget=budget)


def prescribed_gradient(
    problem: str, records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-PGD at the prescribed noise: mean squares of the mapping, one per repetition; ε that was spent."""
    posed = PROBLEMS[problem](records, dimension)
    algorithm = prescribed_descent(posed, epsilon)
    run = algorithm.run(posed, seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {
        "noisy": run.trace.noisy.per_repetition.tolist(),
        "exact": run.trace.exact.per_repetition.tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }
