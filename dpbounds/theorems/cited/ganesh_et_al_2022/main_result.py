r"""Sampling a parameter of a set of diameter $D$ with density proportional to $\exp(-\beta F)$, for $\beta$ of order
$n\varepsilon / (GD)$, is purely private and has excess empirical risk of order $GD\, d / (n\varepsilon)$ up to
logarithms, convex or not; no private algorithm does much better for losses that need not be convex, even with
$\delta > 0$.
"""

from sympy import Expr, Min

from dpbounds.expressions.symbols import Unit, dataset_size, delta, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ
from dpbounds.theorems.record import Claim, Condition, Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def rate() -> Expr:
    return lipschitz * diameter * dimension / (dataset_size * epsilon)


def lower() -> Expr:
    return lipschitz * diameter * Min(1, dimension / (dataset_size * epsilon))


def small_budget() -> tuple[Condition, ...]:
    return (
        Condition(holds=epsilon <= 1, why="range of Theorem 5.11 of Ganesh et al. 2023, which quotes it"),
        Condition(holds=delta <= dataset_size**-2, why="the same: δ at most a power of n beyond the first"),
    )


THEOREM = Theorem(
    id="cited/ganesh-et-al-2022/main-result",
    statement=__doc__,
    title="excess risk of sampling from the Gibbs distribution",
    where="Main results; quoted in Section 1.1 and Section 5.2 of Ganesh, Liu, Oh & Thakurta 2023",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.TIGHT,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, BOUNDED_SET),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            side=Side.UPPER,
            under=Claim.PURE,
            meaning="excess empirical risk",
            logs_hidden=True,
            increasing_in=(dimension, lipschitz, diameter),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=lower,
            name="lower",
            unit=Unit(loss=1),
            side=Side.LOWER,
            meaning="excess empirical risk, at least",
            conditions=small_budget,
            logs_hidden=True,
            increasing_in=(dimension, lipschitz, diameter),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "As quoted, β = εn/(GD) is ε-private: so it is when a record's loss is replaced by 0. When a record is "
            "replaced the factor is 2: β = εn/(2GD)."
        ),
        Note(
            "A lower bound that grows with log(1/δ) cannot be meant for every δ: the pure guarantee does not depend on "
            "δ."
        ),
    ),
)
