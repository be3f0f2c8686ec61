"""Examples: warm starts and random projections."""

from __future__ import annotations

from typing import Any

from algorithms.ledger import PrivacyBudget
from algorithms.spider.spider import Spider
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.stochastic import realisable
from algorithms.verification.tasks.warm_starts import regression
from algorithms.warm_starts.population_warm_start import PopulationWarmStart
from algorithms.warm_starts.random_projection import RandomProjection
from algorithms.warm_starts.warm_started_spider import WarmStartedSpider


def _warm(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(200, 2)
    made = WarmStartedSpider.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, radius=1, covering_radius="1/5", steps=15
    )
    return made, problem


def _after_descent(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = realisable(200, 2)
    made = WarmStartedSpider.behind_descent(problem, budget.epsilon, budget.delta, budget.relation, steps=15)
    return made, problem


def _projected(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(200, 40, 3)
    made = RandomProjection.calibrated(
        problem, Spider.calibrated, 30, budget.epsilon, budget.delta, budget.relation, steps=120
    )
    return made, problem


def _population(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = regression(2000, 2)
    made = PopulationWarmStart.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, radius=1, covering_radius="1/5"
    )
    return made, problem


EXAMPLES: tuple[Example, ...] = (
    Example(
        "warm-spider",
        ("lowy-ullman-wright-2024/algorithm-2", "lowy-ullman-wright-2024/theorem-3.2/explicit"),
        _warm,
    ),
    Example(
        "sgd-warm-spider",
        ("lowy-ullman-wright-2024/algorithm-2", "lowy-ullman-wright-2024/corollary-5.3/explicit"),
        _after_descent,
    ),
    Example("population-warm-start", ("lowy-ullman-wright-2024/algorithm-4",), _population),
    Example("projected-spider", ("lowy-ullman-wright-2024/lemma-8.1",), _projected),
)
