"""Runs of the Frank-Wolfe methods on problems with known constants."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms import problems
from algorithms.frank_wolfe.bounded_entries import BoundedEntries, bounded_entries
from algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe
from algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe
from algorithms.ledger import PrivacyBudget
from algorithms.problems.problem import Problem
from algorithms.problems.sets import L1Ball, L2Ball
from algorithms.run import Run

_DELTA = Fraction(1, 10**5)
_CHOICES = 50


def smooth_design(records: int, dimension: int) -> Problem:
    """The sigmoid loss on Wang & Xu's synthetic design, without a regulariser."""
    data = problems.wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, l1=0, feature_bound=4)


def sign_design(records: int, dimension: int, seed: int = 0) -> BoundedEntries:
    """The squared loss with sigmoid link on features of ±1, the label drawn by the first of them."""
    generator = np.random.default_rng(seed)
    features = np.where(generator.random((records, dimension)) < 0.5, 1.0, -1.0)
    labels = np.where(generator.random(records) < 1 / (1 + np.exp(-features[:, 0])), 1, -1)
    return bounded_entries(problems.squared_sigmoid_link(features, labels, feature_bound=dimension), 1)


def budget_of(epsilon: float) -> PrivacyBudget:
    """The budget of every run."""
    return PrivacyBudget.of(Fraction(epsilon), _DELTA)


def planned_gaussian(records: int, dimension: int, epsilon: float) -> GaussianFrankWolfe:
    """DP-FW-L2 on the unit l2 ball with the noise and the steps that its explicit theorem prescribes."""
    problem = smooth_design(records, dimension)
    return GaussianFrankWolfe.calibrated(problem, L2Ball(dimension), epsilon=Fraction(epsilon), delta=_DELTA)


def planned_vertex(
    records: int, dimension: int, budget: PrivacyBudget, steps: int = _CHOICES
) -> tuple[VertexFrankWolfe, BoundedEntries]:
    """DP-FW-L1 on the unit l1 ball with twice the printed ε₀, and the problem it is for.

    T choices then cost Tε₀²/8 = ε²/(16 ln(1/δ)) in zCDP, which keeps the budget for ε <= 8 ln(1/δ): less than
    ``calibrated`` finds, but found at once. The run's ledger is held against the budget all the same.
    """
    problem, ball = sign_design(records, dimension), L1Ball(dimension)
    printed = VertexFrankWolfe.calibrated(
        problem,
        ball,
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=steps,
        variant="as-printed",
    )
    return VertexFrankWolfe(ball, 2 * printed.step_epsilon, steps, budget=budget), problem


def gaussian(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-FW-L2: mean gaps, one per repetition; ε that was spent."""
    algorithm = planned_gaussian(records, dimension, epsilon)
    return _numbers(algorithm.run(smooth_design(records, dimension), seed % 2**63, repetitions))


def vertex(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """DP-FW-L1: mean gaps and shortfalls of the choices, one per repetition; ε that was spent."""
    algorithm, problem = planned_vertex(records, dimension, budget_of(epsilon))
    run = algorithm.run(problem, seed % 2**63, repetitions)
    return _numbers(run) | {"shortfall": run.trace["shortfall"].per_repetition.tolist()}


def _numbers(run: Run) -> dict[str, float | list[float]]:
    assert run.spent is not None
    return {
        "gap": run.samples.tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
        "steps": float(run.steps),
    }
