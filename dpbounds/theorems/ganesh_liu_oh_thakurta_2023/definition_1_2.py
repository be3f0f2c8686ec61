r"""A second-order stationary point has gradient 0 and a positive semi-definite Hessian. An $\alpha$-SOSP of a
function with $\rho$-Lipschitz Hessian has a gradient of norm at most $\alpha$ and no eigenvalue of its Hessian below
$-\sqrt{\rho \alpha}$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import Unit, hessian_lipschitz, stationarity
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ
from dpbounds.theorems.record import Metric, Parameter, Status, Theorem


def curvature() -> Expr:
    return sqrt(hessian_lipschitz * stationarity)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-1.2",
    title="second-order stationary points",
    statement=__doc__,
    where="Section 1.1, Definition 1.2",
    metric=Metric.SOSP,
    status=Status.DEFINITION,
    assumptions=(HESSIAN_LIPSCHITZ,),
    parts=(
        Parameter(
            formula=curvature,
            name="curvature",
            unit=Unit(1, -2),
            meaning="how negative an eigenvalue of the Hessian may be",
            increasing_in=(hessian_lipschitz, stationarity),
        ),
    ),
)
