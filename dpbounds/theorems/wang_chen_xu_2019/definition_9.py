r"""$w$ is an $\alpha$-second-order stationary point ($\alpha$-SOSP, approximate local minimum) of a twice
differentiable $F$ with $\rho_H$-Lipschitz Hessian if $\|\nabla F(w)\|_2 \le \alpha$ and $\lambda_{\min}(\nabla^2 F(w))
\ge -\sqrt{\rho_H \alpha}$ (7).
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import Unit, hessian_lipschitz, stationarity
from dpbounds.theorems.record import Metric, Parameter, Status, Theorem


def curvature() -> Expr:
    return sqrt(hessian_lipschitz * stationarity)


THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-9",
    title="approximate second-order stationary points",
    statement=__doc__,
    where="Section 5.1, Definition 9 and equation (7)",
    metric=Metric.SOSP,
    status=Status.DEFINITION,
    parts=(
        Parameter(
            formula=curvature,
            name="curvature",
            unit=Unit(1, -2),
            meaning="largest negative curvature that is tolerated",
            increasing_in=(hessian_lipschitz, stationarity),
        ),
    ),
)
