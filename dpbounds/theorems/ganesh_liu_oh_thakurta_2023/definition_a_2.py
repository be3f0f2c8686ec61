r"""A mechanism is $\varphi$-zCDP (here: $\rho$) if for every order $q > 1$ and all neighbouring data sets the Rényi
divergence of order $q$ between its outputs is at most $\varphi q$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, rho
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import RENYI_ORDER, renyi_order
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def divergence() -> Expr:
    return rho * renyi_order


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-a.2",
    title="zero-concentrated differential privacy",
    statement=__doc__,
    where="Appendix A, Definition A.2",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.DEFINITION,
    local=(RENYI_ORDER,),
    parts=(
        Bound(
            formula=divergence,
            name="divergence",
            unit=Unit(samples=-2),
            meaning="largest Rényi divergence of order q",
            increasing_in=(rho, renyi_order),
        ),
    ),
    notes=(Note("Print calls the order α and the budget φ."),),
)
