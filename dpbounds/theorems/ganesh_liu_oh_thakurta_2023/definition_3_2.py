r"""A gradient oracle of the first kind, with parameter $\zeta_1$, answers a point $x$ with an unbiased estimate of
$\nabla F(x)$ whose error is $\mathrm{nSG}(\zeta_1)$. One of the second kind, with parameter $\zeta_2$, answers two
points with an unbiased estimate of $\nabla F(x) - \nabla F(y)$ whose error is $\mathrm{nSG}(\zeta_2\|x - y\|)$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    SECOND_NOISE,
    TRAVELLED,
    second_oracle_noise,
    travelled,
)
from dpbounds.theorems.record import Metric, Note, Parameter, Status, Theorem


def variance() -> Expr:
    return second_oracle_noise**2 * travelled


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-3.2",
    title="two kinds of gradient oracles",
    statement=__doc__,
    where="Section 3, Definition 3.2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ, SMOOTH_RISK),
    local=(SECOND_NOISE, TRAVELLED),
    parts=(
        Parameter(
            formula=variance,
            name="second-kind",
            unit=Unit(2, -2),
            meaning="squared parameters of the second kind, added up over steps of given total squared length",
            increasing_in=(second_oracle_noise, travelled),
        ),
    ),
    notes=(Note("Used conditionally on everything that came before: given the past, errors have mean 0."),),
)
