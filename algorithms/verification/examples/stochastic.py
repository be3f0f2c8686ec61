"""Examples: stochastic gradient descent for quasar-convex losses."""

from __future__ import annotations

from typing import Any

from algorithms.descents.selected_stochastic_gradient_descent import SelectedStochasticGradientDescent
from algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from algorithms.ledger import PrivacyBudget
from algorithms.oracles import Poisson
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.stochastic import planned_selected, realisable


def _full(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = realisable(400, 4)
    return StochasticGradientDescent.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=20
    ), problem


def _poisson(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = realisable(400, 4)
    return StochasticGradientDescent.calibrated(
        problem,
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=20,
        sampling=Poisson("1/10"),
    ), problem


def _as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = realisable(400, 4)
    return StochasticGradientDescent.calibrated(
        problem,
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=20,
        variant="as-printed",
    ), problem


def _selected(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return planned_selected(400, 4, budget, runs=3, steps=10)


def _selected_as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = realisable(400, 4)
    return SelectedStochasticGradientDescent.calibrated(
        problem,
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        steps=10,
        variant="as-printed",
    ), problem


_PROPOSITION = "lowy-ullman-wright-2024/proposition-5.2"

EXAMPLES: tuple[Example, ...] = (
    Example(
        "dp-sgd",
        ("lowy-ullman-wright-2024/algorithm-3", "lowy-ullman-wright-2024/proposition-d.1/explicit"),
        _full,
    ),
    Example("dp-sgd-poisson", ("lowy-ullman-wright-2024/proposition-d.1/explicit",), _poisson),
    Example("dp-sgd-as-printed", (_PROPOSITION, "lowy-ullman-wright-2024/algorithm-3"), _as_printed, printed=True),
    Example("dp-sgd-selected", (f"{_PROPOSITION}/explicit",), _selected),
    Example("dp-sgd-selected-as-printed", (_PROPOSITION,), _selected_as_printed, printed=True),
)
