"""Examples: stochastic spider, and the selection that follows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.ledger import PrivacyBudget
from algorithms.problems.landscapes import DOUBLE_WELL, landscape
from algorithms.selection.above_threshold import AboveThresholdSelection
from algorithms.selection.above_threshold import Variant as WhichTest
from algorithms.spider.population_stochastic_spider import PopulationStochasticSpider
from algorithms.spider.stochastic_spider import StochasticSpider, Variant
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.stochastic_spider import labelled, wavy

_PAPER = "ganesh-liu-oh-thakurta-2023"


def _search(budget: PrivacyBudget, variant: Variant = "repaired") -> tuple[Algorithm, Any]:
    problem = wavy(1500)
    return StochasticSpider.calibrated(problem, budget.epsilon, budget.delta, budget.relation, variant=variant), problem


def _printed_search(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _search(budget, "as-printed")


def _population(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = labelled(20_000)
    return PopulationStochasticSpider.calibrated(problem, budget.epsilon, budget.delta, budget.relation), problem


def _selection(budget: PrivacyBudget, variant: WhichTest = "one-test") -> tuple[Algorithm, Any]:
    problem = landscape(DOUBLE_WELL, 20_000, [0.5, 0.5], 2)
    points = np.linspace(
        [0.7, 0.7], [1.0, 1.0], 200
    )  # ever flatter, so that which one is returned is a matter of chance
    return AboveThresholdSelection.calibrated(
        points, "0.05", budget.epsilon, budget.delta, budget.relation, variant=variant
    ), problem


def _doubled_selection(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _selection(budget, "doubled")


def _printed_selection(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return _selection(budget, "as-printed")


EXAMPLES: tuple[Example, ...] = (
    Example("stochastic-spider", (f"{_PAPER}/algorithm-1", f"{_PAPER}/theorem-4.2/explicit"), _search),
    Example(
        "stochastic-spider-as-printed",
        (f"{_PAPER}/algorithm-1", f"{_PAPER}/theorem-4.2"),
        _printed_search,
        printed=True,
    ),
    Example(
        "stochastic-spider-population",
        (f"{_PAPER}/equation-3", f"{_PAPER}/theorem-4.6/explicit"),
        _population,
    ),
    Example("above-threshold", (f"{_PAPER}/lemma-4.1/explicit",), _selection),
    Example("above-threshold-doubled", (f"{_PAPER}/algorithm-2", f"{_PAPER}/lemma-4.1"), _doubled_selection),
    Example(
        "above-threshold-as-printed",
        (f"{_PAPER}/algorithm-2", f"{_PAPER}/lemma-4.1"),
        _printed_selection,
        printed=True,
    ),
)
