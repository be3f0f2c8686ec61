r"""The definition of an $\alpha$-SOSP once more: gradient norm at most $\alpha$, eigenvalues of the Hessian at least
$-\sqrt{\rho\alpha}$; the same as Definition 1.2.
"""

from dpbounds.expressions.symbols import Unit, hessian_lipschitz, stationarity
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023.definition_1_2 import curvature
from dpbounds.theorems.record import Metric, Note, Parameter, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-f.1",
    title="second-order stationary points, again",
    statement=__doc__,
    where="Appendix F, Definition F.1",
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
    notes=(Note("The same as ganesh-liu-oh-thakurta-2023/definition-1.2."),),
)
