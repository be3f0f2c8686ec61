r"""Private steps along (expected) descent directions, with line search and mini-batches, find an approximate
second-order solution of empirical risk minimisation; quoted with $\alpha$ of order $(\sqrt d / n)^{1/2}$, the privacy
parameters taken as constants.
"""

from sympy import Expr, sqrt

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
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (epsilon, delta, lipschitz, smoothness, hessian_lipschitz, initial_gap)


def rate() -> Expr:
    return sqrt(sqrt(dimension) / dataset_size)


THEOREM = Theorem(
    id="cited/gao-wright-2023/main-result",
    statement=__doc__,
    title="practical private second-order stationary points",
    where="Main result; quoted in Table 3 of Ganesh, Liu, Oh & Thakurta 2023",
    metric=Metric.SOSP,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ),
    parts=(
        Rate(
            formula=rate,
            meaning="the α of the point",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
    ),
    notes=(Note("The abstract, which was read too, states no rate."),),
)
