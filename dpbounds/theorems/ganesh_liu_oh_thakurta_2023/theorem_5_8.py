r"""There is an $\varepsilon$-DP algorithm (the exponential mechanism on a net of radius $\frac{Dd}{\varepsilon n}$)
with an expected excess population risk of $O\Big(GD\Big(\frac{d \ln(\varepsilon n/d)}{\varepsilon n} + \sqrt{\frac{d
\ln(\varepsilon n/d)}n}\Big)\Big)$, in exponential time, for Lipschitz losses that need not be convex.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Parameter,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def rate() -> Expr:
    level = log(epsilon * dataset_size / dimension)
    private = dimension * level / (epsilon * dataset_size)
    return lipschitz * diameter * (private + sqrt(dimension * level) / sqrt(dataset_size))


def radius() -> Expr:
    return diameter * dimension / (epsilon * dataset_size)


def enough_records() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon * dataset_size >= 2 * dimension, why="the logarithm is positive, not near 0"),)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.8",
    title="excess population risk in exponential time",
    statement=__doc__,
    where="Section 5.2, Theorem 5.8; proof in Appendix D.4",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, BOUNDED_SET, SAMPLED_RECORDS),
    conditions=enough_records,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter),
        ),
        Parameter(
            formula=radius,
            name="net_radius",
            unit=Unit(length=1),
            meaning="r",
            increasing_in=(diameter, dimension),
            decreasing_in=(epsilon, dataset_size),
        ),
    ),
    relies_on=("cited/bassily-smith-thakurta-2014/main-result",),
    errata=(
        Erratum(
            printed="the risk over the set is at most G plus the risk over the net",
            right="Gr, with r the radius of the net: G is no loss, and would not vanish; the next display has Gr",
            severity=Severity.TYPO,
            evidence="test_theorem_5_8.py::test_the_net_costs_its_radius_times_the_slope",
            where="Appendix D.4, second sentence",
            survives="the proof",
        ),
    ),
    notes=(
        Note(
            "Print needs εn > d for its logarithm; where εn is close to d the printed bound is near 0 and cannot hold."
        ),
        Note("Print says that a maximal packing has O((D/r)^d) points; (1 + 2D/r)^d is what volumes give."),
        Note("The mechanism's scale is not printed; with β = εn/(2GD) see theorem-5.8/explicit."),
        Note("The continuous mechanism of theorem-5.6/explicit has the same order without a net."),
    ),
)
