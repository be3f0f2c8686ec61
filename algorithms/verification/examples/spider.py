"""Examples: spider."""

from __future__ import annotations

from typing import Any, Literal

from algorithms import problems
from algorithms.ledger import PrivacyBudget
from algorithms.spider.restarted_spider import THEOREMS as RESTARTED
from algorithms.spider.restarted_spider import RestartedSpider
from algorithms.spider.spider import THEOREMS, Spider
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.spider import QUARTIC, regression


def _spider(budget: PrivacyBudget, variant: Literal["repaired", "as-printed"] = "repaired") -> tuple[Algorithm, Any]:
    problem = regression(400, 4)
    return Spider.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, steps=20, anchor_period=8, variant=variant
    ), problem


def _restarted(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    # so many records because the condition number is that of a landscape; they cost nothing
    problem = problems.landscape(problems.power(4), 4000, [0.9], 1)
    return RestartedSpider.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, growth=QUARTIC, stages=2
    ), problem


EXAMPLES: tuple[Example, ...] = (
    Example("dp-spider", tuple(dict.fromkeys(THEOREMS.values())), _spider),
    Example(
        "dp-spider-as-printed",
        (THEOREMS["algorithm"],),
        lambda budget: _spider(budget, "as-printed"),
        printed=True,
    ),
    Example("restarted-dp-spider", tuple(dict.fromkeys(RESTARTED.values())), _restarted),
)
