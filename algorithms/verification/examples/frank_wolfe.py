"""Examples: Frank-Wolfe methods."""

from __future__ import annotations

from typing import Any

from algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe
from algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe
from algorithms.ledger import PrivacyBudget
from algorithms.problems.sets import L1Ball, L2Ball
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.frank_wolfe import planned_vertex, sign_design, smooth_design


def _gaussian(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = smooth_design(400, 4)
    return GaussianFrankWolfe.calibrated(
        problem, L2Ball(4), epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=20
    ), problem


def _gaussian_as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = smooth_design(400, 4)
    return GaussianFrankWolfe.calibrated(
        problem,
        L2Ball(4),
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=20,
        variant="as-printed",
    ), problem


def _vertex(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return planned_vertex(400, 4, budget, steps=20)


def _vertex_as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = sign_design(400, 4)
    return VertexFrankWolfe.calibrated(
        problem,
        L1Ball(4),
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=20,
        variant="as-printed",
    ), problem


EXAMPLES: tuple[Example, ...] = (
    Example("dp-fw-l2", ("wang-xu-2019/algorithm-2", "wang-xu-2019/theorem-4/explicit"), _gaussian),
    Example("dp-fw-l2-as-printed", ("wang-xu-2019/theorem-4",), _gaussian_as_printed, printed=True),
    Example("dp-fw-l1", ("wang-xu-2019/algorithm-4", "wang-xu-2019/theorem-6/explicit"), _vertex),
    Example("dp-fw-l1-as-printed", ("wang-xu-2019/theorem-6",), _vertex_as_printed, printed=True),
)
