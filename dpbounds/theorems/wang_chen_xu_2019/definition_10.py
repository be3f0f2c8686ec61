r"""For a closed convex set $C$, $w^*$ is an $\alpha$-second-order stationary point in $C$ if $\langle \nabla F(w^*),
w - w^* \rangle \ge -\alpha$ for all $w \in C$, and $(w - w^*)^T \nabla^2 F(w^*) (w - w^*) \ge -\sqrt{\rho_H \alpha}$
for all $w \in C$ with $\langle \nabla F(w^*), w - w^* \rangle = 0$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import hessian_lipschitz, stationarity
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET
from dpbounds.theorems.record import Metric, Note, Parameter, Status, Theorem


def curvature() -> Expr:
    return sqrt(hessian_lipschitz * stationarity)


THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-10",
    title="second-order stationary points in a set",
    statement=__doc__,
    where="Section 5.2, Definition 10",
    metric=Metric.SOSP,
    status=Status.DEFINITION,
    assumptions=(CLOSED_CONVEX_SET,),
    parts=(
        Parameter(
            formula=curvature,
            name="curvature",
            meaning="tolerated in the second condition",
            bases=("samples",),
            increasing_in=(hessian_lipschitz, stationarity),
        ),
    ),
    notes=(
        Note(
            "Both conditions compare changes of the loss across the set, so α is a loss here and not a gradient, and "
            "√(ρ_H α) is no loss: the definition, like Theorem 9, is tied to a set of diameter about 1. With two "
            "tolerances a and b (Mokhtari et al. have two) everything scales: see theorem-9/explicit."
        ),
    ),
)
