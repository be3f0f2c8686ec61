r"""Private stochastic gradient methods, adaptive ones among them, on smooth losses that need not be convex: the
population gradient at the output has norm of order $d^{1/4} / \sqrt{n}$, with the privacy parameters taken as
constants. The proof bounds the error of each gradient by differential privacy itself (adaptive data analysis) instead
of by uniform convergence over the set.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
)
from dpbounds.theorems.record import (
    Metric,
    Note,
    Rate,
    Read,
    Side,
    Status,
    Theorem,
)

HIDDEN = (epsilon, delta, lipschitz, smoothness, initial_gap)


def rate() -> Expr:
    return dimension ** Rational(1, 4) / sqrt(dataset_size)


def as_quoted() -> Expr:
    return epsilon * sqrt(dimension) + sqrt(sqrt(dimension) / (dataset_size * epsilon))


THEOREM = Theorem(
    id="cited/zhou-et-al-2020/main-result",
    statement=__doc__,
    title="population stationarity by adaptive private methods",
    where="Abstract; the second part as quoted in the introduction of Lowy, Ullman & Wright 2024, version 1",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            meaning="with ε and δ as constants",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
        Rate(
            formula=as_quoted,
            name="as-quoted",
            meaning="with ε, as another paper quotes it",
            hides=HIDDEN[1:],
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
    ),
    superseded_by=("cited/arora-et-al-2023/population-rate",),
    notes=(
        Note("The two do not say the same: the second one does not fall below ε√d, however many records there are."),
    ),
)
