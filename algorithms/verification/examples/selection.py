"""Examples: selection."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from algorithms.ledger import PrivacyBudget
from algorithms.selection.net_exponential_mechanism import NetExponentialMechanism, WhichVariant
from algorithms.selection.projected_langevin import ProjectedLangevin
from algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.selection import double_well


def _net(budget: PrivacyBudget, variant: WhichVariant = "proven") -> tuple[Algorithm, Any]:
    problem = double_well(40, 2)
    made = NetExponentialMechanism.calibrated(
        problem,
        epsilon=budget.epsilon,
        delta=budget.delta,
        relation=budget.relation,
        covering_radius="0.1",
        variant=variant,
    )
    return made, problem


def _as_printed(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _net(budget, "as-printed")


def _as_quoted(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _net(budget, "as-quoted")


def _exact(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = double_well(40, 2)
    made = RegularisedExponentialMechanism.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation
    )
    return made, problem


def _alternating(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    # a target that is easy to reach: its share of the budget is a small one
    share, failure = min(budget.epsilon, Fraction(1, 100)), budget.delta * (1 - Fraction(1, 2**30))
    made = RegularisedExponentialMechanism(
        share, "1.5", budget.relation, sampler="alternating", failure=failure, budget=budget
    )
    return made, double_well(20, 1)


def _langevin(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = double_well(40, 2)
    made = ProjectedLangevin.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=30
    )
    return made, problem


_NET = (
    "wang-chen-xu-2019/theorem-4/explicit",
    "lowy-ullman-wright-2024/lemma-4.2/explicit",
    "ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
)
_GIBBS = ("ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit", "ganesh-liu-oh-thakurta-2023/section-5.1")

EXAMPLES: tuple[Example, ...] = (
    Example("net-exponential-mechanism", _NET, _net),
    Example(
        "net-exponential-mechanism-as-printed", ("lowy-ullman-wright-2024/definition-4.1",), _as_printed, printed=True
    ),
    Example(
        "net-exponential-mechanism-as-quoted", ("ganesh-liu-oh-thakurta-2023/section-5.2",), _as_quoted, printed=True
    ),
    Example("regularised-exponential-mechanism", _GIBBS, _exact),
    Example(
        "alternate-sample",
        (
            "ganesh-liu-oh-thakurta-2023/algorithm-3",
            "ganesh-liu-oh-thakurta-2023/theorem-d.1",
            "ganesh-liu-oh-thakurta-2023/lemma-d.2",
        ),
        _alternating,
    ),
    Example("projected-langevin", _GIBBS[1:], _langevin),
)
