r"""An $\alpha$-second-order stationary point of the population risk with $\alpha$ of order $n^{-1/3} +
\left(\frac{\sqrt d}{n\varepsilon}\right)^{1/2}$, up to logarithms: SpiderBoost with batches whose size adapts, and a
binary tree of noisy gradient differences. This is the order that is known for first-order points. The abstract says
that the saddle escape of Ganesh, Liu, Oh & Thakurta 2023 has an issue, which weakens their guarantee, and that this
method corrects it.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, hessian_lipschitz, initial_gap)


def rate() -> Expr:
    return dataset_size ** Rational(-1, 3) + sqrt(sqrt(dimension) / (dataset_size * epsilon))


THEOREM = Theorem(
    id="cited/liu-talwar-2024/main-result",
    statement=__doc__,
    title="population second-order stationary points with adaptive batches",
    where="Abstract (second version, 2025)",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            meaning="the α of the point",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "How it depends on the initial gap is not in the abstract, so it cannot yet serve as the second stage of a "
            "warm start."
        ),
    ),
)
