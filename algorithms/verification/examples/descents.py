"""Examples: descents."""

from __future__ import annotations

from typing import Any

from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from algorithms.ledger import PrivacyBudget
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.descents import design


def _projected(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = design(400, 4)
    return ProjectedGradientDescent.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=20
    ), problem


EXAMPLES: tuple[Example, ...] = (
    Example("dp-pgd", ("wang-xu-2019/algorithm-1", "wang-xu-2019/theorem-2/explicit"), _projected),
)
