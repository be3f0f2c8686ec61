"""The Frank-Wolfe methods against Wang & Xu 2019: privacy loss, explicit bounds at three sizes, an exponent in n."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpbounds.algorithms import GaussianFrankWolfe, VertexFrankWolfe
from dpbounds.algorithms.frank_wolfe.bounded_entries import BoundedEntries, bounded_entries
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.problems import squared_sigmoid_link
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.sets import L1Ball, L2Ball
from dpbounds.algorithms.verification.judging.planned_checks import bounded, by_size, cells, slope, spent
from dpbounds.algorithms.verification.judging.regimes import way
from dpbounds.algorithms.verification.studies.problems import smooth_design
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping.trials import means, reads, samples, spending, step_count


def sign_design(records: int, dimension: int, seed: int = 0) -> BoundedEntries:
    """Return the squared loss with sigmoid link on features of ±1, the label drawn by the first of them."""
    generator = np.random.default_rng(seed)
    features = np.where(generator.random((records, dimension)) < 0.5, 1.0, -1.0)
    labels = np.where(generator.random(records) < 1 / (1 + np.exp(-features[:, 0])), 1, -1)
    return bounded_entries(squared_sigmoid_link(features, labels, feature_bound=dimension), 1)


@reads(samples("gap"), step_count, spending)
def gaussian(records: int, dimension: int, epsilon: float) -> tuple[GaussianFrankWolfe, Problem]:
    """DP-FW-L2 on the unit l2 ball with the noise and the steps of its explicit theorem: mean gaps, ε spent."""
    problem, ball = smooth_design(records, dimension), L2Ball(dimension)
    return at_budget(GaussianFrankWolfe.calibrated, problem, budget_of(epsilon), ball)


def vertex_at(
    records: int, dimension: int, budget: PrivacyBudget, steps: int = 50
) -> tuple[VertexFrankWolfe, BoundedEntries]:
    """DP-FW-L1 on the unit l1 ball with twice the printed ε₀, and the problem it is for.

    T choices then cost Tε₀²/8 = ε²/(16 ln(1/δ)) in zCDP, which keeps the budget for ε <= 8 ln(1/δ): less than
    ``calibrated`` finds, but found at once. The run's ledger is compared with the budget all the same.
    """
    problem, ball = sign_design(records, dimension), L1Ball(dimension)
    printed, _ = at_budget(VertexFrankWolfe.calibrated, problem, budget, ball, steps=steps, variant="as-printed")
    return VertexFrankWolfe(ball, 2 * printed.step_epsilon, steps, budget=budget), problem


@reads(samples("gap"), means("shortfall"), step_count, spending)
def vertex(records: int, dimension: int, epsilon: float) -> tuple[VertexFrankWolfe, BoundedEntries]:
    """Return the same at an ε: mean gaps and shortfalls of the choices, ε spent."""
    return vertex_at(records, dimension, budget_of(epsilon))


_PAPER, _BOUNDED = "wang-xu-2019", (500, 1000, 2000)
_SIZES = by_size(_BOUNDED, (500, 1000, 2000, 4000, 8000, 16_000))
_REPETITIONS = by_size(32, 64)
_gaussian = partial(cells, gaussian, dimension=5, epsilon=1.0, repetitions=_REPETITIONS)
_vertex = partial(cells, vertex, dimension=10, epsilon=1.0, repetitions=_REPETITIONS)

CHECKS = (
    spent(f"{_PAPER}/algorithm-2", "DP-FW-L2, every ledger", _gaussian(records=_BOUNDED)),
    spent(f"{_PAPER}/algorithm-4", "DP-FW-L1, every ledger", _vertex(records=_BOUNDED)),
    *bounded(
        f"{_PAPER}/theorem-4/explicit", "DP-FW-L2, Frank-Wolfe gap, n = {records}", _gaussian(records=_BOUNDED), "gap"
    ),
    *bounded(
        f"{_PAPER}/theorem-6/explicit", "DP-FW-L1, Frank-Wolfe gap, n = {records}", _vertex(records=_BOUNDED), "gap"
    ),
    # The gap falls like 1/√n at fixed ε and set. That of DP-FW-L1 is not judged: its number of choices is fixed here,
    # so that the gap does not follow the rate.
    slope(
        f"{_PAPER}/theorem-4",
        "DP-FW-L2, Frank-Wolfe gap against n",
        _gaussian(records=_SIZES, dimension=(5, 20)),
        "gap",
        -0.5,
        chosen="d = 5",
        among="d = {dimension}",
        regime=way(),
    ),
)

_L2 = partial(calibrated_on, GaussianFrankWolfe.calibrated, partial(smooth_design, 400, 4), L2Ball(4), steps=20)
_L1 = partial(calibrated_on, VertexFrankWolfe.calibrated, partial(sign_design, 400, 4), L1Ball(4), steps=20)

EXAMPLES = (
    Example("dp-fw-l2", (f"{_PAPER}/algorithm-2", f"{_PAPER}/theorem-4/explicit"), _L2()),
    Example("dp-fw-l2-as-printed", (f"{_PAPER}/theorem-4",), _L2(variant="as-printed"), printed=True),
    Example(
        "dp-fw-l1",
        (f"{_PAPER}/algorithm-4", f"{_PAPER}/theorem-6/explicit"),
        lambda budget: vertex_at(400, 4, budget, steps=20),
    ),
    Example("dp-fw-l1-as-printed", (f"{_PAPER}/theorem-6",), _L1(variant="as-printed"), printed=True),
)
