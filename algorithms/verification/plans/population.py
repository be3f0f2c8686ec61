"""Population risk against explicit bounds, on records drawn anew; a corollary with the net that it prescribes."""

from __future__ import annotations

from fractions import Fraction

from algorithms.ledger import PrivacyBudget
from algorithms.planning import multiplier_of_one
from algorithms.verification.cells import Cell
from algorithms.verification.plans.shapes import bounded, rate_bounded
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks import population as tasks
from algorithms.verification.tasks import warm_starts
from algorithms.verification.tasks.frank_wolfe import budget_of, planned_vertex
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


def _vertices(records: int) -> Planned:
    def cell(size: Size) -> Cell:
        return Cell.of(
            f"{_TASKS}.population:vertices",
            0,
            records=records,
            dimension=4,
            epsilon=_EPSILON,
            repetitions=_REPETITIONS[size],
        )

    def bound() -> Enclosure:
        method, problem = planned_vertex(records, 4, budget_of(_EPSILON))
        return method.population_bound(problem)

    name = f"DP-FW-L1, excess population risk, n = {records}"
    return bounded("wang-chen-xu-2019/theorem-6/explicit", name, cell, "excess", bound)


def _tail(records: int) -> Planned:
    """With ψ = 0 (a minimiser lies in the ball, over which the excess is measured) and D = R = 1."""
    statement, failure = "lowy-ullman-wright-2024/lemma-e.3/explicit", Fraction(1, 5)

    def cell(size: Size) -> Cell:
        method, problem = tasks.planned_net(records, _EPSILON), tasks.regression(records, 1, 0)
        limit = theorem(statement).evaluate(
            None,
            excess_risk=0,
            lipschitz=evaluate(problem.lipschitz, {}),
            diameter=1,
            epsilon=Fraction(_EPSILON),
            dataset_size=records,
            candidates=method.net.size,
            net_radius=method.net.covering_radius,
            failure_probability=failure,
        )
        return Cell.of(
            f"{_TASKS}.population:net_tail",
            0,
            records=records,
            epsilon=_EPSILON,
            limit=limit.value.lower,
            repetitions=6 * _REPETITIONS[size],
        )

    name = f"choice on a net, tail of the population risk, n = {records}"
    return rate_bounded(statement, name, cell, lambda: Enclosure.exactly(failure, "ζ"))


def _ridge(records: int) -> Planned:
    """λ = 1, the net's radius fixed."""
    statement, failure, radius = "wang-chen-xu-2019/theorem-4/explicit", Fraction(1, 5), "1/50"

    def cell(size: Size) -> Cell:
        limit = theorem(statement).evaluate(
            None,
            lipschitz=evaluate(tasks.regression(records, 1, 0).lipschitz, {}),
            net_radius=Fraction(radius),
            regularisation=1,
            dataset_size=records,
            dimension=1,
            epsilon=Fraction(_EPSILON),
            failure_probability=failure,
        )
        return Cell.of(
            f"{_TASKS}.population:ridge_tail",
            0,
            records=records,
            epsilon=_EPSILON,
            covering_radius=radius,
            limit=limit.value.lower,
            repetitions=20 * _REPETITIONS[size],
        )

    name = f"choice on a net, tail of the regularised risk, n = {records}"
    return rate_bounded(statement, name, cell, lambda: Enclosure.exactly(failure, "ζ"))


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
    *(_vertices(records) for records in (250, 500, 1000)),
    *(_tail(records) for records in (500, 1000, 2000)),
    *(_ridge(records) for records in (50, 100, 200)),
    *(_corollary(records) for records in (300, 600, 1200)),
)
