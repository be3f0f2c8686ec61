r"""A private trust-region method finds, with high probability, an $\alpha$-second-order stationary point of the
empirical risk with $\alpha$ of order $(d / (n\varepsilon))^{4/7}$, up to logarithms.
"""

from sympy import Expr, Rational

from dpbounds.expressions.symbols import (
    dataset_size,
    dimension,
    epsilon,
    hessian_lipschitz,
    lipschitz,
    loss_range,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, hessian_lipschitz, loss_range)


def rate() -> Expr:
    return (dimension / (dataset_size * epsilon)) ** Rational(4, 7)


THEOREM = Theorem(
    id="cited/wang-xu-2020/main-result",
    statement=__doc__,
    title="second-order stationary points by a private trust-region method",
    where="Main result; quoted in Tables 1 and 3 of Ganesh, Liu, Oh & Thakurta 2023",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
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
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note("Its abstract, which was read too, says that fewer samples are needed than before, and gives no rate."),
    ),
)
