"""Population risk against explicit bounds, on records drawn anew; a corollary with the net that it prescribes."""

from __future__ import annotations

from fractions import Fraction

from algorithms.ledger import PrivacyBudget
from algorithms.planning import multiplier_of_one
from algorithms.verification.cells import Cell
from algorithms.verification.plans.shapes import bounded
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks import population as tasks
from algorithms.verification.tasks import warm_starts
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.registry import theorem

_TASKS = "algorithms.verification.tasks"
_EPSILON = 1.0
_REPETITIONS = {Size.QUICK: 10, Size.FULL: 200}


def _frank_wolfe(records: int) -> Planned:
    def cell(size: Size) -> Cell:
        return Cell.of(
            f"{_TASKS}.population:frank_wolfe",
            0,
            records=records,
            dimension=3,
            epsilon=_EPSILON,
            repetitions=_REPETITIONS[size],
        )

    def bound() -> Enclosure:
        return tasks.planned_frank_wolfe(records, 3, _EPSILON).population_bound(tasks.links(records, 3, 0))

    name = f"DP-FW-L2, excess population risk, n = {records}"
    return bounded("wang-chen-xu-2019/theorem-5/explicit", name, cell, "excess", bound)


def _net(records: int) -> Planned:
    def cell(size: Size) -> Cell:
        return Cell.of(f"{_TASKS}.population:net", 0, records=records, epsilon=_EPSILON, repetitions=_REPETITIONS[size])

    def bound() -> Enclosure:
        return tasks.planned_net(records, _EPSILON).bound(tasks.regression(records, 1, 0), "population")

    name = f"choice on a net, excess population risk, n = {records}"
    return bounded("ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit", name, cell, "excess", bound)


def _corollary(records: int) -> Planned:
    """Radius and halves of the budget are those of the corollary; the noise is certified, hence smaller."""
    epsilon, statement = 2.0, "lowy-ullman-wright-2024/corollary-4.3/explicit"

    def cell(size: Size) -> Cell:
        return Cell.of(
            f"{_TASKS}.warm_starts:warm",
            0,
            records=records,
            dimension=1,
            epsilon=epsilon,
            covering_radius=None,
            repetitions=_REPETITIONS[size],
        )

    def bound() -> Enclosure:
        problem = warm_starts.regression(records, 1)
        budget = PrivacyBudget.of(Fraction(epsilon), warm_starts.DELTA)
        return (
            theorem(statement)
            .evaluate(
                None,
                dataset_size=records,
                dimension=1,
                diameter=2,
                rho=2 / multiplier_of_one(budget) ** 2,
                lipschitz=evaluate(problem.lipschitz, {}),
                smoothness=evaluate(problem.smoothness, {}),
            )
            .value
        )

    return bounded(statement, f"a net and then SPIDER, n = {records}", cell, "gradient_norm", bound)


PLANNED: tuple[Planned, ...] = (
    *(_frank_wolfe(records) for records in (250, 500, 1000)),
    *(_net(records) for records in (500, 1000, 2000)),
    *(_corollary(records) for records in (300, 600, 1200)),
)
