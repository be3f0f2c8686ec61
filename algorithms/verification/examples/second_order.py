"""Examples: second order."""

from __future__ import annotations

from typing import Any

from algorithms.ledger import PrivacyBudget
from algorithms.problems.sets import L2Ball
from algorithms.second_order.constrained_second_order import ConstrainedSecondOrder
from algorithms.second_order.gradient_descent import GradientDescent
from algorithms.second_order.negative_curvature_descent import NegativeCurvatureDescent
from algorithms.second_order.stationary_point_selection import StationaryPointSelection, Variant
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.second_order import regression


def _descent(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(400, 4)
    return GradientDescent.calibrated(problem, budget.epsilon, budget.delta, 20, budget.relation), problem


def _selection(budget: PrivacyBudget, variant: Variant = "repaired") -> tuple[Algorithm, Any]:
    problem = regression(400, 4)
    return StationaryPointSelection.calibrated(
        problem,
        budget.epsilon,
        budget.delta,
        stationarity="1/4",
        steps=10,
        relation=budget.relation,
        variant=variant,
    ), problem


def _selection_as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _selection(budget, "as-printed")


def _constrained(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(400, 4)
    return ConstrainedSecondOrder.calibrated(
        problem,
        L2Ball(4, "1/2"),
        "1/50",
        "1/10",
        budget.epsilon,
        budget.delta,
        steps=20,
        relation=budget.relation,
    ), problem


def _negative_curvature(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(400, 4)
    return NegativeCurvatureDescent.calibrated(
        problem, budget.epsilon, budget.delta, stationarity="1/5", relation=budget.relation
    ), problem


EXAMPLES: tuple[Example, ...] = (
    Example("dp-gd", ("wang-chen-xu-2019/algorithm-4", "wang-chen-xu-2019/algorithm-4/explicit"), _descent),
    Example("dp-gd-sosp", ("wang-chen-xu-2019/algorithm-5", "wang-chen-xu-2019/theorem-8/explicit"), _selection),
    Example("dp-gd-sosp-as-printed", ("wang-chen-xu-2019/algorithm-5",), _selection_as_printed, printed=True),
    Example("dp-gd-so", ("wang-chen-xu-2019/algorithm-6", "wang-chen-xu-2019/theorem-9/explicit"), _constrained),
    Example("dp-nc", ("dpbounds/negative-curvature-descent",), _negative_curvature),
)
