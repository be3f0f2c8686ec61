r"""Minimax problems that are non-convex in one argument and strongly concave in the other: a private, purely
first-order method (nested descent and ascent, with SPIDER estimates) finds, with high probability, an
$\alpha$-second-order stationary point of the function that is left after maximising, with $\alpha$ of order
$\left(\frac{\sqrt d}{n\varepsilon}\right)^{2/3}$ for the empirical and $n^{-1/3} + \left(\frac{\sqrt
d}{n\varepsilon}\right)^{1/2}$ for the population objective.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
)
from dpbounds.theorems.record import (
    Metric,
    Mode,
    Note,
    Rate,
    Read,
    Side,
    Status,
    Theorem,
)

HIDDEN = (delta, lipschitz, smoothness, hessian_lipschitz, initial_gap)


def empirical() -> Expr:
    return (sqrt(dimension) / (dataset_size * epsilon)) ** Rational(2, 3)


def population() -> Expr:
    return dataset_size ** Rational(-1, 3) + sqrt(sqrt(dimension) / (dataset_size * epsilon))


THEOREM = Theorem(
    id="cited/xu-et-al-2026/main-result",
    statement=__doc__,
    title="second-order stationary points of minimax problems",
    where="Abstract",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=population,
            name="population",
            meaning="the α of the point, population objective",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=empirical,
            name="empirical",
            meaning="the α of the point, empirical objective",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "A minimisation problem is the case in which the objective does not depend on the second argument (up"
            " to the "
            "strong concavity, which may be added); the abstract does not say so, and draws no conclusion from it."
        ),
    ),
)
